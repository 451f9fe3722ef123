-- severity: error
-- blocking: no
-- table: gallery_items
-- description: No two rows of gallery_items have the same gallery_id, id, and none lacks one of them.
-- notes: of an item that a list names twice the first is kept (flatten/twice.py); one more must not stop the publishing
select
    gallery_id,
    id,
    count(*) as occurrences
from gallery_items
group by all
having count(*) > 1 or gallery_id is null or id is null
