-- grain: one row per stored object of a root table that is also in the batch
-- source: the stored table, and occurrences of contest.sql
-- notes: names in braces are identifiers from the catalogue
select
    {name} as root,
    {key} as key,
    _window_id,
    _page,
    {version} as version,
    _extracted_at
from {table}
where {key} in (select occurrences.key from occurrences where occurrences.root = {name})
