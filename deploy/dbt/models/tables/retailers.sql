{{ newer_wins('retailers', root='retailers') }}
