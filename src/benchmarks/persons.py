"""Measure what personal data costs that was not requested: looking for it in a page, and a first sync that has some."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from benchmarks.report import Figure, Section
from benchmarks.runs import Folder
from benchmarks.service import Service, serving
from wms_sync.api.envelope import read_envelope
from wms_sync.privacy.scrub import without_persons

SHIPMENTS = 1000
TIMES = 25
MILLISECONDS_HOPED = 4.5
SYNCED = 30_000
TELEPHONES = 3
"""In so many addresses and in so many ship-to locations of each page."""
ROUNDS = 5
SYNC_HOPED = 1.15
EMAIL = {"email": {"value": "shop@example.test"}}


def persons(scratch: Path) -> Section:
    """Measure a page with and without persons, and a first sync from a service that sends a few on every page."""
    with serving(SHIPMENTS) as service:
        plain = service.page()
    kept = _altered(plain, lambda order: order.update(custom_fields={**(order.get("custom_fields") or {}), **EMAIL}))
    found = _altered(plain, lambda order: order.update(buyer=EMAIL), only_one=True)
    alone = _milliseconds(partial(read_envelope, plain))
    watched = _milliseconds(partial(read_envelope, plain, watched=True))
    without, sent = _first_syncs(scratch)
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
        figures=[
            Figure("looking", watched - alone, "ms", MILLISECONDS_HOPED),
            Figure(f"CPU of a first sync of {SYNCED:,} shipments, no person sent", without, "s"),
            Figure(f"the same, {2 * TELEPHONES} persons on every page, over without", sent / without, most=SYNC_HOPED),
        ],
    )


def _first_syncs(scratch: Path) -> tuple[float, float]:
    """Return the CPU seconds of a first sync without persons and of one with some on every page: medians, in turn."""
    with serving(SYNCED) as plain, serving(SYNCED, unasked_telephones=TELEPHONES) as talkative:
        for service in (plain, talkative):
            service.warm_up()
        costs = [(_first_sync(plain, scratch), _first_sync(talkative, scratch)) for _ in range(ROUNDS)]
    return median(one for one, _ in costs), median(other for _, other in costs)


def _first_sync(service: Service, scratch: Path) -> float:
    folder = Folder(scratch / "persons", service)
    cpu = folder.command_line("sync").cost.cpu
    folder.remove()
    return cpu


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
