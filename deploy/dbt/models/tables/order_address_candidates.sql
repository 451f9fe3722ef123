{{ newer_wins('order_address_candidates', root='orders') }}
