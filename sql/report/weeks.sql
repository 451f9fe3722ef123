-- grain: one row: this week, the first week with something shipped or due, and the warehouses without a time zone
-- notes: a week begins on Monday. This week is that of the warehouse where it begins last, so that the weeks before it are whole everywhere
select
    min(date_trunc('week', local_today))::date as this_week,
    min(date_trunc('week', coalesce(shipped_day, target_ship_date)))::date as first_week,
    count(distinct warehouse_id) as warehouses,
    count(distinct warehouse_id) filter (where timezone = 'UTC') as in_utc
from marts.shipments
