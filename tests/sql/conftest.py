"""A database without rows, and one with the scenario."""

from collections.abc import Iterator

import duckdb
import pytest

from tests.sql.scenario import ROWS, Row, load, write
from wms_sync.targets.database import create_empty


def filled(timezone: str, *rows: Row) -> Iterator[duckdb.DuckDBPyConnection]:
    """In an analyst's own time zone: the days are the warehouses' all the same."""
    with duckdb.connect() as connection:
        connection.execute(f"set timezone = '{timezone}'")
        create_empty(connection)
        write(connection, rows)
        load(connection)
        yield connection


@pytest.fixture(scope="session")
def loaded() -> Iterator[duckdb.DuckDBPyConnection]:
    yield from filled("Pacific/Auckland")


@pytest.fixture
def database(loaded: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """Without rows. All that a test writes is undone at its end."""
    loaded.begin()
    yield loaded
    loaded.rollback()


@pytest.fixture(scope="session", params=["Pacific/Auckland", "America/Los_Angeles"])
def scenario(request: pytest.FixtureRequest) -> Iterator[duckdb.DuckDBPyConnection]:
    yield from filled(request.param, *ROWS)
