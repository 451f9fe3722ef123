-- Products, the five packaging kinds, and their brands, merchants and warehouses (spec 2.3, 2.5).
-- The options object has a different name and different fields in each packaging kind, so it stays JSON.
create type brand as struct(
    "type" varchar,
    id bigint,
    code varchar,
    "name" varchar,
    is_active boolean,
    is_deleted boolean,
    sort_order bigint
);
create type merchant as struct(
    "type" varchar,
    id bigint,
    code varchar,
    "name" varchar,
    status varchar,
    created_at timestamptz,
    updated_at timestamptz,
    brands reference[],
    default_brand reference,
    custom_fields json
);
create type warehouse as struct(
    "type" varchar,
    id bigint,
    "name" varchar,
    abbreviation varchar,
    is_active boolean
);
create type product as struct(
    "type" varchar,
    id bigint,
    sku varchar,
    "name" varchar,
    is_enabled boolean,
    vendor_sku varchar,
    manufacturer_part_number varchar,
    external_id varchar,
    barcodes varchar[],
    is_available boolean,
    is_visible boolean,
    goods_type varchar,
    lot_type reference,
    weight measure,
    dimensions dimensions,
    volume measure,
    inventory struct(backorders boolean, dynamic_allocation boolean, virtual_inventory varchar),
    export struct(
        description varchar,
        customs_value money,
        country_of_manufacture varchar,
        hs_base_code varchar,
        hs_country_extension struct(country_id varchar, extension varchar)[]
    ),
    regulated_goods struct(
        regulation reference,
        technical_name varchar,
        additional_information varchar,
        net_weight measure,
        container_type varchar,
        container_meets_hazmat_specs boolean,
        regulation_units bigint
    ),
    packaging struct(
        require_packaging boolean,
        require_weight_check boolean,
        require_confirmation_per_item boolean,
        unit_quantity decimal(18, 4),
        bulk_quantity decimal(18, 4),
        max_per_package bigint,
        is_ship_separately boolean,
        ship_separately_tag varchar,
        can_tip boolean,
        can_contain_other_items boolean,
        is_handling_surcharge boolean
    ),
    custom_fields json,
    merchant reference,
    created_at timestamptz,
    updated_at timestamptz
);
create type packaging_container as struct(
    "type" varchar,
    id bigint,
    sku varchar,
    "name" varchar,
    is_enabled boolean,
    merchant reference,
    created_at timestamptz,
    updated_at timestamptz,
    container_options json
);
create type packaging_supplies as struct(
    "type" varchar,
    id bigint,
    sku varchar,
    "name" varchar,
    is_enabled boolean,
    merchant reference,
    created_at timestamptz,
    updated_at timestamptz,
    supplies_options json
);
create type packaging_data_collection as struct(
    "type" varchar,
    id bigint,
    sku varchar,
    "name" varchar,
    is_enabled boolean,
    merchant reference,
    created_at timestamptz,
    updated_at timestamptz,
    data_collection_options json
);
create type packaging_instruction as struct(
    "type" varchar,
    id bigint,
    sku varchar,
    "name" varchar,
    is_enabled boolean,
    merchant reference,
    created_at timestamptz,
    updated_at timestamptz,
    instruction_options json
);
create type packaging_infill as struct(
    "type" varchar,
    id bigint,
    sku varchar,
    "name" varchar,
    is_enabled boolean,
    merchant reference,
    created_at timestamptz,
    updated_at timestamptz,
    infill_options json
);
