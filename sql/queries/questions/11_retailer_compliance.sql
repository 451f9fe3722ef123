-- question: Which retailers get late shipments, wrong methods, or packages without an SSCC?
-- grain: one row per retailer; live shipments
-- source: marts.retailer_compliance
select
    retailer_code,
    count(*) as shipments,
    count(*) filter (where is_late) as late,
    count(*) filter (where not is_method_allowed) as wrong_method,
    count(*) filter (where is_sscc_missing) as sscc_missing
from marts.retailer_compliance
where is_live
group by retailer_code
order by retailer_code
