-- grain: Rows per table
-- source: the tables themselves
select
    'shipments' as table_name,
    count(*) as row_count,
    max(updated_at) as newest
from shipments
union all
select
    'orders',
    count(*),
    max(updated_at)
from orders
union all
select
    'packages',
    count(*),
    max(updated_at)
from packages
