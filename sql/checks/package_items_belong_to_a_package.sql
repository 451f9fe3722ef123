-- severity: error
-- blocking: yes
-- table: package_items
-- description: Every package item belongs to a package that is there.
select
    child.shipment_id,
    child.package_position,
    child.position
from package_items as child
anti join packages as parent
    on child.shipment_id = parent.shipment_id and child.package_position = parent.position
