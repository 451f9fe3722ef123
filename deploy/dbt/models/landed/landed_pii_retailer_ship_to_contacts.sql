{{ landed('pii_retailer_ship_to_contacts') }}
