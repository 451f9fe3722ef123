"""Put each shared object on a page once, under its kind, with the fields of every path that leads to it.

References are followed further if the selection does so (a retailer's parent, a location's retailer, a merchant's
brands). A reference to an object that does not exist includes nothing.
"""

from collections.abc import Iterable
from typing import Any

from wms_sandbox.compiled import References, pick
from wms_sandbox.pools import Pools
from wms_sandbox.selection import Selection
from wms_sandbox.store import Store
from wms_sandbox.templates import write_json

_FURTHER = {
    "Retailer": ("parent_retailer",),
    "RetailerShipToLocation": ("retailer",),
    "Merchant": ("brands", "default_brand"),
}

Wanted = tuple[str, int, frozenset[str]]
"""Kind, position in its pool, fields."""


class SharedObjects:
    """The shared objects under one selection, serialised once for each revision."""

    def __init__(self, store: Store, pools: Pools, selection: Selection) -> None:
        self._store = store
        self._pools = pools
        self._selection = selection
        self._written: dict[tuple[str, int, frozenset[str], int], bytes] = {}
        self._codes: dict[Wanted, int] = {}
        self._wanted: list[Wanted] = []

    def codes(self, references: References) -> frozenset[int]:
        """Return short codes for the objects that the references lead to, which a page collects."""
        found: set[int] = set()
        for path, kind, identity in references:
            found.update(self._follow(path, kind, identity))
        return frozenset(found)

    def _follow(self, path: str, kind: str, identity: int) -> Iterable[int]:
        position = self._pools.position(kind, identity)
        if position is None:
            return
        fields = self._selection.fields(path) or frozenset()
        yield self._code((kind, position, fields))
        for further in _FURTHER.get(kind, ()):
            if self._selection.reaches(f"{path}.{further}"):
                target = self._pools.make(kind, position).get(further) or []
                for each in target if isinstance(target, list) else [target]:
                    yield from self._follow(f"{path}.{further}", each["type"], each["id"])

    def _code(self, wanted: Wanted) -> int:
        code = self._codes.setdefault(wanted, len(self._wanted))
        if code == len(self._wanted):
            self._wanted.append(wanted)
        return code

    def write(self, codes: Iterable[int]) -> dict[str, list[bytes]]:
        """Return the objects by kind, in the order of their pools."""
        fields: dict[tuple[str, int], frozenset[str]] = {}
        for kind, position, shown in (self._wanted[code] for code in codes):
            known = fields.get((kind, position))
            fields[kind, position] = shown if known is None else known | shown
        by_kind: dict[str, list[bytes]] = {}
        for (kind, position), shown in sorted(fields.items(), key=_place):
            by_kind.setdefault(kind, []).append(self._bytes(kind, position, shown))
        return by_kind

    def _bytes(self, kind: str, position: int, shown: frozenset[str]) -> bytes:
        revision = self._store.retailer_revision.get(position, 0) if kind == "Retailer" else 0
        key = (kind, position, shown, revision)
        if key not in self._written:
            thing = pick(self._pools.make(kind, position, revision), shown)
            self._written[key] = write_json(thing, writes_ascii=position % 3 == 0).encode()
        return self._written[key]


def _place(item: tuple[tuple[str, int], Any]) -> tuple[str, int]:
    return item[0]
