-- source: ops.loads
-- notes: the new list names the windows that are in no list yet, or all windows if it starts over
update ops.loads
set listed_at = $listed_at
where listed_at is null or $from_scratch
