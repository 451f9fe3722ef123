"""``wms-sync doctor``: examine everything that a sync or push needs, and report how to fix each problem.

Belongs here: what only a live test, the settings or the file system can show. Keep out: stored data, which ``findings``
judges and ``status`` shows, and damaged files, which ``verify`` finds.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx

from wms_sync import sql_files
from wms_sync.errors import WmsSyncError
from wms_sync.grammar import count_of, minute
from wms_sync.master_data.existing import METHODS, MerchantLookup
from wms_sync.master_data.kinds import files_of, folder_of
from wms_sync.reports.alerts import NotDelivered, all_channels, body_of
from wms_sync.reports.finding import Finding, Severity, examined, open_findings
from wms_sync.reports.findings import findings_of
from wms_sync.reports.probe import TWO_TRIES, probe
from wms_sync.service.errors import AccessDenied, CallFailed
from wms_sync.service.merchant import MerchantApi
from wms_sync.settings import Settings
from wms_sync.state.engine import refuse_newer, try_writing
from wms_sync.state.errors import StateOlder
from wms_sync.state.schema import MIGRATIONS
from wms_sync.state.store import StateStore
from wms_sync.storage.durable import kept_from_group, refuse_unwritable
from wms_sync.targets.database import records
from wms_sync.targets.errors import DatabaseOpenError
from wms_sync.targets.target import target_of

LOW_DISK_BYTES = 2 * 1024**3
FEW_FILES = 1000
"""The doctor warns if the file system has room for fewer files than this. A sync writes about thirty per window."""
SOON = timedelta(days=7)
SEVERITIES: dict[str, Severity] = {"stops": "error", "not observed": "warning", "warns": "warning"}
"""The severities of habits that need a hand, by verdict."""
CHEAP_CALL = "warehouse.list"
NOBODY = "wms-sync-doctor"
"""A key that no object has. The doctor looks it up to see whether look-ups work."""


def examine(
    settings: Settings, *, alert: bool = False, transport: httpx.BaseTransport | None = None
) -> Iterator[Finding]:
    """Examine each subject in turn, then yield the open findings of the installation.

    If the examination of a subject fails, report that, and continue with the next subject except after ``StateOlder``.
    With ``alert``, send a test alert to each channel. Requests to the service go through ``transport``, if there is
    one, instead of a socket.
    """
    subjects: tuple[tuple[str, Callable[[Settings], Iterable[Finding]]], ...] = (
        ("settings", _settings),
        ("token", _token),
        ("connection", partial(_habits, transport)),
        ("merchant", partial(_merchant, transport)),
        ("disk", _disk),
        ("files", _files),
        ("state", _state),
        ("time zones", _timezones),
        ("alerts", partial(check_alerts, alert=alert)),
        ("findings", lambda settings: open_findings(findings_of(settings))),
    )
    for subject, look in subjects:
        try:
            yield from look(settings)
        except StateOlder as error:
            yield examined(subject, "error", str(error))
            return
        except DatabaseOpenError:  # one of the findings reports this error
            continue
        except (WmsSyncError, OSError) as error:
            yield examined(subject, "error", str(error))
        except Exception as error:  # noqa: BLE001 - a defect must not hide the findings of the other subjects
            yield examined(subject, "error", f"{type(error).__name__}: {error}")


def _settings(settings: Settings) -> Iterator[Finding]:
    base_url, _ = settings.require_service()
    yield examined("settings", "note", f"{base_url}, data in {settings.data_dir}, from {settings.start_date}")
    if settings.master_data_dir is not None:
        files_of(folder_of(settings), None)  # or raise: Dagster could not read the folder either


def _token(settings: Settings) -> Iterator[Finding]:
    expires, now = _expiry(settings.require_service()[1].get_secret_value()), datetime.now(UTC)
    if expires is None:
        yield examined("token", "note", "WMS_API_TOKEN is set; it shows no expiry date")
    elif expires <= now:
        yield examined("token", "error", f"WMS_API_TOKEN expired on {minute(expires)}: create a new one")
    elif expires < now + SOON:
        yield examined("token", "warning", f"WMS_API_TOKEN expires on {minute(expires)}")
    else:
        yield examined("token", "note", f"WMS_API_TOKEN is valid until {expires:%Y-%m-%d}")


def _habits(transport: httpx.BaseTransport | None, settings: Settings) -> Iterator[Finding]:
    """Sum up what the probe observes: a finding for each habit that a sync reports or fails on, and a note."""
    habits = list(probe(settings, transport=transport))
    for habit in habits:
        if habit.verdict in SEVERITIES:
            yield examined(habit.name, SEVERITIES[habit.verdict], f"{habit.observed}; wms-sync {habit.handled}")
    usual = sum(habit.verdict == "as specified" for habit in habits)
    observed = f"{usual} of {len(habits)} habits are as specified (`wms-sync probe`)"
    yield examined("connection", "note", f"{settings.base_url} answers; {observed}")


def _merchant(transport: httpx.BaseTransport | None, settings: Settings) -> Iterator[Finding]:
    """Call the methods that a push calls, if the Merchant API is set up."""
    if settings.merchant_username is None and settings.merchant_api_key is None:
        yield examined(
            "merchant", "note", "the Merchant API is not set up; with it, a push can look up ids and settle doubts"
        )
        return
    with MerchantApi.from_settings(settings, policy=TWO_TRIES, transport=transport) as api:
        try:
            api.call(CHEAP_CALL)
        except AccessDenied:
            raise
        except CallFailed:  # the credentials are accepted, even if the method is refused
            pass
        lookup = MerchantLookup(api)
        for type_ in METHODS:
            lookup.find(type_, [NOBODY])
    yield examined("merchant", "note", f"the Merchant API accepts {settings.merchant_username}")
    for failure in dict.fromkeys(lookup.failures.values()):
        yield examined("merchant", "warning", f"{failure} A push works without it, but rows that need it wait.")


def _disk(settings: Settings) -> Iterator[Finding]:
    layout = settings.layout
    for folder in (layout.root, layout.work, layout.raw, layout.parquet):
        refuse_unwritable(folder)
    folder = next(path for path in (layout.root, *layout.root.parents) if path.exists())
    free = shutil.disk_usage(folder).free
    target = target_of(settings)
    copy = target.size if target.is_published else 0
    enough = free >= LOW_DISK_BYTES + 2 * copy
    yield examined("disk", "note" if enough else "warning", f"{free / 1024**3:.1f} GB free in {folder}")
    if (left := names_left(os.statvfs(folder))) is not None:
        yield examined(
            "disk",
            "warning",
            f"the file system of {folder} has inodes for only {count_of(left, 'more file')} (`df -i`), whatever its "
            "free space: delete files that nobody needs, or move WMS_DATA_DIR",
        )
    if not copy or settings.analytics != "file":
        return
    if (group := kept_from_group(layout.root, layout.published)) is not None:
        yield examined(
            "published",
            "warning",
            f"{group}, which may read {layout.root}, cannot read {layout.published}. Add the owner of the file to that "
            "group (`usermod -aG`), then restart the processes that load, because a process keeps the groups that it "
            "started with. The next load then publishes a readable file",
        )


def names_left(system: os.statvfs_result) -> int | None:
    """Return the number of further files that a file system has room for, if it is low; otherwise None."""
    return system.f_favail if system.f_files and system.f_favail < FEW_FILES else None


def _files(settings: Settings) -> Iterator[Finding]:
    """Try every kind of request on the stores outside the data folder, for raw pages, Parquet files and tables."""
    found = settings.layout.files.examined()
    if found is not None:
        yield examined("files", *found)
    tried = target_of(settings).try_files()
    if tried is not None:
        yield examined("files", "note", tried)


def _state(settings: Settings) -> Iterator[Finding]:
    with StateStore.opened(settings.database_url) as store:
        refuse_newer(store.engine)
        try_writing(store.engine)
    yield examined("state", "note", f"the state store can be written; schema {MIGRATIONS[-1][0]}")


def _timezones(settings: Settings) -> Iterator[Finding]:
    for zone in settings.timezones.fixed:
        yield examined(
            "time zones",
            "warning",
            f"WMS_WAREHOUSE_TIMEZONES names {zone}, a fixed offset: where the clock changes, days are wrong in summer. "
            "Name the zone of the place, such as America/New_York",
        )
    target = target_of(settings)
    if not target.is_published:
        return
    with target.published() as connection:
        warehouses = records(connection.execute(sql_files.read("queries/warehouses.sql")))
    zones = settings.timezones
    known = {str(warehouse[column]).lower() for warehouse in warehouses for column in ("name", "abbreviation")}
    for name in sorted(zones.named.keys() - known):
        yield examined("time zones", "warning", f"WMS_WAREHOUSE_TIMEZONES names {name}, but no warehouse has that name")
    unnamed = [
        str(warehouse["name"])
        for warehouse in warehouses
        if zones.of(warehouse["name"], warehouse["abbreviation"]) is None
    ]
    if not settings.warehouse_timezones and unnamed:
        days = "days in marts are days in UTC: set WMS_WAREHOUSE_TIMEZONES, such as *=America/New_York"
        yield examined("time zones", "warning", f"no warehouse has a time zone, so {days} ({', '.join(unnamed)})")
    elif unnamed:
        yield examined("time zones", "note", f"these warehouses use the default, {zones.default}: {', '.join(unnamed)}")
    else:
        yield examined("time zones", "note", f"{count_of(len(warehouses), 'warehouse')}, each with a time zone")


def check_alerts(settings: Settings, *, alert: bool = False) -> Iterator[Finding]:
    """Name the channels, and count the alerts that a receiver has not accepted yet. With ``alert``, send a test."""
    channels = all_channels(settings)
    if not channels:
        unset = "no alert channel is set, so failures are not reported to anyone: see WMS_ALERT_WEBHOOK_URL"
        yield examined("alerts", "error" if alert else "warning", unset)
        return
    if alert:
        test = Finding(name="test", severity="note", text="This is a test: alerts arrive here.")
        body = body_of(settings, "new", test, datetime.now(UTC), None)
        for channel in channels:
            try:
                said = channel.send(body)
            except NotDelivered as error:
                yield examined("alerts", "error", str(error))
            else:
                says = f", and says: {said}" if said else ""
                yield examined("alerts", "note", f"{channel.setting} accepted the test{says}")
    else:
        named = ", ".join(channel.setting for channel in channels)
        yield examined("alerts", "note", f"{named}; `wms-sync doctor --alert` sends a test")
    with StateStore.opened(settings.database_url) as store:
        refused = [alert for alert in store.outbox.waiting() if alert.refusal is not None]
    if refused:
        since = f"since {minute(refused[0].created_at)}"
        yield examined(
            "alerts",
            "warning",
            f"{count_of(len(refused), 'alert waits', 'alerts wait')} for the receiver {since}. {refused[-1].refusal}",
        )


def _expiry(token: str) -> datetime | None:
    """Return the ``exp`` claim of a JWT; None if the token is not a JWT or has no such claim."""
    try:
        payload = token.split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return datetime.fromtimestamp(claims["exp"], UTC)
    except (IndexError, KeyError, ValueError, TypeError, OverflowError, binascii.Error):
        return None
