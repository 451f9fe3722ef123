-- source: WMS_WAREHOUSE_TIMEZONES
-- notes: changes nothing where the warehouse has the time zone already
update warehouses
set timezone = $timezone
where id = $id and timezone is distinct from $timezone
