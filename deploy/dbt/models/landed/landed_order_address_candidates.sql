{{ landed('order_address_candidates') }}
