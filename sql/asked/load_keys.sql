-- grain: one row per root object on the pages of the windows that the load merged
-- keys: root, key
-- source: the Parquet files of these windows
-- notes: the name in braces is a query for the keys of each root table. Objects that lost against the stored version are included, because their page may have completed that version
create or replace temp table load_keys as
select distinct
    root,
    key
from (
    select
        null::varchar as root,
        null::bigint as key
    where false
    {keys}
)
