-- grain: one row: the number that the lake was given when it was made, and which a copy of its catalogue has too
-- source: the lake's catalogue in PostgreSQL
select schema_uuid::varchar as identity
from lake.ducklake_schema
order by schema_id, begin_snapshot
limit 1
