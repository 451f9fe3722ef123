"""``wms-sync probe``: observe the habits of a real service, where the specification leaves room or may not hold.

Each habit is one function here and one line in ``HABITS``. A function returns whether the habit is odd, and what it
observed; an answer that a sync would refuse is odd too. The probe only reads, takes no lock, and shows nothing of a
person and no secret.

Belongs here: what requests show. Keep out: settings, files and stored data, which ``doctor`` and ``findings`` judge.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property, partial
from http import HTTPStatus
from itertools import islice
from typing import Any, Literal

import duckdb
import httpx
import msgspec

from wms_sync.grammar import count_of
from wms_sync.service.answers import RetryPolicy
from wms_sync.service.body import ANYTHING, decoded
from wms_sync.service.client import ROOT, STATUS, GlobalApi
from wms_sync.service.envelope import change_time, change_times, read_envelope
from wms_sync.service.errors import ApiError, FilterMisses, PagingBroken, ProtocolError, Rejected
from wms_sync.service.query import Page, ids_among, ids_between
from wms_sync.service.reasons import without_secrets
from wms_sync.service.selection import data_of, object_lists
from wms_sync.service.shipments import PATH
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.page import UNKNOWN_KEY
from wms_sync.shipments.flatten.repair import Repaired, repair
from wms_sync.shipments.flatten.shape import COLLECTION, create_types, shape_of
from wms_sync.shipments.flatten.values import SAYS_DELETED, SAYS_NOTHING
from wms_sync.shipments.read.clocks import apart
from wms_sync.shipments.read.counts import EPOCH
from wms_sync.shipments.read.listing import agree, found_by_filter, listing_of, wanted

Verdict = Literal["stops", "not observed", "warns", "differs", "no data", "as specified"]
"""The verdicts, worst first. ``stops``: a sync ends with an error. ``not observed``: the request failed. ``warns``: a
sync ends with a finding, or takes longer. ``differs``: nothing is lost, and nothing needs a hand. ``no data``: there is
nothing to try it with, or the answer was not foreseen."""
Seen = tuple[bool, str]
TWO_TRIES = RetryPolicy(attempts=2, total_seconds=20)
FEW, MOST = 4, 12
"""The number of shipments with which filters and paging are tried, and the maximum number of names that are shown."""
SECOND = timedelta(seconds=1)
SKEW = timedelta(seconds=30)
NO_TIME = timedelta()
EXACTLY = "its time"
ZONES = {
    f"its time in UTC{hours:+d}" if hours else EXACTLY: (timedelta(hours=hours), SECOND)
    for hours in (0, *range(-12, 0), *range(1, 15))
}
UNITS = {EXACTLY: (NO_TIME, SECOND), "its minute": (NO_TIME, timedelta(minutes=1)), "its date": (NO_TIME, timedelta(1))}
BOUNDS = {"the bound gt": (SECOND, SECOND), "the bound lt": (-SECOND, SECOND)}
"""The ranges in which a filter may find a shipment by its ``updated_at``: how far they are shifted, their length."""
NOTHING, NEITHER = "nothing", "neither bound"
PARTS = {
    "order": "Order",
    "warehouse": "Warehouse",
    "retailer": "Retailer",
    "retailer_ship_to_location": "RetailerShipToLocation",
    "items": "ShipmentItem",
    "packages": "ShipmentPackage",
    "packing_solution": "ShipmentPackingSolution",
    "gallery": "Gallery",
}
"""The fields of a shipment that refer to objects or hold them, with the kinds of these objects."""
STUBS = frozenset({SAYS_DELETED, SAYS_NOTHING})
INDEX = re.compile(r"\[\d+\]")
REFERENCE = {"type", "id", "product"}
"""The keys of an object that is only referred to."""


class Habit(msgspec.Struct, frozen=True):
    """One habit of the service, without personal data and secrets; ``handled`` is what wms-sync does if it is odd."""

    name: str
    verdict: Verdict
    observed: str
    specified: str
    handled: str
    setting: str


class _Service:
    """The service; ``first`` lists the shipments with the lowest ids, and ``pages`` are read as a sync reads them."""

    def __init__(self, settings: Settings, api: GlobalApi, announced: Sequence[str]) -> None:
        self.settings, self.api, self.announced = settings, api, announced
        self.listing = listing_of(settings, api)
        self.first = self.ask(("count", "1"), limit=FEW)
        self.pages: list[Repaired] = []

    def ask(self, *params: tuple[str, str], limit: int = 1) -> Page:
        """Request a list of shipments, by id and without field selection. Raise ``ApiError``."""
        return self.api.get(PATH, (("sort", "id"), ("limit", str(limit)), *params), read=read_envelope)

    @property
    def dated(self) -> tuple[int, datetime]:
        """Return one of the first shipments, and the second of its ``updated_at``."""
        times = [(shipment, change_time(text)) for shipment, text in change_times(self.first.body.content).items()]
        dated = [(shipment, moment.replace(microsecond=0)) for shipment, moment in times if moment is not None]
        return min(dated, key=lambda shipment: shipment[1].second in {0, 59})  # a filter on minutes may find these

    @cached_property
    def highest(self) -> int:
        """Return the highest id that is listed."""
        return self.listing.count(EPOCH, None).highest_id

    @cached_property
    def halves(self) -> list[int]:
        """Return the ids on the first two pages of ``FEW // 2`` shipments."""
        return self.walked(FEW // 2, 2)

    def walked(self, size: int, pages: int, after_id: int | None = None) -> list[int]:
        """Return the ids on the first pages of a list. Raise ``PagingBroken`` where a sync does."""
        listing = listing_of(self.settings, self.api, size)
        query = listing.between(after_id) if after_id else listing.changed_within(EPOCH, self.first.served_at)
        return [shipment for page in islice(query.listed(), pages) for shipment in page.envelope.ids]

    @property
    def contents(self) -> Sequence[Repaired]:
        """Return the content of the pages. Raise ``ProtocolError`` if none was read."""
        if not self.pages:
            raise ProtocolError("no page could be read.")
        return self.pages

    def objects(self, kind: str) -> list[bytes | msgspec.Raw]:
        """Return the objects of a kind under ``included`` of the pages, or their shipments, as JSON."""
        return [found for page in self.contents for found in (page.objects or {}).get(kind, ())]

    @cached_property
    def shipments(self) -> list[dict[str, Any]]:
        """Return the shipments of the pages."""
        return [msgspec.json.decode(found) for found in self.objects(COLLECTION)]

    def parts(self, field: str) -> list[Any]:
        """Return what the shipments have in a field, each element of a list by itself."""
        values = [shipment.get(field) or [] for shipment in self.shipments]
        return [part for value in values for part in (value if isinstance(value, list) else [value])]


def _status_page(service: _Service) -> Seen:
    service.api.get(STATUS, read=bytes)
    return False, "it answers; the token is accepted"


def _exactness(service: _Service) -> Seen:
    found = found_by_filter(service.listing)
    return False, "no shipment has an updated_at" if found is None else "a shipment is found by its second"


def _by_time(ranges: Mapping[str, tuple[timedelta, timedelta]], usual: str, service: _Service) -> Seen:
    shipment, moment = service.dated
    starts = {name: (moment - (moment - EPOCH) % length + shift, length) for name, (shift, length) in ranges.items()}
    asked = service.listing.first_ids
    found = (name for name, (start, length) in starts.items() if shipment in asked(start, start + length))
    by = next(found, NOTHING if usual in ranges else NEITHER)
    return by != usual, f"a shipment is found by {by}"


def _null(service: _Service) -> Seen:
    count = service.listing.count_undated()
    return count is None, "refused or ignored" if count is None else f"finds {count_of(count, 'shipment')}"


def _ids(service: _Service) -> Seen:
    low, middle, high, _ = service.first.envelope.ids
    asked = {ids_between(low, high): (middle, high), ids_among([low, high]): (low, high)}
    missed = [text for text, ids in asked.items() if service.ask(("filter", text), limit=FEW).envelope.ids != ids]
    return bool(missed), f"{' and '.join(missed) or 'neither a range nor a list'} finds other shipments"


def _next(service: _Service) -> Seen:
    page: Any = decoded(service.ask(limit=FEW // 2).body.content, ANYTHING)
    has_more, stated = page.get("has_more"), page.get("next")
    follows = len(service.first.envelope.ids) > FEW // 2
    is_usual = has_more is follows and (not follows or str(stated).startswith((ROOT, service.api.base_url)))
    return not is_usual, f"next is {stated!r:.150}, has_more is {has_more!r:.20}"


def _again(size: int, pages: int, service: _Service) -> Seen:
    again = service.walked(size, pages)
    most = max(len(again), len(service.halves))
    return service.halves != again, f"two pages have {len({*service.halves} & {*again})} of {most} shipments again"


def _depth(service: _Service) -> Seen:
    found = len(service.walked(FEW, 1, service.highest))
    return found > 0, f"{count_of(found, 'shipment follows', 'shipments follow')} the end of a list"


def _end(service: _Service) -> Seen:
    follows = service.ask(("cursor_start", str(service.highest)), limit=FEW).envelope.has_more
    return follows, f"the page at the highest id says that {'more' if follows else 'nothing'} follows"


def _largest(service: _Service) -> Seen:
    size = service.settings.page_size
    page = service.ask(limit=size).envelope
    return page.has_more and page.records < size, f"a page of up to {size:,} has {count_of(page.records, 'shipment')}"


def _counted(service: _Service) -> Seen:
    return service.first.envelope.count is None, f"meta.count is {service.first.envelope.count}"


def _counts_by_filter(service: _Service) -> Seen:
    right = service.listing.counts_by_filter()
    return not right, f"a day without shipments is {'not ' if right else ''}counted"


def _capped(service: _Service) -> Seen:
    middle = (service.first.envelope.ids[0] + service.highest) // 2
    whole, *halves = (service.listing.count_ids(*ids) or 0 for ids in ((0, None), (0, middle), (middle, None)))
    return sum(halves) > whole, f"all are counted as {whole:,}, their halves as {halves[0]:,} and {halves[1]:,}"


def _steady(service: _Service) -> Seen:
    first, again = (service.listing.count(EPOCH, service.first.served_at).count for _ in range(2))
    return first != again, f"the same count is {first}, then {again}"


def _empty_day(service: _Service) -> Seen:
    status = service.listing.status_of_empty_list()
    return status != HTTPStatus.OK, f"a day without shipments is answered with {status:d}"


def _field_selection(service: _Service) -> Seen:
    listing, start, everything = service.listing, service.settings.start, wanted(service.settings)
    listing.learned.selection, _ = agree(lambda asked: listing.count(start, None, selecting=asked), everything)
    refused = [
        f"; {name} is refused ({said}): {data_of(name)}" for name, said in listing.learned.selection.omitted.items()
    ]
    accepted = f"{len(listing.learned.selection.asked)} of {len(everything.asked)} names are accepted"
    return bool(refused), accepted + "".join(refused)


def _pages(service: _Service) -> Seen:
    listing, start = service.listing, service.settings.start
    query = listing.changed_within(start, service.first.served_at)
    first = query.first()
    follows = first.envelope.next if first.envelope.has_more else None
    pages = [first] if follows is None else [first, query.at(follows, counted=True)]
    with duckdb.connect() as connection:
        create_types(connection)
        shape = shape_of(connection)
    service.pages = [repair(page.body.content, shape) for page in pages]
    records = sum(page.envelope.records for page in pages)
    read = f"{records:,} read in {count_of(len(pages), 'page')} of up to {listing.learned.page_size:,}"
    return False, f"{first.envelope.count} changed since {start:%Y-%m-%d}; {read}"


def _kinds(service: _Service) -> Seen:
    sent = {field: parts for field in PARTS if (parts := service.parts(field))}
    inline = {field for field, parts in sent.items() if any(part.keys() - REFERENCE for part in parts)}
    came = {field: len(service.objects(PARTS[field])) for field in sent.keys() - inline}
    lacking = [
        f"no {PARTS[field]}, to which {count_of(len(sent[field]), 'reference was', 'references were')} sent"
        for field, count in came.items()
        if not count
    ]
    forms = [f"{field} {'inline' if field in inline else f'by reference, {came[field]:,} included'}" for field in sent]
    return bool(lacking), "; ".join([*lacking, *forms])


def _lists_absent(service: _Service) -> Seen:
    sent = {name for page in service.contents for name, is_sent in page.sent.items() if is_sent}
    return _named(name for page in service.contents for name in page.sent.keys() - sent if name in object_lists())


def _content(is_meant: Callable[[str], bool], service: _Service) -> Seen:
    found: list[Any] = [one for page in service.contents for one in (*page.drift, *page.misfits)]
    return _named(f"{INDEX.sub('', one.path)} ({one.why})" for one in found if is_meant(one.why))


def _address(kilobytes: int, service: _Service) -> Seen:
    # a recording keeps small ids as they are
    ids = [*service.first.envelope.ids[:1], *range(1000, 1000 + kilobytes * 1024 // 7)]
    service.ask(("filter", ids_among(ids)))
    return False, "answered"


def _headers(words: tuple[str, ...], service: _Service) -> Seen:
    found = [f"{name}: {value}" for name, value in service.first.headers.items() if any(word in name for word in words)]
    return False, ", ".join(found) or "no such header"


def _clock(service: _Service) -> Seen:
    heard = service.api.clock.readings
    if heard.least is None or heard.most is None:
        return True, "answers have no Date header"
    furthest = max(heard.least, heard.most, key=abs)
    return abs(furthest) > SKEW, f"the service's clock is {apart(furthest)} this machine's"


def _refusals(service: _Service) -> Seen:
    try:
        service.ask(("filter", "wms_sync_probe{eq:1}"))
    except Rejected as refusal:
        return not refusal.problems, str(refusal)
    return True, "a filter on an unknown field is ignored"


def _named(names: Iterable[str]) -> Seen:
    """Return the names, if there are any, as something odd."""
    found = sorted({*names})
    return bool(found), f"{len(found)}: {', '.join(found[:MOST])}" if found else "none"


HABITS: tuple[tuple[str, Callable[[_Service], Seen], Verdict, str, str, str], ...] = (
    ("status page", _status_page, "differs", "facts: may be absent", "needs none", ""),
    ("filter: exactness", _exactness, "stops", "4.4: open", "reads nothing by a filter that misses shipments", ""),
    (
        "filter: zone",
        partial(_by_time, ZONES, EXACTLY),
        "stops",
        "2.0: UTC",
        "reads nothing by a filter that misses shipments",
        "",
    ),
    (
        "filter: resolution",
        partial(_by_time, UNITS, EXACTLY),
        "stops",
        "4.4: open",
        "reads nothing by a filter that misses shipments",
        "",
    ),
    (
        "filter: bounds",
        partial(_by_time, BOUNDS, NEITHER),
        "differs",
        "facts: gt and lt exclude them",
        "reads what changed at a bound twice",
        "",
    ),
    (
        "filter: null",
        _null,
        "warns",
        "facts: {null:true} finds shipments without updated_at",
        "compares counts, and lets audits read them",
        "WMS_AUDIT_PAGES",
    ),
    (
        "filter: ids",
        _ids,
        "warns",
        "facts: gt, lt and in",
        "cannot tell whether lists are cut off, and skips audits",
        "",
    ),
    (
        "paging: next",
        _next,
        "differs",
        "2.6, 4.6: has_more, and the URI of the next page",
        "uses only the page cursor, of next or meta, and asks for higher ids after each list",
        "",
    ),
    (
        "paging: cursor",
        partial(_again, FEW, 1),
        "stops",
        "facts: the id at which the page begins",
        "does not cover a window that lacks shipments or has them twice",
        "",
    ),
    (
        "paging: twice",
        partial(_again, FEW // 2, 2),
        "warns",
        "4.6: each shipment once",
        "proves each window by its counts and ids",
        "",
    ),
    ("paging: depth", _depth, "differs", "4.6: every shipment", "asks for higher ids after each list", ""),
    ("paging: end", _end, "differs", "4.6: has_more is false, next is null", "follows up to 1,000 empty pages", ""),
    ("paging: limit", _largest, "warns", "4.4: 1 to 1000", "halves the limit until it is accepted", "WMS_PAGE_SIZE"),
    ("counts", _counted, "warns", "4.6: present with count=1", "proves each window by listing its ids again", ""),
    (
        "counts: filter",
        _counts_by_filter,
        "warns",
        "4.4: of the matching shipments",
        "proves each window by listing its ids again",
        "",
    ),
    (
        "counts: limit",
        _capped,
        "warns",
        "4.4: of all matching shipments",
        "proves each window by listing its ids again",
        "",
    ),
    ("counts: moving", _steady, "differs", "4.4: open", "proves each window by listing its ids again", ""),
    ("empty day", _empty_day, "differs", "4.4: an empty list", "takes it for an empty list", ""),
    (
        "field selection",
        _field_selection,
        "warns",
        "4.5; facts: the names are inferred",
        "leaves refused names out, and tries them again once a day",
        "WMS_INCLUDE_ADDRESSES",
    ),
    ("pages", _pages, "stops", "4.4", "reads nothing", "WMS_START_DATE"),
    (
        "objects: kinds",
        _kinds,
        "warns",
        "2.4: packages inline; 2.5: others under included",
        "keeps what is stored, and reports it",
        "",
    ),
    (
        "objects: absent lists",
        _lists_absent,
        "warns",
        "2.4, 2.5: an empty list",
        "keeps what is stored, and reports it",
        "",
    ),
    (
        "objects: keys",
        partial(_content, UNKNOWN_KEY.__eq__),
        "warns",
        "2.2 to 2.5 name every key",
        "keeps them in raw pages, and lists them in ops.schema_drift",
        "",
    ),
    (
        "objects: forms",
        partial(_content, lambda why: why not in {UNKNOWN_KEY, *STUBS}),
        "warns",
        "2.0: RFC 3339, YYYY-MM-DD, numbers",
        "casts what it can (ops.schema_drift), and quarantines the rest (ops.quarantine)",
        "",
    ),
    (
        "objects: deleted",
        partial(_content, STUBS.__contains__),
        "differs",
        "2.4: open",
        "marks them as missing, or quarantines them",
        "",
    ),
    ("address of 2 KB", partial(_address, 2), "warns", "8: open", "sends up to 7 KB", "WMS_PAGE_SIZE"),
    ("address of 4 KB", partial(_address, 4), "warns", "8: open", "sends up to 7 KB", "WMS_PAGE_SIZE"),
    ("address of 8 KB", partial(_address, 8), "warns", "8: open", "sends up to 7 KB", "WMS_PAGE_SIZE"),
    (
        "rate limit",
        partial(_headers, ("ratelimit", "rate-limit", "retry-after")),
        "differs",
        "8: open; facts: Retry-After",
        "waits as Retry-After and RateLimit-* say",
        "WMS_MAX_PARALLEL_REQUESTS",
    ),
    ("encoding", partial(_headers, ("content-encoding",)), "differs", "4: open", "accepts gzip and zstd", ""),
    (
        "clock",
        _clock,
        "warns",
        "RFC 9110: Date",
        "reads up to the earlier of both clocks: correct the wrong one",
        "WMS_CLOCK_TOLERANCE_SECONDS",
    ),
    (
        "refusals",
        _refusals,
        "differs",
        "7.1: 400 with errors",
        "treats a create that fails without them as in doubt",
        "",
    ),
    (
        "version",
        partial(_headers, ("api-version",)),
        "differs",
        "9: v1",
        "sends the version that is set",
        "WMS_API_VERSION",
    ),
    ("announcements", lambda service: _named(service.announced), "warns", "9: open", "reports them", "WMS_API_VERSION"),
)
"""Name, function, verdict if it is odd, what the specification says, what wms-sync then does, and the setting."""


def probe(settings: Settings, *, transport: httpx.BaseTransport | None = None) -> Iterator[Habit]:
    """Yield the habits of the service, with about thirty requests. Raise ``ApiError`` if it lists no shipments at all.

    A habit whose observation fails is reported so, and the rest goes on. Requests go through ``transport``, if there is
    one, instead of a socket.
    """
    announced: list[str] = []
    secrets = frozenset({settings.require_service()[1].get_secret_value()})
    with GlobalApi.from_settings(
        settings, policy=TWO_TRIES, warn=lambda _, text: announced.append(text), transport=transport
    ) as api:
        service = _Service(settings, api, announced)
        for name, look, if_odd, specified, handled, setting in HABITS:
            verdict: Verdict
            try:
                is_odd, observed = look(service)
                verdict = if_odd if is_odd else "as specified"
            except ApiError as error:
                is_told = if_odd == "stops" or isinstance(error, FilterMisses | PagingBroken | Rejected)
                verdict, observed = (if_odd, str(error)) if is_told else ("not observed", f"not observed: {error}")
            except Exception as error:  # noqa: BLE001 - an answer that nobody foresaw must not hide the other habits
                verdict, observed = (
                    "no data",
                    f"too few shipments, or an answer that was not foreseen ({type(error).__name__})",
                )
            yield Habit(name, verdict, without_secrets(observed, secrets), specified, handled, setting)
