"""The fence of a lake: PostgreSQL itself refuses what a session of an earlier epoch commits, expires or cleans up.

A session of DuckDB says its epoch when it connects. Triggers compare it with the newest epoch, inside the transaction
that commits. So it does not matter where a writer was suspended, or which of its connections was lost.
"""

from __future__ import annotations

import duckdb
from sqlalchemy import text

from wms_sync import sql_files
from wms_sync.catalogue import literal
from wms_sync.state.engine import Opened
from wms_sync.state.turns import Turn
from wms_sync.targets.ducklake.place import NAME

KEEPALIVES = {"tcp_keepalives_idle": 30, "tcp_keepalives_interval": 10, "tcp_keepalives_count": 3}
"""With these PostgreSQL ends a session whose machine is gone within a minute, and frees what it has locked."""
TRIGGERS = {
    "lake.ducklake_snapshot": "lake/fence/snapshots.sql",
    "lake.ducklake_files_scheduled_for_deletion": "lake/fence/deletions.sql",
}


def session_options(turn: Turn) -> str:
    """Return what a session that writes says when it connects, as libpq writes options."""
    options = {"wms.epoch": turn.epoch.row.epoch, **KEEPALIVES}
    return " ".join(f"-c {name}={value}" for name, value in options.items())


def sign(connection: duckdb.DuckDBPyConnection, turn: Turn) -> None:
    """Say in the commit that follows whose it is, and check the turn once more, before PostgreSQL does."""
    row = turn.epoch.row
    connection.execute(f"call {NAME}.set_commit_message('wms-sync', {literal(f'{row.purpose} (run {row.run_id})')})")
    turn.check()


class Fence(Opened):
    """Puts the fence up, over the connection to the state store, which is in the same database."""

    def put_up(self, turn: Turn) -> None:
        """Make the function and its triggers, as far as they are not there. Raise ``TakenOver``."""
        function = sql_files.read("lake/fence/function.sql")
        with self._engine.begin() as connection:
            turn.epoch.verify(connection)
            found = connection.execute(text(sql_files.read("lake/fences.sql"))).one()
            if found.source is None or found.source not in function:
                connection.exec_driver_sql(function)
            for table, path in TRIGGERS.items():
                if table not in found.tables:
                    connection.exec_driver_sql(sql_files.read(path))
