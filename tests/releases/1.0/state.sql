SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;
SET default_tablespace = '';
SET default_table_access_method = heap;
CREATE TABLE public.acknowledgements (
    item character varying(64) NOT NULL,
    facts character varying(64) NOT NULL,
    acknowledged_at timestamp without time zone NOT NULL
);
CREATE TABLE public.alerts (
    id character varying(36) NOT NULL,
    channel character varying(32) NOT NULL,
    body text NOT NULL,
    created_at timestamp without time zone NOT NULL,
    due_at timestamp without time zone NOT NULL,
    attempts integer NOT NULL,
    refusal text
);
CREATE TABLE public.audits (
    window_id character varying(64) NOT NULL,
    run_id character varying(64) NOT NULL,
    read_at timestamp without time zone NOT NULL,
    after_id bigint NOT NULL,
    to_id bigint NOT NULL,
    settled_at timestamp without time zone NOT NULL,
    settled_counted bigint NOT NULL,
    total_to_id bigint NOT NULL,
    total_counted bigint NOT NULL,
    compared bigint,
    changed bigint,
    missed bigint,
    absent bigint,
    orders_changed bigint,
    settled_in_tables bigint,
    total_in_tables bigint,
    voided bigint,
    examples text
);
CREATE TABLE public.forgotten_orders (
    order_id bigint NOT NULL,
    asked_at timestamp without time zone NOT NULL,
    done_at timestamp without time zone
);
CREATE TABLE public.installation (
    id character varying(32) NOT NULL,
    snapshot bigint NOT NULL,
    trouble text
);
CREATE TABLE public.leases (
    what character varying(32) NOT NULL,
    epoch bigint NOT NULL,
    purpose text NOT NULL,
    run_id character varying(64),
    process bigint NOT NULL,
    host character varying(255) NOT NULL,
    began_at timestamp without time zone NOT NULL
);
CREATE TABLE public.missing_shipments (
    shipment_id bigint NOT NULL,
    window_id character varying(64) NOT NULL,
    missing_since timestamp without time zone NOT NULL,
    returned_at timestamp without time zone
);
CREATE TABLE public.observations (
    name character varying(64) NOT NULL,
    value bigint NOT NULL,
    about text NOT NULL,
    observed_at timestamp without time zone NOT NULL
);
CREATE TABLE public.pages (
    window_id character varying(64) NOT NULL,
    number integer NOT NULL,
    file character varying(64) NOT NULL,
    next_cursor bigint,
    records integer NOT NULL,
    last_id bigint,
    bytes bigint NOT NULL,
    content_bytes bigint NOT NULL,
    sha256 character varying(64) NOT NULL,
    served_at timestamp without time zone NOT NULL
);
CREATE TABLE public.push_files (
    service text NOT NULL,
    kind character varying(32) NOT NULL,
    path text NOT NULL,
    sha256 text NOT NULL,
    run_id character varying(64) NOT NULL,
    unsent bigint NOT NULL,
    waits bigint NOT NULL,
    rejected bigint NOT NULL,
    corrected bigint NOT NULL,
    rejects text,
    reason text,
    began_at timestamp without time zone NOT NULL,
    ended_at timestamp without time zone
);
CREATE TABLE public.push_ledger (
    service text NOT NULL,
    kind character varying(32) NOT NULL,
    key text NOT NULL,
    state character varying(16) NOT NULL,
    body text NOT NULL,
    body_sha256 character varying(64) NOT NULL,
    remote_id bigint,
    run_id character varying(64) NOT NULL,
    attempts integer NOT NULL,
    message text,
    intended_at timestamp without time zone NOT NULL,
    settled_at timestamp without time zone,
    seen_at timestamp without time zone
);
CREATE TABLE public.read_plans (
    from_at timestamp without time zone NOT NULL,
    to_at timestamp without time zone NOT NULL,
    since timestamp without time zone NOT NULL,
    horizon timestamp without time zone NOT NULL,
    counted bigint,
    highest_id bigint NOT NULL
);
CREATE TABLE public.read_warnings (
    name text NOT NULL,
    text text NOT NULL,
    warned_at timestamp without time zone NOT NULL
);
CREATE TABLE public.refusals (
    service text NOT NULL,
    api_version character varying(16) NOT NULL,
    parameter character varying(128) NOT NULL,
    said text NOT NULL,
    tried_at timestamp without time zone NOT NULL
);
CREATE TABLE public.runs (
    run_id character varying(64) NOT NULL,
    purpose text NOT NULL,
    source character varying(32) NOT NULL,
    started_at timestamp without time zone NOT NULL,
    ended_at timestamp without time zone,
    due_at timestamp without time zone,
    outcome character varying(16) NOT NULL,
    error text,
    error_kind character varying(64),
    phases text NOT NULL,
    counts text NOT NULL,
    data_as_of timestamp without time zone,
    number bigint NOT NULL
);
CREATE TABLE public.schema_migrations (
    name character varying(64) NOT NULL,
    applied_at timestamp without time zone NOT NULL
);
CREATE TABLE public.sent_alerts (
    finding text NOT NULL,
    facts text NOT NULL,
    text text NOT NULL,
    sent_at timestamp without time zone NOT NULL
);
CREATE TABLE public.windows (
    id character varying(64) NOT NULL,
    from_at timestamp without time zone NOT NULL,
    to_at timestamp without time zone NOT NULL,
    state character varying(16) NOT NULL,
    reason character varying(16) NOT NULL,
    run_id character varying(64) NOT NULL,
    signature text NOT NULL,
    count_reported bigint,
    pages integer NOT NULL,
    records bigint NOT NULL,
    bytes bigint NOT NULL,
    started_at timestamp without time zone NOT NULL,
    landed_at timestamp without time zone,
    loaded_at timestamp without time zone,
    read_seconds double precision,
    service text,
    omitted json NOT NULL
);
INSERT INTO public.audits VALUES ('audit-20260331T125008Z-16575b', '97b421e1-333f-41a4-a260-b99d99e5279e', '2026-11-28 10:00:42.490018', 0, 100149, '2026-03-31 12:50:08', 126, 100390, 130, 50, 0, 0, 0, 0, 126, 130, 0, '{}');
INSERT INTO public.forgotten_orders VALUES (3, '2026-11-28 10:00:46.725144', '2026-11-28 10:00:48.56966');
INSERT INTO public.installation VALUES ('aaa009ba59e21cda', 8, NULL);
INSERT INTO public.leases VALUES ('writer', 1, 'recovery', NULL, 6739, 'vm', '2026-11-28 10:00:51.05484');
INSERT INTO public.observations VALUES ('published', 9056256, 'analytics.duckdb', '2026-11-28 10:00:46.501981');
INSERT INTO public.observations VALUES ('records_before_start', 0, '2026-03-01T00:00:00+00:00', '2026-11-28 10:00:42.481083');
INSERT INTO public.observations VALUES ('service_clock_ahead_seconds', -20898032, '-20898032', '2026-11-28 10:00:42.000185');
INSERT INTO public.observations VALUES ('service_clock_at_boot', 1774914217, 'b28e4a0b-26ee-46ce-9395-95be7ecdcf6f', '2026-11-28 10:00:42.00019');
INSERT INTO public.observations VALUES ('shipment_found_by_filter', 100008, 'http://127.0.0.1:1', '2026-11-28 10:00:36.594595');
INSERT INTO public.pages VALUES ('20260301T000000Z-20260331T115958Z-df1845', 1, 'page-00001.json.gz', 100153, 50, 100149, 60611, 423505, '10a954d55353827c523febb4619b0580c95e7589354563f122995285afa27b78', '2026-03-31 12:00:00');
INSERT INTO public.pages VALUES ('20260301T000000Z-20260331T115958Z-df1845', 2, 'page-00002.json.gz', 100301, 50, 100300, 61436, 438988, '9143bec6ebac0f23515d243555aba1d88ea52f25a82d8463aa0869e195006bb1', '2026-03-31 12:00:00');
INSERT INTO public.pages VALUES ('20260301T000000Z-20260331T115958Z-df1845', 3, 'page-00003.json.gz', NULL, 20, 100359, 28531, 176971, '4e9379564a4236e13e193748757cf6e39f7f8a116b1974b2f7f4e5dfc8bc8264', '2026-03-31 12:00:00');
INSERT INTO public.pages VALUES ('20260331T114958Z-20260331T130008Z-0d048d', 1, 'page-00001.json.gz', NULL, 34, 100390, 48008, 320982, 'db41ea7fadaa8a0893eebe86c9d4321416693b8391ab197a8cebd3447c07df1e', '2026-03-31 13:00:10');
INSERT INTO public.pages VALUES ('audit-20260331T125008Z-16575b', 1, 'page-00001.json.gz', NULL, 50, 100149, 60497, 423099, 'b293a54b96fb7d420558a3f2eb72abc42c624b7cb30031834538967660fb75ce', '2026-03-31 13:00:10');
INSERT INTO public.push_files VALUES ('http://127.0.0.1:1', 'location-tags', '/tmp/wms-sync/src/wms_sync/master_data/samples/location-tags.csv', '8d3165613745b174e50b3f066bd9f1965b0a3a0b6b1bf93a70fa96dcc8d07c21', '0cd9c700-5c8c-43a5-a97b-cccb4891c770', 0, 0, 0, 0, NULL, NULL, '2026-11-28 10:00:40.620912', '2026-11-28 10:00:40.73009');
INSERT INTO public.push_files VALUES ('http://127.0.0.1:1', 'products', '/tmp/wms-sync/src/wms_sync/master_data/samples/products.csv', '3070d53d4cb0ced0072259cfe867886f4e66ebecad85632f8a03df589ce43c8e', '6696fa2a-c56e-4155-99c1-9329944fab7f', 0, 0, 0, 0, NULL, NULL, '2026-11-28 10:00:41.426951', '2026-11-28 10:00:41.706027');
INSERT INTO public.push_files VALUES ('http://127.0.0.1:1', 'retailers', '/tmp/wms-sync/src/wms_sync/master_data/samples/retailers.csv', '13e108aeb034098fca05b37703cc702ad4b2d286707b3058621a703da28dcf5e', '47db480b-6c29-421f-89a5-f07e9047c082', 0, 0, 0, 0, NULL, NULL, '2026-11-28 10:00:40.945417', '2026-11-28 10:00:41.103437');
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'location-tags', 'Fragile', 'created', '{"color":"red4","description":"Glass and ceramics only","name":"Fragile","sort_order":10}', '7678afd648f38042757dbe23045fbeae44459384537dfc09dc56cb67734b2283', 1, '0cd9c700-5c8c-43a5-a97b-cccb4891c770', 1, NULL, '2026-11-28 10:00:40.70207', '2026-11-28 10:00:40.71586', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'location-tags', 'Near dock door', 'created', '{"color":"blue1","name":"Near dock door"}', '4df380c5eb43834955d81fa8bd6496e019b710982f623fef03c23de308cd8b5c', 3, '0cd9c700-5c8c-43a5-a97b-cccb4891c770', 1, NULL, '2026-11-28 10:00:40.702115', '2026-11-28 10:00:40.723048', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'location-tags', 'Kühlzone', 'created', '{"color":"green5","description":"2 to 8 °C","name":"Kühlzone","sort_order":-1}', '80a5c44cb1c07a09428f1ed21c2dca60badf29e7196b94f5aefc088e3727b58e', 2, '0cd9c700-5c8c-43a5-a97b-cccb4891c770', 1, NULL, '2026-11-28 10:00:40.702118', '2026-11-28 10:00:40.723099', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'retailers', 'NWT', 'created', '{"allowed_shipping_methods":["ups_GROUND","fedex_2DAY"],"code":"NWT","custom_fields":{"channels":[{"id":1,"label":"Stores"},{"id":2,"label":"Web"}],"credit_limit":{"amount":25000.5,"currency":"USD"},"edi_id":{"value":"0042"},"is_strategic":{"value":true},"store_count":{"value":118},"tier":{"id":3,"label":"Gold"}},"dba":"Northwind","default_duties_payor":"third_party","default_shipping_method":"ups_GROUND","fulfillment_model":"wholesale","legal_name":"Northwind Traders, Inc.","name":"Northwind Traders","routing_guide_notes":"Book an appointment for more than 4 pallets.\nLabels face out.","status":"active"}', '5d283a3cbd362d502fffe17ae7f0a9025cbb82bbcc31e2ff97c42cdbe7f96f57', 1001, '47db480b-6c29-421f-89a5-f07e9047c082', 1, NULL, '2026-11-28 10:00:41.014296', '2026-11-28 10:00:41.043632', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'retailers', 'NWT-WEST', 'created', '{"code":"NWT-WEST","name":"Northwind Traders West","parent_retailer":{"id":647,"type":"Retailer"},"type":"Retailer"}', 'd58d213b105e1d4a19f5be3e390aca5170daad346ea4acef87124af7d03c2b39', 1004, '47db480b-6c29-421f-89a5-f07e9047c082', 1, NULL, '2026-11-28 10:00:41.014358', '2026-11-28 10:00:41.042032', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'retailers', 'NWT-EAST', 'created', '{"code":"NWT-EAST","custom_fields":{"notes":{"value":"dock 4 only"},"region":{"id":12,"label":"East"}},"fulfillment_model":"drop_ship","name":"Northwind Traders East","parent_retailer":"NWT","status":"active"}', '16c051e095cee3f8aac8236c72fbb9550633ffdf1e1ead54de77a47ba3130d4b', 1007, '47db480b-6c29-421f-89a5-f07e9047c082', 1, NULL, '2026-11-28 10:00:41.04371', '2026-11-28 10:00:41.057977', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'products', 'MUG-01', 'created', '{"barcodes":["0012345678905","0012345678912"],"custom_fields":[{"code":"is_seasonal","value":false},{"code":"line","label":"Tableware","value":{"id":7}},{"code":"season","value":"spring"}],"dimensions":{"height":4.25,"length":5,"width":4},"export":{"country_of_manufacture":"PT","customs_value":{"amount":7.5,"currency":"USD"},"description":"Ceramic mug","hs_base_code":"691200","hs_country_extension":[{"country_id":"US","extension":"4810"},{"country_id":"CA","extension":"90"}]},"external_id":"erp-5501","goods_type":"NORMAL","inventory":{"backorders":false,"dynamic_allocation":true,"virtual_inventory":"optimistic"},"is_available":true,"is_enabled":true,"is_visible":true,"lot_type":{"id":1,"type":"LotType"},"manufacturer_part_number":"SW-12","name":"Stoneware mug, 12 oz","packaging":{"bulk_quantity":24,"can_contain_other_items":false,"can_tip":false,"is_handling_surcharge":false,"is_ship_separately":false,"max_per_package":12,"require_confirmation_per_item":false,"require_packaging":true,"require_weight_check":false,"ship_separately_tag":"fragile","unit_quantity":1},"regulated_goods":{"additional_information":"Glaze is free of lead","container_meets_hazmat_specs":false,"container_type":"Box","net_weight":{"value":0.8},"regulation":{"id":1,"type":"Regulation"},"regulation_units":1,"technical_name":"Ceramic glaze"},"sku":"MUG-01","type":"Product","vendor_sku":"00123","volume":{"value":85},"weight":{"value":0.85}}', '962df4e3e7be8a2b973ab63f33af91afd3e3aed87390d6fd9be2567569babf14', 2147484100, '6696fa2a-c56e-4155-99c1-9329944fab7f', 1, NULL, '2026-11-28 10:00:41.615157', '2026-11-28 10:00:41.657266', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'products', 'BOX-20', 'created', '{"container_options":{"allow_for_brands":[{"id":12,"type":"Merchant"},{"id":13,"type":"Merchant"}],"allow_for_warehouses":[{"id":1,"type":"Warehouse"},{"id":2,"type":"Warehouse"}],"associated_products":[{"id":2147483000,"type":"Product"}],"disallow_for_brands":[{"id":14,"type":"Merchant"}]},"is_enabled":true,"merchant":{"id":11,"type":"Merchant"},"name":"Box 20 x 12 x 10","sku":"BOX-20","type":"PackagingContainer"}', 'bbd61a83aaef5a87c894d339f1ea67e53bdf870964ebe55a3ca869dd2193e781', 2147484104, '6696fa2a-c56e-4155-99c1-9329944fab7f', 1, NULL, '2026-11-28 10:00:41.615211', '2026-11-28 10:00:41.673983', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'products', 'TAPE-HEAVY', 'created', '{"is_enabled":true,"name":"Heavy tape","sku":"TAPE-HEAVY","supplies_options":{"allow_for_brands":[{"id":12,"type":"Merchant"},{"id":13,"type":"Merchant"}],"allow_for_warehouses":[{"id":1,"type":"Warehouse"},{"id":2,"type":"Warehouse"}],"associated_products":[{"id":2147483000,"type":"Product"}],"disallow_for_brands":[{"id":14,"type":"Merchant"}]},"type":"PackagingSupplies"}', '8e52c7f2b74d0981dba0eaf1795f7264ad10536a9cd5f417fad2a1bedfa86d4d', 2147484102, '6696fa2a-c56e-4155-99c1-9329944fab7f', 1, NULL, '2026-11-28 10:00:41.615216', '2026-11-28 10:00:41.661257', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'products', 'LOT', 'created', '{"data_collection_options":{"allow_for_brands":[{"id":12,"type":"Merchant"},{"id":13,"type":"Merchant"}],"associated_products":[{"id":2147483000,"type":"Product"}],"disallow_for_brands":[{"id":14,"type":"Merchant"}]},"is_enabled":true,"name":"Note the lot","sku":"LOT","type":"PackagingDataCollection"}', 'd5f4aea083d1938be07432663b1fb556d7cd992a3d5b45ad0029c7e54d8c656b', 2147484106, '6696fa2a-c56e-4155-99c1-9329944fab7f', 1, NULL, '2026-11-28 10:00:41.615219', '2026-11-28 10:00:41.674036', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'products', 'THIS-SIDE-UP', 'created', '{"instruction_options":{"allow_for_brands":[{"id":12,"type":"Merchant"},{"id":13,"type":"Merchant"}],"associated_products":[{"id":2147483000,"type":"Product"}],"disallow_for_brands":[{"id":14,"type":"Merchant"}]},"is_enabled":true,"name":"This side up","sku":"THIS-SIDE-UP","type":"PackagingInstruction"}', 'eb0740889966c849ca822aa96d38acc1182b6fce0d41c10a3b74c1e06156265d', 2147484110, '6696fa2a-c56e-4155-99c1-9329944fab7f', 1, NULL, '2026-11-28 10:00:41.615222', '2026-11-28 10:00:41.67405', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'products', 'AIR', 'created', '{"infill_options":{"allow_for_brands":[{"id":12,"type":"Merchant"},{"id":13,"type":"Merchant"}],"associated_products":[{"id":2147483000,"type":"Product"}],"disallow_for_brands":[{"id":14,"type":"Merchant"}]},"is_enabled":true,"name":"Air pillows","sku":"AIR","type":"PackagingInfill"}', '82bd9d59633aec0f94ebd2a1c7b2729ecb54f4aecc4d313ef10c82fc17f3fcb5', 2147484108, '6696fa2a-c56e-4155-99c1-9329944fab7f', 1, NULL, '2026-11-28 10:00:41.615225', '2026-11-28 10:00:41.674062', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'products', 'BOX-12', 'created', '{"container_options":{"allow_for_brands":["m01","m02"],"allow_for_shipping_methods":["ups_GROUND","fedex_2DAY"],"allow_for_warehouses":["Springfield DC 0"],"associated_products":["MUG-01"],"barcodes":"0012345678905","billing_amount":{"amount":0.75,"currency":"USD"},"container_style":"rigid_box","dimensions":{"height":4.5,"length":12,"width":8},"disallow_for_brands":["m03"],"manage_stock":true,"packaging_handling_surcharge":false,"satisfies_overbox":true,"use_for_bin_packing":"yes","volume":{"value":432},"weight":{"value":0.25},"weight_capacity":{"unit":"lb","value":40}},"is_enabled":true,"merchant":"m01","name":"Box 12 x 8 x 4.5","sku":"BOX-12","type":"PackagingContainer"}', 'fd841d212e792256cf8c1085ea574f8a6637cbf33fb9b5c9867b8f55d2079768', 2147484116, '6696fa2a-c56e-4155-99c1-9329944fab7f', 1, NULL, '2026-11-28 10:00:41.661325', '2026-11-28 10:00:41.694607', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'products', 'TAPE-FRAGILE', 'created', '{"is_enabled":true,"name":"Fragile tape","sku":"TAPE-FRAGILE","supplies_options":{"allow_for_brands":["m01","m02"],"allow_for_shipping_methods":["ups_GROUND","fedex_2DAY"],"allow_for_warehouses":["Springfield DC 0"],"apply_only_above_weight":{"unit":"lb","value":5},"apply_to_goods_type":"any","apply_to_multi_sku_package":true,"apply_to_region":"US-CA","apply_unless_container_meets_hazmat":true,"associated_products":["MUG-01"],"barcodes":"0012345678905","billing_amount":{"amount":0.75,"currency":"USD"},"disable_confirm_button":false,"disallow_for_brands":["m03"],"manage_stock":true,"never_apply_to_goods_type":"ORM_D","one_per":"order","packaging_handling_surcharge":false,"require_packaging_type":"overbox","require_scan_timing":"after_product_scan|on_full","weight":{"value":0.25}},"type":"PackagingSupplies"}', 'e376dcd045bc282fe64552de02d0f4bd96c035d8aed4a1f93b8242816e0698a5', 2147484112, '6696fa2a-c56e-4155-99c1-9329944fab7f', 1, NULL, '2026-11-28 10:00:41.66133', '2026-11-28 10:00:41.69343', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'products', 'SERIAL', 'created', '{"data_collection_options":{"allow_for_brands":["m01","m02"],"allow_for_shipping_methods":["ups_GROUND","fedex_2DAY"],"apply_only_above_weight":{"unit":"lb","value":5},"apply_to_goods_type":"any","apply_to_multi_sku_package":true,"apply_to_region":"US-CA","apply_unless_container_meets_hazmat":true,"associated_products":["MUG-01"],"billing_amount":{"amount":0.75,"currency":"USD"},"collect_data_pattern":"^SN[0-9]{6}$","disable_confirm_button":false,"disallow_for_brands":["m03"],"is_collected_data_unique":true,"never_apply_to_goods_type":"ORM_D","one_per":"order","require_packaging_type":"overbox","require_scan_timing":"after_product_scan|on_full"},"is_enabled":true,"name":"Note the serial number","sku":"SERIAL","type":"PackagingDataCollection"}', '3fc08eb5d35803728f17946e07c25abae8415c9106377838d5d8be9abed8ef5c', 2147484114, '6696fa2a-c56e-4155-99c1-9329944fab7f', 1, NULL, '2026-11-28 10:00:41.661333', '2026-11-28 10:00:41.693464', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'products', 'WRAP-TWICE', 'created', '{"instruction_options":{"allow_for_brands":["m01","m02"],"allow_for_shipping_methods":["ups_GROUND","fedex_2DAY"],"apply_only_above_weight":{"unit":"lb","value":5},"apply_to_goods_type":"any","apply_to_multi_sku_package":true,"apply_to_region":"US-CA","apply_unless_container_meets_hazmat":true,"associated_products":["MUG-01"],"barcodes":"0012345678905","billing_amount":{"amount":0.75,"currency":"USD"},"disable_confirm_button":false,"disallow_for_brands":["m03"],"never_apply_to_goods_type":"ORM_D","one_per":"order","require_packaging_type":"overbox","require_scan_timing":"after_product_scan|on_full"},"is_enabled":true,"name":"Wrap twice","sku":"WRAP-TWICE","type":"PackagingInstruction"}', 'dc32155d0056dcc442c3abd4bb7bc53f34ce3b118a9b162fa23bc2989bbfd7b5', 2147484118, '6696fa2a-c56e-4155-99c1-9329944fab7f', 1, NULL, '2026-11-28 10:00:41.661336', '2026-11-28 10:00:41.696216', NULL);
INSERT INTO public.push_ledger VALUES ('http://127.0.0.1:1', 'products', 'PAPER', 'created', '{"infill_options":{"allow_for_brands":["m01","m02"],"apply_unless_container_meets_hazmat":true,"associated_products":["MUG-01"],"barcodes":"0012345678905","billing_amount":{"amount":0.75,"currency":"USD"},"disable_confirm_button":false,"disallow_for_brands":["m03"],"infill_horizontal":{"unit":"in","value":1.5},"infill_priority":1,"infill_vertical":{"unit":"in","value":2},"is_confirmation_required":false,"manage_stock":true,"weight":{"value":0.25}},"is_enabled":true,"name":"Kraft paper","sku":"PAPER","type":"PackagingInfill"}', 'befa3602057c520fe985ab07ded2620beb7657b9ab25f7ef63c244906089a45b', 2147484120, '6696fa2a-c56e-4155-99c1-9329944fab7f', 1, NULL, '2026-11-28 10:00:41.674122', '2026-11-28 10:00:41.698343', NULL);
INSERT INTO public.runs VALUES ('0cd9c700-5c8c-43a5-a97b-cccb4891c770', 'push location_tags', 'command line', '2026-11-28 10:00:40.59111', '2026-11-28 10:00:40.735415', NULL, 'succeeded', NULL, NULL, '{"push": 0.13}', '{"created": 3}', '2026-03-31 11:59:58', 2);
INSERT INTO public.runs VALUES ('3c3f95fe-898b-4095-98d6-24101c440e53', 'sync', 'command line', '2026-11-28 10:00:36.419358', '2026-11-28 10:00:40.384907', NULL, 'succeeded', NULL, NULL, '{"read": 1.73, "load": 2.21}', '{"records": 120, "pages": 3, "windows": 1, "bytes": 150578, "requests": 12, "warnings": 0, "merged": 2041, "followed": 401, "started_over": 0, "merged_windows": 1, "shipments_compared": 0, "changes_missed": 0, "quarantined": 0, "unknown_keys": 0, "failed_checks": 2, "published_bytes": 6828032}', '2026-03-31 11:59:58', 1);
INSERT INTO public.runs VALUES ('47db480b-6c29-421f-89a5-f07e9047c082', 'push retailers', 'command line', '2026-11-28 10:00:40.91531', '2026-11-28 10:00:41.115876', NULL, 'succeeded', NULL, NULL, '{"push": 0.19}', '{"created": 3}', '2026-03-31 11:59:58', 3);
INSERT INTO public.runs VALUES ('6696fa2a-c56e-4155-99c1-9329944fab7f', 'push products', 'command line', '2026-11-28 10:00:41.369162', '2026-11-28 10:00:41.711215', NULL, 'succeeded', NULL, NULL, '{"push": 0.33}', '{"created": 11}', '2026-03-31 11:59:58', 4);
INSERT INTO public.runs VALUES ('7235c193-1506-4533-817b-7861f75ab66d', 'forget', 'command line', '2026-11-28 10:00:46.696836', '2026-11-28 10:00:48.57714', NULL, 'succeeded', NULL, NULL, '{"forget": 1.87}', '{"orders": 1, "rows": 0}', '2026-03-31 13:00:08', 6);
INSERT INTO public.runs VALUES ('97b421e1-333f-41a4-a260-b99d99e5279e', 'sync', 'command line', '2026-11-28 10:00:41.942932', '2026-11-28 10:00:46.512025', NULL, 'succeeded', NULL, NULL, '{"read": 1.18, "load": 3.36}', '{"records": 34, "pages": 1, "windows": 1, "bytes": 48008, "requests": 7, "warnings": 0, "merged": 700, "followed": 318, "started_over": 128, "over_read_late": 128, "merged_windows": 1, "shipments_compared": 50, "changes_missed": 0, "quarantined": 0, "unknown_keys": 0, "failed_checks": 2, "published_bytes": 9056256}', '2026-03-31 13:00:08', 5);
INSERT INTO public.schema_migrations VALUES ('0001_state', '2026-11-28 10:00:51.075988');
INSERT INTO public.windows VALUES ('20260301T000000Z-20260331T115958Z-df1845', '2026-03-01 00:00:00', '2026-03-31 11:59:58', 'loaded', 'sync', '3c3f95fe-898b-4095-98d6-24101c440e53', 'limit=50&sort=id&fields=unique_id,external_id,status,shipping_carrier_code,shipping_method,shipping_method_name,shipping_service_code,shipping_service_name,warehouse,order,shipping_account,target_ship_date,item_weight,shipped_weight,total_weight,max_package_weight,items,packages,packing_solution,gallery,picking_class_id,is_cutoff_date_exception,is_manually_processed,label_print_target,scac,carrier_shipping_cost,is_international,is_documents_required,is_electronic_customs,infill_product_id,packing_solution_providers,tpb_group,retailer,retailer_ship_to_location,mark_for_location,created_at,updated_at,packed_at&fields:gallery=all&fields:gallery.items=all&fields:items=sku,product,quantity,qty_shipped,qty_picked,qty_canceled,qty_cancel_requested,order_item,reservations&fields:items.product=all&fields:mark_for_location=all&fields:mark_for_location.retailer=all&fields:order=unique_id,order_ref,state,status,brand,merchant,carrier_code,shipping_method,signature_required,is_saturday_delivery,is_overbox_required,priority,requested_ship_date,is_declared_value_service,declared_value,shipping_address,items,shipments,custom_greeting,status_history,other_shipping_options,duties_payor,created_at,updated_at,completed_at,custom_fields,weight,total_item_count,submitted_by,submitted_by_type,backorder_policy,source,customer_note,batch_tag,desired_delivery_date,can_fulfill,can_fulfill_at,is_address_modified,is_address_modified_auto,hold_until_time,tpb_group,retailer,retailer_ship_to_location,mark_for_location,customs_value,reason_for_export,generate_sscc,shipped_at,delivered_at,shipping_description,carrier,allocation_options,automation_data,original_address,address_candidates,instructions&fields:order.address_candidates=all&fields:order.brand=all&fields:order.instructions=all&fields:order.items=sku,order_item_ref,product,qty_ordered,qty_assigned,qty_allocated,qty_backordered,qty_processing,qty_picked,qty_shipped,qty_cancel_requested,qty_canceled,row_weight&fields:order.items.product=all&fields:order.mark_for_location=all&fields:order.mark_for_location.retailer=all&fields:order.merchant=all&fields:order.merchant.brands=all&fields:order.merchant.default_brand=all&fields:order.original_address=all&fields:order.retailer=all&fields:order.retailer.parent_retailer=all&fields:order.retailer_ship_to_location=all&fields:order.retailer_ship_to_location.retailer=all&fields:order.shipping_address=all&fields:order.status_history=all&fields:order.tpb_group=all&fields:packages=all&fields:packages.container=all&fields:packages.gallery=all&fields:packages.gallery.items=all&fields:packages.infill=all&fields:packages.items=all&fields:packages.packaging.product=all&fields:packing_solution=containers&fields:retailer=all&fields:retailer.parent_retailer=all&fields:retailer_ship_to_location=all&fields:retailer_ship_to_location.retailer=all&fields:warehouse=all', 120, 3, 120, 150578, '2026-11-28 10:00:36.66528', '2026-11-28 10:00:36.951946', '2026-11-28 10:00:40.37633', 0.27688865199888824, 'http://127.0.0.1:1', '{}');
INSERT INTO public.windows VALUES ('20260331T114958Z-20260331T130008Z-0d048d', '2026-03-31 11:49:58', '2026-03-31 13:00:08', 'loaded', 'sync', '97b421e1-333f-41a4-a260-b99d99e5279e', 'limit=50&sort=id&fields=unique_id,external_id,status,shipping_carrier_code,shipping_method,shipping_method_name,shipping_service_code,shipping_service_name,warehouse,order,shipping_account,target_ship_date,item_weight,shipped_weight,total_weight,max_package_weight,items,packages,packing_solution,gallery,picking_class_id,is_cutoff_date_exception,is_manually_processed,label_print_target,scac,carrier_shipping_cost,is_international,is_documents_required,is_electronic_customs,infill_product_id,packing_solution_providers,tpb_group,retailer,retailer_ship_to_location,mark_for_location,created_at,updated_at,packed_at&fields:gallery=all&fields:gallery.items=all&fields:items=sku,product,quantity,qty_shipped,qty_picked,qty_canceled,qty_cancel_requested,order_item,reservations&fields:items.product=all&fields:mark_for_location=all&fields:mark_for_location.retailer=all&fields:order=unique_id,order_ref,state,status,brand,merchant,carrier_code,shipping_method,signature_required,is_saturday_delivery,is_overbox_required,priority,requested_ship_date,is_declared_value_service,declared_value,shipping_address,items,shipments,custom_greeting,status_history,other_shipping_options,duties_payor,created_at,updated_at,completed_at,custom_fields,weight,total_item_count,submitted_by,submitted_by_type,backorder_policy,source,customer_note,batch_tag,desired_delivery_date,can_fulfill,can_fulfill_at,is_address_modified,is_address_modified_auto,hold_until_time,tpb_group,retailer,retailer_ship_to_location,mark_for_location,customs_value,reason_for_export,generate_sscc,shipped_at,delivered_at,shipping_description,carrier,allocation_options,automation_data,original_address,address_candidates,instructions&fields:order.address_candidates=all&fields:order.brand=all&fields:order.instructions=all&fields:order.items=sku,order_item_ref,product,qty_ordered,qty_assigned,qty_allocated,qty_backordered,qty_processing,qty_picked,qty_shipped,qty_cancel_requested,qty_canceled,row_weight&fields:order.items.product=all&fields:order.mark_for_location=all&fields:order.mark_for_location.retailer=all&fields:order.merchant=all&fields:order.merchant.brands=all&fields:order.merchant.default_brand=all&fields:order.original_address=all&fields:order.retailer=all&fields:order.retailer.parent_retailer=all&fields:order.retailer_ship_to_location=all&fields:order.retailer_ship_to_location.retailer=all&fields:order.shipping_address=all&fields:order.status_history=all&fields:order.tpb_group=all&fields:packages=all&fields:packages.container=all&fields:packages.gallery=all&fields:packages.gallery.items=all&fields:packages.infill=all&fields:packages.items=all&fields:packages.packaging.product=all&fields:packing_solution=containers&fields:retailer=all&fields:retailer.parent_retailer=all&fields:retailer_ship_to_location=all&fields:retailer_ship_to_location.retailer=all&fields:warehouse=all', 34, 1, 34, 48008, '2026-11-28 10:00:42.019116', '2026-11-28 10:00:42.08969', '2026-11-28 10:00:46.506123', 0.05886717399698682, 'http://127.0.0.1:1', '{}');
INSERT INTO public.windows VALUES ('audit-20260331T125008Z-16575b', '2026-03-01 00:00:00', '2026-03-31 12:50:08', 'loaded', 'audit', '97b421e1-333f-41a4-a260-b99d99e5279e', 'limit=50&sort=id&fields=unique_id,external_id,status,shipping_carrier_code,shipping_method,shipping_method_name,shipping_service_code,shipping_service_name,warehouse,order,shipping_account,target_ship_date,item_weight,shipped_weight,total_weight,max_package_weight,items,packages,packing_solution,gallery,picking_class_id,is_cutoff_date_exception,is_manually_processed,label_print_target,scac,carrier_shipping_cost,is_international,is_documents_required,is_electronic_customs,infill_product_id,packing_solution_providers,tpb_group,retailer,retailer_ship_to_location,mark_for_location,created_at,updated_at,packed_at&fields:gallery=all&fields:gallery.items=all&fields:items=sku,product,quantity,qty_shipped,qty_picked,qty_canceled,qty_cancel_requested,order_item,reservations&fields:items.product=all&fields:mark_for_location=all&fields:mark_for_location.retailer=all&fields:order=unique_id,order_ref,state,status,brand,merchant,carrier_code,shipping_method,signature_required,is_saturday_delivery,is_overbox_required,priority,requested_ship_date,is_declared_value_service,declared_value,shipping_address,items,shipments,custom_greeting,status_history,other_shipping_options,duties_payor,created_at,updated_at,completed_at,custom_fields,weight,total_item_count,submitted_by,submitted_by_type,backorder_policy,source,customer_note,batch_tag,desired_delivery_date,can_fulfill,can_fulfill_at,is_address_modified,is_address_modified_auto,hold_until_time,tpb_group,retailer,retailer_ship_to_location,mark_for_location,customs_value,reason_for_export,generate_sscc,shipped_at,delivered_at,shipping_description,carrier,allocation_options,automation_data,original_address,address_candidates,instructions&fields:order.address_candidates=all&fields:order.brand=all&fields:order.instructions=all&fields:order.items=sku,order_item_ref,product,qty_ordered,qty_assigned,qty_allocated,qty_backordered,qty_processing,qty_picked,qty_shipped,qty_cancel_requested,qty_canceled,row_weight&fields:order.items.product=all&fields:order.mark_for_location=all&fields:order.mark_for_location.retailer=all&fields:order.merchant=all&fields:order.merchant.brands=all&fields:order.merchant.default_brand=all&fields:order.original_address=all&fields:order.retailer=all&fields:order.retailer.parent_retailer=all&fields:order.retailer_ship_to_location=all&fields:order.retailer_ship_to_location.retailer=all&fields:order.shipping_address=all&fields:order.status_history=all&fields:order.tpb_group=all&fields:packages=all&fields:packages.container=all&fields:packages.gallery=all&fields:packages.gallery.items=all&fields:packages.infill=all&fields:packages.items=all&fields:packages.packaging.product=all&fields:packing_solution=containers&fields:retailer=all&fields:retailer.parent_retailer=all&fields:retailer_ship_to_location=all&fields:retailer_ship_to_location.retailer=all&fields:warehouse=all', 130, 1, 50, 60497, '2026-11-28 10:00:42.141255', '2026-11-28 10:00:42.27393', '2026-11-28 10:00:46.506123', 0.11920283300423762, 'http://127.0.0.1:1', '{}');
ALTER TABLE ONLY public.acknowledgements
    ADD CONSTRAINT acknowledgements_pkey PRIMARY KEY (item);
