"""The last resort for a page: find and remove the values that DuckDB cannot read although ``values`` accepts them.

No value is known to need this. If one does, only its own cell is lost: objects are tried one by one, and the fields of
an unreadable object, down to the single value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from wms_sync.flatten.findings import Misfit, shown
from wms_sync.flatten.shape import COLLECTION

Reads = Callable[[dict[str, Any]], bool]
"""Returns whether DuckDB can read a page."""
_WHY = "DuckDB cannot read it"


def salvage(page: dict[str, Any], reads: Reads) -> tuple[list[Misfit], int]:
    """Remove unreadable values from the page, in place. Return the misfits and the number of records removed whole."""
    misfits: list[Misfit] = []
    removed = 0
    records = page[COLLECTION]
    page[COLLECTION] = _kept(records, "Shipment", f"$.{COLLECTION}", lambda some: reads({COLLECTION: some}), misfits)
    removed = len(records) - len(page[COLLECTION])
    for kind, objects in (page.get("included") or {}).items():
        if isinstance(objects, list):
            path = f"$.included.{kind}"
            page["included"][kind] = _kept(objects, kind, path, _reads_kind(kind, reads), misfits)
    return misfits, removed


def _reads_kind(kind: str, reads: Reads) -> Callable[[list[Any]], bool]:
    return lambda some: reads({COLLECTION: [], "included": {kind: some}})


def _kept(
    objects: list[Any], kind: str, path: str, reads: Callable[[list[Any]], bool], misfits: list[Misfit]
) -> list[Any]:
    """Return the objects of one kind with unreadable values set to null; leave out an object without a readable id."""
    bad = set(_unread(objects, 0, reads))
    kept = []
    for index, one in enumerate(objects):
        if index in bad:
            here, found = f"{path}[{index}]", list[Misfit]()
            id_ = one.get("id")
            repaired = _readable(one, lambda value: reads([value]), kind, here, found)
            if repaired is None or repaired.get("id") != id_:
                misfits.append(Misfit(kind, None, here, shown(one, kind, kind), _WHY))
                continue
            misfits += [Misfit(kind, id_, misfit.path, misfit.text, misfit.why) for misfit in found]
            kept.append(repaired)
        else:
            kept.append(one)
    return kept


def _unread(objects: list[Any], first: int, reads: Callable[[list[Any]], bool]) -> Iterator[int]:
    """Yield the indexes of the unreadable objects, found by bisection."""
    if not objects or reads(objects):
        return
    if len(objects) == 1:
        yield first
        return
    half = len(objects) // 2
    yield from _unread(objects[:half], first, reads)
    yield from _unread(objects[half:], first + half, reads)


def _within(key: str, reads: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda one: reads({key: one})


def _readable(value: Any, reads: Callable[[Any], bool], kind: str, path: str, misfits: list[Misfit]) -> Any:  # noqa: ANN401 - any JSON
    """Return the value with null for each part that cannot be read."""
    if reads(value):
        return value
    if isinstance(value, dict) and reads({}):
        return {
            key: _readable(inner, _within(key, reads), kind, f"{path}.{key}", misfits) for key, inner in value.items()
        }
    if isinstance(value, list) and reads([]):
        return [
            _readable(inner, lambda one: reads([one]), kind, f"{path}[{index}]", misfits)
            for index, inner in enumerate(value)
        ]
    misfits.append(Misfit(kind, None, path, shown(value, kind, path.rpartition(".")[2]), _WHY))
    return None
