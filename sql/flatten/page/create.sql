-- grain: one row a page of the batch that is being flattened
-- keys: _page
-- source: the raw pages
-- notes: lives in memory for one batch; a kind under `included` is a column
create table page (
    _window_id varchar,
    _page integer,
    _extracted_at timestamptz,
    collection shipment[],
    "Brand" brand[],
    "Gallery" gallery[],
    "GalleryItem" gallery_item[],
    "Merchant" merchant[],
    "Order" "order"[],
    "OrderAddress" order_address[],
    "OrderAddressCandidate" order_address_candidate[],
    "OrderInstruction" order_instruction[],
    "OrderItem" order_item[],
    "OrderStatusHistory" order_status_history[],
    "PackagingContainer" packaging_container[],
    "PackagingDataCollection" packaging_data_collection[],
    "PackagingInfill" packaging_infill[],
    "PackagingInstruction" packaging_instruction[],
    "PackagingSupplies" packaging_supplies[],
    "Product" product[],
    "Retailer" retailer[],
    "RetailerShipToLocation" retailer_ship_to_location[],
    "Shipment" json,
    "ShipmentItem" shipment_item[],
    "ShipmentPackage" shipment_package[],
    "ShipmentPackageItem" shipment_package_item[],
    "ShipmentPackingSolution" shipment_packing_solution[],
    "ThirdPartyBillingGroup" third_party_billing_group[],
    "Warehouse" warehouse[]
)
