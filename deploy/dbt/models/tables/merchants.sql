{{ newer_wins('merchants', root='merchants') }}
