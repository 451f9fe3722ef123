{{ newer_wins('shipments', root='shipments') }}
