"""The assets of master data: plans and pushes as runs of Dagster, against the sandbox on a socket."""

import json
import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from starlette.responses import JSONResponse

from tests.cli.conftest import AT_A_MOMENT
from tests.master_data.files import write
from tests.pipelines.conftest import failure_of
from tests.pipelines.test_metadata import DIALECT
from wms_sandbox.app import Sandbox
from wms_sandbox.errors import failed
from wms_sandbox.faults import AnswerLost
from wms_sandbox.server import SandboxServer
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import PRODUCTS, RETAILERS
from wms_sync_pipelines import definitions, jobs, master_data, metadata
from wms_sync_pipelines.master_data import CHANGED, DOUBTFUL, REJECTED, GivenFile

LONG_AGO = time.time() - 1000


@pytest.fixture
def service():
    """A service of its own for each test: what one creates, no other may find."""
    with SandboxServer(Sandbox(AT_A_MOMENT)) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "master-data"
    made.mkdir()
    return made


@pytest.fixture
def run(make_settings, folder, instance):
    def start(
        kind: Kind = RETAILERS,
        *files: GivenFile,
        resend: bool = False,
        approve: Sequence[str] = (),
        is_settled: bool = True,
        **overrides: object,
    ):
        settings = make_settings(**{"master_data_dir": folder} | overrides)
        for path in folder.glob("*") if is_settled else ():
            os.utime(path, (LONG_AGO, LONG_AGO))
        return (
            definitions.build(settings)
            .resolve_job_def(jobs.push_name(kind))
            .execute_in_process(
                instance=instance,
                run_config=master_data.run_config(settings, kind, files, resend=resend, approve=approve),
                raise_on_error=False,
            )
        )

    return start


def materialised(result):
    """Metadata of the one materialisation, as plain values."""
    [event] = result.get_asset_materialization_events()
    return {name: getattr(value, "value", None) for name, value in event.materialization.metadata.items()}


def plan_of(result) -> list[dict[str, object]]:
    return [record.data for record in materialised(result)["plan"].records]


ERROR, WARN = dg.AssetCheckSeverity.ERROR, dg.AssetCheckSeverity.WARN


def checks(result) -> dict[str, Any]:
    return {one.check_name: one for one in result.get_asset_check_evaluations()}


def test_a_plan_lists_rejected_rows_first_and_is_cut(run, folder):
    write(folder / "retailers.csv", "code,name", "a,A", "b,")
    assert plan_of(run()) == [
        {"file": "retailers.csv", "line": 3, "key": "", "what": "rejected", "why": "name: Must be filled."},
        {"file": "retailers.csv", "line": 2, "key": "a", "what": "create", "why": ""},
    ]
    many = metadata.SHOWN_ROWS + 7
    write(folder / "retailers.csv", "code,name,parent_retailer_code", *(f"r{at},R,{'p' * 5000}" for at in range(many)))
    rows = plan_of(run())
    assert (len(rows), rows[-1]["what"]) == (metadata.SHOWN_ROWS + 1, "and 7 rows more")
    assert max(len(str(row["why"])) for row in rows) == metadata.SHOWN_CHARACTERS + len("...")


def codes(service: SandboxServer) -> list[str]:
    return [one["code"] for one in service.sandbox.retailers()]


def test_an_approved_plan_is_what_is_sent(run, folder, service):
    def approval(result) -> list[str]:
        """What one would paste from the catalogue to send the plans of a run."""
        text = materialised(result)["approve"].partition("```json")[2].removesuffix("```")
        return list(json.loads(text)["ops"]["master_data__retailers"]["config"]["approve"])

    write(folder / "retailers-1.csv", "code,name", "a,A")
    write(folder / "retailers-2.csv", "code,name", "b,B")
    first, second = approval(run())
    assert (materialised(run(approve=[second]))["rows_created"], codes(service)) == (1, ["b"])
    assert second in failure_of(run(approve=[second])), "what was created makes another plan"

    write(folder / "retailers-1.csv", "code,name", "a,Another")
    for push_enabled in (True, False):  # also where nobody need approve
        refused = run(approve=[first], push_enabled=push_enabled)
        assert f"No file has the approved plan {first}" in failure_of(refused)
    assert run(approve=approval(refused)).success
    assert [made["name"] for made in service.sandbox.retailers()] == ["B", "Another"]
    assert "approve" not in materialised(run()), "nothing is left to send"


