"""A database without rows, and one with the scenario."""

from collections.abc import Iterator

import duckdb
import pytest

from tests.sql.scenario import ROWS, load, write
from wms_sync.targets.database import create_empty


@pytest.fixture(scope="session")
def loaded() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        # as an analyst's own connection may be: the days are the warehouses' all the same
        connection.execute("set timezone = 'Pacific/Auckland'")
        create_empty(connection)
        load(connection)
        yield connection


@pytest.fixture
def database(loaded: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """Without rows. All that a test writes is undone at its end."""
    loaded.begin()
    yield loaded
    loaded.rollback()


@pytest.fixture(scope="session", params=["Pacific/Auckland", "America/Los_Angeles"])
def scenario(request: pytest.FixtureRequest) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(f"set timezone = '{request.param}'")
        create_empty(connection)
        write(connection, ROWS)
        load(connection)
        yield connection
