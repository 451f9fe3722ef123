{{ landed('retailer_ship_to_locations') }}
