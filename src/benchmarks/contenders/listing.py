"""The pages of a listing for the floor: with as few instructions as Python allows.

The standard library's connection instead of httpx, isal instead of zlib, and one pass of msgspec, which gives the
envelope and the bytes of each object and decodes nothing. A page is written to a file as received; nothing is synced to
disk, nothing is tried again, nothing is proved.
"""

from __future__ import annotations

import http.client
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec
from isal import isal_zlib

from wms_sync.intervals import Interval, slices
from wms_sync.service.query import updated_within
from wms_sync.service.selection import Selection
from wms_sync.service.shipments import PATH

RECORDS_PER_WINDOW = 10_000
_GZIP = 31
_SECONDS = 300


class Listing:
    """Pages of the whole listing, in windows of about ten pages each, like the product's. One thread uses it."""

    def __init__(self, landing: Path, kinds: Sequence[str]) -> None:
        self._landing = landing
        self._page = _page_decoder(kinds)
        self._connection = http.client.HTTPConnection(urlsplit(os.environ["WMS_BASE_URL"]).netloc, timeout=_SECONDS)
        self._headers = {"Authorization": f"Bearer {os.environ['WMS_API_TOKEN']}", "Accept-Encoding": "gzip"}

    def windows(self) -> Sequence[Interval]:
        """Return slices of the time from `WMS_START_DATE` until now. One request counts the records."""
        whole = Interval(datetime.fromisoformat(os.environ["WMS_START_DATE"]).replace(tzinfo=UTC), datetime.now(UTC))
        answer = self._get(_target(whole, ("limit", "1"), ("count", "1")))
        return slices(whole, -(-self._page.decode(answer).meta["count"] // RECORDS_PER_WINDOW))

    def pages(self, window_id: str, window: Interval) -> Iterator[Any]:
        """Yield the pages of a window: `collection` and `included`, whose objects are bytes."""
        limit = ("limit", os.environ["WMS_PAGE_SIZE"])
        target = _target(window, limit, *Selection.whole(include_addresses=False).params)
        number = 0
        while target:
            number += 1
            page = self._page.decode(self._get(target, self._landing / f"{window_id}-{number:05d}.json.gz"))
            target = page.next if page.has_more else ""
            yield page

    def _get(self, target: str, landed: Path | None = None) -> bytes:
        self._connection.request("GET", target, headers=self._headers)
        response = self._connection.getresponse()
        body = response.read()
        if response.status != http.client.OK:
            raise http.client.HTTPException(f"{response.status} for {target[:200]}")
        if landed:
            landed.write_bytes(body)
        return isal_zlib.decompress(body, _GZIP) if response.headers["Content-Encoding"] == "gzip" else body


def _page_decoder(kinds: Sequence[str]) -> msgspec.json.Decoder[Any]:
    objects: Any = list[msgspec.Raw] | None
    included = msgspec.defstruct("Included", [(kind, objects, None) for kind in kinds])
    envelope = [("has_more", bool), ("next", str | None), ("meta", dict[str, Any])]
    return msgspec.json.Decoder(
        msgspec.defstruct("Page", [*envelope, ("collection", objects, None), ("included", included | None, None)])
    )


def _target(window: Interval, *more: tuple[str, str]) -> str:
    return f"{PATH}?{urlencode([('filter', updated_within(window.start, window.end)), ('sort', 'id'), *more])}"
