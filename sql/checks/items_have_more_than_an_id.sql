-- severity: warn
-- blocking: no
-- table: shipment_items
-- description: Each item of a shipment or an order has a sku, a product or a quantity, unless field selection lacks them.
-- wrong: {count} [item has|items have] an id alone, because the service did not send the object. A backfill of the days of their changes reads them again
-- named: {id} in {relation}
with items as (
    select
        'shipment_items' as relation,
        id,
        _window_id
    from shipment_items
    where coalesce(sku, product_id::varchar, order_item_id::varchar, quantity::varchar, qty_shipped::varchar, qty_picked::varchar) is null
    union all
    select
        'order_items' as relation,
        id,
        _window_id
    from order_items
    where coalesce(sku, product_id::varchar, order_item_ref, qty_ordered::varchar, qty_shipped::varchar) is null
)

select
    items.relation,
    items.id
from items
anti join ops.omitted as explained
    on items._window_id = explained.window_id
