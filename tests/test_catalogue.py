"""The catalogue: the files of `sql/tables` are complete, agree with `sql/flatten`, and have every field specified."""

import re

import duckdb
import pytest
from msgspec.structs import replace

from wms_sync import sql_files
from wms_sync.catalogue import history_tables, marts, ops_tables, table, tables
from wms_sync.shipments.flatten.shape import create_types, shape_of
from wms_sync.shipments.flatten.write import ObjectFiles, create_stages, needs, select_of
from wms_sync.targets.database import create_empty

# Sections 2.2 to 2.5 and 4.5 of the specification, field by field. Behind the colon stands the shape of a field:
# nothing is a scalar, `kinds` a reference to several kinds, `table` a table of its own, named in brackets.
SPECIFIED = {
    "retailers": """
        type id code name status fulfillment_model parent_retailer:reference legal_name dba default_duties_payor
        default_shipping_method allowed_shipping_methods routing_guide_notes custom_fields created_at updated_at""",
    "products": """
        type id sku name is_enabled vendor_sku manufacturer_part_number external_id barcodes is_available is_visible
        goods_type lot_type:reference weight:measure dimensions:dimensions volume:measure
        inventory.backorders inventory.dynamic_allocation inventory.virtual_inventory
        export.description export.customs_value:money export.country_of_manufacture export.hs_base_code
        export.hs_country_extension
        regulated_goods.regulation:reference regulated_goods.technical_name regulated_goods.additional_information
        regulated_goods.net_weight:measure regulated_goods.container_type
        regulated_goods.container_meets_hazmat_specs regulated_goods.regulation_units
        packaging.require_packaging packaging.require_weight_check packaging.require_confirmation_per_item
        packaging.unit_quantity packaging.bulk_quantity packaging.max_per_package packaging.is_ship_separately
        packaging.ship_separately_tag packaging.can_tip packaging.can_contain_other_items
        packaging.is_handling_surcharge
        custom_fields merchant:reference created_at updated_at options""",
    "shipments": """
        type id unique_id external_id status shipping_carrier_code shipping_method shipping_method_name
        shipping_service_code shipping_service_name warehouse:reference order:reference shipping_account:reference
        target_ship_date item_weight:measure shipped_weight:measure total_weight:measure max_package_weight:measure
        items:table(shipment_items) packages:table(packages) packing_solution:table(packing_solutions)
        packing_solution:reference gallery:reference picking_class_id is_cutoff_date_exception is_manually_processed
        label_print_target scac carrier_shipping_cost is_international is_documents_required is_electronic_customs
        infill_product_id packing_solution_providers tpb_group retailer:reference
        retailer_ship_to_location:reference mark_for_location:reference created_at updated_at packed_at""",
    "shipment_items": """
        type id sku product:kinds quantity qty_shipped qty_picked qty_canceled qty_cancel_requested
        order_item:reference reservations:table(shipment_item_reservations)""",
    "shipment_item_reservations": "location:reference quantity",
    "packages": """
        id tracking_ref alt_tracking_number alt_tracking_description billable_weight:measure
        dimensional_weight:measure dimensional_weight_divisor total_item_volume:measure total_void_percent
        container_style num_cartons sscc manifest_courier_code items:table(package_items) container container:kinds
        infill infill:kinds packaging:table(package_packaging) collected_data:table(package_collected_data)
        gallery:reference created_at updated_at""",
    "package_items": """
        sku name quantity weight:measure hazmat_unit_weight:measure customs_value:money order_item_id order_item_sku
        order_item_quantity shipment_item_id total_customs_value:money""",
    "package_packaging": "product:kinds quantity",
    "package_collected_data": "order_item_id label value",
    "packing_solutions": "type id containers:table(packing_solution_containers)",
    "packing_solution_containers": """
        type weight:measure dimensions:dimensions volume:measure void_percent regulation_type
        items:table(packing_solution_container_items)""",
    "packing_solution_container_items": """
        type sku quantity order_item_id order_item_sku order_item_quantity shipment_item_id weight:measure""",
    "galleries": "type id photo_count updated_at items:table(gallery_items)",
    "gallery_items": "type id url thumbnail_url caption taken_at device_info media_info created_at",
    "brands": "id code name is_active is_deleted sort_order",
    "merchants": "id code name status created_at updated_at brands:references default_brand:reference custom_fields",
    "orders": """
        id unique_id order_ref state status brand:reference merchant:reference carrier_code shipping_method
        signature_required is_saturday_delivery is_overbox_required priority requested_ship_date
        is_declared_value_service declared_value:money shipping_address:table(pii_order_addresses)
        shipping_address:reference ship_to_country ship_to_region ship_to_classification items:table(order_items)
        shipments:references custom_greeting
        status_history:table(order_status_history) other_shipping_options.virtual_excluded_services
        duties_payor.payor duties_payor.tpb_group_id created_at updated_at completed_at custom_fields weight:measure
        total_item_count submitted_by submitted_by_type backorder_policy source customer_note batch_tag
        desired_delivery_date can_fulfill can_fulfill_at is_address_modified is_address_modified_auto hold_until_time
        tpb_group:reference retailer:reference retailer_ship_to_location:reference mark_for_location:reference
        customs_value:money reason_for_export generate_sscc shipped_at delivered_at shipping_description carrier
        allocation_options automation_data original_address:table(pii_order_addresses) original_address:reference
        address_candidates:table(order_address_candidates) instructions:table(order_instructions)""",
    "pii_order_addresses": """
        first_name last_name company street city region postcode country telephone email classification is_valid""",
    "order_items": """
        id sku order_item_ref product:kinds qty_ordered qty_assigned qty_allocated qty_backordered qty_processing
        qty_picked qty_shipped qty_cancel_requested qty_canceled row_weight:measure""",
    "order_status_history": "id status comment notify_merchant requester:reference user script_id created_at",
    "order_address_candidates": "id address_id region_code country_code classification",
    "pii_order_address_candidates": "street city postal_code",
    "order_instructions": """
        id order_id note file_name presentation print_target print_orientation copies_printed""",
    "third_party_billing_groups": "id label status",
    "retailer_ship_to_locations": """
        id code qualifier label location_type company street city region_id region postcode country_id is_default
        status retailer:reference created_at updated_at""",
    "pii_retailer_ship_to_contacts": "telephone email",
    "warehouses": "id name abbreviation is_active",
}


