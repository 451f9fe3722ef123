{{ newer_wins('products', root='products') }}
