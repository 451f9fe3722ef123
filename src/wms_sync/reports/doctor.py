"""``wms-sync doctor``: examine everything that a sync or push needs, and say what to do about what is wrong."""

from __future__ import annotations

import base64
import binascii
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Literal

import httpx

from wms_sync import sql_files
from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.layout import Layout
from wms_sync.master_data.existing import METHODS, MerchantLookup
from wms_sync.master_data.kinds.table import IN_SHIPMENTS, KINDS, files_of, folder_of
from wms_sync.master_data.pushed_files import needs, pusher, unfinished
from wms_sync.reports.attention import tables_gone
from wms_sync.reports.doctor_reading import look_at_status, read_as_a_sync
from wms_sync.reports.findings import Finding
from wms_sync.service.client import GlobalApi
from wms_sync.service.errors import AccessDenied, ApiError, CallFailed, SessionExpired, Unauthorized
from wms_sync.service.headers import Heard
from wms_sync.service.merchant import MerchantApi
from wms_sync.service.retrying import RetryPolicy
from wms_sync.settings import Settings
from wms_sync.shipments.load.damaged_pages import damaged_pages
from wms_sync.shipments.load.retention import dropped_windows
from wms_sync.shipments.read.clocks import apart
from wms_sync.shipments.read.set_aside import folders_set_aside
from wms_sync.state.engine import refuse_newer, try_writing
from wms_sync.state.epochs import newest_epoch
from wms_sync.state.errors import StateOlder
from wms_sync.state.ledger import PushLedger
from wms_sync.state.lock import lock_of
from wms_sync.state.schema import MIGRATIONS
from wms_sync.state.store import StateStore
from wms_sync.storage.durable import kept_from_group, refuse_unwritable
from wms_sync.targets.database import records, row_counts
from wms_sync.targets.errors import DatabaseOpenError, ReadersInTheWay
from wms_sync.targets.foreign_log import log_notice
from wms_sync.targets.target import is_gone, target_of
from wms_sync.upkeep.forgotten_orders import refuse_lost
from wms_sync.upkeep.place import FilesElsewhere, refuse_place_without_files, refuse_places
from wms_sync.upkeep.recovery import is_behind, refuse_another_service

SKEW = timedelta(seconds=30)
LOW_DISK_BYTES = 2 * 1024**3
FEW_FILES = 1000
"""A night makes about thirty for each of its windows."""
SOON_SECONDS = 7 * 86400
SHOWN_PAGES = 5
ONE_TRY = RetryPolicy(attempts=2, total_seconds=20)
CHEAP_CALL = "warehouse.list"
NOBODY = "wms-sync-doctor"
"""A key that nothing has: looking it up shows whether look-ups work."""


def examine(settings: Settings, *, transport: httpx.BaseTransport | None = None) -> Iterator[Finding]:
    """Examine each subject in turn; if one fails, the others are examined all the same.

    Requests go through ``transport``, if there is one, instead of a socket.
    """
    subjects: tuple[tuple[str, Callable[[Settings], Iterator[Finding]]], ...] = (
        ("settings", _settings),
        ("token", _token),
        ("connection", partial(_connection, transport)),
        ("merchant", partial(_merchant, transport)),
        ("disk", _disk),
        ("files", _files),
        ("place", _place),
        ("state", _state),
        ("service", _service),
        ("forgotten orders", _forgotten),
        ("lock", _lock),
        ("published", _published),
        ("time zones", _timezones),
        ("tables", _tables),
        ("ledger", _ledger),
        ("master data", _master_data),
        ("master data", _unfinished),
    )
    for subject, look in subjects:
        try:
            yield from look(settings)
        except StateOlder as error:
            yield Finding(subject, "fail", str(error))
            return
        except (WmsSyncError, OSError) as error:
            yield Finding(subject, "fail", str(error))
        except Exception as error:  # noqa: BLE001 - a defect must not hide the findings of the other subjects
            yield Finding(subject, "fail", f"{type(error).__name__}: {error}")


def _settings(settings: Settings) -> Iterator[Finding]:
    base_url, _ = settings.require_service()
    yield Finding("settings", "ok", f"{base_url}, data in {settings.data_dir}, from {settings.start_date}")


