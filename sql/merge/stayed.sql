-- grain: no rows: counts, for each window whose objects lack a list, the rows of the list that stayed from other windows
-- source: the table of the list, its root table, and ops.omitted
-- notes: names in braces are identifiers from the catalogue
update ops.omitted
set stayed = counted.stayed
from (
    select
        root._window_id as window_id,
        count(*) as stayed
    from {table} as child
    inner join {root} as root
        on child.{root_key} = root.{key}
    where root._window_id in (select unnest($windows::varchar[])) and child._window_id <> root._window_id
    group by root._window_id
) as counted
where omitted.window_id = counted.window_id and omitted.name = $name
