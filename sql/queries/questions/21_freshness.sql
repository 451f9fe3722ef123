-- question: How fresh is the data?
-- grain: one row
select
    data_until,
    loaded_at,
    hours_old,
    shipments
from marts.freshness
