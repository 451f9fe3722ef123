-- question: How much packaging is used per month?
-- grain: one row per packaging item and local month of packing; quantity in pieces
-- source: marts.packaging_per_month
select
    packaging_name,
    used_as,
    month,
    sum(uses)::bigint as uses,
    sum(quantity) as quantity
from marts.packaging_per_month
group by packaging_id, packaging_name, used_as, month
order by month, packaging_name, used_as
