-- severity: error
-- blocking: no
-- table: order_items
-- description: No two rows of order_items have the same order_id, id, and none lacks one of them.
-- notes: of an item that a list names twice the first is kept (flatten/twice.py); one more must not stop the publishing
select
    order_id,
    id,
    count(*) as occurrences
from order_items
group by all
having count(*) > 1 or order_id is null or id is null
