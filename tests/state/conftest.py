"""The state store over SQLite and over a real PostgreSQL."""

from collections.abc import Iterator

import pytest

from tests.bench import store_at
from tests.lakes import Lakes
from wms_sync.state.store import StateStore


@pytest.fixture
def store(url, tmp_path) -> Iterator[StateStore]:
    """One with a lease."""
    with store_at(url, tmp_path) as opened:
        yield opened


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def url(request, tmp_path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/deep/state.db"
    server: str = request.getfixturevalue("postgres_url")
    Lakes(server).execute(server, "drop schema public cascade; create schema public")
    return server
