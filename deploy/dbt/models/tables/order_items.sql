{{ newer_wins('order_items', root='orders') }}
