-- severity: error
-- blocking: yes
-- table: pii_retailer_ship_to_contacts
-- description: Every contact belongs to a ship-to location that is there.
select child.retailer_ship_to_location_id
from pii.retailer_ship_to_contacts as child
anti join retailer_ship_to_locations as parent
    on child.retailer_ship_to_location_id = parent.id
