-- grain: one row per object that follows what is stored and whose best version is from one of these windows
-- keys: key
-- source: contest
create or replace temp table filled_roots as
select key
from contest
where root = $root and verdict = 'follows' and _window_id in (select unnest($windows::varchar[]))
