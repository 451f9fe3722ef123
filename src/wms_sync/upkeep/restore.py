"""``wms-sync restore``: put a backup back into an empty or lost data folder; a kill leaves nothing that looks whole.

``restoring.json`` is written first and removed last; as long as it is there, no run reads or writes, and a repeated
restore begins anew. The published file comes last, after every remembered ``wms-sync forget`` was applied to what was
put back: those in the backup, in its folder, in the present state store and in the present ``forgotten-orders.json``.

Where raw pages and Parquet files lie in object storage and are no part of the backup, the manifests beside them say
which windows there are. A backup that has them can be restored into object storage, and into a lake, which the next
load makes from them: so an installation moves.

The ledger in a backup is older than the service. Creates that the present state store knows are kept. Where it cannot
be sure to know them all, ``LEDGER_LACKS`` says from when on creates may be unknown: a push then asks before it sends
what the service would take twice.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import asdict
from sqlalchemy.engine import make_url

from wms_sync.analytics.errors import AnotherServiceError
from wms_sync.analytics.publish import publish
from wms_sync.durable import accessing, make_private, sync, write_whole
from wms_sync.errors import SettingsError
from wms_sync.layout import PARQUET, RAW, Layout, flattened_key, name_of, spill
from wms_sync.settings import Settings, is_same_service
from wms_sync.state.errors import StateError, StateUrlError
from wms_sync.state.holders import WRITER
from wms_sync.state.ledger import LEDGER_LACKS, Entry
from wms_sync.state.locks import lock_of
from wms_sync.state.portable import Row, Snapshot, decoded, put_back, read_snapshot
from wms_sync.state.run import Run
from wms_sync.state.schema import forgotten_orders, observations, pages, push_ledger, windows
from wms_sync.state.store import StateStore
from wms_sync.state.turns import Turn
from wms_sync.upkeep.backup import LOCK, holds_data
from wms_sync.upkeep.backups import (
    Backup,
    BackupError,
    Backups,
    Kept,
    put_copy,
    put_link,
    read_backup,
)
from wms_sync.upkeep.forgotten_orders import orders_listed, orders_remembered
from wms_sync.upkeep.recovery import begin, recover

logger = logging.getLogger(__name__)

AT_ONCE = 8
"""Objects that are put side by side."""


class DataFolderInUse(SettingsError):
    """The data folder holds data, and nobody said that it may be replaced."""


class Restored(Struct, frozen=True):
    """What a restore did. ``left_out`` are files that are damaged in the backup, each with what is wrong.

    ``creates_unknown_since`` is None if the ledger is known to be complete.
    """

    path: Path
    backup: Backup
    left_out: dict[str, str]
    forgotten: int
    creates_unknown_since: datetime | None


def restore(
    settings: Settings,
    source: Path,
    *,
    over: Path | None = None,
    creates_are_known: bool = False,
    locks: tuple[str, ...] = (),
) -> Restored:
    """Restore the newest backup of a folder, or the one whose record ``source`` is.

    ``over`` names the data folder whose data may be replaced. ``creates_are_known``: a person has made sure that
    nothing was created since the backup that the ledger lacks. ``locks`` are those of the pushes.
    """
    layout = settings.layout
    kept, path, backup = _named(source)
    if backup.service and settings.base_url and not is_same_service(backup.service, settings.base_url):
        raise AnotherServiceError(backup.service, settings.base_url)
    _refuse_data(settings, backup, over)
    snapshot, left_out = _examined(kept, path, backup)
    with ExitStack() as stack:
        lock = lock_of(settings.database_url, layout)
        held = stack.enter_context(lock.hold("restore"))
        for what in (*locks, LOCK):
            stack.enter_context(lock.hold("restore", what=what))
        _refuse_data(settings, backup, over)
        write_whole(layout.restoring, str(path).encode())
        present = _present(settings)
        forgotten = _forgotten(layout, kept, snapshot, present)
        write_whole(layout.forgotten_orders, _as_json(forgotten))
        merged = _merged(backup, snapshot, present, forgotten, creates_are_known=creates_are_known)
        put_back(settings.database_url, merged if backup.files_in is None else _without_windows(merged))
        _remove_files(layout)
        if settings.analytics == "ducklake" and backup.files_in is None:
            _drop_lake(settings)
        _put_files(settings, kept, backup, left_out)
        turn = Turn.taken(settings.database_url, layout, held, what=WRITER, run_id=str(uuid4()))
        try:
            with layout.files.in_turn(turn), StateStore(settings.database_url, turn) as store:
                _put_objects(turn, layout, kept, backup, left_out)
                run = Run(settings, store, turn.epoch.row.run_id or "")
                recover(run)  # also applies each forget: none of them is recorded as done
                if _lacks(merged) is None:
                    store.delete_observation(LEDGER_LACKS)
                if layout.working_database.exists():
                    publish(turn, layout, layout.working_database)
        finally:
            turn.close()
        layout.restoring.unlink()
        sync(layout.root)
    since = _lacks(merged)
    return Restored(path, backup, left_out, len(forgotten), None if since is None else _moment(since))


def trust_ledger(settings: Settings) -> None:
    """Record that a person has made sure that the ledger lacks no create."""
    with begin(settings, "restore") as run:
        run.store.delete_observation(LEDGER_LACKS)


def _named(source: Path) -> tuple[Backups, Path, Backup]:
    source = source.expanduser().absolute()
    if source.is_file():
        return Backups.at(source.parent), source, read_backup(source)
    kept = Backups.at(source)
    return (kept, *kept.newest())


def _refuse_data(settings: Settings, backup: Backup, over: Path | None) -> None:
    layout = settings.layout
    if layout.restoring.exists():
        return
    where = layout.files.where("")
    if backup.files_in is not None and (layout.elsewhere is None or not layout.windows()):
        raise BackupError(
            f"This backup has no raw pages and Parquet files: they lay in {backup.files_in}, and {where} has none. "
            "Nothing was changed. Set WMS_FILES_URL to where they are now."
        )
    if backup.files_in is None and layout.elsewhere is not None and layout.windows():
        raise DataFolderInUse(
            f"{where} holds raw pages, and a restore puts those of a backup into an empty place only. Nothing was "
            "changed. Set WMS_FILES_URL to another prefix."
        )
    is_known = layout.elsewhere is not None and _knows_windows(settings)
    if not (holds_data(layout) or is_known) or (over is not None and over.expanduser().absolute() == layout.root):
        return
    held = f"{layout.root} holds data" if holds_data(layout) else "The state store is in use"
    raise DataFolderInUse(
        f"{held}, and a restore replaces it. Nothing was changed. Set WMS_DATA_DIR to an empty folder (and, if you set "
        f"that, WMS_STATE_URL to an empty database), or, if this data may go, say so with --over {layout.root}."
    )


def _knows_windows(settings: Settings) -> bool:
    with suppress(StateError), StateStore(settings.database_url) as store:
        return bool(store.windows())
    return False


def _examined(kept: Backups, path: Path, backup: Backup) -> tuple[Snapshot, dict[str, str]]:
    """Return the state store, and what is damaged of the rest. Raise ``BackupError`` if the state store is."""
    if (reason := kept.damage(backup.state)) is not None:
        raise BackupError(
            f"{path} cannot be restored: of the state store, {reason} ({kept.layout.file(backup.state.sha256)}). "
            "Nothing was changed. Name an older backup-*.json of the folder."
        )
    damaged = dict(backup.damaged)
    for place, one in sorted(backup.files.items()):
        if (reason := kept.damage(one)) is not None:
            damaged[place] = f"{reason} ({kept.layout.file(one.sha256)})"
    return decoded(kept.layout.file(backup.state.sha256).read_bytes()), damaged


def _present(settings: Settings) -> Snapshot | None:
    """Return the present state store; None if it cannot be read, and then a damaged SQLite file is deleted."""
    try:
        return read_snapshot(settings.database_url)
    except StateUrlError:
        raise
    except StateError as error:
        url = make_url(settings.database_url)
        if url.get_backend_name() != "sqlite":
            raise
        logger.warning("%(error)s What it knew is lost", {"error": error})
        for end in ("", "-wal", "-shm"):
            Path(f"{url.database}{end}").unlink(missing_ok=True)
        return None


def _forgotten(layout: Layout, kept: Backups, snapshot: Snapshot, present: Snapshot | None) -> frozenset[int]:
    """Return every order that anything remembers as forgotten."""
    known: set[int] = set()
    known |= orders_remembered(layout)
    with suppress(ValueError):
        known |= orders_listed(kept.layout.forgotten_orders)
    for one in (snapshot, present):
        if one is not None:
            known.update(row[forgotten_orders.c.order_id.name] for row in one.rows(forgotten_orders))
    return frozenset(known)


def _merged(
    backup: Backup, snapshot: Snapshot, present: Snapshot | None, forgotten: frozenset[int], *, creates_are_known: bool
) -> Snapshot:
    """Return the state store of the backup, with what must not be lost of the present one."""
    now = datetime.now(UTC)
    asked = {row["order_id"]: row["asked_at"] for row in snapshot.rows(forgotten_orders)}
    again = [{"order_id": one, "asked_at": asked.get(one, now), "done_at": None} for one in sorted(forgotten)]
    ledger = _newest_entries((*snapshot.rows(push_ledger), *(present.rows(push_ledger) if present else ())))
    seen = [row for row in snapshot.rows(observations) if row["name"] != LEDGER_LACKS]
    known_to_lack = [since for one in (snapshot, present) if one is not None and (since := _lacks(one)) is not None]
    if not _goes_on_from(present, snapshot):
        known_to_lack.append(int(backup.began_at.timestamp()))
    if known_to_lack and not creates_are_known:
        seen.append({"name": LEDGER_LACKS, "value": min(known_to_lack), "about": "restored", "observed_at": now})
    merged = snapshot.with_rows(forgotten_orders, again).with_rows(push_ledger, ledger)
    return merged.with_rows(observations, seen)


def _without_windows(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot without the windows of which there are pages: manifests beside these say how they are now."""
    paged = {row["window_id"] for row in snapshot.rows(pages)}
    left = [row for row in snapshot.rows(windows) if row["id"] not in paged]
    return snapshot.with_rows(windows, left).with_rows(pages, ())


