"""The state store over SQLite and over a real PostgreSQL."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import turn_at
from tests.postgres import postgres, programs
from wms_sync.state.turns import Turn


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed here (initdb not found); .ci/run installs it")
    with tempfile.TemporaryDirectory(prefix="pg") as folder, postgres(Path(folder) / "server") as url:
        yield url


@pytest.fixture
def turn(url, tmp_path) -> Iterator[Turn]:
    taken = turn_at(url, tmp_path)
    yield taken
    taken.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/deep/state.db"
    server: str = request.getfixturevalue("postgres_url")
    return server
