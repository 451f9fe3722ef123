-- grain: one row per stored object of a root table that is also in the batch
-- source: the stored table, its history, and occurrences of contest.sql
-- notes: names in braces are identifiers from the catalogue; last_seen_at is when a page last showed the object, as far
--     as the tables know
select
    {name} as root,
    {key} as key,
    _window_id,
    _page,
    {version} as version,
    _extracted_at,
    {last_seen} as last_seen_at,
    {has_history} as has_history
from {table} as stored
where {key} in (select occurrences.key from occurrences where occurrences.root = {name})
