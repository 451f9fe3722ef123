-- severity: warn
-- blocking: no
-- table: shipments
-- description: Every status of shipments and orders, and every state of orders, is one whose meaning is known; marts count what has another neither as open nor as late.
select
    column_name,
    "value"
from ops.code_values
where not is_known and column_name in ('shipments.status', 'orders.state', 'orders.status')
