"""The doctor reads as a sync does: what it finds of pages, names of field selection and kinds, and remembers."""

from __future__ import annotations

from base64 import urlsafe_b64encode

import pytest
from pydantic import SecretStr
from starlette.responses import Response

from tests.shipments.read.test_field_selection import read, refuse
from tests.shipments.read.test_listing import DATES, MINUTES
from wms_sandbox.app import STATUS
from wms_sandbox.errors import ParameterError, bad_parameters
from wms_sandbox.field_treatment import FieldTreatment
from wms_sync.reports.doctor import examine
from wms_sync.reports.doctor_reading import check_status, read_as_a_sync
from wms_sync.reports.finding import Finding
from wms_sync.shipments.read.field_selection import Refusal, Refusals


def found(bench) -> dict[str, Finding]:
    with bench.api() as api:
        return {one.name: one for one in (check_status(api), *read_as_a_sync(bench.settings, api))}


def refusals(bench) -> tuple[Refusal, ...]:
    with Refusals(bench.settings.database_url) as memory:
        return memory.of(bench.settings.base_url, "")


def test_a_token_that_expires_beyond_all_calendars_is_one_that_names_no_expiry_date(bench):
    claims = urlsafe_b64encode(b'{"exp": 1e20}').decode().rstrip("=")
    settings = bench.settings.model_copy(update={"api_token": SecretStr(f"head.{claims}.signature")})
    told = next(one for one in examine(settings) if one.name == "token")
    assert (told.severity, "has no expiry date" in told.text) == ("note", True)


def test_a_healthy_service_is_read_with_the_real_page_size_one_next_and_every_name(bench, sandbox):
    findings = found(bench)
    assert {one.severity for one in findings.values()} == {"note"}
    assert "100 read in 2 pages of up to 50" in findings["shipments"].text
    assert "38 of 38 names" in findings["field selection"].text
    assert "Order" in findings["kinds"].text
    pages = [one.query for one in sandbox.sandbox.requests if "limit=50" in one.query and "fields" in one.query]
    assert len(pages) == 2
    assert "cursor_start" in pages[1]


def test_each_name_that_is_not_granted_has_a_line(bench, sandbox):
    refuse(sandbox, "fields:order.brand", "fields:order=carrier", "fields:retailer=all")
    findings = found(bench)
    assert "35 of 38 names" in findings["field selection"].text
    assert findings["fields:order.brand"].severity == findings["fields:order"].severity == "warning"
    assert "the rows of brands" in findings["fields:order.brand"].text
    assert "carrier of orders" in findings["fields:order"].text
    assert findings["fields:retailer"].severity == "note"
    assert refusals(bench) == (), "it looks, and writes nothing"


def test_a_name_that_is_taken_again_is_asked_for_by_the_next_sync(bench, sandbox):
    refuse(sandbox, "fields:order.brand")
    read(bench)
    refuse(sandbox)
    findings = found(bench)
    assert "fields:order.brand is accepted again" in findings["field selection"].text
    sandbox.sandbox.advance(seconds=60)
    again = read(bench)
    assert again.progress.records == 600
    assert again.warnings == refusals(bench) == ()


def test_what_is_referred_to_and_does_not_come_is_named_and_so_is_what_cannot_be_seen(bench, sandbox):
    sandbox.sandbox.field_treatment = FieldTreatment(drops_included=True)
    sandbox.sandbox.rewrite = lambda page: (
        page
        | {
            "collection": [
                {name: value for name, value in one.items() if name != "gallery"} for one in page["collection"]
            ]
        }
    )
    findings = found(bench)
    assert findings["Order"].severity == findings["Warehouse"].severity == "warning"
    assert "fields:order was requested" in findings["Order"].text
    assert "not tried: Gallery" in findings["kinds"].text


def test_a_page_size_that_is_refused_is_named_with_half_of_it(bench, sandbox):
    sandbox.sandbox.intercept = lambda request: (
        bad_parameters(ParameterError("limit", "At most 30.")) if request.query_params.get("limit") == "50" else None
    )
    findings = found(bench)
    assert findings["page size"].severity == "warning"
    assert "WMS_PAGE_SIZE=25" in findings["page size"].text


def test_a_status_page_that_fails_can_only_warn(bench, sandbox):
    for status, verdict in ((404, "note"), (403, "warning"), (500, "warning")):
        answer = Response(status_code=status)
        sandbox.sandbox.intercept = lambda request, answer=answer: answer if request.url.path == STATUS else None
        with bench.api() as api:
            assert check_status(api).severity == verdict


@pytest.mark.parametrize(
    ("treatment", "verdict", "says"),
    [
        (MINUTES, "warning", "compares minutes. Each window is read 2 minutes wider"),
        (DATES, "warning", "compares dates, or reads times in another zone than UTC"),
        (FieldTreatment(), "note", "it finds a shipment by the second"),
    ],
)
def test_how_exact_the_filter_is_has_a_line(bench, sandbox, treatment, verdict, says):
    sandbox.sandbox.field_treatment = treatment
    finding = found(bench)["filter on updated_at"]
    assert (finding.severity, says in finding.text) == (verdict, True), finding.text
