-- grain: one row per object that starts over: the version that wins among all
-- keys: key
-- source: placed
-- notes: an object whose winning version is stored, but in no file that can be read, keeps its rows
insert into winners
select
    key,
    _window_id,
    _page
from placed
qualify has_file and place = max(place) over (partition by key)
