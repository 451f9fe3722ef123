"""One list: in each state every view names the same findings, and severity alone decides the exit code."""

import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from tests.bench import opened_store, settings_in
from tests.changed_files import change
from tests.deferred import deferred
from tests.reports.alerts.conftest import Change, Installation, ran
from tests.reports.alerts.test_observe import creates, damaged, does, gone, misfit, unknown
from tests.running import run_load, run_sync
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.transport import InProcess
from wms_sync.cli.main import main
from wms_sync.cli.operations import report
from wms_sync.layout import snapshot_key
from wms_sync.reports.alerts import deliver
from wms_sync.reports.doctor import examine
from wms_sync.reports.finding import open_findings
from wms_sync.reports.findings import findings_of
from wms_sync.reports.report import make_report
from wms_sync.settings import Settings
from wms_sync.state import ledger
from wms_sync_pipelines import coverage


def a_day_is_not_covered(house: Installation) -> None:
    with opened_store(house.settings) as store:
        [window] = store.windows("loaded")
        start, end = (window.to_at + timedelta(minutes=minutes) for minutes in (1, 2))
        store.begin_windows([replace(window, id="later", from_at=start, to_at=end)])


def a_read_warned_and_forgetting_was_interrupted(house: Installation) -> None:
    with opened_store(house.settings) as store:
        store.record_warnings({"page-size": "It is narrower."}, from_scratch=True)
        store.remember_forgotten([4711])


@deferred
def master_data_has(house: Installation, name: str, age: float = 1000) -> None:
    assert house.settings.master_data_dir is not None
    (path := house.settings.master_data_dir / name).touch()
    os.utime(path, (time.time() - age, time.time() - age))


TELEPORTED = "update ops.checks set offending = 2, finding = 'teleported' where name = 'statuses_are_known'"
STATES: dict[str, tuple[tuple[Change, ...], dict[str, str]]] = {
    # what is wrong: what brings it about after a sync without findings, and what is then found, by name
    "nothing": ((), {}),
    "everything": (
        (
            ran("running"),
            ran("failed", "Jane was refused.", "RowsUnsent", purpose="push retailers"),
            does(lambda settings: change(settings.layout.published, misfit("a", 1), unknown("Order.b"), TELEPORTED)),
            a_day_is_not_covered,
            creates(ledger.State.DOUBT, "JANE"),
            a_read_warned_and_forgetting_was_interrupted,
        ),
        dict.fromkeys(
            ("check-statuses_are_known", "quarantine", "drift", "gap", "doubts", "page-size", "forget"), "warning"
        )
        | {"run-sync": "error", "run-push_retailers": "error"},
    ),
    "the tables are gone": ((gone,), {"tables-gone": "error"}),
    "the tables are damaged": ((gone, damaged), {"tables-unreadable": "error"}),
    "a night that is tried again": (
        (ran("waiting", "Down.", "ServiceFailed", source="schedule", due=timedelta(hours=1)),),
        {"run-sync": "warning"},
    ),
    "files that no kind claims": (
        (master_data_has("notes.csv"), master_data_has("retailers.csv.part", age=60), master_data_has(".hidden")),
        {"unclaimed-files": "warning"},
    ),
    "a file that is being uploaded": ((master_data_has("retailers.csv.part", age=60),), {}),
    "a doubt": ((creates(ledger.State.DOUBT, "JANE"),), {"doubts": "warning"}),
}


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """An installation after a sync in which nothing was wrong."""
    transport = InProcess(Sandbox(SandboxConfig(shipments=120, seed=5, days=20, families=40)))
    settings = settings_in(
        tmp_path_factory.mktemp("synced"), transport, start_date=(datetime.now(UTC).date() - timedelta(days=30))
    )
    run_sync(settings, transport)
    return settings


@pytest.fixture
def made(request, synced, tmp_path, receiver, monkeypatch) -> Settings:
    """The settings of a copy in which the state of the test was brought about; a command that is typed has them."""
    folder = shutil.copytree(synced.data_dir, tmp_path / "data")
    (files := tmp_path / "files").mkdir()
    given = {"data_dir": folder, "master_data_dir": files, "alert_webhook_url": receiver.url}
    made = Settings.load(_env_file=None, **synced.model_dump(exclude_unset=True) | given)
    house = Installation(made)
    for bring_about in STATES[request.param][0]:
        bring_about(house)
    for name in ("data_dir", "master_data_dir", "start_date", "base_url"):
        monkeypatch.setenv(f"WMS_{name.upper()}", str(getattr(made, name)))
    return made


