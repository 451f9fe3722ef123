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
from wms_sync.reports.doctor_reading import look_at_status, read_as_a_sync
from wms_sync.reports.findings import Finding
from wms_sync.shipments.read.field_selection import refused_now


def found(bench) -> dict[str, Finding]:
    with bench.api() as api:
        return {one.subject: one for one in (look_at_status(api), *read_as_a_sync(bench.settings, api))}


def test_a_token_that_expires_beyond_all_calendars_is_one_that_names_no_expiry_date(bench):
    claims = urlsafe_b64encode(b'{"exp": 1e20}').decode().rstrip("=")
    settings = bench.settings.model_copy(update={"api_token": SecretStr(f"head.{claims}.signature")})
    told = next(one for one in examine(settings) if one.subject == "token")
    assert (told.verdict, "names no expiry date" in told.message) == ("ok", True)


def test_a_healthy_service_is_read_with_the_real_page_size_one_next_and_every_name(bench, sandbox):
    findings = found(bench)
    assert {one.verdict for one in findings.values()} == {"ok"}
    assert "100 read in 2 pages of up to 50" in findings["shipments"].message
    assert "38 of 38 names" in findings["field selection"].message
    assert "Order" in findings["kinds"].message
    pages = [one.query for one in sandbox.sandbox.requests if "limit=50" in one.query and "fields" in one.query]
    assert len(pages) == 2
    assert "cursor_start" in pages[1]


def test_each_name_that_is_not_granted_has_a_line(bench, sandbox):
    refuse(sandbox, "fields:order.brand", "fields:order=carrier", "fields:retailer=all")
    findings = found(bench)
    assert "35 of 38 names" in findings["field selection"].message
    assert findings["fields:order.brand"].verdict == findings["fields:order"].verdict == "warn"
    assert "the rows of brands" in findings["fields:order.brand"].message
    assert "carrier of orders" in findings["fields:order"].message
    assert findings["fields:retailer"].verdict == "ok"
    assert refused_now(bench.settings) == (), "it looks, and writes nothing"


def test_a_name_that_is_taken_again_is_asked_for_by_the_next_sync(bench, sandbox):
    refuse(sandbox, "fields:order.brand")
    read(bench)
    refuse(sandbox)
    findings = found(bench)
    assert "fields:order.brand is accepted again" in findings["field selection"].message
    sandbox.sandbox.advance(seconds=60)
    again = read(bench)
    assert again.progress.records == 600
    assert again.warnings == refused_now(bench.settings) == ()


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
    assert findings["Order"].verdict == findings["Warehouse"].verdict == "warn"
    assert "fields:order was asked for" in findings["Order"].message
    assert "not tried: Gallery" in findings["kinds"].message


def test_a_page_size_that_is_refused_is_named_with_the_largest_that_works(bench, sandbox):
    sandbox.sandbox.intercept = lambda request: (
        bad_parameters(ParameterError("limit", "At most 30.")) if request.query_params.get("limit") == "50" else None
    )
    findings = found(bench)
    assert findings["page size"].verdict == "warn"
    assert "WMS_PAGE_SIZE=30" in findings["page size"].message


def test_a_status_page_that_fails_can_only_warn(bench, sandbox):
    for status, verdict in ((404, "ok"), (403, "warn"), (500, "warn")):
        answer = Response(status_code=status)
        sandbox.sandbox.intercept = lambda request, answer=answer: answer if request.url.path == STATUS else None
        with bench.api() as api:
            assert look_at_status(api).verdict == verdict


@pytest.mark.parametrize(
    ("treatment", "verdict", "says"),
    [
        (MINUTES, "warn", "compares minutes. Each window is read 2 minutes wider"),
        (DATES, "warn", "compares dates, or reads times in another zone than UTC"),
        (FieldTreatment(), "ok", "found by the second"),
    ],
)
def test_how_exact_the_filter_is_has_a_line(bench, sandbox, treatment, verdict, says):
    sandbox.sandbox.field_treatment = treatment
    finding = found(bench)["filter on updated_at"]
    assert (finding.verdict, says in finding.message) == (verdict, True), finding.message
