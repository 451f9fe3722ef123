-- source: WMS_WAREHOUSE_TIMEZONES
-- notes: changes no row if the warehouse has the time zone already
update warehouses
set timezone = wanted.timezone
from (
    select
        unnest($ids::bigint[]) as id,
        unnest($timezones::varchar[]) as timezone
) as wanted
where warehouses.id = wanted.id and warehouses.timezone is distinct from wanted.timezone
