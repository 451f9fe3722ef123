-- severity: warn
-- blocking: no
-- table: shipments
-- description: At most 1 % of the shipments refer to a retailer that the service did not send (kind Retailer, requested by fields:retailer).
-- wrong: The service did not send the retailer of {dangling} of {rows_with_a_reference} [shipment|shipments] (kind Retailer, requested by fields:retailer)
-- notes: a few dangling references are normal; many mean that field selection no longer returns the kind
with referring as (
    select
        count(*) as rows_with_a_reference,
        count(*) filter (where target.id is null) as dangling
    from shipments as referring
    left join retailers as target
        on referring.retailer_id = target.id
    where referring.retailer_id is not null
)

select
    rows_with_a_reference,
    dangling
from referring
where dangling > 0.01 * rows_with_a_reference
