-- grain: one row per part of a shipment, or object that it refers to, and source page; window_id is null if there are no rows
-- source: the tables as published
with shipment as (
    select *
    from shipments
    where id = $id
),

parts as (
    select
        1 as place,
        'shipment' as what,
        id as object_id,
        _window_id,
        _page,
        _extracted_at
    from shipment
    union all
    select
        2,
        'items',
        null,
        _window_id,
        _page,
        _extracted_at
    from shipment_items
    where shipment_id = $id
    union all
    select
        3,
        'packages',
        null,
        _window_id,
        _page,
        _extracted_at
    from packages
    where shipment_id = $id
    union all
    select
        4,
        'package items',
        null,
        _window_id,
        _page,
        _extracted_at
    from package_items
    where shipment_id = $id
    union all
    select
        5,
        'order',
        shipment.order_id,
        orders._window_id,
        orders._page,
        orders._extracted_at
    from shipment
    left join orders on shipment.order_id = orders.id
    where shipment.order_id is not null
    union all
    select
        6,
        'order items',
        null,
        order_items._window_id,
        order_items._page,
        order_items._extracted_at
    from shipment
    inner join order_items on shipment.order_id = order_items.order_id
    union all
    select
        7,
        'retailer',
        shipment.retailer_id,
        retailers._window_id,
        retailers._page,
        retailers._extracted_at
    from shipment
    left join retailers on shipment.retailer_id = retailers.id
    where shipment.retailer_id is not null
    union all
    select
        8,
        'ship-to location',
        shipment.retailer_ship_to_location_id,
        locations._window_id,
        locations._page,
        locations._extracted_at
    from shipment
    left join retailer_ship_to_locations as locations on shipment.retailer_ship_to_location_id = locations.id
    where shipment.retailer_ship_to_location_id is not null
    union all
    select
        9,
        'warehouse',
        shipment.warehouse_id,
        warehouses._window_id,
        warehouses._page,
        warehouses._extracted_at
    from shipment
    left join warehouses on shipment.warehouse_id = warehouses.id
    where shipment.warehouse_id is not null
)

select
    parts.what,
    parts.object_id,
    count(parts._window_id) as row_count,
    parts._window_id as window_id,
    parts._page as page,
    parts._extracted_at as extracted_at
from parts
group by all
order by min(parts.place), parts.object_id, parts._extracted_at
