"""Raw pages on disk, and one flattener for all tests: its types cost more than a small page."""

import json
from contextlib import closing
from datetime import UTC, datetime

import duckdb
import pytest

from wms_sync.shipments.flatten.batch import Flattener
from wms_sync.shipments.flatten.page import RawPage
from wms_sync.shipments.flatten.shape import create_types

EXTRACTED_AT = datetime(2024, 2, 1, 12, 0, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def flattener(tmp_path_factory):
    with closing(Flattener(work_dir=tmp_path_factory.mktemp("work"))) as flattener:
        yield flattener


@pytest.fixture(scope="session")
def connection():
    """With the types, in UTC."""
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        create_types(connection)
        yield connection


@pytest.fixture
def land(tmp_path):
    """Write contents as the pages of a window."""

    def write(*contents: bytes) -> list[RawPage]:
        paths = [tmp_path / f"page-{number:05d}.json" for number in range(1, len(contents) + 1)]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        return [page_of(path) for path in paths]

    return write


def page_of(path):
    """A page as extraction would describe it."""
    content = path.read_bytes()
    page = json.loads(content.decode("utf-8-sig", errors="replace"), strict=False, parse_int=float)
    records = len(page["collection"] or [])
    return RawPage(path, int(path.stem.removeprefix("page-")), records, EXTRACTED_AT, len(content))