def test_what_needs_a_person_fails_its_own_check(run, folder, service):
    service.sandbox.intercept = lambda _: AnswerLost()
    write(folder / "products.csv", "sku,name", "s,S")
    found = checks(run(PRODUCTS, push_enabled=True))
    assert {name: (check.passed, check.severity, check.description) for name, check in found.items()} == {
        REJECTED: (True, ERROR, None),
        DOUBTFUL: (False, WARN, "1 row is in doubt, waiting or unsent: products.csv line 2."),
        CHANGED: (True, WARN, None),
    }
    service.sandbox.intercept = None
    assert materialised(run(PRODUCTS, resend=True, push_enabled=True))["rows_created"] == 1

    write(folder / "retailers.csv", "code,name", "a,A")
    run(push_enabled=True)
    write(folder / "retailers.csv", "code,name", "a,Other", "b,")
    mixed = run(push_enabled=True)
    found = checks(mixed)
    assert {name: check.passed for name, check in found.items()} == {REJECTED: False, DOUBTFUL: True, CHANGED: False}
    assert found[CHANGED].description == "1 row differs from what was created from it: retailers.csv line 2."
    [row] = found[CHANGED].metadata["sample"].records
    assert '"A" -> "Other"' in row.data["why"]
    assert (mixed.success, "retailers-retailers-" in materialised(mixed)["rejects"]) == (True, True)


def test_assets_that_are_materialised_show_their_plans(make_settings, folder, service, instance):
    write(folder / "products.csv", "sku,name", "s,S")
    write(folder / "retailers.csv", "code,name", "a,A")
    both = [dg.AssetKey(["master_data", name]) for name in ("products", "retailers")]
    built = definitions.build(make_settings(master_data_dir=folder, push_enabled=True))
    result = built.resolve_implicit_global_asset_job_def().execute_in_process(instance=instance, asset_selection=both)
    assert (service.sandbox.retailers(), service.sandbox.products()) == ([], [])
    shown = {event.asset_key: event.materialization.metadata for event in result.get_asset_materialization_events()}
    assert shown.keys() == {*both}
    assert [(facts["pushed"].value, facts["rows"].value) for facts in shown.values()] == [(False, 1)] * 2


def test_a_file_that_is_still_arriving_is_planned_and_not_pushed(run, folder, service, instance):
    """A push that was launched by hand, without files, took the half of it."""
    os.utime(write(folder / "retailers-1.csv", "code,name", "a,A"), (LONG_AGO, LONG_AGO))
    write(folder / "retailers-2.csv", "code,name", "b,Northwind Trad")
    result = run(push_enabled=True, is_settled=False)
    assert (result.success, codes(service)) == (True, ["a"])
    said = [entry.user_message for entry in instance.all_logs(result.run_id) if entry.level == logging.WARNING]
    assert [text for text in said if "retailers-2.csv is left out: its upload may not have ended" in text]
    assert materialised(run(is_settled=False))["planned_create"] == 1


