"""What every place of files does alike, and how object storage refuses a writer that was taken over."""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.bench import store_at
from tests.storage.conftest import client_of, prefix_of, served
from wms_sync.errors import SettingsError
from wms_sync.layout import Layout
from wms_sync.settings import Settings
from wms_sync.state.errors import TakenOver
from wms_sync.state.leases import Lease
from wms_sync.storage.bucket import Listing
from wms_sync.storage.files import (
    Files,
    FilesError,
    FilesRefused,
    FilesUnavailable,
    NameTaken,
    OddName,
    difference,
    unmarked,
)
from wms_sync.storage.opened import bucket_files

PAGE = "raw/shipments/w/page-00001.json.gz"
RECORD = "raw/shipments/w/dropped.json"


@pytest.fixture
def lease(tmp_path):
    with store_at(f"sqlite:///{tmp_path}/state.db", tmp_path / "data") as store:
        yield store.lease


@pytest.fixture(params=["folder", "s3", "file"])
def files(request, tmp_path, in_bucket):
    if request.param == "folder":
        return Layout(tmp_path / "data").files
    if request.param == "file":
        return bucket_files(f"file://{tmp_path}/elsewhere", None, tmp_path / "copies")
    return opened(in_bucket, tmp_path)


def opened(in_bucket: dict[str, object], tmp_path: Path, name: str = "copies") -> Files:
    return bucket_files(str(in_bucket["files_url"]), str(in_bucket["files_endpoint"]), tmp_path / name)


def test_files_are_put_read_listed_and_deleted(files: Files, lease):
    with files.held_by(lease):
        key = files.put(lease, PAGE, b"page")
        assert (key, unmarked(key)) == (files.named(PAGE, b"page"), PAGE)
        assert files.put(lease, PAGE, b"page") == key, "a repetition changes nothing"
        assert (files.get(key), files.size(key)) == (b"page", 4)
        assert [Path(path).read_bytes() for path in files.local([key, key])] == [b"page"] * 2
        files.replace(lease, RECORD, b"one")
        files.replace(lease, RECORD, b"another")
        assert files.get(RECORD) == b"another"
        assert files.names("raw/shipments/w") == sorted([RECORD.rpartition("/")[2], key.rpartition("/")[2]])
        files.release("raw/shipments/w")
        files.delete(lease, key)
        files.delete(lease, key)
        assert (files.size(key), files.names("raw/shipments")) == (None, ["w"])
        with pytest.raises(FileNotFoundError):
            files.get(key)
        files.delete(lease, "raw/shipments/w")
        assert (files.names("raw/shipments"), files.size(RECORD)) == ([], None)


def test_a_file_is_compared_with_its_record(in_bucket, tmp_path, lease):
    """What another has deleted since the bucket was listed is missing."""
    files, other = opened(in_bucket, tmp_path), opened(in_bucket, tmp_path, "other")
    sha256 = hashlib.sha256(b"page").hexdigest()
    with files.held_by(lease):
        key = files.put(lease, PAGE, b"page")
        assert files.size(key) == 4
        other.delete(lease, key)
        records = ((4, sha256), (5, sha256), (4, "another"), (None, None))
        assert [difference(files, key, *record) for record in records] == [
            "it is missing",
            "it has 4 bytes instead of 5",
            "it is missing",
            None,
        ]
        key = files.put(lease, PAGE.replace("00001", "00002"), b"page")
        assert [difference(files, key, *record) for record in records] == [
            None,
            "it has 4 bytes instead of 5",
            "it is altered: its SHA-256 differs",
            None,
        ]
        assert difference(files, RECORD, None, None) == "it is missing"


def test_files_of_the_workplace_are_kept(files: Files, lease):
    """Also without the lease that made them."""
    wanted = [f"parquet/{table}/w-00001.parquet" for table in ("orders", "shipments")]
    with files.held_by(lease):
        for key in wanted:
            made = files.workplace(lease) / key
            made.parent.mkdir(parents=True)
            made.write_bytes(key.encode())
        kept = files.keep(lease, wanted)
        assert [files.get(key).decode() for key in kept] == wanted
    assert [unmarked(key) for key in kept] == wanted
    assert [Path(path).read_text() for path in files.local(kept)] == wanted


class Suspended(Lease):
    """A lease that is suspended after its first check; ``meanwhile`` happens then."""

    meanwhile: Callable[[], object] | None = None

    def check(self) -> None:
        happens, self.meanwhile = self.meanwhile or super().check, None
        happens()


