{{ newer_wins('retailer_ship_to_locations', root='retailer_ship_to_locations') }}
