-- grain: one row: the id that the lake got when it was created, which a copy of its catalogue shares
-- source: the lake's catalogue in PostgreSQL
select schema_uuid::varchar as identity
from lake.ducklake_schema
order by schema_id, begin_snapshot
limit 1
