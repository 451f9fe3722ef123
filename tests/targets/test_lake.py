"""The tables in a lake: catalogue in a real PostgreSQL, files in a folder.

A first sync is made once; ``lake`` is a copy of the test's own.
"""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from importlib.metadata import distribution
from pathlib import Path

import dagster as dg
import duckdb
import psycopg
import pytest
from pydantic import SecretStr

from tests.bench import CONFIG, Bench, empty_tables, let_pass, opened_store, settings_in, store_at
from tests.changed_files import change
from tests.lakes import MOVED, Lakes, in_the_database, in_the_files, name_of, tables_of
from tests.postgres import end_sessions, plain
from tests.running import run_sync, unrecorded_run
from tests.unpacked import files_holding
from tests.upkeep.test_forget import MARK, marked_in_new_places
from wms_sandbox.app import Sandbox
from wms_sandbox.transport import InProcess
from wms_sync.catalogue import quote, stored_tables
from wms_sync.cli.operations import run_maintain
from wms_sync.errors import SettingsError
from wms_sync.reports.explain import explain
from wms_sync.reports.export import export, export_all
from wms_sync.reports.findings import findings_of
from wms_sync.reports.installation import read_installation
from wms_sync.reports.reader import attach_statements, python_lines, reader_lines, role_statements
from wms_sync.reports.report import make_report
from wms_sync.settings import Settings
from wms_sync.shipments.load.checks import checks
from wms_sync.shipments.load.refresh import rebuild, refresh
from wms_sync.state.errors import TakenOver
from wms_sync.state.snapshot_files import write_snapshot
from wms_sync.targets.database import create_empty, is_as_defined
from wms_sync.targets.ducklake.catalogue import STATISTICS
from wms_sync.targets.ducklake.place import ONLY_FROM_WHEELS
from wms_sync.targets.ducklake.session import opened_for_writing
from wms_sync.targets.ducklake.target import Lake
from wms_sync.targets.ducklake.upkeep import AT_ONCE
from wms_sync.targets.errors import (
    AnalyticsError,
    DatabaseOpenError,
    LakeElsewhere,
    MaintenanceError,
    NotCommitted,
    ReadersInTheWay,
    without_statement,
)
from wms_sync.targets.target import target_of
from wms_sync.upkeep.backup import backup
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.restore import DataFolderInUse, restore
from wms_sync.upkeep.verify import verify
from wms_sync_pipelines import definitions

OF_THE_LOAD = {"loaded_at", "run_id", "load_run_id", "hours_behind"}
"""When and by whom it was loaded."""
OF_ANOTHER_RELEASE = (
    "delete from orders where id = (select min(id) from orders)",
    "delete from ops.loads",  # so that the order comes again
    "alter table shipments drop column unique_id",
    "drop view marts.freshness",
    "update ops.latest_load set definitions = 'another'",
)
"""How another release left a lake."""
HOUR = 3600
FEW = replace(CONFIG, shipments=80, families=20)
"""Most of what a lake costs is by table."""
FETCHED = "connection.execute('select max(updated_at) from main.shipments').fetchone()[0].timestamp()"
TEXTS = """
    select count(*) from lake.ducklake_file_column_stats natural join lake.ducklake_column
    where column_type = 'varchar' and min_value is not null
"""
"""The number of texts in the statistics."""
FILES_AFTER = 40
"""The most files that the tables together have after maintenance."""


@pytest.fixture(scope="module")
def service() -> InProcess:
    within = InProcess(Sandbox(FEW))
    within.sandbox.rewrite = marked_in_new_places
    return within


