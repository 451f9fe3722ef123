"""``wms-sync doctor``: one look at everything a sync needs, each with what to do when it is not so."""

from __future__ import annotations

import base64
import binascii
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from wms_sync.analytics.database import opened
from wms_sync.api.client import STATUS, GlobalApi
from wms_sync.api.errors import Rejected
from wms_sync.api.retrying import RetryPolicy
from wms_sync.api.shipments import ShipmentListing
from wms_sync.errors import WmsSyncError
from wms_sync.layout import Layout
from wms_sync.lock import writer
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore

SKEW_SECONDS = 30
LOW_DISK_BYTES = 2 * 1024**3
SOON_SECONDS = 7 * 86400
ONE_TRY = RetryPolicy(attempts=2, total_seconds=20)

Verdict = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report."""

    subject: str
    verdict: Verdict
    message: str


def examine(settings: Settings) -> Iterator[Finding]:
    """Look at each subject in turn; a failure of one does not keep the others from being looked at."""
    subjects: tuple[tuple[str, Callable[[Settings], Iterator[Finding]]], ...] = (
        ("settings", _settings),
        ("token", _token),
        ("connection", _connection),
        ("disk", _disk),
        ("state", _state),
        ("lock", _lock),
        ("tables", _tables),
    )
    for subject, look in subjects:
        try:
            yield from look(settings)
        except (WmsSyncError, OSError) as error:
            yield Finding(subject, "fail", str(error))


def _settings(settings: Settings) -> Iterator[Finding]:
    base_url, _ = settings.require_service()
    yield Finding("settings", "ok", f"{base_url}, data in {settings.data_dir}, from {settings.start_date}")


def _token(settings: Settings) -> Iterator[Finding]:
    expires = _expiry(settings.require_service()[1].get_secret_value())
    if expires is None:
        yield Finding("token", "ok", "WMS_API_TOKEN is set; it shows no expiry")
        return
    left = (expires - datetime.now(UTC)).total_seconds()
    if left <= 0:
        yield Finding("token", "fail", f"WMS_API_TOKEN expired on {expires:%Y-%m-%d %H:%M} UTC: create a new one")
    elif left < SOON_SECONDS:
        yield Finding("token", "warn", f"WMS_API_TOKEN expires on {expires:%Y-%m-%d %H:%M} UTC")
    else:
        yield Finding("token", "ok", f"WMS_API_TOKEN is valid until {expires:%Y-%m-%d}")


def _connection(settings: Settings) -> Iterator[Finding]:
    with GlobalApi.from_settings(settings, policy=ONE_TRY) as api:
        try:
            answer = api.get(STATUS)
        except Rejected:  # not in the specification: an instance may not have it
            answer = None
        listing = ShipmentListing(api, page_size=1, include_addresses=settings.include_addresses)
        total, served_at = listing.count(settings.start, None)
        page = listing.first(settings.start, served_at)
    how = "answers" if answer is not None else "answers (it has no status page)"
    yield Finding("connection", "ok", f"{settings.base_url} {how}; the token is accepted")
    yield Finding("shipments", "ok", f"{total} changed since {settings.start_date}; one read with everything selected")
    skew = abs((datetime.now(UTC) - page.served_at).total_seconds())
    verdict: Verdict = "ok" if skew <= SKEW_SECONDS else "warn"
    yield Finding("clock", verdict, f"this machine and the service differ by {skew:.0f} s; the service's clock counts")


def _disk(settings: Settings) -> Iterator[Finding]:
    folder = next(path for path in (settings.data_dir, *settings.data_dir.parents) if path.exists())
    free = shutil.disk_usage(folder).free
    layout = Layout(settings.data_dir)
    published = layout.published.stat().st_size if layout.published.exists() else 0
    enough = free >= LOW_DISK_BYTES + 2 * published
    yield Finding("disk", "ok" if enough else "warn", f"{free / 1024**3:.1f} GB free in {folder}")


def _state(settings: Settings) -> Iterator[Finding]:
    store = StateStore(settings.database_url)
    try:
        windows = store.windows()
    finally:
        store.close()
    yield Finding("state", "ok", f"{len(windows)} windows remembered")


def _lock(settings: Settings) -> Iterator[Finding]:
    holder = writer(Layout(settings.data_dir))
    yield Finding("lock", "ok", f"held by {holder}" if holder else "nobody writes")


def _tables(settings: Settings) -> Iterator[Finding]:
    layout = Layout(settings.data_dir)
    if not layout.working_database.exists():
        yield Finding("tables", "ok", "not made yet")
        return
    if writer(layout) is not None:
        yield Finding("tables", "ok", "being written now; not looked at")
        return
    with opened(layout.working_database, memory_limit=settings.memory_limit):
        pass
    yield Finding("tables", "ok", "the working file opens and has the columns that sql/tables defines")


def _expiry(token: str) -> datetime | None:
    """The ``exp`` claim of a JWT; None when the token is none or has none."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return datetime.fromtimestamp(claims["exp"], UTC)
    except (IndexError, KeyError, ValueError, TypeError, binascii.Error):
        return None
