"""Master data from the command line, as it is typed, against the sandbox on a socket."""

import json
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.cli.conftest import TOKEN
from tests.master_data.conftest import MERCHANT
from tests.master_data.files import write
from tests.processes import Command
from tests.running import run_push
from wms_sandbox.faults import AnswerLost
from wms_sync.master_data.kinds import PRODUCTS
from wms_sync.master_data.plan import RowStatus
from wms_sync.reports.doctor import examine
from wms_sync.settings import Settings
from wms_sync.state.ledger import PushLedger, State
from wms_sync.state.schema import MIGRATIONS


def states(settings: Settings) -> dict[str, State]:
    with PushLedger.opened(settings.database_url) as ledger:
        return {entry.key: entry.state for entry in ledger.all()}


FILES = {
    "retailers.csv": ("code,name,parent_retailer_code", "c,C,p", "p,P,"),
    "products.csv": ("sku,name,weight", "s1,S,1.5", "s2,S,"),
    "tags.csv": ("name,color", "n1,red1", "n2,blue5"),
    "wrong.csv": ("name,colour", "n1,red1"),
    "long.csv": ("name,color", *(f"n{at},{'red1' if at % 2 else 'pink'}" for at in range(240))),
}
CASES: dict[str, tuple[str, int, tuple[str, ...], dict[str, str], int | None]] = {
    # a command, its exit code, what is shown, other settings, how many entries the ledger has then if there is one
    "retailers": ("push retailers retailers.csv", 0, ("retailers of retailers.csv: 2 created",), {}, 2),
    "products": ("push products products.csv", 0, ("products of products.csv: 2 created",), {}, 2),
    "location tags": ("push location-tags tags.csv", 0, ("location tags of tags.csv: 2 created",), {}, 2),
    "a wrong header": ("push location-tags wrong.csv", 2, ("color",), {}, 0),
    "a plan of a wrong header": ("push location-tags wrong.csv --dry-run", 2, ("color",), {}, 0),
    "no token": ("push location-tags tags.csv", 2, ("WMS_API_TOKEN",), {"WMS_API_TOKEN": ""}, None),
    "more than the limit": ("push products products.csv", 2, ("WMS_PUSH_LIMIT=2",), {"WMS_PUSH_LIMIT": "1"}, 0),
    "the first row": (
        "push retailers retailers.csv --limit 1",
        0,
        (
            "line 3: created p",
            'request: POST /v1/shipping/retailers {"code": "p", "name": "P"}',
            'answer: 201 {"type": "Retailer", "id": ',
            "stored otherwise: nothing that the answer shows",
            "1 row is left: repeat the command without --limit.",
            "retailers of retailers.csv: 1 created, 1 left",
        ),
        {"WMS_PUSH_LIMIT": "1"},
        1,
    ),
    "a plan of the first row": (
        "push retailers retailers.csv --dry-run --limit 1",
        0,
        ("left c: Left out by --limit", "A push would send 1."),
        {},
        0,
    ),
    "a long plan": (
        "push location-tags long.csv --dry-run",
        3,
        (
            "line 2: rejected: color = 'pink': ",
            "line 3: create n1\n",
            "and 20 more rejected (--all prints every row)",
            "and 20 more create (--all prints every row)",
            "A push would send 120.",
        ),
        {},
        0,
    ),
    "a long plan, whole": (
        "push location-tags long.csv --dry-run --all",
        3,
        ("line 240: rejected: as line 2\n", "line 241: create n239\n"),
        {},
        0,
    ),
    "no row": ("push retailers retailers.csv --limit 0", 2, ("--limit",), {}, None),
    "a wrong token": ("push products products.csv", 2, ("WMS_API_TOKEN",), {"WMS_API_TOKEN": "wr0ng-s3cret"}, 2),
    "no file": ("push retailers nofile.csv", 2, ("nofile.csv",), {}, None),
    "a folder for a file": ("push retailers .", 2, ("'.'",), {}, None),
    "no argument": ("push location-tags", 2, ("FILE",), {}, None),
    "columns without a service": (
        "push location-tags --columns",
        0,
        ("name  ", "description  ", "color  ", "sort_order  "),
        {"WMS_BASE_URL": ""},
        None,
    ),
}


