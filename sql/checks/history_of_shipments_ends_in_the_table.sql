-- severity: warn
-- blocking: no
-- table: shipments
-- asked: the rows of shipments
-- description: Every row of shipments equals the current version of the shipment in history.
with stored as (
    select
        id,
        hash(
            status,
            warehouse_id,
            order_id,
            retailer_id,
            retailer_ship_to_location_id,
            shipping_carrier_code,
            shipping_method,
            shipping_service_code,
            target_ship_date,
            packed_at,
            is_cutoff_date_exception,
            is_manually_processed,
            shipped_weight_value,
            shipped_weight_unit,
            total_weight_value,
            total_weight_unit,
            carrier_shipping_cost
        ) as row_hash
    from shipments
),

latest as (
    select
        id,
        hash(
            status,
            warehouse_id,
            order_id,
            retailer_id,
            retailer_ship_to_location_id,
            shipping_carrier_code,
            shipping_method,
            shipping_service_code,
            target_ship_date,
            packed_at,
            is_cutoff_date_exception,
            is_manually_processed,
            shipped_weight_value,
            shipped_weight_unit,
            total_weight_value,
            total_weight_unit,
            carrier_shipping_cost
        ) as row_hash
    from history.shipments
    where is_current
)

select
    stored.id,
    latest.id is not null as is_in_history
from stored
left join latest
    on stored.id = latest.id
where stored.row_hash is distinct from latest.row_hash
