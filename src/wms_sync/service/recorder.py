"""Record what the service answers: a transport that writes each exchange to a file, with stand-ins.

A file::

    {"request": "GET /api/global/v1/shipping/shipments?sort=id&limit=1", "status": 200,
     "headers": {"date": "Fri, 27 Nov 2026 08:00:00 GMT"}, "body": {"collection": [...], ...}}

A body that is not JSON has its ``length`` instead; a request without an answer has nothing else. No header of a request
is written, and of an answer only those that wms-sync reads.

A recording has nothing of a person and no secret, because stand-ins take the place of what the service says. What stays
is listed, by key: times, flags, numbers below a million, country and currency codes, and the codes that the
specification or the vendor names. An id moves by a distance, the same in the whole recording: order, ranges and page
cursors keep their meaning. Any other text gets a stand-in of the same length, each letter from the same alphabet: equal
texts get the same one, different texts different ones, so references still match. Stand-ins are random and kept in
memory alone, so nobody can try names. Under an unknown key, and in custom fields, only the JSON types stay.
"""

from __future__ import annotations

import json
import re
import threading
import unicodedata
from functools import cache
from http import HTTPStatus
from pathlib import Path
from random import SystemRandom
from typing import Any
from urllib.parse import unquote_plus

import httpx

from wms_sync import sql_files
from wms_sync.errors import SettingsError, WmsSyncError
from wms_sync.json_values import cut_to_depth, loosely, whole
from wms_sync.service.body import receive
from wms_sync.service.connection import refusing_environment
from wms_sync.service.errors import ApiError
from wms_sync.service.headers import HEADERS
from wms_sync.storage.durable import make_private, write_whole

BLOCK = 128
"""The number of neighbouring characters among which a letter finds those of its class."""
MOVED = range(10_000, 2**62)
"""The ids that move: smaller numbers are also constants of requests."""
DISTANCES = range(10**6, 10**9)
BODY, UNKNOWN = "body", "unknown"
"""What stands in place of a key: of a whole body, and of whatever is under an unknown key."""
_CODES = (
    "new picking picked packing packed shipped canceled voided deleted processing complete holded partial_backorder "
    "backordered delayed_shipment unresolved invalid_address unable_to_process active inactive archived wholesale "
    "drop_ship mixed shipper recipient third_party dc store mark_for other none optimistic realistic pessimistic "
    "NORMAL HAZMAT LIMITED_QUANTITIES_COMMODITIES ORM_D lb oz kg g in ft cm m in^3 ft^3 cm^3 m^3 ok parser parameters "
    "openapi application ShippingAccount Requester Regulation LotType Location"
)
_OF_REQUESTS = (
    "api global v1 shipping shipments system inventory location-tags retailers products jsonrpc http https filter sort "
    "fields limit tracking_number retailer_id merchant_id basic all eq gt in lt from to null start end regex true "
    "false wms_sync_probe"
)
_OF_MESSAGES = (
    "the a an is are was be not no of in to there error errors unknown invalid supplied parameters value key given "
    "expected more than once denied access token expired too many rate limit limits throttled busy concurrent try "
    "again retry later please progress being processed processing locked deadlock overloaded already use exists taken "
    "duplicate maintenance "
)
_TIME = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:Z|UTC|[+-]\d\d(?::?\d\d)?))?)?"
_NUMBER = r"-?\d{1,6}(?:\.\d+)?"
_HEADER = (
    r"\d{1,6}|[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d(?: GMT| [+-]\d{4})?|gzip|zstd|identity"
    r"|(?i:application/json|text/html|text/plain)(?:; ?(?i:charset=utf-8))?"
)
_ALWAYS = "|None|True|False|nan|-?inf"
_HEADS = re.compile(r'--.*|create type "?\w+"? as')
_FIELD = re.compile(r'"?(\w+)"? "?([a-z]+)')
_PART = re.compile(rf'{_TIME}|[^{{}}\[\]:,"/?&=;#]+', re.ASCII)
_IN_TABLES = {
    name: "id" if name == "id" or (type_ == "bigint" and name.endswith("_id")) else type_
    for path in sql_files.listed("types")
    for name, type_ in _FIELD.findall(_HEADS.sub("", sql_files.read(path)))
}
_TYPES = {
    **_IN_TABLES,
    **dict.fromkeys(HEADERS, "header"),
    **dict.fromkeys((BODY, "collection", "included", "meta", "errors", "details"), "struct"),
    **dict.fromkeys(("has_more", "deleted"), "boolean"),
    **dict.fromkeys(("cursor_start", "cursor_end"), "id"),
    **dict.fromkeys(("next", "previous"), "link"),
    **dict.fromkeys(("message", "key"), "words"),
    **dict.fromkeys(("country", "country_id", "country_code", "country_of_manufacture", "currency"), "country"),
    **dict.fromkeys(("type", "status", "state", "unit", "goods_type", "virtual_inventory", "location_type"), "code"),
    **dict.fromkeys(("fulfillment_model", "default_duties_payor", "payor"), "code"),
    "deleted_at": "timestamptz",
    "processing_time": "double",
    "value": "double",
    "count": "count",
}
"""The type of each known key of a body, and of each header."""
_STAYS = {
    "boolean": "0|1|true|false",
    "bigint": _NUMBER,
    "code": "|".join(map(re.escape, (*_CODES.split(), *(name for name in _IN_TABLES if name[0].isupper())))),
    "count": r"\d{1,7}",
    "country": "[A-Z]{2,3}",
    "date": _TIME,
    "decimal": _NUMBER,
    "double": _NUMBER,
    "header": _HEADER,
    "measure": _NUMBER,
    "money": _NUMBER,
    "timestamptz": _TIME,
}
"""The values that stay, by type: a regular expression."""
_NAMES = {*_OF_REQUESTS.split(), *filter(str.islower, _TYPES)}
_WORDS = {*_OF_MESSAGES.split(), *(word.lower() for status in HTTPStatus for word in status.phrase.split())}


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
            self.write(
                f"{self.exchanges:05d}.json",
                {"request": f"{request.method} {link}", **({} if response is None else self._said(response, raw))},
            )

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