def _token(settings: Settings) -> Iterator[Finding]:
    expires = _expiry(settings.require_service()[1].get_secret_value())
    if expires is None:
        yield Finding("token", "ok", "WMS_API_TOKEN is set; it names no expiry date")
        return
    left = (expires - datetime.now(UTC)).total_seconds()
    if left <= 0:
        yield Finding("token", "fail", f"WMS_API_TOKEN expired on {expires:%Y-%m-%d %H:%M} UTC: create a new one")
    elif left < SOON_SECONDS:
        yield Finding("token", "warn", f"WMS_API_TOKEN expires on {expires:%Y-%m-%d %H:%M} UTC")
    else:
        yield Finding("token", "ok", f"WMS_API_TOKEN is valid until {expires:%Y-%m-%d}")


def _connection(transport: httpx.BaseTransport | None, settings: Settings) -> Iterator[Finding]:
    announced: list[str] = []
    with GlobalApi.from_settings(settings, policy=ONE_TRY, warn=announced.append, transport=transport) as api:
        yield look_at_status(api)
        yield from read_as_a_sync(settings, api)
    yield from (Finding("headers", "warn", text) for text in announced)
    heard = api.clock.heard
    yield _clock(heard, settings.clock_tolerance)


def _clock(heard: Heard, tolerance: timedelta) -> Finding:
    """Report how far the clocks are apart.

    A sync reads up to the earlier of two times: the service's clock, and this machine's plus the tolerance.
    """
    if heard.least is None or heard.most is None:
        return Finding("clock", "warn", "answers have no Date: only this machine's clock decides how far a sync reads")
    furthest = max(heard.least, heard.most, key=abs)
    difference = f"the service's clock is {apart(furthest)} this machine's"
    if furthest > tolerance:
        allowed = f"WMS_CLOCK_TOLERANCE_SECONDS allows {tolerance.total_seconds():.0f} s, and later changes wait"
        return Finding("clock", "warn", f"{difference}; {allowed}. Correct the wrong clock")
    if abs(furthest) > SKEW:
        return Finding("clock", "warn", f"{difference}: correct the wrong clock")
    return Finding("clock", "ok", difference)


def _merchant(transport: httpx.BaseTransport | None, settings: Settings) -> Iterator[Finding]:
    if settings.merchant_username is None and settings.merchant_api_key is None:
        yield Finding(
            "merchant", "ok", "the Merchant API is not set up; with it, a push can look up ids and settle doubts"
        )
        return
    login: Literal["basic", "session"] = "basic" if settings.merchant_login == "session" else "session"
    other = settings.model_copy(update={"merchant_login": login})
    try:
        failures = _ask_merchant(transport, settings)
    except (AccessDenied, Unauthorized) as error:
        with suppress(ApiError):
            _ask_merchant(transport, other)
            yield Finding("merchant", "fail", f"{error} It accepts them with WMS_MERCHANT_LOGIN={login}: set that.")
            return
        raise
    accepted = f"accepts {settings.merchant_username}, WMS_MERCHANT_LOGIN is {settings.merchant_login}"
    yield Finding("merchant", "ok", f"the Merchant API {accepted}")
    for failure in failures:
        yield Finding("merchant", "warn", f"{failure} A push works without it, and rows that need it wait.")


def _ask_merchant(transport: httpx.BaseTransport | None, settings: Settings) -> Iterable[str]:
    """Call what a push calls; return what goes wrong. Raise ``AccessDenied`` or ``Unauthorized`` for wrong keys."""
    with MerchantApi.from_settings(settings, policy=ONE_TRY, transport=transport) as api:
        try:
            api.call(CHEAP_CALL)
        except (AccessDenied, SessionExpired):
            raise
        except CallFailed:  # the credentials are accepted, even if the method is refused
            pass
        lookup = MerchantLookup(api)
        for type_ in METHODS:
            lookup.find(type_, [NOBODY])
    return dict.fromkeys(lookup.failures.values())


def _disk(settings: Settings) -> Iterator[Finding]:
    layout = settings.layout
    for folder in (layout.root, layout.work, layout.raw, layout.parquet):
        refuse_unwritable(folder)
    folder = next(path for path in (layout.root, *layout.root.parents) if path.exists())
    free = shutil.disk_usage(folder).free
    target = target_of(settings)
    copy = target.size if target.is_published else 0
    enough = free >= LOW_DISK_BYTES + 2 * copy
    yield Finding("disk", "ok" if enough else "warn", f"{free / 1024**3:.1f} GB free in {folder}")
    if (left := names_left(os.statvfs(folder))) is not None:
        yield Finding(
            "disk",
            "warn",
            f"no more than {count_of(left, 'further file fits', 'further files fit')} into the file system of "
            f"{folder}, however much room it has (`df -i`): delete files that nobody needs, or move WMS_DATA_DIR",
        )


