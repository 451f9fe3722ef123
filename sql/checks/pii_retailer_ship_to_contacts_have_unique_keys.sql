-- severity: error
-- blocking: yes
-- table: pii_retailer_ship_to_contacts
-- description: No two rows of pii.retailer_ship_to_contacts have the same retailer_ship_to_location_id, and none lacks one of them.
select
    retailer_ship_to_location_id,
    count(*) as occurrences
from pii.retailer_ship_to_contacts
group by all
having count(*) > 1 or retailer_ship_to_location_id is null
