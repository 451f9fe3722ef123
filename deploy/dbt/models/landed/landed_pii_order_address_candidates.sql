{{ landed('pii_order_address_candidates') }}
