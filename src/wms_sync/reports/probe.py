"""``wms-sync probe``: observe the habits of a real service, where the specification leaves room or may not hold.

Each habit is one function here and one line in ``HABITS``: what was observed, what the specification says, what
wms-sync does about it, and which setting matters. The probe only reads, takes no lock, and shows no value of a record.

Belongs here: what requests show. Keep out: settings, files and stored data, which ``doctor`` and ``findings`` judge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Literal

import httpx
from msgspec import Struct

from wms_sync.service.answers import NO_SUCH_PATH, RetryPolicy
from wms_sync.service.client import STATUS, Answer, GlobalApi
from wms_sync.service.envelope import Envelope, read_envelope
from wms_sync.service.errors import ApiError, FilterMisses, Rejected
from wms_sync.service.shipments import PATH, PageSize
from wms_sync.settings import Settings
from wms_sync.shipments.read.listing import found_by_filter, listing_of

Verdict = Literal["stops", "differs", "not observed", "as expected"]
"""The verdicts, worst first. ``stops``: a sync ends with an error. ``differs``: it works, and says what it lacks."""
FEW_TRIES = RetryPolicy(attempts=2, total_seconds=20)


class Seen(Struct, frozen=True):
    """What a request showed, and what wms-sync does about it."""

    verdict: Verdict
    observed: str
    handled: str = ""


class Habit(Struct, frozen=True):
    """One habit of the service. No field has values of records or secrets."""

    name: str
    verdict: Verdict
    observed: str
    specified: str
    handled: str
    setting: str


class _Service:
    """The service, and the requests whose answers show several habits."""

    def __init__(self, settings: Settings, api: GlobalApi) -> None:
        self.settings = settings
        self.api = api
        self.size = PageSize(settings.page_size)
        self.listing = listing_of(settings, api, self.size)

    def ask(self, *params: tuple[str, str], limit: int = 1) -> Answer[Envelope]:
        """Request a list of shipments ordered by id, without field selection. Raise ``ApiError``."""
        return self.api.get(PATH, (("sort", "id"), ("limit", str(limit)), *params), read=read_envelope)


def probe(settings: Settings, *, transport: httpx.BaseTransport | None = None) -> Iterator[Habit]:
    """Yield the habits of the service, with about thirty requests. Raise ``ApiError`` if it lists no shipments at all.

    A habit whose observation fails is ``not observed``. Requests go through ``transport``, if there is one, instead of
    a socket.
    """
    with GlobalApi.from_settings(settings, policy=FEW_TRIES, transport=transport) as api:
        service = _Service(settings, api)
        service.ask()  # or raise: nothing can be observed
        for name, look, specified, setting in HABITS:
            try:
                seen = look(service)
            except ApiError as error:
                seen = Seen("not observed", f"not observed: {error}")
            yield Habit(name, seen.verdict, seen.observed, specified, seen.handled, setting)


def _status_page(service: _Service) -> Seen:
    try:
        service.api.get(STATUS, read=bytes)
    except Rejected as refusal:
        if refusal.status not in NO_SUCH_PATH:
            raise
        return Seen("as expected", "there is no status page", "no sync needs it")
    return Seen("as expected", "the status page answers")


def _exactness(service: _Service) -> Seen:
    try:
        found = found_by_filter(service.listing)
    except FilterMisses as error:
        return Seen("stops", str(error), "refuses to read")
    if found is None:
        return Seen("not observed", "not observed: no shipment has an updated_at")
    return Seen("as expected", "a filter on the second of an updated_at finds the shipment")


def _empty_day(service: _Service) -> Seen:
    status = service.listing.status_of_empty_list()
    if status == HTTPStatus.OK:
        return Seen("as expected", "a day without shipments is answered with an empty list")
    return Seen("differs", f"a day without shipments is answered with {status:d}", "takes it for an empty list")


HABITS: tuple[tuple[str, Callable[[_Service], Seen], str, str], ...] = (
    ("status page", _status_page, "not specified", ""),
    ("filter: exactness", _exactness, "4.4 leaves the grammar open; 2.0: times are in UTC", ""),
    ("empty day", _empty_day, "4.4: the collection is empty", ""),
)
"""Name, function, what the specification says, and the setting that matters."""
