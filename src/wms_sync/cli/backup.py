"""Run ``wms-sync backup``, ``restore`` and ``verify``, and print their results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from wms_sync.cli.printing import say, say_lines
from wms_sync.errors import SettingsError
from wms_sync.grammar import count_of
from wms_sync.master_data.kinds.table import NAMES
from wms_sync.master_data.pushed_files import push_lock
from wms_sync.settings import Settings
from wms_sync.upkeep.backup import BackupReport, backup
from wms_sync.upkeep.restore import Restored, restore, trust_ledger
from wms_sync.upkeep.verify import Verified, verify, verify_backups

NEEDS_A_HAND = 3


def make_backup(settings: Settings, folder: Path, *, keep: int) -> int:
    """Make a backup and print its size. Return 3 if the backup leaves out a damaged file."""
    made = backup(settings, folder, most=keep)
    say_lines(_backup_lines(made))
    return NEEDS_A_HAND if made.backup.damaged else 0


def put_back(settings: Settings, source: Path | None, *, over: Path | None, creates_are_known: bool) -> int:
    """Restore a backup and print what was restored. Without a backup, record that the ledger is complete."""
    if source is None:
        if not creates_are_known:
            raise SettingsError("Name the folder that `wms-sync backup` wrote to, or one backup-*.json in it.")
        trust_ledger(settings)
        say("ledger    is treated as complete from now on")
        return 0
    locks = tuple(push_lock(kind) for kind in NAMES)
    restored = restore(settings, source, over=over, creates_are_known=creates_are_known, locks=locks)
    say_lines(_restored_lines(restored))
    return NEEDS_A_HAND if restored.left_out or restored.creates_unknown_since else 0


def show_verified(settings: Settings, folder: Path | None) -> int:
    """Print every damage found; return 1 if there is any."""
    found = verify(settings) if folder is None else verify_backups(folder, settings.layout)
    say_lines(_verified_lines(found))
    return 1 if found.damaged else 0


def _backup_lines(made: BackupReport) -> Iterator[str]:
    yield f"kept      {count_of(len(made.backup.files), 'file')}, {made.backup.size / 1e6:,.1f} MB, as {made.path}"
    yield f"new       {count_of(made.new_files, 'file')}, {made.new_bytes / 1e6:,.1f} MB"
    if made.deleted:
        yield f"deleted   {count_of(made.deleted, 'older backup')}"
    for place, reason in made.backup.damaged.items():
        yield f"damaged   {place}: {reason}; it is not in the backup"


def _restored_lines(restored: Restored) -> Iterator[str]:
    files = count_of(len(restored.backup.files), "file")
    yield f"restored  {files}, {restored.backup.size / 1e6:,.1f} MB, of {restored.path}"
    yield f"forgot    {count_of(restored.forgotten, 'order')} again, before publishing"
    for place, reason in restored.left_out.items():
        yield f"left out  {place}: {reason}"
    if restored.creates_unknown_since is not None:
        since = f"{restored.creates_unknown_since:%Y-%m-%d %H:%M} UTC"
        yield (
            f"ledger    may lack creates after {since}: a push of products first looks up in the service each product "
            "that is not in the ledger. If you know that none is missing: `wms-sync restore --creates-are-known`"
        )
    yield "next      `wms-sync sync` reads what changed since the backup"


def _verified_lines(found: Verified) -> Iterator[str]:
    yield "verified  " + ", ".join(count_of(count, what) for what, count in found.examined.items())
    for damage in found.damaged:
        yield f"damaged   {damage}"
    if not found.damaged:
        yield "damaged   nothing"
