"""Read shipments as a sync does, for the doctor: up to two pages of the real size, with everything selected.

Try every name of field selection. A name that was refused earlier and is now accepted is requested by the next sync.
"""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct, field

from wms_sync.grammar import count_of
from wms_sync.reports.finding import Finding, examined
from wms_sync.service.answers import NO_SUCH_PATH
from wms_sync.service.body import decoded
from wms_sync.service.client import STATUS, GlobalApi
from wms_sync.service.errors import ApiError, Rejected
from wms_sync.service.query import Page
from wms_sync.service.selection import PREFIX, Selection, data_of
from wms_sync.service.shipments import PageSize, ShipmentListing
from wms_sync.settings import Settings
from wms_sync.shipments.read.field_selection import agree, taken_again, wanted
from wms_sync.shipments.read.listing import found_by_filter, listing_of
from wms_sync.state.store import StateStore

PAGES = 2
FILTER = "filter on updated_at"
LOOKED_FOR = (
    ("Order", "order"),
    ("Warehouse", "warehouse"),
    ("Retailer", "retailer"),
    ("RetailerShipToLocation", "retailer_ship_to_location"),
    ("ShipmentItem", "items"),
    ("ShipmentPackage", "packages"),
    ("ShipmentPackingSolution", "packing_solution"),
    ("Gallery", "gallery"),
)
"""The kinds of objects that a shipment refers to, each with the field that refers to it. Packages are nested in the
shipment."""
_OBJECT = msgspec.json.Decoder(dict[str, Any])


class _Seen(Struct):
    """The content of the pages: the number of records, of references by field, and of included objects by kind."""

    records: int = 0
    referring: dict[str, int] = field(default_factory=dict)
    included: dict[str, int] = field(default_factory=dict)


def check_status(api: GlobalApi) -> Finding:
    """Request the status page. It is not in the specification, so a failure is only a warning."""
    try:
        api.get(STATUS, read=bytes)
    except ApiError as error:
        if isinstance(error, Rejected) and error.status in NO_SUCH_PATH:
            return examined("connection", "note", f"{api.base_url} answers (it has no status page)")
        return examined("connection", "warning", f"the service's status page, which no sync needs, fails: {error}")
    return examined("connection", "note", f"{api.base_url} answers; the token is accepted")


def read_as_a_sync(settings: Settings, api: GlobalApi) -> Iterator[Finding]:
    """Read at most two pages and yield findings about them."""
    size = PageSize(settings.page_size)
    listing = listing_of(settings, api, size)
    selection, answered = agree(lambda asked: listing.count(settings.start, None, selecting=asked), wanted(settings))
    listing.selection = selection
    query = listing.changed_within(settings.start, answered.served_at)
    pages = [query.first()]
    while len(pages) < PAGES and pages[-1].envelope.has_more and pages[-1].envelope.next is not None:
        pages.append(query.at(pages[-1].envelope.next, counted=True))
    seen = _seen(pages)
    counted = "an unknown number" if answered.count is None else f"{answered.count:,}"
    yield examined(
        "shipments",
        "note",
        f"{counted} changed since {settings.start_date}; {seen.records:,} read in {count_of(len(pages), 'page')} of "
        f"up to {size.now:,}" + ("" if len(pages) > 1 else "; there is no second page to try"),
    )
    if size.now < settings.page_size:
        advice = (
            f"the service refuses pages of {settings.page_size} and accepts {size.now}: set WMS_PAGE_SIZE={size.now}"
        )
        yield examined("page size", "warning", advice)
    yield from _names(settings, selection)
    yield from _kinds(seen, selection)
    with StateStore.opened(settings.database_url) as store:
        again = taken_again(settings, store, selection)
    for name in again:
        yield examined(
            "field selection", "note", f"{name} is accepted again: the next sync rereads everything read without it"
        )
    yield from _filters(listing)  # last, because it may raise


def _filters(listing: ShipmentListing) -> Iterator[Finding]:
    """Yield findings on the answer for a day without shipments, and on the ``updated_at`` filter.

    Raise ``FilterMisses`` if the filter is not exact.
    """
    status = listing.status_of_empty_list()
    understood = (
        "" if status == HTTPStatus.OK else ", which counts as an empty list if a list without filters is answered"
    )
    yield examined("empty list", "note", f"a day without shipments is answered with {status:d}{understood}")
    if found_by_filter(listing) is None:
        yield examined(FILTER, "note", "not tried: there is no shipment with an updated_at")
    else:
        yield examined(FILTER, "note", "the filter finds a shipment by the second of its updated_at")


def _names(settings: Settings, selection: Selection) -> Iterator[Finding]:
    """Yield a finding on the names that the service accepts, and a finding for each name that it does not accept."""
    message = f"{len(selection.asked)} of {len(wanted(settings).asked)} names are accepted as requested"
    if selection.omitted:
        message += f": {', '.join(parameter.name.removeprefix(PREFIX) for parameter in selection.asked)}"
    yield examined("field selection", "note", message)
    for name, said in selection.omitted.items():
        yield examined(name, "warning", f"refused ({said}); so it omits {data_of(name)}")


def _kinds(seen: _Seen, selection: Selection) -> Iterator[Finding]:
    """Yield a finding for each kind that the pages refer to but do not include, and a finding on all kinds."""
    unseen = [kind for kind, name in LOOKED_FOR if not seen.referring.get(name)]
    for kind, name in LOOKED_FOR:
        asked = PREFIX + name not in selection.omitted
        if seen.referring.get(name) and asked and kind != "ShipmentPackage" and not seen.included.get(kind):
            absent = count_of(seen.referring[name], "shipment refers", "shipments refer")
            absent += f" to the kind {kind}, but none came, although {PREFIX}{name} was requested"
            yield examined(
                kind, "warning", f"{absent}: the service may ignore field selection, or leave `included` out"
            )
    came = ", ".join(f"{count:,} {kind}" for kind, count in sorted(seen.included.items()))
    untried = f"; not on the pages read, so not tried: {', '.join(unseen)}" if unseen else ""
    yield examined("kinds", "note", f"{came or 'none'} came with the shipments{untried}")


def _seen(pages: list[Page]) -> _Seen:
    seen = _Seen()
    for page in pages:
        try:
            content = decoded(page.body.content, _OBJECT)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue  # a sync lands such a page unchanged, and the flattening step reports it
        seen.records += page.envelope.records
        records = [record for record in content.get("collection") or () if isinstance(record, dict)]
        for _, name in LOOKED_FOR:
            seen.referring[name] = seen.referring.get(name, 0) + sum(bool(record.get(name)) for record in records)
        included = content.get("included")
        for kind, objects in included.items() if isinstance(included, dict) else ():
            if isinstance(objects, list):
                seen.included[kind] = seen.included.get(kind, 0) + len(objects)
    return seen
