-- grain: one row: this week, whether something was shipped or due before it, and the warehouses without a time zone
-- notes: a week begins on Monday. This week is that of the warehouse where it begins last, so that the weeks before it are whole everywhere
with week as (
    select min(date_trunc('week', local_today))::date as this_week
    from marts.shipments
)

select
    any_value(this_week) as this_week,
    bool_or(coalesce(shipped_day, target_ship_date) < this_week) as is_any_earlier,
    count(distinct warehouse_id) as warehouses,
    count(distinct warehouse_id) filter (where timezone = 'UTC') as in_utc
from marts.shipments
cross join week
