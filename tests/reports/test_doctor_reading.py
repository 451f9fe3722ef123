"""The doctor reads as a sync does: what it finds of pages, names of field selection and kinds, and remembers."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import Response

from tests.shipments.read.test_field_selection import refuse
from wms_sandbox.app import STATUS
from wms_sandbox.errors import ParameterError, bad_parameters
from wms_sandbox.field_treatment import FieldTreatment
from wms_sync.reports.doctor import examine
from wms_sync.reports.doctor_reading import check_status, read_as_a_sync
from wms_sync.reports.finding import Finding
from wms_sync.state.refusals import Refusal


def found_by(bench) -> dict[str, Finding]:
    with bench.api() as api:
        return {finding.name: finding for finding in (check_status(api), *read_as_a_sync(bench.settings, api))}


def refusals(bench) -> tuple[Refusal, ...]:
    found: tuple[Refusal, ...] = bench.store.refusals.of(bench.settings.base_url, "")
    return found


@pytest.mark.parametrize(("expires", "severity"), [("0", "error"), ("1e20", "note")])
def test_when_a_token_expires_is_found(bench, expires, severity):
    claims = urlsafe_b64encode(f'{{"exp": {expires}}}'.encode()).decode().rstrip("=")
    found = next(
        finding
        for finding in examine(bench.settings.model_copy(update={"api_token": SecretStr(f"head.{claims}.signature")}))
        if finding.name == "token"
    )
    assert (found.severity, "expir" in found.text) == (severity, True)


def without_gallery(page: dict[str, Any]) -> dict[str, Any]:
    for shipment in page["collection"]:
        shipment.pop("gallery", None)
    return page


def small_pages(request: Request) -> Response | None:
    return bad_parameters(ParameterError("limit", "At most 30.")) if request.query_params.get("limit") == "50" else None


SERVICES: dict[str, tuple[dict[str, object], dict[str, tuple[str, str]]]] = {
    # a service, and what is found: how bad it is, and what is said
    "healthy": (
        {},
        {
            "shipments": ("note", "100 read in 2 pages of up to 50"),
            "field selection": ("note", "38 of 38 names"),
            "kinds": ("note", "Order"),
            "filter on updated_at": ("note", "the filter finds a shipment by the second"),
        },
    ),
    "names are not granted": (
        {"field_treatment": FieldTreatment(frozenset({"fields:order.brand", "fields:retailer"}))},
        {
            "field selection": ("note", "35 of 38 names"),
            "fields:order.brand": ("warning", "the rows of brands"),
            "fields:retailer": ("warning", "the rows of retailers"),
            "fields:retailer.parent_retailer": ("warning", ""),
        },
    ),
    "what is referred to does not come": (
        {"field_treatment": FieldTreatment(drops_included=True), "rewrite": without_gallery},
        {
            "Order": ("warning", "fields:order was requested"),
            "Warehouse": ("warning", ""),
            "kinds": ("note", "not tried: Gallery"),
        },
    ),
    "a page size is refused": ({"intercept": small_pages}, {"page size": ("warning", "WMS_PAGE_SIZE=25")}),
}


@pytest.mark.parametrize(("deviations", "findings"), SERVICES.values(), ids=SERVICES)
def test_what_a_service_shows_has_a_line(bench, sandbox, deviations, findings):
    """And nothing is remembered."""
    for name, deviation in deviations.items():
        setattr(sandbox.sandbox, name, deviation)
    found = found_by(bench)
    assert {name: found[name].severity for name in findings} == {name: bad for name, (bad, _) in findings.items()}
    assert [says for name, (_, says) in findings.items() if says not in found[name].text] == []
    assert refusals(bench) == ()
    if not deviations:
        assert {finding.severity for finding in found.values()} == {"note"}
        queries = [served.query for served in sandbox.sandbox.requests]
        assert ["cursor_start" in query for query in queries if "limit=50" in query and "fields" in query] == [
            False,
            True,
        ]


def test_a_name_that_is_taken_again_is_requested(bench, sandbox):
    refuse(sandbox, "fields:order.brand")
    bench.read()
    refuse(sandbox)
    assert "fields:order.brand is accepted again" in found_by(bench)["field selection"].text
    sandbox.sandbox.advance(seconds=60)
    again = bench.read()
    assert again.progress.records == 240
    assert again.warnings == refusals(bench) == ()


@pytest.mark.parametrize(("status", "severity"), [(404, "note"), (403, "warning"), (500, "warning")])
def test_a_status_page_that_fails_can_only_warn(bench, sandbox, status, severity):
    sandbox.sandbox.intercept = lambda request: Response("", status) if request.url.path == STATUS else None
    with bench.api() as api:
        assert check_status(api).severity == severity
