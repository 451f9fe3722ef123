-- grain: one row per shipment
-- keys: id
-- root: shipments by id
-- newer: updated_at
-- source: collection of a page (spec 2.4)
-- notes: status is an open set; items, packages and galleries have their own tables; a shipment that the service deletes stays, marked by _missing_since
create table shipments (
    id bigint, -- The shipment. Source: Shipment.id
    "type" varchar, -- Kind of object, as the service names it. Source: Shipment.type
    unique_id varchar, -- Human-readable number of the shipment. Source: Shipment.unique_id
    external_id varchar, -- Identifier of the shipment in another system. Source: Shipment.external_id
    status varchar, -- Status, an open set; values seen: new, picking, picked, packing, packed, shipped, canceled, voided. Source: Shipment.status
    shipping_carrier_code varchar, -- Code of the carrier. Source: Shipment.shipping_carrier_code
    shipping_method varchar, -- Code of the shipping method, carrier and service. Source: Shipment.shipping_method
    shipping_method_name varchar, -- Name of the shipping method. Source: Shipment.shipping_method_name
    shipping_service_code varchar, -- Code of the carrier's service. Source: Shipment.shipping_service_code
    shipping_service_name varchar, -- Name of the carrier's service. Source: Shipment.shipping_service_name
    warehouse_id bigint, -- The warehouse that the shipment leaves from; joins warehouses.id. Source: Shipment.warehouse.id
    order_id bigint, -- The order that the shipment fulfills; joins orders.id. Source: Shipment.order.id
    shipping_account_id bigint, -- The billed carrier account. Source: Shipment.shipping_account.id
    target_ship_date date, -- Day by which the shipment should leave. Source: Shipment.target_ship_date
    item_weight_value double, -- Weight of the items, in item_weight_unit. Source: Shipment.item_weight.value
    item_weight_unit varchar, -- Unit of item_weight_value; the service uses lb. Source: Shipment.item_weight.unit
    shipped_weight_value double, -- Weight that was shipped, in shipped_weight_unit. Source: Shipment.shipped_weight.value
    shipped_weight_unit varchar, -- Unit of shipped_weight_value; the service uses lb. Source: Shipment.shipped_weight.unit
    total_weight_value double, -- Total weight, in total_weight_unit. Source: Shipment.total_weight.value
    total_weight_unit varchar, -- Unit of total_weight_value; the service uses lb. Source: Shipment.total_weight.unit
    max_package_weight_value double, -- Maximum weight of one package, in max_package_weight_unit. Source: Shipment.max_package_weight.value
    max_package_weight_unit varchar, -- Unit of max_package_weight_value; the service uses lb. Source: Shipment.max_package_weight.unit
    packing_solution_id bigint, -- The computed packing solution; joins packing_solutions.id. Source: Shipment.packing_solution.id
    gallery_id bigint, -- Its photo gallery; joins galleries.id. Source: Shipment.gallery.id
    picking_class_id varchar, -- Id of the picking class, as text. Source: Shipment.picking_class_id
    is_cutoff_date_exception boolean, -- Whether the shipment is an exception to the cutoff date. Source: Shipment.is_cutoff_date_exception
    is_manually_processed boolean, -- Whether the shipment was processed manually. Source: Shipment.is_manually_processed
    label_print_target varchar, -- Where the labels of the shipment are printed. Source: Shipment.label_print_target
    scac varchar, -- Standard Carrier Alpha Code. Source: Shipment.scac
    carrier_shipping_cost decimal(18, 4), -- Amount charged by the carrier; the service sends no currency. Source: Shipment.carrier_shipping_cost
    is_international boolean, -- Whether the shipment crosses a border. Source: Shipment.is_international
    is_documents_required boolean, -- Whether documents are required. Source: Shipment.is_documents_required
    is_electronic_customs boolean, -- Whether customs declarations are electronic. Source: Shipment.is_electronic_customs
    infill_product_id varchar, -- Id of the infill product, as text. Source: Shipment.infill_product_id
    packing_solution_providers varchar[], -- Providers that may compute the packing solution. Source: Shipment.packing_solution_providers
    tpb_group varchar, -- Label of the third-party billing group. Source: Shipment.tpb_group
    retailer_id bigint, -- The retailer; joins retailers.id. Source: Shipment.retailer.id
    retailer_ship_to_location_id bigint, -- Ship-to location; joins retailer_ship_to_locations.id. Source: Shipment.retailer_ship_to_location.id
    mark_for_location_id bigint, -- Mark-for location; joins retailer_ship_to_locations.id. Source: Shipment.mark_for_location.id
    created_at timestamptz, -- Time of creation (UTC). Source: Shipment.created_at
    updated_at timestamptz, -- Time of the last change (UTC). Source: Shipment.updated_at
    packed_at timestamptz, -- Time of packing (UTC). Source: Shipment.packed_at
    _missing_since timestamptz, -- When an audit proved, by a request for the id, that the service no longer has the shipment, or a page first had it as a stub of a deleted shipment (UTC); null while the service has it. Source: wms-sync
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
