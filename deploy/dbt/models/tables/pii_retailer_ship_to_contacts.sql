{{ newer_wins('pii_retailer_ship_to_contacts', root='retailer_ship_to_locations') }}
