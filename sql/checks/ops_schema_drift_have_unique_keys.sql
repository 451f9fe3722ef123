-- severity: error
-- blocking: yes
-- table: ops_schema_drift
-- description: No two rows of ops.schema_drift have the same page_key, path, and none lacks one of them.
select
    page_key,
    path,
    count(*) as occurrences
from ops.schema_drift
group by all
having count(*) > 1 or page_key is null or path is null
