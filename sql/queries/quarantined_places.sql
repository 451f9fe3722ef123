-- grain: one row per key of a kind of object whose values do not fit their type
-- keys: object, key
-- source: ops.quarantine
-- notes: the last key of the path, without its position in a list; the most values first
select
    object,
    regexp_extract(regexp_replace(path, '\[\d+\]', '', 'g'), '[^.]+$') as key,
    count(*) as found
from ops.quarantine
group by all
order by found desc, object asc, key asc
