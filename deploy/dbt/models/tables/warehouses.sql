{{ newer_wins('warehouses', root='warehouses') }}
