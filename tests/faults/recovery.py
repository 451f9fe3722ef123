"""Faults in going on after loss and damage."""

from tests.faults.fault import Fault

FORGOTTEN = "`forgotten-orders.json` is deleted or damaged"
ENGINE = ("tests/state/test_engine.py",)

FAULTS = (
    Fault(
        "a state store of an older release is taken for one of this release",
        ("the data was written by an older release of wms-sync, or by a newer one",),
        "src/wms_sync/state/schema.py",
        "if applied and migrations[0][0] not in applied:",
        "if False:",
        ("tests/test_older_release.py::test_every_command_refuses_an_older_data_folder",),
    ),
    Fault(
        "a state store that is an old copy is taken for the newest",
        ("`state.db` is deleted, or replaced by an old copy",),
        "src/wms_sync/state/snapshot_files.py",
        "return known is None or known.snapshot < newest.snapshot",
        "return known is None",
        ("tests/survival/test_damage.py::test_a_lost_state_store_is_restored_without_reading",),
    ),
    Fault(
        "the state store of another installation is used",
        ("the state store of another installation is named, or no snapshot says whose a folder of pages is",),
        "src/wms_sync/state/snapshot_files.py",
        "if known is not None and known.id != newest.id:",
        "if False:",
        ("tests/survival/test_damage.py::test_the_state_store_of_another_installation_is_refused",),
    ),
    Fault(
        "a run ends at a damaged snapshot although the one before can be read",
        ("a snapshot is damaged",),
        "src/wms_sync/state/snapshot_files.py",
        "        with suppress(ValueError, FileNotFoundError):\n            return head_of(layout.files.get(key))\n",
        "        return head_of(layout.files.get(key))\n",
        ("tests/state/test_snapshot.py",),
    ),
    Fault(
        "a read-only state store ends in a traceback",
        ("`state.db` is read-only, or the data folder cannot be entered",),
        "src/wms_sync/state/engine.py",
        "if name.startswith((READ_ONLY, *REFUSED)):",
        "if False:",
        ENGINE,
    ),
    Fault(
        "what PostgreSQL refuses ends in a traceback",
        ("PostgreSQL, which keeps the state, is down, takes no writes or has no room",),
        "src/wms_sync/state/engine.py",
        "if code in StateRefused.MENDED_BY:",
        "if False:",
        ENGINE,
    ),
    Fault(
        "a read begins though the disk has no room for it",
        ("the disk is full", '`make soak SOAK="-k full_disk"`'),
        "src/wms_sync/shipments/read/raw.py",
        "if needed > free:",
        "if False:",
        ("tests/shipments/read/test_reader.py::test_more_than_the_disk_holds_is_refused_before_anything_is_read",),
    ),
    Fault(
        "a batch gives up where its pages together need too much memory",
        ("memory is not enough (`WMS_MEMORY_LIMIT`, or a limit on the process)",),
        "src/wms_sync/shipments/flatten/window.py",
        "            if len(batch) == 1:\n                raise\n",
        "            raise\n",
        ("tests/shipments/flatten/test_workers.py::test_a_batch_for_which_the_memory_is_not_enough_is_halved",),
    ),
    Fault(
        "a run goes on though both lists of forgotten orders are lost",
        (FORGOTTEN,),
        "src/wms_sync/upkeep/forgotten_orders.py",
        "if all(isinstance(copy, ValueError) for copy in copies):",
        "if False:",
        ("tests/upkeep/test_forgotten_orders.py",),
    ),
    Fault(
        "a published file that was deleted is not missed",
        ("`analytics.duckdb` is deleted",),
        "src/wms_sync/targets/target.py",
        "return noted is not None and noted.about == target.name and not target.is_published",
        "return False",
        ("tests/reports/alerts/test_observe.py::test_what_is_told_and_when_again",),
    ),
    Fault(
        "a load begins with empty tables although some are published",
        ("`analytics.duckdb` is damaged",),
        "src/wms_sync/targets/file.py",
        "            if self.is_published and not from_scratch:\n",
        "            if False:\n",
        ("tests/test_sync.py::test_after_each_sync_every_table_equals_the_service",),
    ),
    Fault(
        "the published file that was put back is not erased again",
        ("`analytics.duckdb` is put back from an older copy",),
        "src/wms_sync/upkeep/recovery.py",
        " or (not from_scratch and are_older(target_of(settings), store.forgotten()))",
        "",
        ("tests/upkeep/test_forget.py::test_the_next_run_finishes_an_interrupted_forget",),
    ),
    Fault(
        "an altered page is flattened",
        ("a raw page is missing, cut short or altered",),
        "src/wms_sync/shipments/flatten/window.py",
        "        refuse_damaged(layout, landed)\n",
        "",
        ("tests/survival/test_damage.py::test_a_damaged_loaded_page_fails_a_rebuild",),
    ),
)
