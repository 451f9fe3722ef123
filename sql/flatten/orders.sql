-- grain: one row per order
-- keys: id
-- needs: order
-- source: included.Order (spec 2.5), and parts of its shipping address, merged with included.OrderAddress if present
with included as (
    select *
    from page."OrderAddress"
),

addressed as (
    select
        "order".*,
        coalesce(included.country, "order".shipping_address.country) as ship_to_country,
        coalesce(included.region, "order".shipping_address.region) as ship_to_region,
        coalesce(included.classification, "order".shipping_address.classification) as ship_to_classification
    from "order"
    left join included
        on "order"._page = included._page and "order".shipping_address.id = included.id
)

select
    id,
    unique_id,
    order_ref,
    state,
    status,
    brand.id as brand_id,
    merchant.id as merchant_id,
    carrier_code,
    shipping_method,
    signature_required,
    is_saturday_delivery,
    is_overbox_required,
    priority,
    requested_ship_date,
    is_declared_value_service,
    declared_value.amount as declared_value_amount,
    declared_value.currency as declared_value_currency,
    shipping_address.id as shipping_address_id,
    ship_to_country,
    ship_to_region,
    ship_to_classification,
    list_transform(shipments, lambda reference: reference.id) as shipments_ids,
    custom_greeting,
    other_shipping_options.virtual_excluded_services as other_shipping_options_virtual_excluded_services,
    duties_payor.payor as duties_payor_payor,
    duties_payor.tpb_group_id as duties_payor_tpb_group_id,
    created_at,
    updated_at,
    completed_at,
    custom_fields,
    weight."value" as weight_value,
    weight.unit as weight_unit,
    total_item_count,
    submitted_by,
    submitted_by_type,
    backorder_policy,
    "source",
    customer_note,
    batch_tag,
    desired_delivery_date,
    can_fulfill,
    can_fulfill_at,
    is_address_modified,
    is_address_modified_auto,
    hold_until_time,
    tpb_group.id as tpb_group_id,
    retailer.id as retailer_id,
    retailer_ship_to_location.id as retailer_ship_to_location_id,
    mark_for_location.id as mark_for_location_id,
    customs_value.amount as customs_value_amount,
    customs_value.currency as customs_value_currency,
    reason_for_export,
    generate_sscc,
    shipped_at,
    delivered_at,
    shipping_description,
    carrier,
    allocation_options,
    automation_data,
    original_address.id as original_address_id,
    _page
from addressed
