"""The lake that owns a place: of two lakes in one place, each would delete the other's files as orphans.

``lake.json`` next to the files names the lake by the id that its catalogue got when it was created. A new lake takes
over the place, such as after the loss of the database. A lake whose place was taken over changes nothing any more.
"""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
from msgspec import Struct
from sqlalchemy.engine import make_url

from wms_sync.layout import LAKE_OWNER
from wms_sync.settings import Settings
from wms_sync.state.turns import Turn
from wms_sync.storage.interface import Files
from wms_sync.targets.ducklake.catalogue import LakeCatalogue
from wms_sync.targets.errors import LakeReplaced


class Owner(Struct, frozen=True):
    """The lake that owns a place. For messages: the database of its catalogue, and when it took the place."""

    lake: str
    database: str
    since: str

    def __str__(self) -> str:
        return f"that of the database {self.database}, since {self.since}"


def claim(settings: Settings, turn: Turn) -> None:
    """Take the place for the lake of this database. Raise ``LakeReplaced`` if a newer one has it."""
    files = settings.layout.files
    with LakeCatalogue(settings.database_url) as catalogue:
        lake, owner = catalogue.identity(), _owner(files)
        if owner is not None and owner.lake == lake:
            return
        is_new = catalogue.newest_snapshot() is None
    if owner is not None and not is_new:
        raise _replaced_by(owner, files)
    mine = Owner(lake, _shown(settings), f"{datetime.now(UTC):%Y-%m-%d %H:%M:%SZ}")
    files.replace(turn, LAKE_OWNER, msgspec.json.encode(mine))


def refuse_replaced(settings: Settings) -> None:
    """Raise ``LakeReplaced`` if a newer lake has the place. For commands that only read."""
    files = settings.layout.files
    with LakeCatalogue(settings.database_url) as catalogue:
        if catalogue.newest_snapshot() is None:
            return
        owner = _owner(files)
        if owner is not None and owner.lake != catalogue.identity():
            raise _replaced_by(owner, files)


def _replaced_by(owner: Owner, files: Files) -> LakeReplaced:
    return LakeReplaced(files.where(LAKE_OWNER), str(owner))


def _owner(files: Files) -> Owner | None:
    """Return the owner of the place; None if it is unknown."""
    try:
        return msgspec.json.decode(files.get(LAKE_OWNER), type=Owner)
    except (FileNotFoundError, ValueError):
        return None


def _shown(settings: Settings) -> str:
    url = make_url(settings.database_url)
    return f"{url.database} on {url.host or url.query.get('host') or 'this machine'}"
