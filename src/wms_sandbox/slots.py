"""The differences between two shipments of one family: numbers and times, as columns for a whole page at once.

Objects are written with marks for such values: `{{#name}}` alone in a string stands for a bare JSON value, `{{name}}`
inside a string for text. `templates` turns the marks into %-slots; `slot_rows` returns the values that fill them.

Times come without their ending, so that a family can append `Z`, a fraction or `+00:00`; `created`, `updated` and
`packed` are whole JSON values, because filters must see exactly what is shown.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wms_sandbox import texts
from wms_sandbox.clock import as_datetime
from wms_sandbox.heads import DELIVERED, LATE, PACKED, SHIPPED
from wms_sandbox.store import DAY, NO_TIME, SHIP_BY_DAYS, Indexes, Store

ALTERNATIVE = 7 * 10**12
"""The difference between the digits of an alternative tracking number and of the first one."""

ITEMS, PACKAGES, GALLERY_ITEMS, ORDER_ITEMS, HISTORY = 5, 5, 12, 5, 8

_SHIPMENT_BLOCKS: dict[str, tuple[int, int, int]] = {
    "item": (40_000_000, 8, ITEMS),
    "pkg": (7_000_000, 8, PACKAGES),
    "psol": (900_000, 1, 1),
    "gal": (2_147_480_000, 8, PACKAGES + 1),
    "gi": (9_007_199_200_000_000, 12, GALLERY_ITEMS),
}
_ORDER_BLOCKS: dict[str, tuple[int, int, int]] = {
    "oid": (3_000_000_000, 2, 1),
    "oi": (5_000_000_000, 8, ORDER_ITEMS),
    "oh": (1_000_000_000_000, 10, HISTORY),
    "oaddr": (60_000_000, 2, 2),
    "ocand": (80_000_000, 4, 3),
    "oinstr": (90_000_000, 4, 3),
}
"""Name: first id, distance between neighbours, number of ids. Ids go up to just below 2^53."""

_TIMES = ("s2", "s3", "ocreated", "o1", "o2", "oover", "o3", "o4", "oupdated")
_DATES = ("tdate", "odate")


def number(name: str) -> str:
    """Return a mark for a bare JSON value."""
    return f"{{{{#{name}}}}}"


def text(name: str) -> str:
    """Return a mark inside a string."""
    return f"{{{{{name}}}}}"


def _block_names(blocks: dict[str, tuple[int, int, int]]) -> list[str]:
    return [f"{name}{k}" for name, (_, _, count) in blocks.items() for k in range(count)]


NAMES: tuple[str, ...] = (
    "sid",
    "uid",
    "status",
    *_block_names(_SHIPMENT_BLOCKS),
    *(f"{name}{k}" for name in ("trk", "alt") for k in range(PACKAGES)),
    "ouid",
    "orev",
    "ostate",
    "ostatus",
    "osid0",
    "osid1",
    *_block_names(_ORDER_BLOCKS),
    "created",
    "updated",
    "packed",
    *_TIMES,
    *_DATES,
)
POSITION = {name: position for position, name in enumerate(NAMES)}
FORMATS = (
    dict.fromkeys(NAMES, "%d")
    | dict.fromkeys(("created", "updated", "packed", "status", "ostate", "ostatus", *_TIMES, *_DATES), "%b")
    | {"uid": "%010d", "ouid": "%09d"}
)


def unique_number(ids: Indexes) -> Indexes:
    """Return the digits of a shipment's `unique_id`: scattered, unique, often with leading zeros."""
    return ids * 7919 % 10**10


def order_id(firsts: Indexes) -> Indexes:
    """Return the ids of orders, given the indexes of their first shipments."""
    start, distance, _ = _ORDER_BLOCKS["oid"]
    return start + firsts * distance


def tracking_number(ids: Indexes, revisions: Indexes, package: int) -> Indexes:
    """Return the digits after a tracking number's prefix; another revision has another number."""
    return 10**10 + ids * 1000 + package * 100 + revisions % 100