def names_left(system: os.statvfs_result) -> int | None:
    """Return how many files a file system still takes, if these are few; None for one that does not count them."""
    return system.f_favail if system.f_files and system.f_favail < FEW_FILES else None


def _files(settings: Settings) -> Iterator[Finding]:
    """Try every kind of request on the places of raw pages, Parquet files and tables outside the data folder."""
    found = settings.layout.files.examined()
    if found is not None:
        yield Finding("files", *found)
    tried = target_of(settings).try_files()
    if tried is not None:
        yield Finding("files", "ok", tried)


def _place(settings: Settings) -> Iterator[Finding]:
    with StateStore(settings.database_url) as store:
        refuse_places(settings, store)
    yield Finding("place", "ok", "files and tables are where the last run had them")


def _state(settings: Settings) -> Iterator[Finding]:
    layout = settings.layout
    with StateStore(settings.database_url) as store:
        refuse_newer(settings.database_url)
        try_writing(settings.database_url)
        windows, behind = store.windows(), is_behind(settings, store)
        dropped = dropped_windows(layout, store)
    if behind:
        lost = "the state store was lost or is an old copy: the next run restores it from what is on disk"
        yield Finding("state", "warn", f"{count_of(len(windows), 'window')} recorded, which is too few: {lost}")
    else:
        yield Finding("state", "ok", f"{count_of(len(windows), 'window')} recorded; schema {MIGRATIONS[-1][0]}")
        with StateStore(settings.database_url) as store:
            for one in folders_set_aside(layout, store):
                yield Finding("raw pages", "warn", str(one))
    yield from _raw_pages(layout, settings)
    if dropped:
        gone = f"those of {count_of(len(dropped), 'window')} were dropped; a rebuild uses the Parquet files instead"
        yield Finding("raw pages", "ok", gone)


def _raw_pages(layout: Layout, settings: Settings) -> Iterator[Finding]:
    if lock_of(settings.database_url, layout).holder() is not None:
        return
    with StateStore(settings.database_url) as store:
        try:
            refuse_place_without_files(settings, store)
        except FilesElsewhere:
            return
        found = damaged_pages(layout, store)
    for page, reason in list(found.items())[:SHOWN_PAGES]:
        yield Finding(
            "raw pages",
            "fail",
            f"{page}: {reason}. Run `wms-sync rebuild`, which gives up the page's window, then `wms-sync sync`, which "
            "reads its time again",
        )
    if len(found) > SHOWN_PAGES:
        yield Finding("raw pages", "fail", f"and {len(found) - SHOWN_PAGES:,} more are not as they were received")


def _service(settings: Settings) -> Iterator[Finding]:
    with StateStore(settings.database_url) as store:
        refuse_another_service(settings, store)
        held = store.service()
    yield Finding("service", "ok", f"the data folder holds data of {held}" if held else "nothing was read yet")


def _forgotten(settings: Settings) -> Iterator[Finding]:
    layout = settings.layout
    with StateStore(settings.database_url) as store:
        refuse_lost(layout, behind=is_behind(settings, store))
        known, unfinished = len(store.forgotten()), store.forgotten(unfinished=True)
    readers = target_of(settings).readers_in_the_way() if unfinished else ()
    if readers:
        yield Finding("forgotten orders", "warn", str(ReadersInTheWay(readers)))
    yield Finding("forgotten orders", "ok", f"{known} recorded, in the state store and in forgotten-orders.json")


def _lock(settings: Settings) -> Iterator[Finding]:
    holder = lock_of(settings.database_url, settings.layout).holder()
    yield Finding("lock", "ok", f"held by {holder}" if holder else "nobody writes")
    for kind in KINDS:
        if (holder := pusher(settings, kind.name)) is not None:
            yield Finding("lock", "ok", f"{kind.many} are being pushed: {holder}")
    if (newest := newest_epoch(settings.database_url)) is not None:
        yield Finding("epoch", "ok", f"the newest epoch is {newest.epoch}: {newest}")


