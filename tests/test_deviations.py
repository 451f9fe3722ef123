"""Services that differ a little where the specification leaves room: a read lands everything, and says what it lacks.

What an operator reads is in what the command prints and in ``status``. What breaks a transport is in
``test_transport.py``, content that does not fit in ``test_content.py``, other forms of content in ``test_sync.py``.
``shipments/read`` has lists and counts that end early, empty lists, clocks, filters and shipments without a date.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import cycle
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.bench import CONFIG, ending
from wms_sandbox.app import STATUS, Sandbox
from wms_sandbox.errors import ParameterError, bad_parameters
from wms_sandbox.transport import InProcess

FEW = replace(CONFIG, shipments=30, families=20)
BILLING_GROUP = "fields:order.tpb_group"
REFUSED = {"errors": [{"type": "parameters", "message": "The supplied parameters are invalid."}]}
DENIED = {"errors": [{"type": "acl", "message": "Access denied."}]}
NO_VALUE = bad_parameters(ParameterError("fields:items", "Unknown value 'reservations'."))
NO_COUNTS = ("no counts", "not noticed if the service's lists are too short for a while")

Page = dict[str, Any]
Deviate = Callable[[Sandbox], None]
"""Set a hook of the sandbox."""


@dataclass(frozen=True)
class Deviation:
    """``says`` stands in the output or the status; a read of which nothing is said ends without findings.

    ``omits`` is the name that cannot be requested; ``settings`` are those of the installation.
    """

    name: str
    deviate: Deviate
    says: tuple[str, ...] = ()
    omits: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)


def pages(edit: Callable[[Page], object]) -> Deviate:
    """Each page of shipments is changed before it is sent."""

    def rewrite(page: Page) -> Page:
        edit(page)
        return page

    return lambda sandbox: setattr(sandbox, "rewrite", rewrite)


def answers(answer: Callable[[Request], Response | None]) -> Deviate:
    """Some requests are answered otherwise."""
    return lambda sandbox: setattr(sandbox, "intercept", answer)


def forbids(answer: Callable[[], Response]) -> Deviate:
    """Whoever requests the billing group gets this answer."""
    return answers(lambda request: answer() if BILLING_GROUP in request.query_params else None)


def following(*shapes: Callable[[str], str | None]) -> Deviate:
    """Each page writes ``next`` in the next of these ways."""
    turns = cycle(shapes)
    return pages(lambda page: page.update(next=next(turns)(page["next"])) if page["next"] else None)


DEVIATIONS = [
    Deviation(
        "next is an address of another scheme, of another host, has no leading slash, or only meta has the cursor",
        following(
            lambda path: f"https://127.0.0.1{path}",
            lambda path: f"http://wms.internal:8080{path}",
            lambda path: path.removeprefix("/api/global/"),
            lambda path: None,
        ),
        settings={"page_size": 5},
    ),
    Deviation(
        "a limit is refused without a word of it",
        answers(lambda request: JSONResponse(REFUSED, 400) if int(request.query_params.get("limit", 1)) > 8 else None),
        says=("Set WMS_PAGE_SIZE=5",),
    ),
    Deviation("has_more is left out", pages(lambda page: page.pop("has_more"))),
    Deviation(
        "has_more is false although next leads on, and nothing is counted",
        pages(lambda page: (page.update(has_more=False), page["meta"].pop("count", None))),
        says=NO_COUNTS,
    ),
    Deviation("has_more is null at the end", pages(lambda page: page.update(has_more=page["has_more"] or None))),
    Deviation("has_more is a number", pages(lambda page: page.update(has_more=int(page["has_more"])))),
    Deviation("nothing is counted", pages(lambda page: page["meta"].pop("count", None)), says=NO_COUNTS),
    Deviation(
        "counts are beyond 64 bits",
        pages(lambda page: page["meta"].update(count=10**30) if "count" in page["meta"] else None),
        says=NO_COUNTS,
    ),
    Deviation("there is no meta", pages(lambda page: page.pop("meta")), says=NO_COUNTS),
    Deviation(
        "an empty collection is null",
        pages(lambda page: page.update(collection=page["collection"] or None)),
        settings={"start_date": date(2026, 2, 1)},
    ),
    Deviation(
        "there is no previous and no processing time",
        pages(lambda page: (page.pop("previous", None), page["meta"].pop("processing_time"))),
    ),
    Deviation(
        "there is no system status",
        answers(lambda request: Response("", 404) if request.url.path == STATUS else None),
    ),
    Deviation(
        "a name of field selection is refused without saying which",
        forbids(lambda: JSONResponse(REFUSED, 400)),
        says=(f"refuses {BILLING_GROUP}",),
        omits=(BILLING_GROUP,),
    ),
    Deviation(
        "a name of field selection is forbidden",
        forbids(lambda: JSONResponse(DENIED, 403)),
        says=(f"refuses {BILLING_GROUP} (403",),
        omits=(BILLING_GROUP,),
    ),
    Deviation(
        "a value of a name of field selection is refused",
        answers(lambda request: NO_VALUE if "reservations" in request.query_params.get("fields:items", "") else None),
        says=("refuses fields:items (", "Unknown value 'reservations'."),
        omits=("fields:items",),
    ),
    Deviation(
        "a firewall blocks a name of field selection",
        forbids(lambda: Response("<html>Blocked</html>", 403)),
        says=(f"refuses {BILLING_GROUP}", "It says: Blocked."),
        omits=(BILLING_GROUP,),
    ),
]


@pytest.mark.parametrize("case", DEVIATIONS, ids=lambda case: case.name)
def test_a_read_lands_everything_and_says_what_lacks(case, in_process, bench, settings_for, capsys):
    in_process.sandbox = Sandbox(FEW)
    case.deviate(in_process.sandbox)
    bench.settings = settings_for(in_process, **{"page_size": 10, "audit_pages": 0, **case.settings})
    assert ending(bench.settings, bench.read()) == (3 if case.says else 0)
    said = "\n".join([capsys.readouterr().out, *bench.needs])
    assert [text for text in case.says if text not in said] == []
    assert {tuple(window.omitted) for window in bench.store.windows()} == {case.omits}
    assert len(bench.landed_ids()) == len(set(bench.landed_ids())) == FEW.shipments
    if not case.omits:
        bench.assert_landed(InProcess(Sandbox(FEW)))
