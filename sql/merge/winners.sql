-- grain: one row an object of the batch that takes effect
-- keys: key
-- source: contest
create or replace temp table winners as
select
    key,
    _window_id,
    _page
from contest
where outcome = 'wins'