def _newest_entries(rows: tuple[Row, ...]) -> list[Row]:
    newest: dict[tuple[str, str, str], Entry] = {}
    for row in rows:
        entry = Entry(**row)
        if entry.name not in newest or entry.version > newest[entry.name].version:
            newest[entry.name] = entry
    return [asdict(entry) for entry in newest.values()]


def _goes_on_from(present: Snapshot | None, snapshot: Snapshot) -> bool:
    """Return whether the present state store is the one of the backup, only later: then its ledger is complete."""
    if present is None:
        return False
    before, now = ({row["id"] for row in one.rows(windows)} for one in (snapshot, present))
    return bool(before) and before <= now


def _lacks(snapshot: Snapshot) -> int | None:
    return next((row["value"] for row in snapshot.rows(observations) if row["name"] == LEDGER_LACKS), None)


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _as_json(orders: frozenset[int]) -> bytes:
    return str(sorted(orders)).encode()


def _remove_files(layout: Layout) -> None:
    """Delete what the backup replaces; the published file first, so that nobody reads what is half gone."""
    for path in (layout.published, layout.published_log, layout.working_database, layout.working_log):
        path.unlink(missing_ok=True)
    for folder in (layout.raw, layout.parquet, layout.turns, spill(layout.work)):
        shutil.rmtree(folder, ignore_errors=True)