def _published(settings: Settings) -> Iterator[Finding]:
    layout, target = settings.layout, target_of(settings)
    if not target.is_published:
        with StateStore(settings.database_url) as store:
            gone = is_gone(store, target)
        yield Finding("published", "fail", tables_gone(target)) if gone else Finding("published", "ok", "nothing yet")
        return
    with target.published() as connection:
        rows = row_counts(connection)
    for kept in layout.logs_set_aside():
        yield Finding("published", "warn", log_notice(kept, layout.published))
    if settings.analytics == "file" and (group := kept_from_group(layout.root, layout.published)) is not None:
        yield Finding(
            "published",
            "warn",
            f"{group}, for which {layout.root} is opened, cannot read {layout.published}. Its owner must be in that "
            "group (`usermod -aG`), and what runs started anew since, because a process keeps the groups that it began "
            "with: then the next load publishes it readable",
        )
    yield Finding("published", "ok", f"{target.title} opens; {count_of(rows['shipments'], 'shipment')} in it")


def _timezones(settings: Settings) -> Iterator[Finding]:
    target = target_of(settings)
    if not target.is_published:
        return
    try:
        with target.published() as connection:
            warehouses = records(connection.execute(sql_files.read("queries/warehouses.sql")))
    except DatabaseOpenError:  # reported already
        return
    zones = settings.timezones
    known = {str(one[column]).lower() for one in warehouses for column in ("name", "abbreviation")}
    for name in sorted(zones.named.keys() - known):
        yield Finding("time zones", "warn", f"WMS_WAREHOUSE_TIMEZONES names {name}, and no warehouse is called so")
    unnamed = [str(one["name"]) for one in warehouses if zones.of(one["name"], one["abbreviation"]) is None]
    if not settings.warehouse_timezones and unnamed:
        days = "days in marts are days in UTC: set WMS_WAREHOUSE_TIMEZONES, such as *=America/New_York"
        yield Finding("time zones", "warn", f"no warehouse has a time zone, so {days} ({', '.join(unnamed)})")
    elif unnamed:
        yield Finding("time zones", "ok", f"{zones.default}, that of every other warehouse: {', '.join(unnamed)}")
    else:
        yield Finding("time zones", "ok", f"{count_of(len(warehouses), 'warehouse')}, each with a time zone")


def _tables(settings: Settings) -> Iterator[Finding]:
    if lock_of(settings.database_url, settings.layout).holder() is not None:
        yield Finding("tables", "ok", "not examined: a run is writing them now")
        return
    yield Finding("tables", "ok", target_of(settings).examined())


def _ledger(settings: Settings) -> Iterator[Finding]:
    with PushLedger(settings.database_url) as ledger:
        sent, doubtful, unseen = sum(ledger.counts().values()), len(ledger.unsure()), ledger.unseen(IN_SHIPMENTS)
    with StateStore(settings.database_url) as store:
        behind = is_behind(settings, store)
    if behind:
        yield Finding("ledger", "warn", f"{count_of(sent, 'create')} recorded, which may be too few: see state")
    elif doubtful:
        doubts = f"{doubtful:,} of {count_of(sent, 'create')} in doubt: `wms-sync status` lists them with what to do"
        yield Finding("ledger", "warn", doubts)
    else:
        yield Finding(
            "ledger", "ok", f"{count_of(sent, 'create')} recorded, none in doubt; {unseen:,} not seen in shipments yet"
        )


def _master_data(settings: Settings) -> Iterator[Finding]:
    if settings.master_data_dir is None:
        yield Finding("master data", "ok", "WMS_MASTER_DATA_DIR is not set: Dagster looks at no files")
        return
    folder = folder_of(settings)
    counted = ", ".join(f"{count_of(len(files_of(folder, kind)), 'file')} of {kind.many}" for kind in KINDS)
    sends = "on: Dagster pushes them" if settings.push_enabled else "off: Dagster plans them and sends nothing"
    yield Finding("master data", "ok", f"{counted} in {folder}; WMS_PUSH_ENABLED is {sends}")


def _unfinished(settings: Settings) -> Iterator[Finding]:
    for file in unfinished(settings):
        yield Finding("master data", "warn", needs(settings, file))


def _expiry(token: str) -> datetime | None:
    """Return the ``exp`` claim of a JWT; None if the token is not a JWT or has no such claim."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return datetime.fromtimestamp(claims["exp"], UTC)
    except (IndexError, KeyError, ValueError, TypeError, OverflowError, binascii.Error):
        return None
