"""Migrations of the state store: each is applied once, in order, and recorded with what it did."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection, Engine, create_engine, inspect, select
from sqlalchemy.exc import OperationalError

from wms_sync.state.schema import METADATA, MIGRATIONS, Migration, migrate, migrations_table, unknown

LATER: tuple[Migration, ...] = (
    ("0002_note", lambda connection: connection.exec_driver_sql("create table notes (note text)")),
    ("0003_wrong", lambda connection: connection.exec_driver_sql("insert into nowhere values (1)")),
)


@pytest.fixture
def engine() -> Iterator[Engine]:
    made = create_engine("sqlite://")
    yield made
    made.dispose()


def applied(connection: Connection) -> list[str]:
    return list(connection.scalars(select(migrations_table.c.name).order_by(migrations_table.c.applied_at)))


def test_a_new_state_store_has_every_table(engine):
    with engine.begin() as connection:
        migrate(connection)
        assert {*inspect(connection).get_table_names()} == {*METADATA.tables, "schema_migrations"}
        assert applied(connection) == [name for name, _ in MIGRATIONS]


def test_later_migrations_are_applied_once_and_recorded(engine):
    for _ in range(2):
        with engine.begin() as connection:
            migrate(connection, (*MIGRATIONS, LATER[0]))
    with pytest.raises(OperationalError), engine.begin() as connection:
        migrate(connection, (*MIGRATIONS, *LATER))
    with engine.connect() as connection:
        assert applied(connection) == [*(name for name, _ in MIGRATIONS), "0002_note"]
        assert unknown(connection) == ("0002_note",)
