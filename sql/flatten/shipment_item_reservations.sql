-- grain: one row per reservation of stock for a shipment item
-- keys: shipment_id, shipment_item_id, position
-- source: ShipmentItem.reservations (spec 2.4)
with stated as (
    select
        _page,
        id as shipment_id,
        unnest(items) as item
    from shipment
),

included as (
    select
        _page,
        object as item
    from page."ShipmentItem"
),

reserved as (
    select
        stated._page,
        stated.shipment_id,
        stated.item.id as shipment_item_id,
        unnest(coalesce(included.item.reservations, stated.item.reservations)) as reservation,
        generate_subscripts(coalesce(included.item.reservations, stated.item.reservations), 1)::integer as position
    from stated
    left join included
        on stated._page = included._page and stated.item.id = included.item.id
)

select
    shipment_id,
    shipment_item_id,
    position,
    reservation."location".id as location_id,
    reservation.quantity,
    _page
from reserved
