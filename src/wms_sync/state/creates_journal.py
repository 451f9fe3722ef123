"""``creates.jsonl``: a copy of the creates that only the state store knows so far, in case it is lost.

The published tables have a copy of the ledger, but a push does not publish. If the state store were lost before the
next load, the ledger's newest rows would be lost too, and the next push would create the same things twice. So a push
also appends each row of the ledger to this file, an intent before its request: one line of JSON per row, synced to
disk. A push starts by dropping the rows that the published tables already have.

Only kinds that the service would accept twice are written here, which are products: no personal data.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from wms_sync.state.ledger import Entry, PushLedger
from wms_sync.state.turns import Turn
from wms_sync.storage.durable import accessing, write_whole

logger = logging.getLogger(__name__)


class CreatesJournal:
    """The file of creates. Only the process with the turn of pushing products may write; any process may read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def entries(self) -> list[Entry]:
        """Return the newest version of each row. A last line that a kill truncated had no request yet."""
        try:
            with accessing(self._path):
                content = self._path.read_bytes()
        except FileNotFoundError:
            return []
        newest: dict[tuple[str, str, str], Entry] = {}
        *lines, _cut = content.split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                entry = msgspec.json.decode(line, type=Entry)
            except (msgspec.MsgspecError, UnicodeDecodeError):
                logger.warning(
                    "line %(line)d of %(file)s is damaged and is skipped. This matters only if the state store was "
                    "lost too: then check whether the service has a product that the ledger lacks before you push it",
                    {"line": number, "file": self._path},
                )
                continue
            if entry.name not in newest or entry.version >= newest[entry.name].version:
                newest[entry.name] = entry
        return list(newest.values())

    def begin(self, published: Iterable[Entry]) -> None:
        """Drop the rows that the published tables have in this version or a newer one."""
        versions = {entry.name: entry.version for entry in published}
        left = [entry for entry in self.entries() if entry.name not in versions or entry.version > versions[entry.name]]
        with accessing(self._path):
            write_whole(self._path, _lines(left))

    def append(self, written: Sequence[Entry]) -> None:
        """Append rows to a file that ``begin`` has written; they are on disk when this returns."""
        with accessing(self._path), self._path.open("ab") as file:
            file.write(_lines(written))
            file.flush()
            os.fsync(file.fileno())


class JournaledLedger(PushLedger):
    """A ledger whose rows are also in the journal when ``record`` returns."""

    def __init__(self, url: str, turn: Turn, journal: CreatesJournal) -> None:
        super().__init__(url, turn)
        self.journal = journal

    def record(self, written: Sequence[Entry]) -> None:
        """Write rows in one transaction, which fails if another process has the turn; then append to the journal."""
        super().record(written)
        if written:
            self.journal.append(written)


def _lines(entries: Iterable[Entry]) -> bytes:
    return b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
