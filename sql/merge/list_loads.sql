-- source: ops.loads
-- notes: the new list names the windows that no list names yet, or all of them if it begins anew
update ops.loads
set listed_at = $listed_at
where listed_at is null or $from_scratch
