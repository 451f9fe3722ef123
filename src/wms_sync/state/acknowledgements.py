"""Acknowledged items, which are not reported again: by name, each with the fingerprint of its facts at that time.

An acknowledgement ends when the facts change or the item is gone. It affects only the display, so writing it needs no
``Turn``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select

from wms_sync.state.engine import Opened
from wms_sync.state.schema import acknowledgements


def fingerprint(*facts: object) -> str:
    """Return a fingerprint that differs if any of the facts differs."""
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


class Acknowledgements(Opened):
    """The store of acknowledgements."""

    def all(self) -> dict[tuple[str, str], datetime]:
        """Return the times of acknowledgement, by item and fingerprint of its facts."""
        with self._reading() as connection:
            rows = connection.execute(select(acknowledgements))
            return {(row.item, row.facts): row.acknowledged_at for row in rows}

    def add(self, items: Mapping[str, str]) -> None:
        """Acknowledge these items, given with the fingerprints of their facts."""
        now = datetime.now(UTC)
        rows: list[dict[str, Any]] = [
            {"item": item, "facts": facts, "acknowledged_at": now} for item, facts in items.items()
        ]
        with self._engine.begin() as connection:
            connection.execute(acknowledgements.delete().where(acknowledgements.c.item.in_(list(items))))
            if rows:
                connection.execute(acknowledgements.insert(), rows)

    def keep(self, present: Collection[tuple[str, str]]) -> None:
        """Delete the acknowledgements of all items and facts that are not ``present``: they have ended."""
        ended = [item for item, facts in self.all() if (item, facts) not in present]
        if ended:
            with self._engine.begin() as connection:
                connection.execute(acknowledgements.delete().where(acknowledgements.c.item.in_(ended)))
