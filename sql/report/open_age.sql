-- grain: one row per status and age of open shipments
-- keys: status, age
-- source: marts.shipment_timeline, ops.latest_load, ops.code_values
-- notes: the age of the shipment at data_until, in days
with aged as (
    select
        timeline.status,
        coalesce(code.sort, 0) as sort,
        (epoch_us(latest_load.data_until) - epoch_us(timeline.created_at)) / 86400000000 as days
    from marts.shipment_timeline as timeline
    cross join ops.latest_load
    left join ops.code_values as code
        on code.column_name = 'shipments.status' and code."value" = lower(timeline.status)
    where timeline.is_open
)

select
    status,
    sort,
    case
        when days < 1 then 'up to a day'
        when days < 3 then '1 to 3 days'
        when days < 7 then '3 to 7 days'
        when days < 14 then '1 to 2 weeks'
        else 'over 2 weeks'
    end as age,
    count(*) as shipments
from aged
group by all
order by sort, status, min(days)
