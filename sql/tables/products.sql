-- grain: one row per product or packaging item
-- keys: id
-- root: products by id
-- newer: updated_at
-- source: included.Product and the five packaging kinds (spec 2.3)
-- notes: type distinguishes the six kinds; a packaging item has only the common columns and options
create table products (
    id bigint, -- The product. Source: Product.id
    "type" varchar, -- Kind of object, as the service names it. Source: Product.type
    sku varchar, -- Stock keeping unit. Source: Product.sku
    "name" varchar, -- Name. Source: Product.name
    is_enabled boolean, -- Whether it is enabled. Source: Product.is_enabled
    vendor_sku varchar, -- The vendor's stock keeping unit. Source: Product.vendor_sku
    manufacturer_part_number varchar, -- The manufacturer's part number. Source: Product.manufacturer_part_number
    external_id varchar, -- Identifier in another system. Source: Product.external_id
    barcodes varchar[], -- Barcodes; those of a packaging item are in options. Source: Product.barcodes
    is_available boolean, -- Whether it is available. Source: Product.is_available
    is_visible boolean, -- Whether it is visible. Source: Product.is_visible
    goods_type varchar, -- Kind of goods, an open set: NORMAL, HAZMAT and others. Source: Product.goods_type
    lot_type_id bigint, -- Lot type of the product. Source: Product.lot_type.id
    weight_value double, -- Weight of one piece, in weight_unit. Source: Product.weight.value
    weight_unit varchar, -- Unit of weight_value; the service uses lb. Source: Product.weight.unit
    dimensions_length double, -- Length of one piece, in dimensions_unit. Source: Product.dimensions.length
    dimensions_width double, -- Width of one piece, in dimensions_unit. Source: Product.dimensions.width
    dimensions_height double, -- Height of one piece, in dimensions_unit. Source: Product.dimensions.height
    dimensions_unit varchar, -- Unit of the dimensions; the service uses in (inches). Source: Product.dimensions.unit
    volume_value double, -- Volume of one piece, in volume_unit. Source: Product.volume.value
    volume_unit varchar, -- Unit of volume_value; the service uses in^3. Source: Product.volume.unit
    inventory_backorders boolean, -- Whether the product can be ordered without stock. Source: Product.inventory.backorders
    inventory_dynamic_allocation boolean, -- Whether stock is allocated dynamically. Source: Product.inventory.dynamic_allocation
    inventory_virtual_inventory varchar, -- How the stock of a bundle is computed: none, optimistic, realistic, pessimistic. Source: Product.inventory.virtual_inventory
    export_description varchar, -- Description for customs. Source: Product.export.description
    export_customs_value_amount decimal(18, 4), -- Customs value of one piece, in export_customs_value_currency. Source: Product.export.customs_value.amount
    export_customs_value_currency varchar, -- Currency of export_customs_value_amount, three letters. Source: Product.export.customs_value.currency
    export_country_of_manufacture varchar, -- Country of manufacture, two letters. Source: Product.export.country_of_manufacture
    export_hs_base_code varchar, -- Base of the Harmonized System code; digits, kept as text. Source: Product.export.hs_base_code
    export_hs_country_extension struct(country_id varchar, extension varchar)[], -- Extensions of the Harmonized System code by country. Source: Product.export.hs_country_extension
    regulated_goods_regulation_id bigint, -- The regulation that applies to the product. Source: Product.regulated_goods.regulation.id
    regulated_goods_technical_name varchar, -- Technical name of the hazardous material. Source: Product.regulated_goods.technical_name
    regulated_goods_additional_information varchar, -- Additional information. Source: Product.regulated_goods.additional_information
    regulated_goods_net_weight_value double, -- Net weight of the hazardous material, in regulated_goods_net_weight_unit. Source: Product.regulated_goods.net_weight.value
    regulated_goods_net_weight_unit varchar, -- Unit of regulated_goods_net_weight_value; the service uses lb. Source: Product.regulated_goods.net_weight.unit
    regulated_goods_container_type varchar, -- Type of the container for hazardous materials. Source: Product.regulated_goods.container_type
    regulated_goods_container_meets_hazmat_specs boolean, -- Whether its container meets the specification for hazardous materials. Source: Product.regulated_goods.container_meets_hazmat_specs
    regulated_goods_regulation_units bigint, -- Number of regulated units. Source: Product.regulated_goods.regulation_units
    packaging_require_packaging boolean, -- Whether the product must be packaged. Source: Product.packaging.require_packaging
    packaging_require_weight_check boolean, -- Whether the weight is checked. Source: Product.packaging.require_weight_check
    packaging_require_confirmation_per_item boolean, -- Whether each piece must be confirmed while packing. Source: Product.packaging.require_confirmation_per_item
    packaging_unit_quantity decimal(18, 4), -- Number of pieces in a unit. Source: Product.packaging.unit_quantity
    packaging_bulk_quantity decimal(18, 4), -- Number of pieces in a bulk unit. Source: Product.packaging.bulk_quantity
    packaging_max_per_package bigint, -- Maximum number of pieces in one package. Source: Product.packaging.max_per_package
    packaging_is_ship_separately boolean, -- Whether the product ships separately. Source: Product.packaging.is_ship_separately
    packaging_ship_separately_tag varchar, -- Tag of products that ship separately. Source: Product.packaging.ship_separately_tag
    packaging_can_tip boolean, -- Whether the product may be tipped over. Source: Product.packaging.can_tip
    packaging_can_contain_other_items boolean, -- Whether other items may be packed in its box. Source: Product.packaging.can_contain_other_items
    packaging_is_handling_surcharge boolean, -- Whether a handling surcharge applies. Source: Product.packaging.is_handling_surcharge
    custom_fields json, -- Custom fields, a list of code, value and label, as received. Source: Product.custom_fields
    merchant_id bigint, -- The merchant that the product belongs to; joins merchants.id. Source: Product.merchant.id
    options json, -- Options of a packaging item, as received; null for a Product. Source: container_options, supplies_options, data_collection_options, instruction_options or infill_options
    created_at timestamptz, -- Time of creation (UTC). Source: Product.created_at
    updated_at timestamptz, -- Time of the last change (UTC). Source: Product.updated_at
    _window_id varchar, -- Window in which this row was read. Source: wms-sync
    _page integer, -- Number of the page in that window. Source: wms-sync
    _extracted_at timestamptz -- When that page was received (UTC). Source: wms-sync
)
