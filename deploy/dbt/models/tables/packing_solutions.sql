{{ newer_wins('packing_solutions', root='shipments') }}
