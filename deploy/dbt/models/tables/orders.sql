{{ newer_wins('orders', root='orders') }}
