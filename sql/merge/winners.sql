-- grain: one row per object of the batch whose version wins
-- keys: key
-- source: contest
create or replace temp table winners as
select
    key,
    _window_id,
    _page
from contest
where outcome = 'wins'
