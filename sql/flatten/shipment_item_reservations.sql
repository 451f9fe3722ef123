-- grain: one row per reservation of stock for a shipment item
-- keys: shipment_id, shipment_item_id, position
-- needs: shipment_item
-- source: ShipmentItem.reservations (spec 2.4)
with reserved as (
    select
        _page,
        shipment_id,
        id as shipment_item_id,
        unnest(reservations) as reservation,
        generate_subscripts(reservations, 1)::integer as position
    from shipment_item
)

select
    shipment_id,
    shipment_item_id,
    position,
    reservation."location".id as location_id,
    reservation.quantity,
    _page
from reserved
