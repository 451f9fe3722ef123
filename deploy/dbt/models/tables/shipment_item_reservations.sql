-- depends_on: {{ ref('shipment_items') }}
{{ newer_wins('shipment_item_reservations', root='shipments') }}
