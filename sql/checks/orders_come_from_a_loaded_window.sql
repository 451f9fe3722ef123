-- severity: error
-- blocking: yes
-- table: orders
-- description: Every row of orders comes from a window that has a receipt.
-- wrong: Rows of orders come from {count} [window|windows] without a receipt
-- named: {_window_id}
with windows as (
    select distinct _window_id
    from orders
)

select windows._window_id
from windows
anti join ops.loads
    on windows._window_id = loads.window_id
