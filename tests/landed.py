"""What lies on landed pages, read from disk, for tests of reading: what was read is proved without a load.

``assert_landed`` takes the place of ``tests.test_sync.assert_equal`` where no merge is in question.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from tests.conftest import Bench
from tests.oracle import service_pages
from tests.services import Service
from wms_sync.shipments.flatten.page import RawPage


def landed_contents(bench: Bench, *states: str) -> Iterator[tuple[tuple[str, int], bytes]]:
    """Window, number and content of the landed pages of windows that count, or are in these states."""
    for window in bench.store.windows(*(states or ("landed", "loaded"))):
        for page in bench.store.pages(window.id):
            path = bench.layout.raw / window.id / page.file
            raw = RawPage(path, page.number, page.records, page.served_at, page.content_bytes)
            yield (window.id, page.number), raw.content()


def landed_pages(bench: Bench, *states: str, only: str | None = None) -> Iterator[dict[str, Any]]:
    """The landed pages of these windows, or of one of them."""
    for (window, _), content in landed_contents(bench, *states):
        if only in {None, window}:
            yield json.loads(content)


def landed_ids(bench: Bench, *states: str, only: str | None = None) -> list[int]:
    """The ids of the shipments on these pages."""
    return [shipment["id"] for page in landed_pages(bench, *states, only=only) for shipment in page["collection"]]


def assert_landed(bench: Bench, service: Service) -> None:
    """Every shipment and every related object is on a landed page as the service has it now."""
    wanted = _objects(service_pages(service, include_addresses=bench.settings.include_addresses))
    lacking = wanted.keys() - _objects(landed_pages(bench)).keys()
    assert not lacking, f"{len(lacking)} of {len(wanted)} lack, such as {sorted(wanted[text] for text in lacking)[:20]}"


def _objects(pages: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Kind and id, by all that an object holds."""
    found = {}
    for page in pages:
        for kind, objects in {"Shipment": page["collection"], **page["included"]}.items():
            for thing in objects:
                found[json.dumps(thing, sort_keys=True)] = f"{kind} {thing['id']}"
    return found
