{{ landed('shipment_item_reservations') }}
