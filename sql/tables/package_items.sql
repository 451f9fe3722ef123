-- grain: one row per item in a package
-- keys: shipment_id, package_position, position
-- same: id, sku
-- root: shipments by shipment_id
-- parent: packages by shipment_id, package_position
-- newer: _extracted_at
-- source: ShipmentPackage.items, merged with included.ShipmentPackageItem if present (spec 2.4)
-- notes: order_item_qty and order_item_quantity are two names for the same field
create table package_items (
    shipment_id bigint, -- The shipment; joins shipments.id. Source: Shipment.id
    package_position integer, -- The package; joins packages.position. Source: order of Shipment.packages
    position integer, -- Position of the item in the package, from 1. Source: order of ShipmentPackage.items
    id bigint, -- Id of the package item, if the service sends one. Source: ShipmentPackageItem.id
    sku varchar, -- Stock keeping unit. Source: ShipmentPackageItem.sku
    "name" varchar, -- Name of the product. Source: ShipmentPackageItem.name
    quantity decimal(18, 4), -- Quantity in the package, in pieces; null if the service sent none, which does not mean 0. Source: ShipmentPackageItem.quantity
    weight_value double, -- Weight, in weight_unit. Source: ShipmentPackageItem.weight.value
    weight_unit varchar, -- Unit of weight_value; the service uses lb. Source: ShipmentPackageItem.weight.unit
    hazmat_unit_weight_value double, -- Weight of the hazardous material in one piece, in hazmat_unit_weight_unit. Source: ShipmentPackageItem.hazmat_unit_weight.value
    hazmat_unit_weight_unit varchar, -- Unit of hazmat_unit_weight_value; the service uses lb. Source: ShipmentPackageItem.hazmat_unit_weight.unit
    customs_value_amount decimal(18, 4), -- Customs value of one piece, in customs_value_currency. Source: ShipmentPackageItem.customs_value.amount
    customs_value_currency varchar, -- Currency of customs_value_amount, three letters. Source: ShipmentPackageItem.customs_value.currency
    total_customs_value_amount decimal(18, 4), -- Customs value of the whole quantity, in total_customs_value_currency. Source: ShipmentPackageItem.total_customs_value.amount
    total_customs_value_currency varchar, -- Currency of total_customs_value_amount, three letters. Source: ShipmentPackageItem.total_customs_value.currency
    order_item_id bigint, -- The order item; joins order_items.id. Source: ShipmentPackageItem.order_item_id
    order_item_sku varchar, -- Stock keeping unit of the order item. Source: ShipmentPackageItem.order_item_sku
    order_item_quantity decimal(18, 4), -- Quantity of the order item, in pieces; null if the service sent none, which does not mean 0. Source: ShipmentPackageItem.order_item_quantity, or order_item_qty
    shipment_item_id bigint, -- The shipment item; joins shipment_items.id. Source: ShipmentPackageItem.shipment_item_id
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
