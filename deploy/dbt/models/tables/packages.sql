{{ newer_wins('packages', root='shipments') }}