ALTER TABLE ONLY public.alerts
    ADD CONSTRAINT alerts_pkey PRIMARY KEY (id, channel);
ALTER TABLE ONLY public.audits
    ADD CONSTRAINT audits_pkey PRIMARY KEY (window_id);
ALTER TABLE ONLY public.forgotten_orders
    ADD CONSTRAINT forgotten_orders_pkey PRIMARY KEY (order_id);
ALTER TABLE ONLY public.installation
    ADD CONSTRAINT installation_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.leases
    ADD CONSTRAINT leases_pkey PRIMARY KEY (what);
ALTER TABLE ONLY public.missing_shipments
    ADD CONSTRAINT missing_shipments_pkey PRIMARY KEY (shipment_id, window_id);
ALTER TABLE ONLY public.observations
    ADD CONSTRAINT observations_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.pages
    ADD CONSTRAINT pages_pkey PRIMARY KEY (window_id, number);
ALTER TABLE ONLY public.push_files
    ADD CONSTRAINT push_files_pkey PRIMARY KEY (service, kind, path);
ALTER TABLE ONLY public.push_ledger
    ADD CONSTRAINT push_ledger_pkey PRIMARY KEY (service, kind, key);
ALTER TABLE ONLY public.read_plans
    ADD CONSTRAINT read_plans_pkey PRIMARY KEY (from_at);
ALTER TABLE ONLY public.read_warnings
    ADD CONSTRAINT read_warnings_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.refusals
    ADD CONSTRAINT refusals_pkey PRIMARY KEY (service, api_version, parameter);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (run_id);
ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.sent_alerts
    ADD CONSTRAINT sent_alerts_pkey PRIMARY KEY (finding);
ALTER TABLE ONLY public.windows
    ADD CONSTRAINT windows_pkey PRIMARY KEY (id);
CREATE INDEX push_ledger_by_state ON public.push_ledger USING btree (state);
CREATE INDEX runs_by_start ON public.runs USING btree (started_at);
CREATE INDEX windows_by_state ON public.windows USING btree (state);
ALTER TABLE ONLY public.pages
    ADD CONSTRAINT pages_window_id_fkey FOREIGN KEY (window_id) REFERENCES public.windows(id);
