"""Measure the search for personal data in a page requested without any: CPU time per page, best of many."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

from benchmarks.report import Figure, Section
from benchmarks.service import serving
from wms_sync.api.envelope import read_envelope
from wms_sync.privacy.scrub import without_persons

SHIPMENTS = 1000
TIMES = 25
MILLISECONDS_HOPED = 4.5
EMAIL = {"email": {"value": "shop@example.test"}}


def persons() -> Section:
    """Measure a page as it is, one with a person's key in all orders' custom fields, and one with a person."""
    with serving(SHIPMENTS) as service:
        plain = service.page()
    kept = _altered(plain, lambda order: order.update(custom_fields={**(order.get("custom_fields") or {}), **EMAIL}))
    found = _altered(plain, lambda order: order.update(buyer=EMAIL), only_one=True)
    alone = _milliseconds(partial(read_envelope, plain))
    watched = _milliseconds(partial(read_envelope, plain, watched=True))
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
            {"page": "a person on it, removed", "CPU ms": _milliseconds(partial(without_persons, found))},
        ],
        figures=[Figure("looking", watched - alone, "ms", MILLISECONDS_HOPED)],
    )


def _altered(page: bytes, alter: Callable[[dict[str, Any]], None], *, only_one: bool = False) -> bytes:
    document = json.loads(page)
    for order in document["included"]["Order"][: 1 if only_one else None]:
        alter(order)
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _milliseconds(work: Callable[[], object]) -> float:
    fastest = float("inf")
    for _ in range(TIMES):
        started = process_time()
        work()
        fastest = min(fastest, process_time() - started)
    return 1000 * fastest