PUSHED, GIVEN = {"push_enabled": True}, "retailers.csv"
ONE = {GIVEN: "code,name\na,A\n"}
RUNS: dict[str, tuple[Mapping[str, str], Mapping[str, Any], Mapping[str, object], tuple[str, ...], list[str]]] = {
    # files, how a run of retailers is launched, what it shows, why it fails, and which retailers are there then
    "a plan by default": (
        {GIVEN: "code,name\na,A\nb,\n"},
        {},
        {"pushed": False, "rows": 2, "planned_create": 1, "planned_rejected": 1},
        (),
        [],
    ),
    "no files": ({}, {}, {"rows": 0}, (), []),
    "files of the kind, in the order of their names": (
        {
            "retailers-2-children.csv": "code,name,parent_retailer_code\nc,C,p\n",
            "retailers-1-parents.csv": "code,name\np,P\n",
            "products.csv": "sku,name\ns,S\n",
        },
        PUSHED,
        {"pushed": True, "planned_create": 2, "rows_created": 2, "requests": 2},
        (),
        ["p", "c"],
    ),
    "wrong files, after the others": (
        {"retailers-1.csv": "PK\x03\x04 no text", "retailers-2.csv": "code,nam\nx,X\n", "retailers-3.csv": ONE[GIVEN]},
        PUSHED,
        {"rows_created": 1},
        ("retailers-1.csv cannot be read", "header of retailers-2.csv is wrong", "Did you mean name?"),
        ["a"],
    ),
    "rows that are not sent": (
        {GIVEN: "code,name,parent_retailer_code\np,P,\nc,C,p\n"},
        PUSHED | {"answer": failed(429, Retry_After="3600")},
        {"rows_waits": 1, "rows_unsent": 1},
        ("did not accept 1 row of retailers.csv", "1 waits, 1 unsent"),
        [],
    ),
    "a file that has changed since the sensor noticed it": (
        ONE,
        PUSHED | {"files": {GIVEN: "of another content"}},
        {},
        ("has changed since the sensor noticed it",),
        [],
    ),
    **{
        f"{where}, {'pushed' if settings else 'planned'}": (
            ONE | {where: "code,name\nsecret,S\n"},
            settings | {"files": {where: None, GIVEN: None}},
            {"rows": 1},
            ("is not in WMS_MASTER_DATA_DIR",),
            ["a"] if settings else [],
        )
        for where in ("../elsewhere.csv", "../master-data/../elsewhere.csv", "below/retailers.csv")
        for settings in ({}, PUSHED)
    },
    "no folder is set": ({}, {"master_data_dir": None}, {}, ("WMS_MASTER_DATA_DIR", "not set"), []),
    "the folder is gone": ({}, {"master_data_dir": "gone"}, {}, ("WMS_MASTER_DATA_DIR", "is not a folder"), []),
}


@pytest.mark.parametrize(("files", "launched", "shows", "fails", "created"), RUNS.values(), ids=RUNS)
def test_what_a_run_makes_of_the_folder(run, folder, service, files, launched, shows, fails, created):
    (folder / "below").mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    launched = {"answer": None, "files": {}} | launched
    answer, given = launched.pop("answer"), launched.pop("files").items()
    service.sandbox.intercept = lambda _: answer
    result = run(RETAILERS, *(GivenFile(path=str(folder / name), sha256=sha256) for name, sha256 in given), **launched)
    assert [words for words in fails if words not in failure_of(result)] == []
    assert (result.success, codes(service), service.sandbox.products()) == (not fails, created, [])
    shown = materialised(result)
    assert shown | shows == shown
    assert "secret" not in str(shown)


HOSTILE = "![p](http://evil.example/p.png) [here](javascript:alert(1)) <img src=x onerror=alert(1)> **b** `c` | d"


def test_hostile_text_is_shown_and_does_nothing(run, folder, service):
    """A picture would be fetched by whoever looks, from wherever the text says."""
    answer = JSONResponse({"errors": [{"type": "application", "message": HOSTILE}]}, 422)
    service.sandbox.intercept = lambda request: answer if request.method == "POST" else None
    name = "retailers " + HOSTILE.replace("/", "\N{FULLWIDTH SOLIDUS}") + ".csv"
    write(folder / name, "code,name", f'"{HOSTILE}",A', f'b,"{HOSTILE}"', "c,")
    write(folder / "retailers-2.csv", f"code,name,{HOSTILE}", "d,D,e")
    result = run(push_enabled=True)
    shown = [event.materialization.metadata for event in result.get_asset_materialization_events()]
    shown += [check.metadata for check in result.get_asset_check_evaluations()]
    values = (value for metadata in shown for value in metadata.values() if isinstance(value, dg.MarkdownMetadataValue))
    said = [str(value.value) for value in values]
    assert any("evil.example" in text for text in said), "nothing of it came that far"
    for text in said:
        assert set(re.findall(r"</?(\w+)", DIALECT.render(text))) <= {"p", "ul", "li"}, text
