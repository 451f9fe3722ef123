"""The published description of the Global API: OpenAPI 3.1, made from the tables that requests are checked with.

Bodies come from `definitions`, field selection from `kinds`, filters and sorting from `filters` and `query`. It
contains what JSON Schema can express; that cursors need `sort=id`, names must be unique and references must exist is in
words.
"""

from typing import Any

from wms_sandbox.definitions import LOCATION_TAG, PRODUCTS, RETAILER
from wms_sandbox.filters import INTEGER_FIELDS, ORDERED, TEXT_FIELDS, TEXTUAL, TIME_FIELDS
from wms_sandbox.kinds import INCLUDED_ORDER, KINDS, PATHS
from wms_sandbox.location_tags import KIND as LOCATION_TAG_KIND
from wms_sandbox.query import DEFAULT_LIMIT, HIGHEST_CURSOR, MAXIMUM_LIMIT, SORTABLE
from wms_sandbox.shapes import FLAG, INTEGER, NUMBER, TEXT, Schema, closed, listing, one_of, whole

_INTEGER_VALUE = "(?:0|-?[1-9][0-9]{0,17})"
_DAY = "[12][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
_TIME = f"{_DAY}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{{3}})?Z"
_WORD = "[A-Za-z0-9]{1,40}"


def describe() -> dict[str, Any]:
    """Return the whole document, as JSON."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Warehouse fulfillment service: Global API", "version": "1.0"},
        "servers": [{"url": "/api/global"}],
        "security": [{"bearer": []}],
        "paths": {
            "/v1/inventory/location-tags": {"post": _create_tag()},
            "/v1/shipping/retailers": {"post": _create("createRetailer", "Retailer", "RetailerCreate")},
            "/v1/inventory/products": {"post": _create("createProduct", "product or packaging item", "ProductCreate")},
            "/v1/shipping/shipments": {"get": _list_shipments()},
            "/v1/system/status": {
                "get": _operation("getStatus", "Whether the service is up", {"200": whole({"status": TEXT})})
            },
        },
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
            "schemas": _schemas(),
        },
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _content(schema: Schema) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}


def _operation(identity: str, summary: str, answers: dict[str, Schema], **more: object) -> dict[str, Any]:
    every = answers | {"401": _ref("Problem")}
    responses = {status: {"description": _MEANINGS[status], "content": _content(every[status])} for status in every}
    return {"operationId": identity, "summary": summary, "responses": responses, **more}


_MEANINGS = {
    "200": "Done.",
    "201": "Created.",
    "400": "The request was invalid.",
    "401": "The token is missing or wrong.",
    "413": "The body is too large.",
    "422": "The request was understood but could not be processed.",
}


def _create_operation(
    identity: str, what: str, body: str, answers: dict[str, Schema], **more: object
) -> dict[str, Any]:
    refusals = {"400": _ref("Errors"), "413": _ref("Problem"), "422": _ref("Errors")}
    request = {"required": True, "content": _content(_ref(body))}
    return _operation(identity, f"Create a {what}", answers | refusals, requestBody=request, **more)


def _create(identity: str, what: str, body: str) -> dict[str, Any]:
    return _create_operation(identity, what, body, {"200": _ref("Created"), "201": _ref("Created")})


def _create_tag() -> dict[str, Any]:
    answers = {"201": whole({"resource": _ref("LocationTag")})}
    parameters = [_selection("fields", LOCATION_TAG_KIND.values)]
    return _create_operation("createLocationTag", "location tag", "LocationTagCreate", answers, parameters=parameters)


def _list_shipments() -> dict[str, Any]:
    cursor = INTEGER | {"format": "int64", "minimum": 0, "maximum": HIGHEST_CURSOR}
    parameters = [
        _query("filter", listing(TEXT | {"pattern": _filter_pattern()}), explode=True),
        _query("sort", TEXT | {"pattern": _sort_pattern(), "default": "-id"}),
        _query("count", INTEGER | {"enum": [0, 1]}),
        _query("limit", INTEGER | {"minimum": 1, "maximum": MAXIMUM_LIMIT, "default": DEFAULT_LIMIT}),
        _query("cursor_start", cursor | {"description": "Only with sort=id or sort=-id, and without cursor_end."}),
        _query("cursor_end", cursor | {"description": "Only with sort=id or sort=-id, and without cursor_start."}),
        _selection("fields", KINDS["Shipment"].values),
        *(_selection(f"fields:{path}", KINDS[kind].values) for path, kind in PATHS.items()),
    ]
    answers = {"200": _ref("ShipmentList"), "400": _ref("Errors")}
    return _operation("listShipments", "List shipments", answers, parameters=parameters)


def _query(name: str, schema: Schema, **more: object) -> dict[str, Any]:
    return {"name": name, "in": "query", "schema": schema, **more}


def _selection(name: str, values: tuple[str, ...]) -> dict[str, Any]:
    return _query(name, listing(one_of(*values)) | {"minItems": 1}, style="form", explode=False)


def _sort_pattern() -> str:
    key = f"-?(?:{'|'.join(SORTABLE)})"
    return f"^{key}(?:,{key})*$"


def _filter_pattern() -> str:
    """Return a pattern for the plain form of a filter; the service accepts any JSON5."""
    ordered, textual = "|".join(ORDERED), "|".join(TEXTUAL)
    groups = (
        (INTEGER_FIELDS, _INTEGER_VALUE, _INTEGER_VALUE, ordered),
        (TIME_FIELDS, _TIME, f"'{_TIME}'", ordered),
        (TEXT_FIELDS, _WORD, f"'{_WORD}'", f"{ordered}|{textual}"),
    )
    return f"^(?:{'|'.join(_field_pattern(*group) for group in groups)})$"


def _field_pattern(fields: tuple[str, ...], bare: str, value: str, operators: str) -> str:
    condition = f"(?:(?:{operators}):{value}|in:\\[{value}(?:,{value})*\\]|null:(?:true|false))"
    conditions = f"\\{{{condition}(?:,{condition})*\\}}"
    return f"(?:{'|'.join(fields)})(?::{bare}|{conditions}|\\[{conditions}(?:,{conditions})*\\])"


def _schemas() -> dict[str, Schema]:
    detail = whole({"key": TEXT, "message": TEXT})
    error = closed(
        {
            "type": one_of("parser", "parameters", "openapi", "application", "unable_to_process"),
            "message": TEXT,
            "details": listing(detail),
        },
        required=("type", "message"),
    )
    resource = closed({"type": TEXT, "id": INTEGER, "warnings": listing(TEXT)}, required=("type", "id"))
    return {
        "LocationTag": _location_tag(),
        "LocationTagCreate": LOCATION_TAG,
        "RetailerCreate": RETAILER,
        **{f"{kind}Create": schema for kind, schema in _product_schemas().items()},
        "Created": whole({"resource": resource, "meta": whole({"processing_time": NUMBER})}),
        "ShipmentList": _shipment_list(),
        "Errors": whole({"errors": listing(error) | {"minItems": 1}}),
        "Problem": whole({"message": TEXT}),
    }


def _product_schemas() -> dict[str, Schema]:
    kinds = {f"{kind}Resource": schema for kind, schema in PRODUCTS.items()}
    product = {
        "oneOf": [_ref(f"{kind}ResourceCreate") for kind in PRODUCTS],
        "discriminator": {
            "propertyName": "type",
            "mapping": {kind: f"#/components/schemas/{kind}ResourceCreate" for kind in PRODUCTS},
        },
    }
    return kinds | {"Product": whole({"resource": product})}


def _location_tag() -> Schema:
    """Return the schema of a tag in answers: only the selected fields, but always type and id."""
    moment = {"type": ["string", "null"], "format": "date-time"}
    shown = LOCATION_TAG["properties"] | {
        "type": one_of("LocationTag"),
        "id": INTEGER | {"format": "int32", "readOnly": True},
        "name": TEXT | {"maxLength": 255},
        "is_deleted": FLAG,
        "created_at": moment,
        "updated_at": moment,
    }
    return closed(shown, required=("type", "id"))


def _shipment_list() -> Schema:
    link, cursor = {"type": ["string", "null"]}, {"type": ["integer", "null"]}
    meta = {"processing_time": NUMBER, "cursor_start": cursor, "cursor_end": cursor}
    return whole(
        {
            "collection": listing(_object("Shipment", KINDS["Shipment"].fields)) | {"maxItems": MAXIMUM_LIMIT},
            "included": closed({kind: listing(_object(kind)) for kind in INCLUDED_ORDER}),
            "has_more": FLAG,
            "next": link,
            "previous": link,
            "meta": closed(meta | {"count": INTEGER | {"minimum": 0}}, required=tuple(meta)),
        }
    )


def _object(kind: str, fields: tuple[str, ...] = ()) -> Schema:
    """Return the schema of an object: type and id are required, its fields are optional."""
    properties = {"type": one_of(kind), "id": INTEGER} | {name: {} for name in fields}
    return {"type": "object", "properties": properties, "required": ["type", "id"]}