class StandIns:
    """The stand-ins of one recording. Not thread-safe."""

    def __init__(self) -> None:
        self._by_text: dict[str, str] = {}
        self._taken: set[str] = set()
        self._random = SystemRandom()
        self._distance = self._random.choice(DISTANCES)

    def of_json(self, content: bytes) -> Any:  # noqa: ANN401 - any JSON
        """Return the value of a JSON body with stand-ins. Raise ``ValueError`` if it is not JSON."""
        return self.of(loosely(cut_to_depth(content).decode("utf-8-sig", errors="surrogateescape")), BODY)

    def of(self, value: Any, key: str) -> Any:  # noqa: ANN401 - any JSON
        """Return the value under a key of a body, or of the header with this name, with stand-ins."""
        if isinstance(value, list):
            return [self.of(element, key) for element in value]
        type_ = _TYPES.get(key, "json")
        if isinstance(value, dict):
            inside = {name: name if whole(name) is None else key for name in value}  # PHP writes some lists as objects
            return {
                self._key(name): self.of(value[name], UNKNOWN if type_ == "json" else inside[name]) for name in value
            }
        if type_ in {"id", "reference"} and whole(value) is not None:
            return self._id(value)
        if re.fullmatch(_STAYS.get(type_, "") + _ALWAYS, str(value), re.ASCII):
            return value
        if type_ == "json":
            return type(value)()
        if not isinstance(value, str):
            return type(value)(self._text(str(int(value))))
        return {"link": self.of_link, "words": self._words, "header": self._words}.get(type_, self._text)(value)

    def of_link(self, link: str) -> str:
        """Return an address, path or query, decoded. Only names of the interface, times and small numbers stay."""
        return _PART.sub(self._part, unquote_plus(link))

    def _part(self, found: re.Match[str]) -> str:
        part = found.group()
        if part == str(whole(part)):  # with a zero in front it may be a part of a telephone number
            return str(self._id(part))
        stays = re.fullmatch(_TIME, part, re.ASCII) or _NAMES.issuperset(part.removeprefix("-").split("."))
        return part if stays else self._text(part)

    def _words(self, text: str) -> str:
        return re.sub(r"\w+", self._word, text)

    def _word(self, found: re.Match[str]) -> str:
        word = found.group()
        return word if word in _NAMES or word.lower() in _WORDS else self._text(word)

    def _key(self, key: str) -> str:
        if whole(key) is not None:
            return str(self._id(key))
        return key if key in _TYPES else f"_{self._text(key)}"  # no known key begins like this

    def _id(self, value: Any) -> Any:  # noqa: ANN401 - an id in any form
        number = whole(value) or 0
        moved = number + (self._distance if number > 0 else -self._distance)
        return type(value)(moved) if abs(number) in MOVED else value

    def _text(self, text: str) -> str:
        while text not in self._by_text:  # there are as many stand-ins as texts of the same form
            drawn = "".join(self._random.choice(_alphabet(letter)) for letter in text)
            if drawn not in self._taken:
                self._taken.add(drawn)
                self._by_text[text] = drawn
        return self._by_text[text]


@cache
def _alphabet(letter: str) -> str:
    """Return the characters of the same class near a letter or digit; any other character of ASCII by itself."""
    if letter.isascii() and not letter.isalnum():
        return letter
    first, category = ord(letter) // BLOCK * BLOCK, unicodedata.category(letter)
    return "".join(other for other in map(chr, range(first, first + BLOCK)) if unicodedata.category(other) == category)
