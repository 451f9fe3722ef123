-- severity: warn
-- blocking: no
-- table: shipments
-- description: At most one in a hundred shipments names a warehouse that the service did not send (kind Warehouse, asked for by fields:warehouse).
-- notes: a single dangling reference is normal; many mean that a kind is not selected any more
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
