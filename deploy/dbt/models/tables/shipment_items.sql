{{ newer_wins('shipment_items', root='shipments') }}
