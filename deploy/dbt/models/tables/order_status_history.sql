{{ newer_wins('order_status_history', root='orders') }}
