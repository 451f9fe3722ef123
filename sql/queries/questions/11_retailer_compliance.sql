-- question: Which retailers get late shipments, wrong methods, or packages without an SSCC?
-- grain: one row per retailer; live shipments
select
    retailer_id,
    any_value(retailer_code) as retailer_code,
    count(*) as shipments,
    count(*) filter (where not is_on_time) as late,
    count(*) filter (where not is_method_allowed) as wrong_method,
    count(*) filter (where is_sscc_missing) as sscc_missing
from marts.shipments
where is_live and retailer_id is not null
group by retailer_id
order by retailer_code, retailer_id
