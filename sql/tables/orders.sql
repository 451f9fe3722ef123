-- grain: one row per order
-- keys: id
-- root: orders by id
-- newer: updated_at
-- source: included.Order (spec 2.5)
-- notes: state and status are open sets; only country, region and classification of the shipping address are here, the other fields are in schema pii. Orders without a shipment are not in this data
create table orders (
    id bigint, -- The order. Source: Order.id
    unique_id varchar, -- Human-readable number of the order. Source: Order.unique_id
    order_ref varchar, -- The merchant's own reference for the order. Source: Order.order_ref
    state varchar, -- State, an open set; values seen: new, processing, complete, canceled, holded. Source: Order.state
    status varchar, -- Status, an open set; finer than state. Source: Order.status
    brand_id bigint, -- The brand; joins brands.id. Source: Order.brand.id
    merchant_id bigint, -- The merchant; joins merchants.id. Source: Order.merchant.id
    carrier_code varchar, -- Code of the carrier. Source: Order.carrier_code
    shipping_method varchar, -- Code of the requested shipping method. Source: Order.shipping_method
    signature_required varchar, -- Kind of signature required on delivery. Source: Order.signature_required
    is_saturday_delivery boolean, -- Whether the order may be delivered on a Saturday. Source: Order.is_saturday_delivery
    is_overbox_required boolean, -- Whether the order needs an overbox. Source: Order.is_overbox_required
    priority bigint, -- Priority. Source: Order.priority
    requested_ship_date date, -- Requested ship date. Source: Order.requested_ship_date
    is_declared_value_service boolean, -- Whether the declared value service is used. Source: Order.is_declared_value_service
    declared_value_amount decimal(18, 4), -- Value declared to the carrier, in declared_value_currency. Source: Order.declared_value.amount
    declared_value_currency varchar, -- Currency of declared_value_amount, three letters. Source: Order.declared_value.currency
    shipping_address_id bigint, -- Id of the shipping address; the address itself is in pii.order_addresses. Source: Order.shipping_address.id
    ship_to_country varchar, -- Country of the shipping address. Source: OrderAddress.country of Order.shipping_address
    ship_to_region varchar, -- Region of the shipping address. Source: OrderAddress.region of Order.shipping_address
    ship_to_classification varchar, -- Kind of place, such as residential or commercial. Source: OrderAddress.classification of Order.shipping_address
    shipments_ids bigint[], -- The shipments of the order; join shipments.id. Source: Order.shipments[].id
    custom_greeting varchar, -- Greeting on the packing slip. Source: Order.custom_greeting
    other_shipping_options_virtual_excluded_services varchar[], -- Shipping methods that a virtual carrier must not use: exact codes, or patterns between slashes. Source: Order.other_shipping_options.virtual_excluded_services
    duties_payor_payor varchar, -- Party that pays the duties. Source: Order.duties_payor.payor
    duties_payor_tpb_group_id bigint, -- Third-party billing group that pays the duties; joins third_party_billing_groups.id. Source: Order.duties_payor.tpb_group_id
    created_at timestamptz, -- Time of creation (UTC). Source: Order.created_at
    updated_at timestamptz, -- Time of the last change (UTC). Source: Order.updated_at
    completed_at timestamptz, -- Time of completion (UTC). Source: Order.completed_at
    custom_fields json, -- Custom fields by code, as received. Source: Order.custom_fields
    weight_value double, -- Weight of the order, in weight_unit. Source: Order.weight.value
    weight_unit varchar, -- Unit of weight_value; the service uses lb. Source: Order.weight.unit
    total_item_count decimal(18, 4), -- Total quantity of items, in pieces; null if the service sent none, which does not mean 0. Source: Order.total_item_count
    submitted_by varchar, -- User or system that submitted the order. Source: Order.submitted_by
    submitted_by_type varchar, -- Kind of user or system that submitted the order. Source: Order.submitted_by_type
    backorder_policy varchar, -- Policy if stock is insufficient. Source: Order.backorder_policy
    "source" varchar, -- Origin of the order. Source: Order.source
    customer_note varchar, -- Note from the customer. Source: Order.customer_note
    batch_tag varchar, -- Tag that groups orders into batches. Source: Order.batch_tag
    desired_delivery_date date, -- Desired day of delivery. Source: Order.desired_delivery_date
    can_fulfill boolean, -- Whether the order can be fulfilled. Source: Order.can_fulfill
    can_fulfill_at timestamptz, -- Time from which the order can be fulfilled (UTC). Source: Order.can_fulfill_at
    is_address_modified boolean, -- Whether the address was changed. Source: Order.is_address_modified
    is_address_modified_auto boolean, -- Whether the address was changed automatically. Source: Order.is_address_modified_auto
    hold_until_time timestamptz, -- Time until which the order is held (UTC). Source: Order.hold_until_time
    tpb_group_id bigint, -- Third-party billing group; joins third_party_billing_groups.id. Source: Order.tpb_group.id
    retailer_id bigint, -- The retailer; joins retailers.id. Source: Order.retailer.id
    retailer_ship_to_location_id bigint, -- Ship-to location; joins retailer_ship_to_locations.id. Source: Order.retailer_ship_to_location.id
    mark_for_location_id bigint, -- Mark-for location; joins retailer_ship_to_locations.id. Source: Order.mark_for_location.id
    customs_value_amount decimal(18, 4), -- Customs value, in customs_value_currency. Source: Order.customs_value.amount
    customs_value_currency varchar, -- Currency of customs_value_amount, three letters. Source: Order.customs_value.currency
    reason_for_export varchar, -- Reason for export. Source: Order.reason_for_export
    generate_sscc varchar[], -- Units for which Serial Shipping Container Codes (SSCC) are generated. Source: Order.generate_sscc
    shipped_at timestamptz, -- When the order was shipped (UTC). Source: Order.shipped_at
    delivered_at timestamptz, -- When the order was delivered (UTC). Source: Order.delivered_at
    shipping_description varchar, -- Description of the shipping method. Source: Order.shipping_description
    carrier varchar, -- The carrier. Source: Order.carrier
    allocation_options json, -- Options for allocating stock, as received. Source: Order.allocation_options
    automation_data json, -- Data used by automations, as received. Source: Order.automation_data
    original_address_id bigint, -- Id of the address before it was changed; the address itself is in pii.order_addresses. Source: Order.original_address.id
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
