"""Measure what personal data costs that was not requested: looking for it in a page, and a page that has some.

Also a page that does not fit the types, since it is repaired for the same reason: the service differs from its
description.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.report import Figure, Section
from benchmarks.service import serving
from wms_sync.privacy.scrub import without_persons
from wms_sync.service.body import packed
from wms_sync.service.envelope import read_envelope
from wms_sync.shipments.flatten.batch import Flattener
from wms_sync.shipments.flatten.page import RawPage

SHIPMENTS = 1000
TIMES = 10
PERSONS = 3
EMAIL = {"email": {"value": "shop@example.test"}}


def persons(scratch: Path) -> Section:
    """Measure a page without persons, with some, and with a key that no type knows."""
    with serving(SHIPMENTS) as service:
        plain = service.page()
    kept = _altered(plain, lambda order: order.update(custom_fields={**(order.get("custom_fields") or {}), **EMAIL}))
    found = _altered(plain, lambda order: order.update(email="jane@example.test"), most=PERSONS)
    unknown = _altered(plain, lambda order: order.update(gift_wrap="red"))
    alone = _milliseconds(partial(read_envelope, plain))
    watched = _milliseconds(partial(read_envelope, plain, watched=True))
    with Flattener(work_dir=scratch / "work") as flattener:
        clean, cleaned, repaired = (
            _milliseconds(partial(_to_parquet, flattener, page, scratch)) for page in (plain, found, unknown)
        )
    return Section(
        name="persons",
        title=f"Looking for persons in a page of {len(plain) / 1e6:.1f} MB",
        rows=[
            {"page": "only its envelope is read", "CPU ms": alone},
            {"page": "no person on it", "CPU ms": watched},
            {
                "page": "custom fields that have an email",
                "CPU ms": _milliseconds(partial(read_envelope, kept, watched=True)),
            },
            {"page": f"{PERSONS} persons on it, removed", "CPU ms": _milliseconds(partial(without_persons, found))},
            {"page": "from the answer to Parquet: no person on it", "CPU ms": clean},
            {"page": f"from the answer to Parquet: {PERSONS} persons on it", "CPU ms": cleaned},
            {"page": "from the answer to Parquet: an unknown key in every order", "CPU ms": repaired},
        ],
        figures=[
            Figure("looking", watched - alone, "ms"),
            Figure(f"a page with {PERSONS} persons, over one without", cleaned / clean),
            Figure("a page that is repaired, over one that fits", repaired / clean),
        ],
    )


def _to_parquet(flattener: Flattener, content: bytes, scratch: Path) -> None:
    """Do with an answer what a sync does: search it, remove persons, compress what was changed, flatten it."""
    if read_envelope(content, watched=True).suspect and (clean := without_persons(content)) is not None:
        content = packed(clean).content
    path = scratch / "page-00001.json"
    path.write_bytes(content)
    page = RawPage(path, 1, SHIPMENTS, datetime.now(UTC), len(content))
    flattener.flatten([page], window_id="w", part=1, parquet_dir=scratch / "parquet")


def _altered(page: bytes, alter: Callable[[dict[str, Any]], None], *, most: int | None = None) -> bytes:
    document = json.loads(page)
    for order in document["included"]["Order"][:most]:
        alter(order)
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _milliseconds(work: Callable[[], object]) -> float:
    fastest = float("inf")
    for _ in range(TIMES):
        started = process_time()
        work()
        fastest = min(fastest, process_time() - started)
    return 1000 * fastest
