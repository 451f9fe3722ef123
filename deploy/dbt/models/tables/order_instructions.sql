{{ newer_wins('order_instructions', root='orders') }}
