-- grain: one row: the snapshot of the lake that this connection sees
-- source: the lake's catalogue
select id
from lake.current_snapshot()
