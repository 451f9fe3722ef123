"""Opening the state store where this process has it open already, and others open and close it too."""

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from threading import Timer

import pytest
from sqlalchemy.exc import OperationalError

from tests.bench import NOW, store_at
from tests.lakes import name_of
from wms_sync.errors import SettingsError
from wms_sync.reports.doctor import examine
from wms_sync.settings import Settings
from wms_sync.state.engine import silent
from wms_sync.state.errors import StateBusy, StateDamaged, StateError, StateNewer, StateRefused
from wms_sync.state.store import StateStore, Window
from wms_sync.upkeep.recovery import recover_state

ELSEWHERE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute("select count(*) from windows").fetchone()[0])
connection.close()
"""
"""Whoever closes a database last takes its log away."""
PAGE_BYTES = 4096


def test_others_see_writes_after_a_second_opening(tmp_path):
    """To open and close the file beside SQLite dropped its locks: another process then deleted the log in use."""
    url = f"sqlite:///{tmp_path}/state.db"
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path / "state.db")]
    with store_at(url, tmp_path) as store:
        StateStore.opened(url).close()
        assert subprocess.check_output(command) == b"0\n"
        store.begin_windows([Window(id="w1", from_at=NOW, to_at=NOW, reason="sync", run_id="run", signature="s")])
        assert subprocess.check_output(command) == b"1\n"


@pytest.mark.parametrize("kept", [0, 1, 4])
def test_a_damaged_state_store_is_named(tmp_path, kept):
    """With so many of its pages as they were: the first is read at once, others only when a table is asked."""
    path = tmp_path / "state.db"
    url = f"sqlite:///{path}"
    StateStore.opened(url).close()
    content = path.read_bytes()
    path.write_bytes(content[: kept * PAGE_BYTES] + b"\xa5" * (len(content) - kept * PAGE_BYTES))
    with pytest.raises(StateDamaged, match=f"{path} is damaged .*Move it to another folder, with state.db-wal"):
        store_at(url, tmp_path)


def test_a_new_state_store_is_opened_while_another_process_begins_it(tmp_path):
    """SQLite does not wait for others before it keeps a log: that a run begins beside another must not fail it."""
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path, check_same_thread=False)) as other:
        other.execute("begin immediate")
        Timer(0.3, other.commit).start()
        StateStore.opened(f"sqlite:///{path}").close()


def test_a_busy_state_store_is_named(tmp_path):
    path = tmp_path / "state.db"
    with (
        StateStore.opened(f"sqlite:///{path}") as store,
        closing(sqlite3.connect(path)) as other,
        store.engine.connect() as connection,
    ):
        other.execute("begin immediate")
        connection.exec_driver_sql("pragma busy_timeout = 0")  # in place of half a minute
        with pytest.raises(StateBusy, match=f"{path} cannot be used .*database is locked"):
            connection.exec_driver_sql("begin immediate")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("sqlite://", "does not name a file"),
        ("sqlite:///:memory:", "does not name a file"),
        ("nonsense", "WMS_STATE_URL"),
        ("mysterydb://host/x", "WMS_STATE_URL"),
    ],
)
def test_a_url_that_names_no_database_is_refused(url, says):
    with pytest.raises(SettingsError, match=says):
        StateStore.opened(url)


def test_a_newer_state_store_is_read_not_written(tmp_path):
    settings = Settings.load(_env_file=None, data_dir=tmp_path, base_url=None)
    with StateStore.opened(settings.database_url) as store, closing(sqlite3.connect(tmp_path / "state.db")) as newer:
        newer.execute("insert into schema_migrations values ('9999_later', '2030-01-01 00:00:00')")
        newer.commit()
        assert store.windows() == ()
    said = r"written by a newer release of wms-sync \(its state store has 9999_later\).* Update wms-sync"
    with pytest.raises(StateNewer, match=said):
        recover_state(settings)
    assert [found.severity for found in examine(settings) if "newer release" in found.text] == ["error"]


READ_ONLY = """
import os, sys, tempfile
from pathlib import Path
from wms_sync.errors import WmsSyncError
from wms_sync.layout import Layout
from wms_sync.state.holder import Held, Holder
from wms_sync.state.store import StateStore
from wms_sync.state.leases import Lease

with tempfile.TemporaryDirectory() as name:
    folder, me = Path(name), Held("writer", Holder.now("test"))
    url = f"sqlite:///{folder}/state.db"
    StateStore.opened(url).close()
    (folder / "state.db").chmod(0o444)
    folder.chmod(0o777 if sys.argv[1] == "the file" else 0o555)
    if os.geteuid() == 0:
        os.chown(folder / "state.db", 65534, -1)
        os.seteuid(65534)
    try:
        with StateStore.opened(url) as store:
            print("windows", store.windows())
            Lease.taken(store.engine, Layout(folder), me)
    except WmsSyncError as error:
        print(type(error).__name__, error)
    if os.getuid() == 0:
        os.seteuid(0)
