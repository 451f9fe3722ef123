{{ landed('shipment_items') }}
