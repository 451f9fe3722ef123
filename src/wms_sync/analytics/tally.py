"""What a load did to the tables, as far as it is known without reading them: rows that came and went, by table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from msgspec import Struct, field

from wms_sync.analytics.database import Places
from wms_sync.catalogue import Table, tables


class Tally(Struct):
    """Rows inserted and deleted by ``Table.slug``, in ``groups`` of windows.

    ``is_plain``: whatever stood on the pages took effect, and every row of it that is stored was inserted by this load.
    ``since`` is when the first page was received, in microseconds of the epoch.
    """

    inserted: Counter[str] = field(default_factory=Counter)
    deleted: Counter[str] = field(default_factory=Counter)
    windows: frozenset[str] = frozenset()
    groups: int = 0
    is_plain: bool = True
    is_complete: bool = True
    since: int | None = None

    def rows(self, before: Mapping[str, int]) -> dict[str, int]:
        """Return the numbers of rows by table, of those that flatten fills from the service's objects.

        Empty if rows came that were not counted.
        """
        if not self.is_complete:
            return {}
        return {slug: count + self.inserted[slug] - self.deleted[slug] for slug, count in before.items()}

    def is_all_that_changed(self, before: Places, after: Places) -> bool:
        """Return whether just these rows were appended."""
        return all(after.get(one.place, 0) - before.get(one.place, 0) == self.inserted[one.slug] for one in counted())


def counted() -> tuple[Table, ...]:
    """Return the tables whose rows a tally counts: the others are about windows, and small."""
    return tuple(one for one in tables() if one.schema != "ops")
