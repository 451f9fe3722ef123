"""Measure what personal data costs that was not requested: looking for it on a page, and removing it.

Also a page that does not fit the types, since it is repaired for the same reason: the service differs from its
description. All are functions of the product, called in this process.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from benchmarks.service import serving
from benchmarks.table import Row, show
from wms_sync.privacy.scrub import without_persons
from wms_sync.service.body import packed
from wms_sync.service.envelope import read_envelope
from wms_sync.shipments.flatten.batch import Flattener
from wms_sync.shipments.flatten.page import RawPage

SHIPMENTS = 1000
PERSONS = 3
PLAIN = "to Parquet: no person on it"
EMAIL = {"email": {"value": "shop@example.test"}}


def persons(rounds: int, folder: Path) -> None:
    """Show the CPU time of a page without persons, with some, and with a key that no type knows.

    As elsewhere, the first round is not counted.
    """
    with serving(SHIPMENTS) as service:
        plain = next(service.pages())
    kept = _altered(plain, lambda order: order.update(custom_fields={**(order.get("custom_fields") or {}), **EMAIL}))
    found = _altered(plain, lambda order: order.update(email="jane@example.test"), most=PERSONS)
    each = _altered(plain, lambda order: order.update(email="jane@example.test"))
    unknown = _altered(plain, lambda order: order.update(gift_wrap="red"))
    with closing(Flattener(work_dir=folder / "work")) as flattener:
        to_parquet = partial(_to_parquet, flattener, folder)
        cases: dict[str, Callable[[], object]] = {
            "its envelope is read": partial(read_envelope, plain),
            "and searched: no person on it": partial(read_envelope, plain, watched=True),
            "and searched: custom fields have an email": partial(read_envelope, kept, watched=True),
            f"{PERSONS} persons are removed": partial(without_persons, found),
            PLAIN: partial(to_parquet, plain),
            f"to Parquet: {PERSONS} persons on it": partial(to_parquet, found),
            "to Parquet: a person in every order": partial(to_parquet, each),
            "to Parquet: an unknown key in every order": partial(to_parquet, unknown),
        }
        measured = [{name: _milliseconds(work) for name, work in cases.items()} for _ in range(rounds + 1)]
    rows: list[Row] = [
        {
            "page": name,
            "CPU ms": median(times[name] for times in measured[1:]),
            f"over {PLAIN}": median(times[name] / times[PLAIN] for times in measured[1:]),
        }
        for name in cases
    ]
    show(f"Looking for persons on a page of {len(plain) / 1e6:.1f} MB, median of {rounds}", rows)


def _to_parquet(flattener: Flattener, folder: Path, content: bytes) -> None:
    """Do with an answer what a sync does: search it, remove persons, compress what was changed, flatten it."""
    if read_envelope(content, watched=True).suspect and (clean := without_persons(content)) is not None:
        content = packed(clean).content
    path = folder / "page-00001.json"
    path.write_bytes(content)
    page = RawPage(path, 1, SHIPMENTS, datetime.now(UTC), len(content))
    flattener.flatten([page], window_id="w", part=1, parquet_dir=folder / "parquet")


def _altered(page: bytes, alter: Callable[[dict[str, Any]], None], *, most: int | None = None) -> bytes:
    document = json.loads(page)
    for order in document["included"]["Order"][:most]:
        alter(order)
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _milliseconds(work: Callable[[], object]) -> float:
    started = process_time()
    work()
    return 1000 * (process_time() - started)
