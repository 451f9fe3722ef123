-- grain: one row per object of a root table in the batch that follows what is stored: its best version in the batch
-- keys: key
-- source: contest
-- notes: the name in braces is that of the root table
create or replace temp table winners as
select
    key,
    _window_id,
    _page
from contest
where root = {name} and verdict = 'follows'
