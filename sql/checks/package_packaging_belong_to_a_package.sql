-- severity: error
-- blocking: yes
-- table: package_packaging
-- description: Every packaging item belongs to a package that is there.
select
    child.shipment_id,
    child.package_position,
    child.position
from package_packaging as child
anti join packages as parent
    on child.shipment_id = parent.shipment_id and child.package_position = parent.position
