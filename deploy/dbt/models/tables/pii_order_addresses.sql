{{ newer_wins('pii_order_addresses', root='orders') }}
