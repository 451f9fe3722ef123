{{ newer_wins('pii_order_address_candidates', root='orders') }}