@pytest.fixture(scope="module")
def synced_once(service: InProcess, lakes: Lakes, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of an installation after its first sync, which is only copied from now on."""
    settings = settings_in(
        tmp_path_factory.mktemp("lake"), service, include_addresses=True, analytics="ducklake", state_url=lakes.new()
    )
    run_sync(settings, service)
    assert target_of(settings).is_published
    return settings


@pytest.fixture
def lake(synced_once: Settings, service: InProcess, lakes: Lakes, tmp_path: Path) -> Iterator[Bench]:
    folder = shutil.copytree(synced_once.data_dir, tmp_path / "data")
    url = lakes.copy(synced_once.database_url, folder)
    lakes.execute(url, f"alter database {name_of(url)} set search_path = public, lake")  # as some do for their own psql
    settings = synced_once.model_copy(update={"data_dir": folder, "state_url": SecretStr(url)})
    bench = Bench(settings, opened_store(settings), service)
    yield bench
    bench.store.close()


def stored(settings: Settings) -> dict[str, list[tuple[object, ...]]]:
    """The rows of every table, without the mirror of the state store, which saw one of them being read."""
    found = {}
    with target_of(settings).published() as connection:
        for table in stored_tables():
            columns = ", ".join(quote(name) for name in table.column_names if name not in OF_THE_LOAD)
            rows = connection.execute(f"select {columns} from {table.qualified}").fetchall()
            found[table.slug] = sorted(rows, key=repr)
    del found["ops_windows"]
    return found


def change_lake(lake: Bench, *statements: str) -> None:
    """Each is a snapshot."""
    with closing(opened_for_writing(lake.settings, lake.store.lease)) as connection:
        for statement in statements:
            connection.execute(statement)


def test_loads_give_what_a_file_gets(lake, service, tmp_path):
    """Also a load after one that was refused, into a lake of another release."""
    target = Lake(lake.settings)
    let_pass(service.sandbox, seconds=2 * HOUR, changed=30, new=10, packages_added=8, packages_removed=8, orders=10)
    lake.read()
    change_lake(lake, "insert into orders select * from orders order by id limit 1")
    before = target.version
    refused = refresh(lake.run)
    assert [result.check.name for result in refused.refused_by] == ["orders_have_unique_keys"]
    assert refused.refusal.startswith("Nothing was published: the lake is unchanged.")
    assert (target.version, {window.state for window in lake.store.windows()}) == (before, {"landed", "loaded"})

    change_lake(lake, *OF_ANOTHER_RELEASE)
    before = target.version
    assert refresh(lake.run).published
    # one transaction is one snapshot
    assert (target.version, {window.state for window in lake.store.windows()}) == (before + 1, {"loaded"})
    with target.published() as connection:
        assert is_as_defined(connection)
        assert connection.execute("select shipments from marts.freshness").fetchall() == [(FEW.shipments + 10,)]

    file = lake.settings.model_copy(update={"analytics": "file", "state_url": None, "data_dir": tmp_path / "file"})
    write_snapshot(lake.layout, lake.store)
    shutil.copytree(lake.layout.root / "raw", file.data_dir / "raw")
    file.layout.forgotten_orders.write_text("[]")
    with unrecorded_run(file, "sync") as run:
        refresh(run)
    found, expected = stored(lake.settings), stored(file)
    assert {slug for slug in expected if found[slug] != expected[slug]} == set()


LATE = {
    "a commit": "insert into orders select * from orders limit 1",
    "a definition": "create table late (id integer)",
    "an expiry": "call ducklake_expire_snapshots('lake', older_than => now())",
    "a cleanup": "call ducklake_cleanup_old_files('lake', cleanup_all => true)",
}


def test_a_writer_that_was_overtaken_commits_nothing(lake):
    """Not even what comes after its last look at the lease: PostgreSQL refuses the session itself."""
    target = Lake(lake.settings)
    with (
        closing(opened_for_writing(lake.settings, lake.store.lease)) as late,
        target.load(lake.store.lease) as load,
        load.session() as session,
    ):
        session.connection.execute("delete from orders")
        for statement in (
            "create table gone as select 1 as number",
            "drop table gone",
            LATE["an expiry"],
            "create table kept (number integer)",
            "drop table kept",
        ):
            late.execute(statement)
        before, catalogue = target.version, catalogued(lake)
        store_at(lake.settings.database_url, lake.settings.data_dir / "another").close()
        for what, statement in LATE.items():
            with pytest.raises(duckdb.Error, match="does not have the newest epoch"):
                late.execute(statement)
            assert catalogued(lake) == catalogue, what
        with pytest.raises(TakenOver):
            load.publish()
    assert target.version == before


def test_a_lost_commit_shows_no_values(lake):
    target = Lake(lake.settings)
    before = target.version
    with target.load(lake.store.lease) as load:
        with load.session() as session:
            session.connection.execute("insert into retailers (id, name) values (-1, 'planted person')")
            end_sessions(lake.settings.database_url, "state = 'idle in transaction'")
        with pytest.raises(NotCommitted, match="could not be committed") as error:
            load.publish()
    assert ("planted" in str(error.value), error.value.__cause__, target.version) == (False, None, before)
    refused = "Failed to execute query \"insert 'planted person'\nmore\": ERROR:  it is full\nCONTEXT: planted"
    assert without_statement(duckdb.Error(refused)) == "Failed to execute query; it is full"


def catalogued(lake: Bench) -> list[tuple[object, ...]]:
    """What the catalogue says of snapshots, files, and files that are to be deleted."""
    tables = ("snapshot", "data_file", "delete_file", "files_scheduled_for_deletion", "table")
    counts = ", ".join(f"(select count(*) from lake.ducklake_{table})" for table in tables)
    with psycopg.connect(plain(lake.settings.database_url)) as connection:
        return connection.execute(f"select {counts}").fetchall()


def test_maintenance_leaves_few_files_and_spares_open_readers(lake, capsys):
    settings, target = lake.settings, Lake(lake.settings)
    query = "select sum(hash(found)) from shipments as found union all select sum(hash(found)) from orders as found"

    def is_requested(nights: int) -> bool:
        built = definitions.build(settings.model_copy(update={"maintenance_nights": nights}))
        return bool(built.resolve_schedule_def("maintenance").evaluate_tick(dg.build_schedule_context()).run_requests)

    change_lake(
        lake,  # as a small load
        "insert into ops.windows select * replace ('another' as id) from ops.windows limit 1",
        "update orders set status = status where id % 9 = 0",
    )
    gathered = target.loads_gathered
    assert (is_requested(gathered + 1), is_requested(gathered)) == (False, True)
    before, scattered = stored(settings), sum(table.files for table in tables_of(settings))
    with target.published() as early, target.published() as late:
        late.begin()
        late.execute("from ops.loads limit 0")  # it reads the state of now, and the tables only later
        expected = early.execute(query).fetchall()
        run_maintain(settings)
        assert early.execute(query).fetchall() == late.execute(query).fetchall() == expected
    left = sum(table.files for table in tables_of(settings))
    assert f"{left:,} files instead of {scattered:,}; deleted 0 that no reader needs" in capsys.readouterr().out
    assert left <= FILES_AFTER
    assert left < scattered
    assert (target.loads_gathered, is_requested(gathered)) == (0, False)

    (settings.layout.lake / "main" / "orders" / "of-a-killed-load.parquet").write_bytes(b"PAR1")
    with closing(opened_store(settings)) as store:  # the days are over in which readers might need what was replaced
        target.maintain(store.lease, timedelta(0))
        version = target.version
        again = target.maintain(store.lease, timedelta(0))
    there = len([*settings.layout.lake.rglob("*.parquet")])
    assert (there, again.files, again.deleted, target.version) == (left, left, 0, version)
    assert stored(settings) == before


def test_an_old_catalogue_that_lacks_files_is_rebuilt(lake, lakes, synced_once, service):
    """Maintenance has deleted what the catalogue names that an administrator puts back."""
    settings, lost = lake.settings, "If files of a lake are lost, `wms-sync rebuild`"
    let_pass(service.sandbox, seconds=2 * HOUR, changed=10)
    lake.read()
    write_snapshot(lake.layout, lake.store)
    change_lake(lake, "update orders set status = status")
    with target_of(settings).published() as connection:
        [(order,)] = connection.execute("select min(id) from orders where ship_to_country is not null").fetchall()
    Lake(settings).maintain(lake.store.lease, AT_ONCE)
    lake.store.close()
    lakes.replace(settings.database_url, synced_once.database_url)
    lakes.execute(settings.database_url, MOVED, f"{settings.layout.lake}/")

    with unrecorded_run(settings, "sync") as run:
        with pytest.raises(AnalyticsError, match=lost):
            refresh(run)
        run.store.remember_forgotten([order])
    with pytest.raises(MaintenanceError, match=lost), unrecorded_run(settings, "sync"):
        pass
    version = Lake(settings).version
    with unrecorded_run(settings, "rebuild", from_scratch=True) as run:
        rebuilt = rebuild(run)
    assert (rebuilt.published, Lake(settings).version) == (True, version + 1)
    assert rebuilt.rows["shipments"] >= FEW.shipments
    with unrecorded_run(settings, "sync") as run:
        assert (run.store.forgotten(), run.store.forgotten(unfinished=True)) == (frozenset({order}), frozenset())
    with target_of(settings).published() as connection:
        assert connection.execute("select ship_to_country from orders where id = ?", [order]).fetchall() == [(None,)]


def an_order_at_an_end(url: str) -> int:
    """An order whose persons are the last ones in a column, so that the statistics name them."""
    query = "select max(max_value) from lake.ducklake_table_column_stats where starts_with(max_value, %s)"
    with psycopg.connect(plain(url)) as connection:
        [[greatest]] = connection.execute(query, [MARK.partition("%")[0]]).fetchall()
    return int(greatest.removeprefix(MARK.partition("%")[0]).partition("-")[0])


def test_a_lake_keeps_nothing_of_a_forgotten_order(lake):
    settings, folder, lake_url = lake.settings, lake.layout.root, lake.settings.database_url
    statistics = {f"lake.{name}" for name in STATISTICS}
    change_lake(lake, "update pii.order_addresses set last_name = last_name")  # an earlier snapshot has it too
    order = an_order_at_an_end(lake_url)
    mark = MARK % order
    with psycopg.connect(plain(lake_url), autocommit=True) as owner:
        owner.execute("analyze")
        assert in_the_database(lake_url, mark) == statistics
        for name in STATISTICS:  # PostgreSQL keeps frequent values of the catalogue itself, as it does by default
            owner.execute(
                f"alter table lake.{name} alter min_value set statistics -1, alter max_value set statistics -1"
            )
        owner.execute("analyze")
    duckdb.execute(f"copy (select '{mark}' as last_name) to '{settings.layout.lake}/pii/of-a-killed-load.parquet'")
    assert in_the_database(lake_url, mark) == statistics | {"pg_stats"}
    sampled = in_the_files(lake_url, mark.encode()) - statistics  # none of them where PostgreSQL compresses the values
    assert sampled <= {"pg_catalog.pg_statistic", "pg_toast.pg_toast_2619"}
    assert {part.split("/")[0] for part in files_holding(folder, mark.encode())} == {"raw", "parquet", "lake"}
    with duckdb.connect(settings.layout.published) as moved:  # from before the installation moved to the lake
        create_empty(moved)
        moved.execute("insert into pii.order_addresses (id, order_id, last_name) values (1, ?, ?)", [order, mark])
    before = stored(settings)

    done = forget(lake.run, [order])

    left = in_the_database(lake_url, mark), in_the_files(lake_url, mark.encode()), files_holding(folder, mark.encode())
    assert (left, done.databases) == ((set(), set(), set()), 2)
    settings.layout.published.unlink()
    after = stored(settings)
    lost = {slug: [row for row in rows if row not in after[slug]] for slug, rows in before.items()}
    assert {slug for slug, rows in lost.items() if rows} >= {"orders", "pii_order_addresses", "order_status_history"}
    assert [row for rows in lost.values() for row in rows if mark not in repr(row)] == []
    with pytest.raises(AnalyticsError, match="drop schema lake cascade"):
        forget(replace(lake, settings=settings.model_copy(update={"analytics": "file"})).run, [order])


def test_a_reader_in_a_transaction_holds_up_nobody(lake, caplog):
    with target_of(lake.settings).published() as reader:
        reader.begin()
        reader.execute("select count(*) from orders").fetchall()
        with pytest.raises(ReadersInTheWay, match=r"select pg_terminate_backend\(\d+\)"):
            forget(lake.run, [4711])
        lake.recover()
        assert "pg_terminate_backend" in caplog.text
        advice = {finding.name: finding.what_to_do for finding in findings_of(lake.settings)}
        assert "pg_terminate_backend(" in advice["forget"]
        assert lake.store.forgotten(unfinished=True) == {4711}
    lake.recover()
    assert lake.store.forgotten(unfinished=True) == frozenset()


def test_reports_read_the_lake(lake, tmp_path):
    settings = lake.settings
    _, report = make_report(settings, tmp_path / "report.html")
    assert report.freshness["shipments"] >= FEW.shipments
    assert [result.check for result in read_installation(settings, lake.store).checks] == [*checks()]
    with target_of(settings).published() as connection:
        [(shipment,)] = connection.execute("select min(id) from shipments").fetchall()
    assert explain(settings, lake.store, str(shipment))[0].versions
    assert export(settings, "freshness", tmp_path / "freshness.csv").rows == 1
    assert export_all(settings, tmp_path / "all").rows > FEW.shipments
    assert verify(settings).damaged == ()


def test_a_lake_stays_where_it_is(lake, tmp_path):
    moved = lake.settings.model_copy(update={"data_dir": tmp_path})
    with pytest.raises(LakeElsewhere, match=f"{lake.layout.lake}/, but the settings name {tmp_path}/lake/"):
        opened_for_writing(moved, lake.store.lease)
    with pytest.raises(LakeElsewhere):
        Lake(moved).refuse_others()


@pytest.fixture(scope="module")
def analyst(synced_once: Settings, lakes: Lakes) -> None:
    """Every copy that is made afterwards has the role that ``reader`` prints."""
    for statement in role_statements(synced_once):
        lakes.execute(synced_once.database_url, statement)


def connected(lines: Iterable[str]) -> duckdb.DuckDBPyConnection:
    """The connection that these lines of Python open."""
    names: dict[str, duckdb.DuckDBPyConnection] = {}
    exec("\n".join(lines), names)
    return names["connection"]


def test_an_analyst_reads_as_shown_and_cannot_write(analyst, lake):
    settings = lake.settings
    with psycopg.connect(plain(settings.database_url), autocommit=True) as owner:
        assert owner.execute(TEXTS).fetchall() > [(0,)]
        owner.execute("set role analyst")
        assert owner.execute(TEXTS).fetchall() == [(0,)]
    assert {f"  {statement};" for statement in attach_statements(settings)} <= {*reader_lines(settings)}
    with connected(python_lines(settings)) as connection:
        query = "select status, max(updated_at), count(*) from shipments where status > 'a' group by all order by all"
        with target_of(settings).published() as own:
            assert connection.execute(query).fetchall() == own.execute(query).fetchall() != []
        with pytest.raises(duckdb.Error, match="read-only"):
            connection.execute("delete from shipments")
        connection.execute(attach_statements(settings)[-3].replace("as lake (read_only, ", "as other ("))
        with pytest.raises(duckdb.Error, match="permission denied"):
            connection.execute("delete from other.shipments")


def test_an_analyst_needs_only_what_is_shown(analyst, lake, tmp_path):
    """Elsewhere other packages bring what DuckDB's wheel does not require."""
    of_file = lake.settings.model_copy(update={"analytics": "file", "state_url": None, "data_dir": tmp_path / "other"})
    change(
        empty_tables(of_file.layout.published),
        "insert into shipments (id, updated_at) values (1, '2026-03-31 12:00:00+00')",
    )
    [line] = [line for line in reader_lines(of_file) if line.startswith("Python ")]
    opened, _, install = line.removeprefix("Python ").partition(", after ")
    shown = list(reader_lines(lake.settings))
    [installs] = [number for number, line in enumerate(shown) if line.startswith("  pip install ")]
    of_lake = shown[installs + 1 : shown.index("", installs)]
    for settings, packages, lines in (
        (of_file, install, ["import duckdb", f"connection = {opened.strip()}"]),
        (lake.settings, shown[installs], of_lake),
    ):
        script = "\n".join([*map(str.strip, lines), f"print({FETCHED})"])
        printed = subprocess.check_output(
            [sys.executable, "-S", "-c", script],
            env=installed_alone(packages, tmp_path / settings.analytics),
            text=True,
        )
        with target_of(settings).published() as connection:
            [(expected,)] = connection.execute("select max(updated_at) from main.shipments").fetchall()
        assert float(printed) == expected.timestamp()


def installed_alone(install: str, folder: Path) -> dict[str, str]:
    """The environment of a Python that has only the packages of a ``pip install``."""
    folder.mkdir()
    for package in shlex.split(install)[2:]:
        found = distribution(package.partition("==")[0])
        for name in {file.parts[0] for file in found.files or ()}:
            (folder / name).symlink_to(str(found.locate_file(name)))
    return {**os.environ, "PYTHONPATH": str(folder)}


def test_extensions_come_from_the_installed_wheels(lake):
    query = "select extension_name from duckdb_extensions() where loaded and install_mode <> 'STATICALLY_LINKED'"
    with target_of(lake.settings).published() as connection:
        assert set(connection.execute(query).fetchall()) == {("ducklake",), ("postgres_scanner",)}
        settings = "select name, value from duckdb_settings() where name like '%\\_extensions' escape '\\'"
        assert dict(connection.execute(settings).fetchall()).items() >= ONLY_FROM_WHEELS.items()


@pytest.mark.proof
def test_an_absent_postgresql_shows_no_password():
    away = Settings.load(
        _env_file=None,
        analytics="ducklake",
        state_url="postgresql+psycopg://u:planted-secret@127.0.0.1:1/none?sslpassword=planted-secret",
    )
    with pytest.raises(DatabaseOpenError, match="lake cannot be opened") as error, target_of(away).published():
        pass
    assert "planted-secret" not in "\n".join([str(error.value), *reader_lines(away)])
    with pytest.raises(SettingsError, match="WMS_STATE_URL=postgresql"):
        Settings.load(_env_file=None, analytics="ducklake")


def test_a_backup_restores_state_and_files(lake, tmp_path):
    """The next load makes the lake."""
    settings = lake.settings
    before = stored(settings)
    copied = backup(settings, tmp_path / "backups").copied.sizes
    assert [key for key in copied if key.startswith(("lake", "analytics"))] == []
    with pytest.raises(DataFolderInUse, match="--over"):
        restore(settings, tmp_path / "backups")
    done = restore(settings, tmp_path / "backups", over=settings.data_dir)
    assert (done.copied.left_out, done.creates_unknown_since) == ({}, None)
    assert not target_of(settings).is_published
    with unrecorded_run(settings, "sync") as run:
        assert refresh(run).published
    after = stored(settings)
    assert {slug for slug in before if after[slug] != before[slug]} <= {"ops_latest_load", "ops_checks", "ops_loads"}