@pytest.mark.parametrize(("command", "code", "shown", "changes", "entries"), CASES.values(), ids=CASES)
def test_a_command_of_master_data(type_in, settings, command, code, shown, changes, entries):
    for name, lines in FILES.items():
        write(Path(name), *lines)
    ended = type_in(*command.split(), **changes)
    assert (ended.exit_code, [text for text in shown if text not in ended.output]) == (code, []), ended.output
    assert (len(states(settings)) if settings.layout.state.exists() else None) == entries
    assert not settings.layout.rejects.exists()


def test_the_status_lists_doubts(type_in, service):
    service.sandbox.intercept = lambda _: AnswerLost()
    write(Path("given.csv"), "sku,name", "p1,P")
    assert type_in("push", "products", "given.csv").exit_code == 3
    shown = json.loads(type_in("status", "--json").stdout)
    [doubt] = shown["doubts"]
    assert (shown["pushes"], doubt["kind"], doubt["key"]) == ({"products": {"doubt": 1}}, "products", "p1")
    assert "--resend" in doubt["what_to_do"]
    assert "in doubt      products p1, sent " in type_in("status").output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_polite_kill_finishes_what_is_under_way(service_of_today, settings, tmp_path, number):
    path = write(tmp_path / "given.csv", "sku,name", *(f"p{at},P" for at in range(60)))
    environment = {"WMS_BASE_URL": str(settings.base_url), "WMS_API_TOKEN": TOKEN}
    sandbox, begun = service_of_today.sandbox, threading.Event()

    def slowly(_: object) -> None:
        begun.set()
        time.sleep(0.05)

    sandbox.intercept = slowly
    with Command(["push", "products", path.name], environment, tmp_path) as command:
        assert begun.wait(60)
        command.send_signal(number)
        ended = command.ended()
    assert (ended.returncode, "requests under way are finished" in ended.stderr) == (130, True), ended.stderr
    assert "interrupted: repeat it" in ended.stdout
    made, known = {product["sku"] for product in sandbox.products()}, states(settings)
    assert known == {key: State.CREATED if key in made else State.UNDONE for key in known}
    assert 0 < len(made) < 60
    sandbox.intercept = None
    there = {RowStatus.CREATED: 60 - len(made), RowStatus.ALREADY_THERE: len(made)}
    assert run_push(settings, PRODUCTS, path).counts == there


DOCTOR: dict[str, tuple[dict[str, object], str, str, str]] = {
    # what is set, which finding, how severe it is and what it says
    "no merchant": ({}, "merchant", "note", "the Merchant API is not set up"),
    "the schema": ({}, "state", "note", f"schema {MIGRATIONS[-1][0]}"),
    "no key": ({"merchant_username": "any"}, "merchant", "error", "WMS_MERCHANT_API_KEY is not set"),
    "a merchant": (MERCHANT, "merchant", "note", "accepts sandbox-merchant"),
    "a stranger": (MERCHANT | {"merchant_username": "nobody"}, "merchant", "error", "The Merchant API"),
    "a missing folder": ({"master_data_dir": Path("nowhere")}, "settings", "error", "WMS_MASTER_DATA_DIR"),
}


@pytest.mark.parametrize(("changes", "subject", "severity", "says"), DOCTOR.values(), ids=DOCTOR)
def test_the_doctor_looks_at_what_a_push_needs(settings, changes, subject, severity, says):
    found = [
        (finding.severity, finding.text)
        for finding in examine(settings.model_copy(update=changes))
        if finding.name == subject
    ]
    assert any(bad == severity and says in text for bad, text in found), found
