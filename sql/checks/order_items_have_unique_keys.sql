-- severity: error
-- blocking: no
-- table: order_items
-- description: No two rows of order_items have the same order_id, id, and none lacks one of them.
-- notes: the service names the items of a list; were it to name one twice, that must not stop the publishing
select
    order_id,
    id,
    count(*) as occurrences
from order_items
group by all
having count(*) > 1 or order_id is null or id is null
