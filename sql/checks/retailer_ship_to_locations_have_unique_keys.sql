-- severity: error
-- blocking: yes
-- table: retailer_ship_to_locations
-- description: No two rows of retailer_ship_to_locations have the same id, and none lacks one of them.
select
    id,
    count(*) as occurrences
from retailer_ship_to_locations
group by all
having count(*) > 1 or id is null
