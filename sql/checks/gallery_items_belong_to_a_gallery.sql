-- severity: error
-- blocking: yes
-- table: gallery_items
-- description: Every photo belongs to a gallery that is there.
select
    child.gallery_id,
    child.id
from gallery_items as child
anti join galleries as parent
    on child.gallery_id = parent.id