def kinds(names: Iterable[str]) -> list[str]:
    """The names without what tells findings of one kind apart."""
    return sorted(re.sub(r"-[0-9a-f]{6}$", "", name) for name in names)


def typed(command: str) -> Result:
    return CliRunner().invoke(main, command.split())


def listed(command: str) -> list[str]:
    return re.findall(r"^(?:error|warning) .*\(([\w-]+)\)$", typed(command).output, re.MULTILINE)


VIEWS: dict[str, Callable[[Settings], Iterable[str]]] = {
    # a view, and the names of the findings that it shows
    "status": lambda _: listed("status"),
    "JSON": lambda _: (
        finding["name"]
        for finding in json.loads(typed("status --json").output)["findings"]
        if finding["severity"] != "note"
    ),
    "doctor": lambda made: (
        {finding.name for finding in examine(made)} & {finding.name for finding in findings_of(made)}
    ),
    "Dagster": lambda made: (
        name
        for result in coverage.evaluations(made)
        if not result.passed
        for name in str(result.metadata["findings"].value).split(", ")
    ),
    "check": lambda _: listed("check"),
    "report": lambda made: (finding.name for finding in make_report(made)[1].findings),
}


@pytest.mark.parametrize(("made", "found"), [(name, found) for name, (_, found) in STATES.items()], indirect=["made"])
def test_every_view_names_the_same_findings(made, found, receiver):
    findings = open_findings(findings_of(made))
    assert {kinds([finding.name])[0]: finding.severity for finding in findings} == found
    code, strict = (1, 1) if "error" in found.values() else (0, 3) if found else (0, 0)
    checked = typed("status --check")
    assert (typed("status").exit_code, checked.exit_code) == (code, strict)
    assert checked.output.startswith("ok: ") == (not found)
    of_tables = set() if found.keys().isdisjoint({"tables-gone", "tables-unreadable"}) else {"check", "report"}
    of_many = set() if len(found) > 1 else {"report"}  # drawing its charts takes as long as a load
    for view in VIEWS.keys() - of_tables - of_many:
        assert kinds(VIEWS[view](made)) == sorted(found), view

    deliver(made)
    assert kinds(alert["finding"] for alert in receiver.taken) == kinds(
        [finding.name for finding in findings if finding.is_settled]
    )
    assert "Jane" not in str(receiver.taken)
    assert all(finding.is_settled for finding in findings if finding.severity == "error")


@pytest.mark.parametrize("made", ["a doubt"], indirect=True)
def test_a_run_ends_with_what_is_open(made, capsys):
    """Its metrics and its last lines are of the list that a command shows afterwards."""
    done = run_load(made)
    [doubt] = open_findings(done.findings)
    report(done, 0)
    assert "1 retailer may or may not exist in the service." in capsys.readouterr().out
    for name in (r"wms_sync_open_findings\{", rf'wms_sync_finding\{{finding="{doubt.name}",'):
        assert re.search(rf'^{name}.*severity="warning"\}} 1\.0$', made.layout.metrics.read_text(), re.MULTILINE)
    assert typed(f"acknowledge {doubt.name}").exit_code == 0
    report(run_load(made), 0)
    assert re.search(r'severity="warning"\} 0\.0$', made.layout.metrics.read_text(), re.MULTILINE)


@pytest.mark.parametrize("made", ["everything"], indirect=True)
def test_what_cannot_be_examined_hides_no_other_finding(made, receiver):
    """As where the bucket of raw pages does not answer: here a folder stands in the place of a snapshot."""
    (made.layout.root / snapshot_key(9_999)).mkdir()
    found = {finding.name: finding for finding in findings_of(made)}
    assert ("Is a directory" in found["unknown-coverage"].text, found["run-sync"].severity) == (True, "error")
    deliver(made)
    assert {"new:run-sync", "new:run-push_retailers"} <= {*receiver.heard}
