-- severity: error
-- blocking: yes
-- table: package_collected_data
-- description: Every collected value belongs to a package that is there.
select
    child.shipment_id,
    child.package_position,
    child.position
from package_collected_data as child
anti join packages as parent
    on child.shipment_id = parent.shipment_id and child.package_position = parent.position
