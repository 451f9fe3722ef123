-- severity: warn
-- blocking: no
-- table: shipments
-- description: Every status of shipments and orders, and every state of orders, has a known meaning; marts count an unknown status neither as open nor as late.
-- wrong: {count} [status is|statuses are] unknown
-- named: {value} ({column_name})
with present as (
    select
        'shipments.status' as column_name,
        lower(status) as "value"
    from (select distinct status from shipments) as there
    union
    select
        'orders.state' as column_name,
        lower(state) as "value"
    from (select distinct state from orders) as there
    union
    select
        'orders.status' as column_name,
        lower(status) as "value"
    from (select distinct status from orders) as there
),

known as (
    select
        column_name,
        "value"
    from ops.code_values
    where is_known
)

select
    present.column_name,
    present."value"
from present
anti join known
    on present.column_name = known.column_name and present."value" = known."value"
where present."value" is not null