"""


@pytest.mark.proof
@pytest.mark.parametrize("what", ["the file", "the folder too"])
def test_a_read_only_state_store_can_be_read(what):
    done = subprocess.run([sys.executable, "-c", READ_ONLY, what], capture_output=True, text=True, check=False)
    said = r"windows \(\)\nInaccessible .*state\.db cannot be used \(it is read-only\).*check its kind .*permissions"
    assert re.match(said, done.stdout, re.DOTALL), done.stdout + done.stderr


CLOSED = """
import os, sys, tempfile
from pathlib import Path
from wms_sync.cli.main import main
from wms_sync.errors import WmsSyncError
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore
from wms_sync.reports.installation import installation_of

with tempfile.TemporaryDirectory() as name, tempfile.TemporaryDirectory() as elsewhere:
    Path(elsewhere).chmod(0o777)
    url = f"sqlite:///{elsewhere}/state.db"
    store = StateStore.opened(url)
    for path in Path(elsewhere).iterdir():
        path.chmod(0o666)
    settings = Settings.load(_env_file=None, data_dir=Path(name) / "data", state_url=url)
    (Path(name) / "data").mkdir()
    Path(name).chmod(0)
    if os.geteuid() == 0:
        os.seteuid(65534)
    try:
        with installation_of(settings) as found:
            found.is_behind
    except WmsSyncError as error:
        print(type(error).__name__, error)
    os.environ["WMS_ALERT_WEBHOOK_URL"] = "http://127.0.0.1:9/"
    os.environ["WMS_DATA_DIR"] = str(Path(name) / "data")
    for _ in range(2):
        try:
            main(["explain", "shipment", "1"])
        except SystemExit as ended:
            print(ended.code, file=sys.stderr)
        if Path.cwd() != Path(elsewhere):
            os.chdir(elsewhere)
            Path(".env").touch(mode=0)
    if os.getuid() == 0:
        os.seteuid(0)
    Path(name).chmod(0o700)
"""


@pytest.mark.proof
def test_status_names_a_data_folder_without_access():
    done = subprocess.run([sys.executable, "-c", CLOSED], capture_output=True, text=True, check=False)
    assert re.match("Inaccessible .*data cannot be used", done.stdout, re.DOTALL), done.stdout + done.stderr
    explained, settings = done.stderr.split("\n1\n")  # also what the command does after its error, for alerts
    assert re.search(r"The state store could not be opened: .*data cannot be used \(Permission denied\)\. ", explained)
    assert settings.endswith("Give the current user the right to read it, or start wms-sync in another folder.\n2\n")


def test_a_postgresql_that_takes_no_writes_is_named(lakes, tmp_path):
    database = lakes.new()
    settings = Settings.load(_env_file=None, data_dir=tmp_path / "data", state_url=database)
    lakes.execute(database, f"alter database {name_of(database)} set default_transaction_read_only = on")
    said = r"refuses a statement \(cannot execute .* in a read-only transaction\)\. It is a standby.* to the primary"
    with pytest.raises(StateRefused, match=said):
        store_at(database, tmp_path)
    [found] = [finding.text for finding in examine(settings) if (finding.name, finding.severity) == ("state", "error")]
    assert re.search(said, found)


def test_a_statement_beyond_a_limit_of_postgresql_does_not_look_like_a_lost_session(lake_url):
    """It fails each time: waiting for the server does not help."""
    columns = ", ".join(f"c{number} int" for number in range(1601))
    with StateStore.opened(lake_url) as store, store.engine.connect() as connection:
        with pytest.raises(OperationalError, match="1600 columns") as caught:
            connection.exec_driver_sql(f"create temp table wide ({columns})")
        assert silent(caught.value) is None


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (("host=", "host=/nowhere/"), r"does not answer \(connection .*\)\. Run again once it does"),
        (
            ("wms@", "nobody@"),
            r"could not be opened \(.*FATAL: +role \"nobody\" does not exist\)\. Check WMS_STATE_URL",
        ),
        (
            ("host=", "options=-c%20role%3Dpg_monitor&host="),  # a role without rights
            r"refuses a statement \(permission denied for table .*\)\. In WMS_STATE_URL",
        ),
    ],
)
def test_a_postgresql_that_is_absent_or_refuses(lake_url, changed, says):
    StateStore.opened(lake_url).close()
    with pytest.raises(StateError, match=says):
        StateStore.opened(lake_url.replace(*changed))
