-- grain: one row an order
-- keys: id
-- root: orders by id
-- newer: updated_at
-- source: included.Order (spec 2.5)
-- notes: state and status are open sets; addresses are in schema pii
create table orders (
    id bigint, -- The order. Source: Order.id
    unique_id varchar, -- Number of the order as people know it. Source: Order.unique_id
    order_ref varchar, -- The merchant's own reference. Source: Order.order_ref
    state varchar, -- State, an open set: new, processing, complete, canceled, holded were seen. Source: Order.state
    status varchar, -- Status, an open set: the states and finer ones. Source: Order.status
    brand_id bigint, -- The brand; joins brands.id. Source: Order.brand.id
    merchant_id bigint, -- The merchant; joins merchants.id. Source: Order.merchant.id
    carrier_code varchar, -- Code of the carrier. Source: Order.carrier_code
    shipping_method varchar, -- Code of the shipping method asked for. Source: Order.shipping_method
    signature_required varchar, -- Which signature the delivery needs. Source: Order.signature_required
    is_saturday_delivery boolean, -- Whether it may be delivered on a Saturday. Source: Order.is_saturday_delivery
    is_overbox_required boolean, -- Whether it needs an overbox. Source: Order.is_overbox_required
    priority bigint, -- Priority. Source: Order.priority
    requested_ship_date date, -- Day on which shipping was asked for. Source: Order.requested_ship_date
    is_declared_value_service boolean, -- Whether a value is declared to the carrier. Source: Order.is_declared_value_service
    declared_value_amount decimal(18, 4), -- Value declared to the carrier, in declared_value_currency. Source: Order.declared_value.amount
    declared_value_currency varchar, -- Currency of declared_value_amount, three letters. Source: Order.declared_value.currency
    shipping_address_id bigint, -- The shipping address; the address is in pii.order_addresses. Source: Order.shipping_address.id
    shipments_ids bigint[], -- The shipments of the order; join shipments.id. Source: Order.shipments[].id
    custom_greeting varchar, -- Greeting on the packing slip. Source: Order.custom_greeting
    other_shipping_options_virtual_excluded_services varchar[], -- Shipping methods excluded for a virtual carrier: exact codes, or patterns between slashes. Source: Order.other_shipping_options.virtual_excluded_services
    duties_payor_payor varchar, -- Who pays the duties. Source: Order.duties_payor.payor
    duties_payor_tpb_group_id bigint, -- Third-party billing group that pays the duties; joins third_party_billing_groups.id. Source: Order.duties_payor.tpb_group_id
    created_at timestamptz, -- When it was created (UTC). Source: Order.created_at
    updated_at timestamptz, -- When it was last changed (UTC). Source: Order.updated_at
    completed_at timestamptz, -- When it was completed (UTC). Source: Order.completed_at
    custom_fields json, -- Custom fields by code, as they came. Source: Order.custom_fields
    weight_value double, -- Weight of the order, in weight_unit. Source: Order.weight.value
    weight_unit varchar, -- Unit of weight_value; the service answers in lb. Source: Order.weight.unit
    total_item_count decimal(18, 4), -- Number of items, in pieces. Source: Order.total_item_count
    submitted_by varchar, -- Who submitted it. Source: Order.submitted_by
    submitted_by_type varchar, -- What kind of user submitted it. Source: Order.submitted_by_type
    backorder_policy varchar, -- What happens when stock is missing. Source: Order.backorder_policy
    "source" varchar, -- Where the order came from. Source: Order.source
    customer_note varchar, -- Note of the customer. Source: Order.customer_note
    batch_tag varchar, -- Tag that groups orders into batches. Source: Order.batch_tag
    desired_delivery_date date, -- Day on which delivery is wished. Source: Order.desired_delivery_date
    can_fulfill boolean, -- Whether it can be fulfilled. Source: Order.can_fulfill
    can_fulfill_at timestamptz, -- From when it can be fulfilled (UTC). Source: Order.can_fulfill_at
    is_address_modified boolean, -- Whether the address was changed. Source: Order.is_address_modified
    is_address_modified_auto boolean, -- Whether the address was changed automatically. Source: Order.is_address_modified_auto
    hold_until_time timestamptz, -- Until when it is held (UTC). Source: Order.hold_until_time
    tpb_group_id bigint, -- Third-party billing group; joins third_party_billing_groups.id. Source: Order.tpb_group.id
    retailer_id bigint, -- The retailer; joins retailers.id. Source: Order.retailer.id
    retailer_ship_to_location_id bigint, -- Where it goes; joins retailer_ship_to_locations.id. Source: Order.retailer_ship_to_location.id
    mark_for_location_id bigint, -- The place it is marked for; joins retailer_ship_to_locations.id. Source: Order.mark_for_location.id
    customs_value_amount decimal(18, 4), -- Customs value, in customs_value_currency. Source: Order.customs_value.amount
    customs_value_currency varchar, -- Currency of customs_value_amount, three letters. Source: Order.customs_value.currency
    reason_for_export varchar, -- Reason for export. Source: Order.reason_for_export
    generate_sscc varchar[], -- For what Serial Shipping Container Codes are generated. Source: Order.generate_sscc
    shipped_at timestamptz, -- When it was shipped (UTC). Source: Order.shipped_at
    delivered_at timestamptz, -- When it was delivered (UTC). Source: Order.delivered_at
    shipping_description varchar, -- Shipping method in words. Source: Order.shipping_description
    carrier varchar, -- The carrier. Source: Order.carrier
    allocation_options json, -- How stock is allocated, as it came. Source: Order.allocation_options
    automation_data json, -- Data of automations, as it came. Source: Order.automation_data
    original_address_id bigint, -- The address before it was changed; the address is in pii.order_addresses. Source: Order.original_address.id
    _window_id varchar, -- The window that this row was read in. Source: wms-sync
    _page integer, -- The page of the window that this row was read from. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
