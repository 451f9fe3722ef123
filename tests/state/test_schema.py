"""Migrations of the state store: each is applied once, in order, and recorded with what it did."""

import pytest
from sqlalchemy import create_engine, select
from sqlalchemy.exc import OperationalError

from wms_sync.state.schema import MIGRATIONS, Migration, migrate, migrations_table, unknown

LATER: tuple[Migration, ...] = (
    ("0002_note", lambda connection: connection.exec_driver_sql("create table notes (note text)")),
    ("0003_wrong", lambda connection: connection.exec_driver_sql("insert into nowhere values (1)")),
)


def test_later_migrations_are_applied_once_and_recorded():
    engine = create_engine("sqlite://")
    for _ in range(2):
        with engine.begin() as connection:
            migrate(connection, (*MIGRATIONS, LATER[0]))
    with pytest.raises(OperationalError), engine.begin() as connection:
        migrate(connection, (*MIGRATIONS, *LATER))
    with engine.connect() as connection:
        applied = connection.scalars(select(migrations_table.c.name).order_by(migrations_table.c.applied_at)).all()
        assert applied == [*(name for name, _ in MIGRATIONS), "0002_note"]
        assert unknown(connection) == ("0002_note",)
    engine.dispose()
