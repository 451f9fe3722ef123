"""Faults in backup and restore, and in what commands write where somebody names a file."""

from tests.faults.fault import Fault

LOST = "the data folder is lost"
ODD = "a folder of backups, a record in it or a file or folder that `--to` or `--all` names is not what it should be"
KILLED = "a backup or a restore is killed"

FAULTS = (
    Fault(
        "a restore brings back what was forgotten since the backup",
        (LOST,),
        "src/wms_sync/upkeep/restore.py",
        "    known |= orders_remembered(layout)\n    with suppress(ValueError):\n"
        "        known |= orders_listed(kept.layout.forgotten_orders)\n    for state in (snapshot, present):",
        "    for state in (snapshot,):",
        ("tests/upkeep/test_backup.py::test_what_was_forgotten_later_is_not_restored",),
    ),
    Fault(
        "a name in a record leads out of the data folder",
        (ODD,),
        "src/wms_sync/upkeep/backups.py",
        "[name for name in (*backup.files, *backup.damaged) if not is_restorable(name)]",
        "[name for name in backup.damaged if not is_restorable(name)]",
        ("tests/upkeep/test_backup.py::test_a_wrong_record_is_refused",),
    ),
    Fault(
        "a restore says that it has ended before it renames anything",
        (KILLED,),
        "src/wms_sync/upkeep/restore.py",
        """\
    _replace_files(layout, staged)
    if settings.analytics == "ducklake" and backup.files_in is None:
        _drop_lake(settings)
    layout.restoring.unlink()
""",
        """\
    layout.restoring.unlink()
    _replace_files(layout, staged)
    if settings.analytics == "ducklake" and backup.files_in is None:
        _drop_lake(settings)
""",
        ("tests/survival/test_kills.py::test_killed_at_each_moment_by_name[restore]",),
    ),
)
