{{ landed('pii_order_addresses') }}
