-- severity: warn
-- blocking: no
-- table: shipments
-- description: At most 1 % of the shipments refer to a warehouse that the service did not send (kind Warehouse, requested by fields:warehouse).
-- wrong: The service did not send the warehouse of {dangling} of {rows_with_a_reference} [shipment|shipments] (kind Warehouse, requested by fields:warehouse)
-- notes: a few dangling references are normal; many mean that field selection no longer returns the kind
with referring as (
    select
        count(*) as rows_with_a_reference,
        count(*) filter (where target.id is null) as dangling
    from shipments as referring
    left join warehouses as target
        on referring.warehouse_id = target.id
    where referring.warehouse_id is not null
)

select
    rows_with_a_reference,
    dangling
from referring
where dangling > 0.01 * rows_with_a_reference
