-- grain: one row per occurrence of an object of a root table on a page of the batch
-- source: the root's Parquet files of the batch
-- notes: names in braces are identifiers from the catalogue
select
    {name} as root,
    {key} as key,
    _window_id,
    _page,
    {version} as version,
    _extracted_at
from read_parquet(${files})
