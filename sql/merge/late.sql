-- grain: one row per object of the batch whose stored version is newer but from a window that omits data: its newest occurrence
-- keys: key
-- source: the root's Parquet files of the batch, and the stored table
-- notes: names in braces are identifiers from the catalogue
create or replace temp table late as
with incoming as (
    select
        {root_key} as key,
        _window_id,
        _page
    from read_parquet($files)
    qualify row_number() over (
        partition by {root_key}
        order by {version} desc, _extracted_at desc, _window_id desc, _page desc
    ) = 1
)

select incoming.*
from incoming
inner join {table} as existing
    on incoming.key = existing.{root_key}
where existing._window_id in (select unnest($omitting::varchar[]))
