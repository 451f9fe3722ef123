{{ newer_wins('galleries', root='galleries') }}