def slot_rows(store: Store, at: Indexes) -> list[tuple[object, ...]]:
    """Return a tuple for each shipment in `at`, in the order of NAMES."""
    first = store.order_first[at].astype(np.int64)
    ids, revisions = store.ids[at], store.revision[at].astype(np.int64)
    columns: list[Sequence[object]] = [ids.tolist(), unique_number(ids).tolist()]
    columns.append(_words(texts.SHIPMENT_STATUSES, store.statuses(at)))
    columns += _block_columns(_SHIPMENT_BLOCKS, at)
    for shift in (0, ALTERNATIVE):
        columns += [(tracking_number(ids, revisions, k) + shift).tolist() for k in range(PACKAGES)]
    siblings = store.ids[np.minimum(first + 1, len(store.ids) - 1)]
    columns += [(first * 104_729 % 10**9).tolist(), store.order_revision[first].tolist()]
    state, status = store.order_states(first)
    columns += [_words(texts.ORDER_STATES, state), _words(texts.ORDER_STATUSES, status)]
    columns += [store.ids[first].tolist(), siblings.tolist()]
    columns += _block_columns(_ORDER_BLOCKS, first)
    columns += [_json_times(values[at], at) for values in (store.created, store.updated, store.packed)]
    columns += _time_columns(store, at, first)
    return list(zip(*columns, strict=True))


def _words(words: Sequence[str], numbers: Indexes) -> list[bytes]:
    """Return the words at these numbers, modulo the number of words."""
    encoded = [word.encode() for word in words]
    return [encoded[number] for number in (numbers % len(encoded)).tolist()]


def _block_columns(blocks: dict[str, tuple[int, int, int]], at: Indexes) -> list[list[int]]:
    columns: list[list[int]] = []
    for start, distance, count in blocks.values():
        lowest = start + at * distance
        columns += [(lowest + k).tolist() for k in range(count)]
    return columns


def _time_columns(store: Store, at: Indexes, first: Indexes) -> list[list[bytes]]:
    created, updated, order_seen = store.created[at], store.updated[at], store.created[first]
    order_created = order_seen - (first * 7919 % (259_200 if store.is_odd else 14_400) + 60) * 1000
    plan = store.plan(first)
    times = (
        plan[PACKED - 1],
        np.where(updated == NO_TIME, created, updated),
        order_created,
        order_created + 30_000,
        order_seen,
        plan[LATE - 1],
        plan[SHIPPED - 1],
        plan[DELIVERED - 1],
        store.order_updated[first],
    )
    columns = [_second_texts(values).tolist() for values in times]
    dates = [
        _second_texts(values).astype("S10").tolist()
        for values in (created + SHIP_BY_DAYS * DAY, order_created + 5 * DAY)
    ]
    return columns + dates


def _second_texts(milliseconds: Indexes, *, quoted: bool = False) -> NDArray[np.bytes_]:
    """Return times as `2024-01-31T10:00:00`, cut to whole seconds; `quoted` adds quotes and a Z.

    Uses tables of digits.
    """
    days, seconds = np.divmod(milliseconds // 1000, 86_400)
    first_day = int(days.min()) if len(days) else 0
    calendar = np.arange(first_day, int(days.max()) + 1 if len(days) else 1).astype("datetime64[D]").astype("S10")
    letters = np.empty((len(days), 22), np.uint8)
    letters[:, 0] = letters[:, 21] = ord('"')
    letters[:, 11], letters[:, 20] = ord("T"), ord("Z")
    letters[:, 1:11] = calendar.view(np.uint8).reshape(-1, 10)[days - first_day]
    letters[:, 12:20] = _CLOCK[seconds]
    if quoted:
        return letters.view("S22").ravel()
    return np.ascontiguousarray(letters[:, 1:20]).view("S19").ravel()


def _clock_digits() -> NDArray[np.uint8]:
    """Return `00:00:00` to `23:59:59`, one row per second."""
    lines = np.array([f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}" for s in range(86_400)], "S8")
    return lines.view(np.uint8).reshape(-1, 8)


_CLOCK = _clock_digits()


def _json_times(milliseconds: Indexes, at: Indexes) -> list[bytes]:
    """Return quoted times: mostly with a Z, some with a fraction, some with +00:00; null if there is none."""
    is_null = milliseconds == NO_TIME
    latest = milliseconds.max(initial=0)
    quoted: list[bytes] = _second_texts(np.where(is_null, latest, milliseconds), quoted=True).tolist()
    odd = is_null | (milliseconds % 1000 != 0) | (at % 53 == 7)
    for position in np.nonzero(odd)[0].tolist():
        quoted[position] = time_json(int(milliseconds[position]), int(at[position]))
    return quoted


def time_json(milliseconds: int, at: int) -> bytes:
    """Return one time of the shipment at an index, exactly as it is shown."""
    if milliseconds == NO_TIME:
        return b"null"
    fraction = f".{milliseconds % 1000:03}" if milliseconds % 1000 else ""
    ending = "+00:00" if at % 53 == 7 else "Z"
    return f'"{as_datetime(milliseconds):%Y-%m-%dT%H:%M:%S}{fraction}{ending}"'.encode()
