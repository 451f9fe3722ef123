-- grain: one row per retailer with shipments due in the last four weeks, the ten with the most late shipments
-- keys: retailer
-- source: marts.retailer_compliance, marts.shipment_timeline
-- notes: the four weeks end with the day before the local today. late counts only shipments that were due: left after their day, or open past it. before is the share of the preceding four weeks.
--     Equal names are shown with their ids
with due as (
    select
        compliance.retailer_id,
        coalesce(compliance.retailer_name, compliance.retailer_code, 'retailer ' || compliance.retailer_id) as named,
        compliance.target_ship_date >= timeline.today - 28 as is_recent,
        compliance.is_late
    from marts.retailer_compliance as compliance
    inner join marts.shipment_timeline as timeline
        on compliance.shipment_id = timeline.shipment_id
    where
        compliance.is_late is not null
        and timeline.was_due
        and compliance.target_ship_date >= timeline.today - 56
)

select
    case when count(*) over (partition by named) > 1 then named || ' (' || retailer_id || ')' else named end as retailer,
    count(*) filter (where is_recent) as due,
    count(*) filter (where is_recent and is_late) as late,
    count(*) filter (where is_recent and is_late) / count(*) filter (where is_recent) as share,
    count(*) filter (where not is_recent and is_late) / nullif(count(*) filter (where not is_recent), 0) as before
from due
group by retailer_id, named
having count(*) filter (where is_recent) > 0
order by late desc, share desc, retailer asc
limit 10
