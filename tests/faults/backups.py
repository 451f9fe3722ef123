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
        "a restore takes the ledger of the backup for complete",
        (LOST,),
        "src/wms_sync/upkeep/restore.py",
        "if not _continues_from(present, snapshot):",
        "if False:",
        ("tests/upkeep/test_backup.py::test_what_is_restored_is_what_was_kept",),
    ),
    Fault(
        "a restore forgets the creates that the present state store knows",
        (LOST,),
        "src/wms_sync/upkeep/restore.py",
        "(*snapshot.rows(push_ledger), *(present.rows(push_ledger) if present else ()))",
        "snapshot.rows(push_ledger)",
        ("tests/upkeep/test_backup.py::test_what_was_forgotten_later_is_not_restored",),
    ),
    Fault(
        "a backup shares the files in which people correct rejected rows",
        (LOST,),
        "src/wms_sync/upkeep/backup.py",
        "self._take(path, files, linked=False)",
        "self._take(path, files, linked=True)",
        ("tests/upkeep/test_backup.py::test_what_is_restored_is_what_was_kept",),
    ),
    Fault(
        "a damaged file of a backup is restored as it is",
        (LOST,),
        "src/wms_sync/upkeep/backups.py",
        'return None if sha256_of(path) == kept.sha256 else "its copy is altered: its SHA-256 differs"',
        "return None",
        ("tests/upkeep/test_backup.py::test_damage_in_a_backup_is_named_and_mended",),
    ),
    Fault(
        "a folder of backups may lie inside the data folder",
        (ODD,),
        "src/wms_sync/upkeep/backups.py",
        "if backups.is_relative_to(here) or here.is_relative_to(backups):",
        "if backups == here:",
        ("tests/upkeep/test_backup.py::test_backups_and_data_are_in_separate_folders",),
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
        "a hash in a record is followed as a path",
        (ODD,),
        "src/wms_sync/upkeep/backups.py",
        r'sha256: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}\Z")]',
        "sha256: str",
        ("tests/upkeep/test_backup.py::test_a_wrong_record_is_refused",),
    ),
    Fault(
        "a command writes its file into the data folder",
        (ODD,),
        "src/wms_sync/reports/output.py",
        "if there.is_relative_to(kept):",
        "if False:",
        ("tests/reports/test_output.py",),
    ),
    Fault(
        "a command writes over a file that it did not write",
        (ODD,),
        "src/wms_sync/reports/output.py",
        "if not is_ours(path):",
        "if False:",
        ("tests/reports/test_output.py",),
    ),
    Fault(
        "an export of everything replaces a folder with other files",
        (ODD,),
        "src/wms_sync/reports/export.py",
        "if folder.exists() and not all(map(_is_marked, folder.iterdir())):",
        "if False:",
        ("tests/reports/test_export.py",),
    ),
    Fault(
        "a command reads while a restore is unfinished",
        (KILLED,),
        "src/wms_sync/state/turns.py",
        "if layout.restoring.exists():",
        "if False:",
        ("tests/upkeep/test_backup.py::test_a_folder_with_data_is_replaced_by_name",),
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
    Fault(
        "a restore that fails leaves a folder that is half replaced",
        (KILLED,),
        "src/wms_sync/upkeep/restore.py",
        "    make_private(staged.root)\n    _put_files(",
        "    make_private(staged.root)\n    shutil.rmtree(settings.layout.raw, ignore_errors=True)\n    _put_files(",
        ("tests/upkeep/test_backup.py::test_a_restore_that_fails_leaves_the_folder",),
    ),
    Fault(
        "the published file is away while a restore replaces it",
        (KILLED,),
        "src/wms_sync/upkeep/restore.py",
        "        staged.published.replace(layout.published)\n",
        "        layout.published.unlink(missing_ok=True)\n        staged.published.replace(layout.published)\n",
        ("tests/upkeep/test_backup.py::test_a_folder_with_data_is_replaced_by_name",),
    ),
    Fault(
        "what a killed backup left is never deleted",
        (KILLED,),
        "src/wms_sync/upkeep/backups.py",
        "for path in (*unused, *self.layout.unfinished()):",
        "for path in unused:",
        ("tests/upkeep/test_backup.py::test_old_and_unfinished_backups_go",),
    ),
)
