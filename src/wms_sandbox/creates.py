"""The three creates (specification 4.1 to 4.3): the order of the checks, and the answers.

First the JSON (400 `parser`), then everything that the definitions say about parameters and body (400 `parameters`),
then conflicts with existing objects (422 `unable_to_process`). A refused request does nothing.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from wms_sandbox.checking import violations
from wms_sandbox.clock import Clock
from wms_sandbox.compiled import pick
from wms_sandbox.created_products import Products
from wms_sandbox.errors import ParameterError, bad_json, bad_parameters, unable_to_process
from wms_sandbox.location_tags import KIND as LOCATION_TAG, LocationTags, clean_name
from wms_sandbox.newcomers import Newcomers
from wms_sandbox.pools import Pools
from wms_sandbox.query import check_names
from wms_sandbox.retailers import Retailers
from wms_sandbox.selection import resolve


class Creates:
    """The objects that callers have created, and the endpoints for creating them."""

    def __init__(self, pools: Pools, clock: Clock, lock: threading.Lock) -> None:
        self.newcomers = Newcomers()
        self.tags = LocationTags(clock)
        self.retailers = Retailers(pools, self.newcomers, clock)
        self.products = Products(pools, self.newcomers, clock)
        self._lock = lock

    async def answer(self, create: Callable[[Request, Any], Response], request: Request) -> Response:
        """Answer a create with one of the methods below, if the body is JSON."""
        if request.headers.get("content-type", "").partition(";")[0].lower() != "application/json":
            return bad_json("The content type must be application/json.")
        try:
            body = msgspec.json.decode(await request.body())
        except ValueError as error:
            return bad_json(f"The body is not valid JSON: {error}.")
        with self._lock:
            return create(request, body)

    def tag(self, request: Request, body: Any) -> Response:  # noqa: ANN401 - not checked yet
        """POST /v1/inventory/location-tags."""
        if isinstance(body, dict) and isinstance(body.get("name"), str):
            body = body | {"name": clean_name(body["name"])}
        wrong = [*_parameter_violations(request, "fields"), *violations("LocationTag", body)]
        if wrong:
            return bad_parameters(*wrong)
        try:
            tag = self.tags.create(body)
        except ParameterError as conflict:
            return unable_to_process(conflict)
        names = request.query_params.get("fields", "basic").split(",")
        return JSONResponse({"resource": pick(tag, resolve(LOCATION_TAG, names, "fields"))}, status_code=201)

    def retailer(self, request: Request, body: Any) -> Response:  # noqa: ANN401 - not checked yet
        """POST /v1/shipping/retailers."""
        wrong = [*_parameter_violations(request), *violations("Retailer", body)]
        if wrong:
            return bad_parameters(*wrong)
        conflicts = self.retailers.conflicts(body)
        return unable_to_process(*conflicts) if conflicts else _created(self.retailers.create(body))

    def product(self, request: Request, body: Any) -> Response:  # noqa: ANN401 - not checked yet
        """POST /v1/inventory/products."""
        wrong = [*_parameter_violations(request), *violations("Product", body)]
        if wrong:
            return bad_parameters(*wrong)
        resource = body["resource"]
        conflicts = self.products.conflicts(resource)
        return unable_to_process(*conflicts) if conflicts else _created(*self.products.create(resource))


def _created(thing: dict[str, Any], warnings: Sequence[str] = ()) -> Response:
    resource = {"type": thing["type"], "id": thing["id"]} | ({"warnings": warnings} if warnings else {})
    return JSONResponse({"resource": resource, "meta": {"processing_time": 0.004}}, status_code=201)


def _parameter_violations(request: Request, *known: str) -> list[ParameterError]:
    """Return what is wrong with the query parameters of a create: at most one violation."""
    try:
        check_names(request.query_params.multi_items(), known)
        if "fields" in request.query_params:
            resolve(LOCATION_TAG, request.query_params["fields"].split(","), "fields")
    except ParameterError as violation:
        return [violation]
    return []
