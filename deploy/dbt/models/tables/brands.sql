{{ newer_wins('brands', root='brands') }}
