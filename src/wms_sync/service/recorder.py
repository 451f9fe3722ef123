"""Record what the service answers: a transport that writes each exchange to a file, with stand-ins.

A file::

    {"request": "GET /api/global/v1/shipping/shipments?sort=id&limit=1", "status": 200,
     "headers": {"date": "Fri, 27 Nov 2026 08:00:00 GMT"}, "body": {"collection": [...], ...}}

A body that is not JSON has its ``length`` instead; a request without an answer has nothing else. No header of a request
is written, and of an answer only those that wms-sync reads. ``privacy.stand_ins`` says what stays of all this.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import httpx

from wms_sync.errors import SettingsError, WmsSyncError
from wms_sync.privacy.stand_ins import HEADERS, StandIns
from wms_sync.service.body import receive
from wms_sync.service.connection import refusing_environment
from wms_sync.service.errors import ApiError
from wms_sync.storage.durable import make_private, write_whole


class EnoughPages(WmsSyncError):
    """As many pages as wanted are recorded."""


class Recorder(httpx.BaseTransport):
    """Passes requests on, to ``transport`` or to the network, and writes each exchange to a file of ``folder``.

    After ``pages`` requests for pages, raise ``EnoughPages`` instead of sending another one.
    ``exchanges`` counts the files. Raise ``SettingsError`` if the folder has files.
    """

    def __init__(
        self, folder: Path, base_url: str, pages: int | None = None, transport: httpx.BaseTransport | None = None
    ) -> None:
        if folder.exists() and any(folder.iterdir()):
            raise SettingsError(f"{folder} is not empty: name a new folder for the recording.")
        self.exchanges = 0
        self._folder = make_private(folder)
        self._pages = pages
        self._stand_ins = StandIns()
        self._lock = threading.Lock()
        with refusing_environment():  # proxies and certificates are those of any other request
            self._client = httpx.Client(transport=transport, trust_env=not base_url.startswith("http:"))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Pass a request on, and record it with its answer."""
        asked = request.url.query
        if self._pages is not None and b"fields" in asked and b"sort=id" in asked:  # other requests are for ids alone
            with self._lock:
                self._pages -= 1
                if self._pages < 0:
                    raise EnoughPages("The sync was ended here, because it has as many pages as --pages allows.")
        try:
            response = self._client.send(request, stream=True)
            raw = b"".join(response.iter_raw())
            response.close()
        except httpx.HTTPError:
            self._record(request)
            raise
        self._record(request, response, raw)
        return _again(response, raw)

    def write(self, name: str, content: object) -> None:
        """Write a file of the recording."""
        write_whole(self._folder / name, json.dumps(content, separators=(",", ":")).encode())

    def _record(self, request: httpx.Request, response: httpx.Response | None = None, raw: bytes = b"") -> None:
        with self._lock:
            self.exchanges += 1
            link = self._stand_ins.of_link(request.url.raw_path.decode())
            answer = {} if response is None else self._said(response, raw)
            self.write(f"{self.exchanges:05d}.json", {"request": f"{request.method} {link}", **answer})

    def _said(self, response: httpx.Response, raw: bytes) -> dict[str, Any]:
        said = {name: self._stand_ins.of(response.headers[name], name) for name in HEADERS if name in response.headers}
        answer: dict[str, Any] = {"status": response.status_code, "headers": said}
        try:
            return {**answer, "body": self._stand_ins.of_json(receive(_again(response, raw)).content)}
        except (ApiError, ValueError):  # damaged, in another encoding, or not JSON
            return {**answer, "length": len(raw)}


def _again(response: httpx.Response, raw: bytes) -> httpx.Response:
    """Return an answer that was read as one that can be read."""
    return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(raw))
