"""A lake whose files lie in object storage, written by machines whose disks vanish."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import duckdb
import pytest
from pydantic import SecretStr

from tests.bench import CONFIG, let_pass
from tests.lakes import tables_of
from tests.oracle import differences, expected_tables
from tests.running import run_sync, unrecorded_run
from tests.storage.conftest import as_pod, client_of, permitted, prefix_of
from tests.storage.test_sync_in_bucket import raw_pages, recorded
from tests.targets.test_lake import an_order_at_an_end, connected
from tests.unpacked import files_holding
from tests.upkeep.test_forget import MARK, marked_in_new_places
from wms_sandbox.app import Sandbox
from wms_sync.catalogue import stored_tables
from wms_sync.errors import SettingsError
from wms_sync.reports.doctor import examine
from wms_sync.reports.findings import findings_of
from wms_sync.reports.reader import python_lines, reader_lines
from wms_sync.settings import Settings
from wms_sync.storage.files import FilesError
from wms_sync.targets.ducklake.catalogue import StoredTable
from wms_sync.targets.ducklake.place import find_keys
from wms_sync.targets.ducklake.session import opened_for_writing
from wms_sync.targets.ducklake.target import Lake
from wms_sync.targets.ducklake.upkeep import AT_ONCE, delete_replaced, everything, put_together
from wms_sync.targets.errors import AnalyticsError, LakeReplaced
from wms_sync.targets.persons import is_personal
from wms_sync.targets.target import target_of
from wms_sync.upkeep.forget import forget
from wms_sync.upkeep.verify import verify

FEW = replace(CONFIG, shipments=60, families=20)
IN_LAKE: dict[str, object] = {"analytics": "ducklake", "page_size": 1000, "audit_pages": 0}
"""One window a sync: each table of each window is a file."""
NOWHERE: dict[str, object] = {"analytics": "ducklake", "state_url": "postgresql://u@h/d"}


@pytest.fixture
def settings(sandbox, settings_for, in_bucket, lakes):
    """Settings of a lake in the bucket, before its first sync."""
    sandbox.sandbox = Sandbox(FEW)
    return settings_for(sandbox, **(in_bucket | IN_LAKE | {"state_url": lakes.new()}))


def test_the_next_machine_continues_the_lake(sandbox, settings, keys, lakes, tmp_path):
    """Of two lakes in one place only the newer changes anything."""
    run_sync(settings)
    shutil.rmtree(settings.data_dir)
    let_pass(sandbox.sandbox, seconds=7200, changed=15, new=5, packages_added=4, packages_removed=4, orders=5)
    read = run_sync(settings).read
    assert read
    assert read.progress.records < FEW.shipments, "only what changed"
    with target_of(settings).published() as connection:
        assert differences(connection, expected_tables(sandbox)) == []
    assert {key.split("/")[0] for key in keys()} == {"raw", "parquet", "lake", "forgotten-orders.json", "lake.json"}
    assert not settings.layout.lake.exists()

    orphan = "lake/main/orders/of-a-killed-load.parquet"
    with unrecorded_run(settings, "maintenance") as run, closing(opened_for_writing(settings, run.lease)) as connection:
        settings.layout.files.replace(run.lease, orphan, b"PAR1")
        of_earlier_snapshots = len(in_lake(keys)) - sum(table.files for table in tables_of(settings))
        assert delete_replaced(settings, connection, run.lease, timedelta(days=1)) == 0
        assert delete_replaced(settings, connection, run.lease, AT_ONCE) == of_earlier_snapshots > 1
    assert (orphan in keys(), len(in_lake(keys))) == (False, sum(table.files for table in tables_of(settings)))

    other = settings.model_copy(update={"state_url": SecretStr(lakes.new()), "data_dir": tmp_path / "other"})
    with unrecorded_run(other, "sync") as run:  # another installation, by mistake in the same place
        opened_for_writing(other, run.lease).close()
    before = in_lake(keys)
    with (
        unrecorded_run(settings, "sync") as run,
        pytest.raises(LakeReplaced, match=r"that of the database t.*/lake\.json\)") as error,
    ):
        Lake(settings).maintain(run.lease, AT_ONCE)
    foretold = [finding.text for finding in findings_of(settings) if finding.name == "elsewhere"]
    assert (foretold, in_lake(keys)) == ([str(error.value)], before)


def test_persons_in_a_bucket_are_hidden_and_forgotten(
    sandbox, settings, settings_for, in_bucket, keys, download, s3, monkeypatch, tmp_path
):
    """An analyst with the policy that is shown reads none and deletes nothing; a forgotten order is in no object."""
    sandbox.sandbox.rewrite = marked_in_new_places
    settings = settings.model_copy(update={"include_addresses": True})
    run_sync(settings)
    of_reader, _ = shown_policies(settings)
    file = prefix_of(in_bucket) + min(in_lake(keys))
    with permitted(s3, of_reader) as of_analyst, monkeypatch.context() as analyst:
        for name, value in of_analyst.items():
            analyst.setenv(name, value)
        with connected(lines_of_owner(settings)) as connection:
            for name in ("main.orders", "history.orders", "ops.loads"):
                connection.execute(f"select * from {name}").fetchall()
            for table in filter(is_personal, stored_tables()):
                with pytest.raises(duckdb.HTTPException, match="403"):
                    connection.execute(f"select * from {table.qualified}").fetchall()
        client = client_of(s3, of_analyst)
        for refused in (
            lambda: client.delete_object(Bucket="wms", Key=file),
            lambda: client.put_object(Bucket="wms", Key=file, Body=b"other"),
            lambda: client.get_object(Bucket="wms", Key=f"{prefix_of(in_bucket)}lake.json"),
        ):
            with pytest.raises(client.exceptions.ClientError, match="AccessDenied"):
                refused()

    with unrecorded_run(settings, "sync") as run, closing(opened_for_writing(settings, run.lease)) as connection:
        connection.execute("update pii.order_addresses set last_name = last_name")  # an earlier snapshot has it too
    order = an_order_at_an_end(settings.database_url)
    mark = (MARK % order).encode()
    assert {key.split("/")[0] for key in files_holding(download(tmp_path / "before"), mark)} == {
        "raw",
        "parquet",
        "lake",
    }
    with unrecorded_run(settings, "forget") as run:
        assert forget(run, [order]).pages > 0
    assert files_holding(download(tmp_path / "after"), mark) == set()
    assert raw_pages(keys) == recorded(settings)
    assert not verify(settings).damaged
    kept = settings_for(
        sandbox,
        data_dir=tmp_path / "kept",
        **in_bucket | {"files_url": settings.files_url.replace("//wms/", "//kept/")},
    )
    with unrecorded_run(kept, "forget") as run, pytest.raises(FilesError, match="old versions"):
        forget(run, [order + 1])


def test_a_pod_has_a_role_instead_of_keys(sandbox, settings, s3, monkeypatch, tmp_path):
    """Its keys expire between two runs, two steps of a load and two of maintenance, and while a reader is connected."""
    policy = json.loads(shown_policies(settings)[1])
    # moto, unlike AWS, looks for this when a request deletes several objects
    policy["Statement"].append({"Effect": "Allow", "Action": "s3:DeleteObject", "Resource": "arn:aws:s3:::wms"})
    with as_pod(s3, json.dumps(policy), tmp_path, monkeypatch) as expire:
        assert [one.text for one in examine(settings) if (one.name, one.severity) == ("files", "error")] == []
        run_sync(settings)
        expire()
        let_pass(sandbox.sandbox, seconds=7200, changed=15, new=5)
        run_sync(settings)
        with unrecorded_run(settings, "sync") as run:
            with Lake(settings).load(run.lease) as loading:
                for _ in range(2):
                    expire()
                    with loading.session() as session:
                        session.connection.execute("update main.orders set status = status")
                expire()
                loading.publish()
            with closing(opened_for_writing(settings, run.lease)) as connection:
                expire()
                assert put_together(settings, connection, run.lease, of_shipments) == {("main", "shipments")}
                expire()
                assert delete_replaced(settings, connection, run.lease, AT_ONCE)
        with connected(lines_of_owner(settings)) as connection:
            expire()
            connection.execute(find_keys(settings))
            assert connection.execute("select count(*) from main.shipments").fetchone() == (FEW.shipments + 5,)


@pytest.mark.parametrize(
    ("denied", "what"), [("Put", "write in"), ("Get", "read from"), ("Delete", "delete from"), ("List", "list")]
)
def test_duckdb_is_tried_with_every_kind_of_request(denied, what, in_bucket, s3, monkeypatch):
    lake = Lake(Settings.load(_env_file=None, **{**in_bucket, **NOWHERE}))
    actions = [f"s3:{kind}*" for kind in ("Put", "Get", "Delete", "List") if kind != denied]
    policy = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]}
    with permitted(s3, json.dumps(policy)) as of_writer:
        for name, value in of_writer.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(AnalyticsError, match=f"DuckDB cannot {what} {in_bucket['files_url']}/lake/ ") as error:
            lake.try_files()
    assert "\n" not in str(error.value)


def lines_of_owner(settings: Settings) -> list[str]:
    """The lines of Python that are shown to an analyst, for a user that there is."""
    return [line.replace("user=''analyst''", "user=''wms''") for line in python_lines(settings)]


def shown_policies(settings: Settings) -> list[str]:
    """The policies for a reader and for runs."""
    return re.findall(r"^  \{.*?^  \}$", "\n".join(reader_lines(settings)), re.DOTALL | re.MULTILINE)


def of_shipments(table: StoredTable) -> Sequence[str]:
    return everything(table) if (table.schema_name, table.table_name) == ("main", "shipments") else ()


def in_lake(keys: Callable[[], set[str]]) -> set[str]:
    return {key for key in keys() if key.startswith("lake/")}


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ({"files_url": "gs://b/p"}, "supports only S3 and folders"),
        ({"data_dir": "/data[1]"}, r"treats \[ as a pattern.* Choose another WMS_DATA_DIR"),
        ({"files_url": "s3://b/what*"}, r"treats \* as a pattern.* Choose another WMS_FILES_URL"),
    ],
)
def test_a_place_that_duckdb_cannot_use_is_refused(place, says):
    with pytest.raises(SettingsError, match=says):
        Settings.load(_env_file=None, **NOWHERE, **place)
