"""Faults in backup and restore, and in what commands write where somebody names a file."""

from tests.faults.fault import Fault

LOST = "the data folder is lost"
ODD = "a backup, a file in it or a file or folder that `--to` or `--all` names is not what it should be"
KILLED = "a backup or a restore is killed"

FAULTS = (
    Fault(
        "a restore brings back what was forgotten since the backup",
        (LOST,),
        "src/wms_sync/upkeep/restore.py",
        "(source.layout.root, *backups_in(source.layout.root.parent))",
        "(source.layout.root,)",
        ("tests/upkeep/test_backup.py::test_what_was_forgotten_later_is_not_restored",),
    ),
    Fault(
        "a restore brings back what the data folder and its state store have forgotten",
        (LOST,),
        "src/wms_sync/upkeep/restore.py",
        "set(orders_remembered(layout) | present.forgotten())",
        "set[int]()",
        ("tests/upkeep/test_backup.py::test_what_was_forgotten_later_is_not_restored",),
    ),
    Fault(
        "a name in a record of Parquet files leads out of the data folder",
        (ODD,),
        "src/wms_sync/upkeep/verify.py",
        "if not is_of_window(key):",
        "if not key:",
        ("tests/upkeep/test_backup.py::test_a_record_of_parquet_files_leads_nowhere",),
    ),
    Fault(
        "a link in a backup is followed",
        (ODD,),
        "src/wms_sync/storage/files.py",
        "found = os.lstat(path)",
        "found = os.stat(path)",
        ("tests/upkeep/test_backup.py::test_links_lead_nowhere",),
    ),
    Fault(
        "a restore leaves a later snapshot, which the next run takes for the state",
        (LOST,),
        "src/wms_sync/upkeep/restore.py",
        "Identity(source.snapshot.installation.id, number)",
        "Identity(source.snapshot.installation.id, 0)",
        ("tests/upkeep/test_backup.py::test_a_wrong_snapshot_is_refused",),
    ),
    Fault(
        "a backup has a name before it is whole",
        (KILLED,),
        "src/wms_sync/upkeep/backup.py",
        """\
        unfinished = _hidden(path)
""",
        """\
        unfinished = path
""",
        ("tests/survival/test_kills.py::test_killed_at_each_moment_by_name[backup]",),
    ),
    Fault(
        "a restore says that it has ended before it renames anything",
        (KILLED,),
        "src/wms_sync/upkeep/restore.py",
        """\
    _replace_files(layout, staged)
    if settings.analytics == "ducklake" and not source.in_bucket:
        _drop_lake(settings)
    layout.restoring.unlink()
""",
        """\
    layout.restoring.unlink()
    _replace_files(layout, staged)
    if settings.analytics == "ducklake" and not source.in_bucket:
        _drop_lake(settings)
""",
        ("tests/survival/test_kills.py::test_killed_at_each_moment_by_name[restore]",),
    ),
)
