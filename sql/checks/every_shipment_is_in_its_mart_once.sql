-- severity: error
-- blocking: no
-- table: shipments
-- mart: marts.shipments
-- description: marts.shipments, on which the other marts build, has one row for each shipment.
-- wrong: marts.shipments has {rows_in_mart} [row|rows] for {shipments} [shipment|shipments]
-- notes: other checks prove that the keys by which the other marts join are unique. Counting the rows of those marts too takes 0.7 s of CPU time
--     with 100,000 shipments, while a whole nightly sync takes 3.5 s
with counted as (
    select
        (select count(*) from marts.shipments) as rows_in_mart,
        (select count(*) from main.shipments) as shipments
)

select
    rows_in_mart,
    shipments
from counted
where rows_in_mart <> shipments
