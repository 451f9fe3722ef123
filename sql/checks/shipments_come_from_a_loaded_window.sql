-- severity: error
-- blocking: yes
-- table: shipments
-- description: Every row of shipments comes from a window that has a receipt.
-- wrong: Rows of shipments come from {count} [window|windows] without a receipt
-- named: {_window_id}
with windows as (
    select distinct _window_id
    from shipments
)

select windows._window_id
from windows
anti join ops.loads
    on windows._window_id = loads.window_id
