"""Remove the personal data of orders from a lake: from its tables, from every file and snapshot, from its statistics.

What is deleted in a transaction stays in the files of earlier snapshots. So all files with deleted rows are written
anew, all snapshots but the newest expire, and what no snapshot names is deleted at once, also what killed loads left.
Readers whose query goes on may find that a file is gone.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import closing

from wms_sync.settings import Settings
from wms_sync.state.turns import Turn
from wms_sync.targets.ducklake.catalogue import LakeCatalogue
from wms_sync.targets.ducklake.session import opened_for_writing
from wms_sync.targets.ducklake.upkeep import AT_ONCE, committed, delete_replaced, everything, explained, put_together
from wms_sync.targets.persons import erased, held_rows, present_tables, write_forgotten


def erase(settings: Settings, turn: Turn, order_ids: Collection[int], *, anyway: bool) -> int:
    """Remove the personal data of these orders; return how many rows were or held some.

    ``anyway``: look for what earlier snapshots have, also if no row has any. Raise ``MaintenanceError``.
    """
    with explained(), closing(opened_for_writing(settings, turn)) as connection:
        held = sum(held_rows(connection, order_ids).values())
        if not (held or anyway):
            return 0
        with committed(connection, turn):
            for table, there in present_tables(connection):
                connection.execute(erased(table, there))
            write_forgotten(connection, order_ids)
        put_together(settings, connection, turn, everything)
        delete_replaced(connection, turn, AT_ONCE)
    with LakeCatalogue(settings.database_url) as catalogue:
        catalogue.narrow_statistics(turn)
    return held
