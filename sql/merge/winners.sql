-- grain: one row an object of the batch that takes effect: its newest occurrence, unless a newer one is stored
-- keys: key
-- source: the root's Parquet files of the batch, and the stored table
-- notes: names in braces are identifiers of the catalogue; an occurrence is named by the window and page it stood on
create or replace temp table winners as
with incoming as (
    select
        {key} as key,
        _window_id,
        _page,
        {newer} as version,
        _extracted_at
    from read_parquet($files)
    qualify row_number() over (
        partition by {key}
        order by {newer} desc nulls last, _extracted_at desc, _window_id desc, _page desc
    ) = 1
),

stored as (
    select
        existing.{key} as key,
        existing.{newer} as version,
        existing._extracted_at
    from {table} as existing
    semi join incoming on existing.{key} = incoming.key
)

select
    incoming.key,
    incoming._window_id,
    incoming._page
from incoming
left join stored on incoming.key = stored.key
where
    stored.key is null
    or (coalesce(incoming.version, '-infinity'), incoming._extracted_at)
    >= (coalesce(stored.version, '-infinity'), stored._extracted_at)
