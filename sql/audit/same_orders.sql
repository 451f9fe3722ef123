-- grain: one row per order of the slice that the tables have in the same version
-- source: the slice's Parquet files of orders, and the table before they are merged
-- notes: leaves out orders that changed between two pages of the slice, or have a value that did not fit its type
create or replace temp table audit_orders as
with incoming as (
    select
        id,
        any_value(updated_at) as updated_at
    from {incoming}
    group by id
    having count(distinct updated_at) <= 1
)

select incoming.id
from incoming
inner join orders as stored
    on incoming.id = stored.id and incoming.updated_at is not distinct from stored.updated_at
where incoming.id not in (select audit_misfits.id from audit_misfits where audit_misfits.root = 'orders')
