"""A lake whose files lie in object storage, written by machines whose disks vanish."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import duckdb
import psycopg
import pytest
from pydantic import SecretStr

from tests.conftest import CONFIG, NOW, Bench
from tests.lakes import Lakes, in_the_database, tables_of
from tests.oracle import differences, expected_tables
from tests.postgres import plain
from tests.storage.conftest import KEYS, answering, client_of, foretold, permitted, prefix_of
from tests.storage.test_sync_in_bucket import raw_pages, recorded
from tests.test_sync import synced
from tests.unpacked import files_holding
from tests.upkeep.test_forget import MARK, marked_in_new_places
from wms_sandbox.app import Sandbox
from wms_sync.catalogue import stored_tables
from wms_sync.errors import SettingsError
from wms_sync.reports.doctor import examine
from wms_sync.reports.reader import python_lines, reader_lines
from wms_sync.runs import Operation
from wms_sync.settings import Settings
from wms_sync.shipments.read.raw import drop_pages
from wms_sync.state.ledger import LEDGER_LACKS
from wms_sync.state.store import StateStore
from wms_sync.storage.files import VersionsKept
from wms_sync.targets.ducklake.session import opened_for_writing
from wms_sync.targets.ducklake.target import Lake
from wms_sync.targets.ducklake.upkeep import AT_ONCE, delete_replaced
from wms_sync.targets.errors import LakeReplaced, LakeUnreachable, MaintenanceError
from wms_sync.targets.persons import is_personal
from wms_sync.targets.target import target_of
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.recovery import begin
from wms_sync.upkeep.verify import verify

FEW = replace(CONFIG, shipments=60, families=20)
IN_LAKE: dict[str, object] = {"analytics": "ducklake", "page_size": 1000, "audit_pages": 0}
"""One window a sync: each table of each window is a file."""


def synced_unrecorded(settings: Settings) -> None:
    """As a sync, without a record of the run and its findings."""
    with begin(settings, "sync") as run:
        synced(Bench(settings, run.store))


def test_the_next_machine_continues_the_lake(sandbox, settings_for, in_bucket, keys, postgres_url, s3, tmp_path):
    """An analyst needs no folder; and of two lakes in one place only the newer changes anything."""
    lakes = Lakes(postgres_url)
    lake_url = lakes.new()
    sandbox.sandbox = Sandbox(FEW)
    settings = settings_for(sandbox, **(in_bucket | IN_LAKE | {"state_url": lake_url}))
    synced_unrecorded(settings)
    shutil.rmtree(settings.data_dir)
    sandbox.sandbox.advance(seconds=7200, changed=15, new=5, packages_added=4, packages_removed=4, orders=5)
    sandbox.sandbox.advance(seconds=10)
    operation = Operation(settings, source="test")
    operation.sync()
    read = operation.report.read
    assert read is not None
    assert read.progress.records < FEW.shipments, "only what changed"

    expected = expected_tables(sandbox)
    with target_of(settings).published() as connection:
        assert differences(connection, expected) == []
    assert {key.split("/")[0] for key in keys()} == {"raw", "parquet", "lake", "forgotten-orders.json", "lake.json"}
    assert not settings.layout.lake.exists()
    names: dict[str, object] = {}
    lines = "\n".join(python_lines(settings)).replace("user=''analyst''", "user=''wms''")
    exec(lines + "\nfound = connection.execute('select count(*) from shipments').fetchall()", names)
    assert names["found"] == [(len(expected["shipments"]),)]

    orphan = "lake/main/orders/of-a-killed-load.parquet"
    with begin(settings, "maintenance") as run, closing(opened_for_writing(settings, run.turn)) as connection:
        settings.layout.files.replace(run.turn, orphan, b"PAR1")
        of_earlier_snapshots = len(in_lake(keys)) - sum(table.files for table in tables_of(settings))
        assert delete_replaced(connection, run.turn, timedelta(days=1)) == 0
        assert delete_replaced(connection, run.turn, AT_ONCE) == of_earlier_snapshots > 1
    assert orphan not in keys()
    assert len(in_lake(keys)) == sum(table.files for table in tables_of(settings))
    with StateStore(settings.database_url) as store:
        assert store.observation(LEDGER_LACKS) is None

    for key in [key for key in keys() if key.startswith("lake/history/")]:
        client_of(s3).delete_object(Bucket="wms", Key=f"{prefix_of(in_bucket)}{key}")
    with (
        begin(settings, "maintenance") as run,
        pytest.raises(MaintenanceError, match="If files of a lake are lost, `wms-sync rebuild`"),
    ):
        Lake(settings).maintain(run.turn, AT_ONCE)

    other = settings.model_copy(update={"state_url": SecretStr(lakes.new()), "data_dir": tmp_path / "other"})
    with begin(other, "sync") as run:  # another installation, by mistake in the same place
        opened_for_writing(other, run.turn).close()
    before = in_lake(keys)
    with (
        begin(settings, "sync") as run,
        pytest.raises(LakeReplaced, match=r"that of the database t.*/lake\.json\)") as error,
    ):
        Lake(settings).maintain(run.turn, AT_ONCE)
    assert foretold(settings) == [str(error.value)] * 2
    assert in_lake(keys) == before
    with StateStore(settings.database_url) as store:
        of_others = store.windows("loaded")[0].id
    for statement in ("delete from pages where window_id = %s", "delete from windows where id = %s"):
        lakes.execute(lake_url, statement, of_others)
    with pytest.raises(LakeReplaced), begin(settings, "sync"):
        pass
    with StateStore(settings.database_url) as store:
        assert of_others not in {window.id for window in store.windows()}


def test_persons_in_a_bucket_are_hidden_and_forgotten(
    sandbox, settings_for, in_bucket, keys, objects, postgres_url, s3, monkeypatch, tmp_path
):
    """An analyst with the policy that is shown reads none and deletes nothing; a forgotten order is in no object."""
    sandbox.sandbox = Sandbox(FEW)
    sandbox.sandbox.rewrite = marked_in_new_places
    state_url = Lakes(postgres_url).new()
    settings = settings_for(sandbox, **(in_bucket | IN_LAKE | {"state_url": state_url, "include_addresses": True}))
    synced_unrecorded(settings)
    shown = "\n".join(reader_lines(settings))
    policy = re.search(r"^  \{.*^  \}$", shown, re.DOTALL | re.MULTILINE)
    assert policy is not None
    assert "lake/pii" not in policy[0]
    before = keys()
    of_orders, of_persons = (next(key for key in before if key.startswith(f"lake/{name}/")) for name in ("main", "pii"))
    lines = "\n".join(python_lines(settings)).replace("user=''analyst''", "user=''wms''")
    with permitted(s3, policy[0]) as of_analyst, monkeypatch.context() as analyst:
        for name, value in of_analyst.items():
            analyst.setenv(name, value)
        names: dict[str, duckdb.DuckDBPyConnection] = {}
        exec(lines, names)
        with names["connection"] as connection:
            of_schemas = {table.schema: table for table in stored_tables() if not is_personal(table)}
            for table in of_schemas.values():
                connection.execute(f"select * from {table.qualified}").fetchall()
            for table in filter(is_personal, stored_tables()):
                with pytest.raises(duckdb.HTTPException, match="403"):
                    connection.execute(f"select * from {table.qualified}").fetchall()
        client = client_of(s3, of_analyst)
        prefix = prefix_of(in_bucket)
        assert client.get_object(Bucket="wms", Key=prefix + of_orders)["Body"].read(4) == b"PAR1"
        for refused in (
            lambda: client.delete_object(Bucket="wms", Key=prefix + of_orders),
            lambda: client.put_object(Bucket="wms", Key=prefix + of_orders, Body=b"other"),
            lambda: client.get_object(Bucket="wms", Key=prefix + of_persons),
            lambda: client.get_object(Bucket="wms", Key=prefix + "lake.json"),
        ):
            with pytest.raises(client.exceptions.ClientError, match="AccessDenied"):
                refused()
    assert keys() == before

    with begin(settings, "sync") as run, closing(opened_for_writing(settings, run.turn)) as connection:
        connection.execute("update pii.order_addresses set last_name = last_name")  # an earlier snapshot has it too
    order, looked = an_order_at_an_end(state_url), tmp_path / "looked"
    assert {key.split("/")[0] for key in holding(objects, looked, order)} == {"raw", "parquet", "lake"}
    assert in_the_database(state_url, MARK % order)
    with begin(settings, "forget") as run:
        assert forget(run, [order]).pages > 0
    assert holding(objects, looked, order) == set()
    assert in_the_database(state_url, MARK % order) == set()
    assert raw_pages(keys) == recorded(settings)
    assert not verify(settings).damaged
    with begin(settings, "retention") as run:
        dropped = [drop_pages(run.turn, run.layout, window.id, NOW) for window in run.store.windows("loaded")]
    assert (all(dropped), raw_pages(keys)) == (True, set())
    assert not verify(settings).damaged
    of_versions = {"files_url": str(settings.files_url).replace("//wms/", "//kept/"), "state_url": None}
    kept = settings.model_copy(update={**of_versions, "analytics": "file", "data_dir": tmp_path / "kept"})
    with begin(kept, "forget") as run, pytest.raises(VersionsKept):
        forget(run, [order + 1])


def an_order_at_an_end(url: str) -> int:
    """An order whose persons are the last ones in a column, so that the statistics name them."""
    with psycopg.connect(plain(url)) as connection:
        query = "select max(max_value) from lake.ducklake_table_column_stats where starts_with(max_value, %s)"
        [[greatest]] = connection.execute(query, [MARK.partition("%")[0]]).fetchall()
    return int(greatest.removeprefix(MARK.partition("%")[0]).partition("-")[0])


def holding(objects: Callable[[], dict[str, bytes]], folder: Path, order: int) -> set[str]:
    """The objects that hold the mark of an order."""
    shutil.rmtree(folder, ignore_errors=True)
    for key, content in objects().items():
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return files_holding(folder, (MARK % order).encode())


def test_keys_that_only_obstore_finds_are_refused(
    sandbox, settings_for, in_bucket, keys, postgres_url, monkeypatch, tmp_path
):
    """As in EKS, where the environment has only the address at which to request the keys."""
    settings = settings_for(sandbox, **(in_bucket | IN_LAKE | {"state_url": Lakes(postgres_url).new()}))
    given = {"AccessKeyId": KEYS["AWS_ACCESS_KEY_ID"], "SecretAccessKey": KEYS["AWS_SECRET_ACCESS_KEY"]}
    content = json.dumps(given | {"Token": "lent", "Expiration": "2099-01-01T00:00:00Z"}).encode()
    (tmp_path / "token").write_text("token")
    with answering(200, content) as (address, _), monkeypatch.context() as container:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            container.delenv(name)
        container.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{address}/")
        container.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", f"{tmp_path}/token")
        found = {(finding.name, finding.severity): finding.text for finding in examine(settings)}
        assert found["files", "note"].endswith("does not overwrite objects")
        assert "set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION" in found["files", "error"]
        sandbox.sandbox.requests.clear()
        unreachable = rf"DuckDB cannot .* {settings.files_url}/lake/ \(HTTPException: .*403"
        with pytest.raises(LakeUnreachable, match=unreachable):
            Operation(settings, source="test").sync()
    assert list(sandbox.sandbox.requests) == []
    assert not [key for key in keys() if key.startswith("raw/")]


@pytest.mark.parametrize(
    ("denied", "what"),
    [("Put", "write in"), ("Get", "read from"), ("Delete", "delete from"), ("List", "list"), (None, None)],
)
def test_duckdb_is_tried_with_every_kind_of_request(denied, what, in_bucket, keys, s3, monkeypatch):
    place = {**in_bucket, "analytics": "ducklake", "state_url": "postgresql://u@h/d"}
    lake = Lake(Settings.load(_env_file=None, **place))
    actions = [f"s3:{kind}*" for kind in ("Put", "Get", "Delete", "List") if kind != denied]
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
    with permitted(s3, json.dumps(policy)) as of_writer:
        for name, value in of_writer.items():
            monkeypatch.setenv(name, value)
        if what is None:
            assert lake.try_files() == f"DuckDB can write, read, delete and list in {in_bucket['files_url']}/lake/"
        else:
            with pytest.raises(LakeUnreachable, match=f"DuckDB cannot {what} {in_bucket['files_url']}/lake/ ") as error:
                lake.try_files()
            assert "\n" not in str(error.value)
    if what is None:
        assert keys() == set()


def in_lake(keys: Callable[[], set[str]]) -> set[str]:
    return {key for key in keys() if key.startswith("lake/")}


def test_another_store_is_refused():
    with pytest.raises(SettingsError, match="supports only S3 and folders"):
        Settings.load(_env_file=None, analytics="ducklake", files_url="gs://b/p", state_url="postgresql://u@h/d")


@pytest.mark.parametrize("place", [{"data_dir": "/data[1]"}, {"files_url": "s3://b/what*"}])
def test_a_place_that_is_a_pattern_is_refused(place):
    with pytest.raises(SettingsError, match=r"treats (\[|\*) as a pattern.* Choose another WMS_(DATA_DIR|FILES_URL)"):
        Settings.load(_env_file=None, analytics="ducklake", state_url="postgresql://u@h/d", **place)