def test_a_stale_writer_changes_nothing_of_its_successor(in_bucket, tmp_path, lease):
    files, after = opened(in_bucket, tmp_path), opened(in_bucket, tmp_path, "next")
    files.replace(lease, RECORD, b"before")
    other = PAGE.replace("00001", "00002")
    old = files.put(lease, other, b"old")
    stale = Suspended(lease.engine, lease.layout, lease.row)
    with store_at(f"sqlite:///{tmp_path}/state.db", tmp_path / "data") as store:
        successor = store.lease
        stale.meanwhile = lambda: after.put(successor, PAGE, b"new")
        left = files.put(stale, PAGE, b"old")
        assert after.get(after.named(PAGE, b"new")) == b"new"
        assert left != after.named(PAGE, b"new"), "what it left is recorded nowhere"
        for record in (RECORD, RECORD.replace("/w/", "/v/")):  # which exists, and which does not
            stale.meanwhile = partial(after.replace, successor, record, b"new")
            with pytest.raises(TakenOver):
                files.replace(stale, record, b"old")
            assert after.get(record) == b"new"
        stale.meanwhile = lambda: after.put(successor, other, b"new")
        files.delete(stale, old)
        assert after.get(after.named(other, b"new")) == b"new"
        with pytest.raises(TakenOver):
            files.put(stale, PAGE, b"older")


def test_other_content_under_the_name_is_not_overwritten(in_bucket, tmp_path, lease, s3):
    files = opened(in_bucket, tmp_path)
    client_of(s3).put_object(
        Bucket="wms", Key=prefix_of(in_bucket) + files.named(PAGE, b"page"), Body=b"of somebody else"
    )
    with pytest.raises(NameTaken, match="its own prefix"):
        files.put(lease, PAGE, b"page")


@pytest.mark.parametrize("name", ["raw/shipments//page", "raw/shipments/../../page"])
def test_an_object_whose_name_is_no_path(name, in_bucket, tmp_path, s3):
    client_of(s3).put_object(Bucket="wms", Key=prefix_of(in_bucket) + name, Body=b"of somebody else")
    with pytest.raises(OddName, match=r"raw/shipments could not be listed.*/page.*Delete that object"):
        opened(in_bucket, tmp_path).names("raw/shipments")


def test_a_bucket_that_keeps_versions_is_refused(in_bucket, tmp_path, s3):
    kept = bucket_files("s3://kept/p", s3.address, tmp_path)
    verdict, message = kept.examined() or ("", "")
    assert (verdict, "old versions" in message) == ("warning", True)
    with pytest.raises(FilesError, match="versioning off"):
        kept.refuse_versions()
    client, once = client_of(s3), tmp_path.name.replace("_", "-")
    client.create_bucket(Bucket=once)
    for status in ("Enabled", "Suspended"):
        client.put_bucket_versioning(Bucket=once, VersioningConfiguration={"Status": status})
        client.put_object(Bucket=once, Key=f"p/{status}", Body=b"page")
    with pytest.raises(FilesError, match="onto itself"):
        bucket_files(f"s3://{once}/p", s3.address, tmp_path).refuse_versions()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("AWS_SESSION_TOKEN", "s3"),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "s3"),
        ("AZURE_STORAGE_TOKEN", "az"),
    ],
)
def test_credentials_with_a_line_break_are_named(name, scheme, tmp_path, monkeypatch):
    """A secret that was made with ``echo`` ends with one."""
    file = tmp_path / "token"
    file.write_text("open-sesame\n")
    monkeypatch.setenv(name, str(file) if name.endswith("_FILE") else "open-sesame\n")
    with pytest.raises(SettingsError, match=f"WMS_FILES_URL: .*{name}.* contains a line break") as caught:
        Settings.load(_env_file=None, files_url=f"{scheme}://wms/p")
    assert "open-sesame" not in str(caught.value)


@pytest.mark.parametrize("status", [403, 301, 404])
def test_a_store_that_refuses_is_named(status, in_bucket, tmp_path, lease):
    asked: list[str] = []

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        asked.append(environ["PATH_INFO"])
        start_response(f"{status} Always", [("Content-Length", "0")])
        return []

    with (
        served(answer) as address,
        pytest.raises(
            FilesUnavailable, match=r"s3://wms/.* could not be written .*its region, the credentials"
        ) as caught,
    ):
        bucket_files("s3://wms/refused", address, tmp_path).put(lease, PAGE, b"page")
    assert len(asked) == 1, "what is refused is not requested again"
    assert isinstance(caught.value, FilesRefused) == (status != 301), "to wait for that mends nothing"


def test_a_listing_is_requested_once():
    """What some tools put in the place of a folder is no file."""
    asked: list[str] = []

    def look(folder: str) -> list[tuple[str, int]]:
        asked.append(folder)
        return [("raw/shipments/v", 0), ("raw/shipments/v/a", 1), ("raw/shipments/w", 0), ("raw/shipments/w/b", 2)]

    listing = Listing(look)
    for _ in range(2):
        listing.forget(is_ours=True)
        assert (listing.names("raw/shipments"), listing.keys("raw/shipments/w")) == (["v", "w"], ["raw/shipments/w/b"])
        listing.add("raw/shipments/x/e", 5)
        listing.remove("raw/shipments/v/a")
        assert listing.names("raw/shipments") == ["w", "x"]
        assert (listing.size("raw/shipments/x/e"), listing.size("raw/shipments/x")) == (5, None)
    assert asked == ["raw/shipments"] * 2