OF_THE_SERVICE = [one for one in tables() if one.schema != "ops"]


SUFFIXES = {
    "": [""],
    "reference": ["_id"],
    "kinds": ["_id", "_type"],
    "references": ["_ids"],
    "measure": ["_value", "_unit"],
    "money": ["_amount", "_currency"],
    "dimensions": ["_length", "_width", "_height", "_unit"],
}
"""The mechanical rule: the shape of a field, and what its name gets in those of its columns."""


@pytest.fixture(scope="module")
def database():
    with duckdb.connect() as connection:
        create_empty(connection)
        yield connection


@pytest.fixture(scope="module")
def flattening(tmp_path_factory):
    """A batch without pages, to ask what a flatten statement would return, and what it would read."""
    with duckdb.connect() as connection:
        create_types(connection)
        kinds = ObjectFiles(tmp_path_factory.mktemp("flattening"), shape_of(connection).columns).kinds
        create_stages(connection, kinds)
        yield connection, kinds


@pytest.mark.parametrize("one", OF_THE_SERVICE, ids=lambda one: one.slug)
def test_every_field_of_the_specification_has_its_columns(one):
    for field in SPECIFIED[one.slug].split():
        path, _, shape = field.partition(":")
        if shape.startswith("table("):
            assert table(shape.removeprefix("table(").removesuffix(")")).columns, path
        else:
            assert {path.replace(".", "_") + suffix for suffix in SUFFIXES[shape]} <= set(one.column_names), field


@pytest.mark.parametrize("one", [*tables(), *ops_tables(), *history_tables(), *marts()], ids=lambda one: one.slug)
def test_the_catalogue_reads_what_duckdb_creates(one, database):
    assert (
        [name for name, *_ in database.execute(f"describe {one.qualified}").fetchall()] == list(one.column_names) != []
    )
    assert all(len(column.comment) > 3 for column in one.columns)
    assert one.comment.endswith(".")


@pytest.mark.parametrize("one", OF_THE_SERVICE, ids=lambda one: one.slug)
@pytest.mark.parametrize("objects", ["of every kind", "of no kind"])
def test_a_flatten_statement_returns_its_columns(one, objects, database, flattening):
    connection, kinds = flattening
    kinds = replace(kinds, filled=kinds.reads if objects == "of every kind" else ())
    provenance = {"window_id": "w", "numbers": [1], "extracted_at": ["2024-01-01T00:00:00Z"]}
    returned = connection.execute(f"describe {select_of(one, kinds)}", provenance).fetchall()
    columns = database.execute(f"describe {one.qualified}").fetchall()
    assert [column[:2] for column in returned] == [
        column[:2]
        for column in columns
        if column[0] not in {"_missing_since", "timezone"}  # set by loads
    ]


def read_by(text: str) -> set[str]:
    """The kinds and stages of which a statement has a row each, without what it only joins."""
    named = {part.strip('"') for part in re.findall(r'^ *from (?:page\.)?("?\w+"?)$', text, re.MULTILINE)}
    return named - set(re.findall(r"(?:^with |^)(\w+) as \($", text, re.MULTILINE))


@pytest.mark.parametrize("one", OF_THE_SERVICE, ids=lambda one: one.slug)
def test_a_table_needs_whatever_its_statement_reads(one):
    """Otherwise it would not be asked where it has rows, and these would be lost without a word."""
    read = read_by(sql_files.read(f"flatten/{one.slug}.sql"))
    if "packaging" in read:
        read = (read - {"packaging"}) | read_by(sql_files.read("flatten/stages/60_packaging.sql"))
    assert needs(one) == read - ({"OrderAddress"} if one.slug == "orders" else set())


def test_each_table_has_a_statement_with_its_header():
    slugs = {one.slug for one in OF_THE_SERVICE}
    assert set(SPECIFIED) == slugs == {sql_files.stem(path) for path in sql_files.listed("flatten")}
    assert [
        path
        for path in (*sql_files.listed("tables"), *sql_files.listed("flatten"))
        if not {"grain", "keys", "source"} <= sql_files.headers(sql_files.read(path)).keys()
    ] == []


def test_personal_fields_are_in_schema_pii_only():
    personal = {"first_name", "last_name", "telephone", "email", "postal_code"}
    anywhere = [one for one in (*tables(), *marts()) if personal & set(one.column_names)]
    assert {one.schema for one in anywhere} == {"pii"}, anywhere
