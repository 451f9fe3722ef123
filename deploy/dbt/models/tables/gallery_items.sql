{{ newer_wins('gallery_items', root='galleries') }}
