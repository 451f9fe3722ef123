"""The state store over SQLite and over a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import text

from tests.conftest import turn_at
from tests.lakes import Lakes
from wms_sync.state.engine import close_engine, open_engine
from wms_sync.state.turns import Turn


@pytest.fixture
def turn(url, tmp_path) -> Iterator[Turn]:
    taken = turn_at(url, tmp_path)
    yield taken
    taken.close()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.proof)])
def url(request, tmp_path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/deep/state.db"
    server: str = request.getfixturevalue("postgres_url")
    return server


@pytest.fixture
def unopened_url(url) -> str:
    """A state store that nothing in this process has open: what is open is not looked at again."""
    return url if url.startswith("sqlite") else Lakes(url).new()


def take_migration_back(url: str, name: str, undoing: str) -> None:
    """Leave a state store as a release before the migration made it; ``undoing`` is the statement that does so.

    Nothing in this process has it open.
    """
    engine = open_engine(url)
    with engine.begin() as connection:
        connection.execute(text(undoing))
        connection.execute(text("delete from schema_migrations where name = :name"), {"name": name})
    close_engine(engine)