def _drop_lake(settings: Settings) -> None:
    from wms_sync.analytics.lake_catalogue import LakeCatalogue  # only a lake has one

    with LakeCatalogue(settings.database_url) as catalogue:
        catalogue.drop()
    shutil.rmtree(settings.layout.lake, ignore_errors=True)


def _put_files(settings: Settings, kept: Backups, backup: Backup, left_out: dict[str, str]) -> None:
    """Put into the data folder what belongs there."""
    layout = settings.layout
    folders: set[Path] = set()
    with accessing(layout.root):
        for place, one in _to_put(layout, backup, left_out):
            source, path = kept.layout.file(one.sha256), layout.root / place
            is_written_once = _is_written_once(place)
            if is_written_once and layout.elsewhere is not None:
                continue
            if path == layout.published:
                if settings.analytics == "ducklake":
                    continue
                path = layout.working_database  # where every forget is applied before it is published
            folders.add(make_private(path.parent))
            path.unlink(missing_ok=True)
            (put_link if is_written_once else put_copy)(source, path)
        for folder in folders:
            sync(folder)


def _put_objects(turn: Turn, layout: Layout, kept: Backups, backup: Backup, left_out: dict[str, str]) -> None:
    """Put raw pages and Parquet files where they lie, if not in the data folder, under the names that they have."""
    if layout.elsewhere is None:
        return

    def put(found: tuple[str, Kept]) -> None:
        place, one = found
        layout.files.replace(turn, place, kept.layout.file(one.sha256).read_bytes())

    named = [found for found in _to_put(layout, backup, left_out) if _is_written_once(found[0])]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(put, named))


def _is_written_once(place: str) -> bool:
    return place.startswith((f"{RAW}/", f"{PARQUET}/"))


def _to_put(layout: Layout, backup: Backup, left_out: dict[str, str]) -> Iterator[tuple[str, Kept]]:
    """Yield what is put back: not the list of forgotten orders, which is newer here, and of damaged windows less.

    Without its record of Parquet files a window is flattened again from its raw pages.
    """
    of_list = layout.forgotten_orders.relative_to(layout.root).as_posix()
    parts = [name_of(place) for place in left_out if place.startswith(f"{PARQUET}/")]
    broken = {flattened_key(part.rsplit("-", 1)[0]) for part in parts}
    for place, one in sorted(backup.files.items()):
        if place not in left_out and place != of_list and place not in broken:
            yield place, one
