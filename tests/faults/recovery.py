"""Faults in going on after loss and damage."""

from __future__ import annotations

from tests.faults.fault import Fault

STATE_LOST = "`state.db` is deleted, or replaced by an old copy"
PAGE = "a raw page is missing, cut short or altered"
MANIFEST = "`manifest.json` of a window is damaged"
FORGOTTEN = "`forgotten-orders.json` is deleted or damaged"
POSTGRESQL = "PostgreSQL, which keeps the state, is down, takes no writes or has no room"
RELEASE = "the data was written by an older release of wms-sync, or by a newer one"
DAMAGE = ("tests/survival/test_damage.py",)
ENGINE = ("tests/state/test_engine.py",)

FAULTS = (
    Fault(
        "a state store of an older release is taken for one of this release",
        (RELEASE,),
        "src/wms_sync/state/schema.py",
        "if applied and migrations[0][0] not in applied:",
        "if False:",
        ("tests/state/test_schema.py::test_a_store_of_an_older_release_is_refused",),
    ),
    Fault(
        "raw pages of an older release are taken in",
        (RELEASE,),
        "src/wms_sync/shipments/read/raw.py",
        "if msgspec.json.decode(content, type=_Format).format is None:",
        "if False:",
        ("tests/test_older_release.py::test_raw_pages_of_an_older_release_are_refused_where_the_state_store_is_lost",),
    ),
    Fault(
        "a run writes into a state store of a newer release",
        (RELEASE,),
        "src/wms_sync/state/turns.py",
        "        refuse_newer(url)\n",
        "",
        ("tests/state/test_engine.py::test_a_state_store_of_a_newer_release_is_read_and_not_written",),
    ),
    Fault(
        "windows do not come back from their manifests",
        (STATE_LOST,),
        "src/wms_sync/upkeep/recovery.py",
        "found = _from_manifests(store, unknown.values()) + take_back(layout, store)",
        "found = take_back(layout, store)",
        ("tests/survival/test_damage.py::test_a_deleted_state_store_is_made_again_without_reading_anything_again",),
    ),
    Fault(
        "windows do not come back from their receipts",
        (STATE_LOST,),
        "src/wms_sync/upkeep/recovery.py",
        "        found += _from_receipts(target, store)\n",
        "        pass\n",
        ("tests/survival/test_damage.py::test_windows_whose_raw_pages_are_gone_come_back_from_their_receipts",),
    ),
    Fault(
        "the ledger does not come back from the published file",
        (STATE_LOST,),
        "src/wms_sync/upkeep/recovery.py",
        "            restored = restore_push_ledger(copies, CreatesJournal(layout.creates), ledger)\n",
        "            restored = 0\n",
        ("tests/survival/test_damage.py::test_what_the_ledger_of_creates_knew_comes_back_too",),
    ),
    Fault(
        "audits and their proofs do not come back from the published file",
        (STATE_LOST,),
        "src/wms_sync/upkeep/recovery.py",
        "            restore_audits(copies, audits)\n",
        "            pass\n",
        ("tests/shipments/audit/test_missing_shipments.py::test_what_is_gone_is_marked_until_it_comes_again",),
    ),
    Fault(
        "what was seen of the service's clock does not come back from clocks.json",
        (STATE_LOST,),
        "src/wms_sync/upkeep/recovery.py",
        "    clocks.reconcile(layout, store)\n",
        "",
        ("tests/shipments/read/test_clocks.py",),
    ),
    Fault(
        "windows of another service count as this one's",
        (STATE_LOST,),
        "src/wms_sync/upkeep/recovery.py",
        "if held and settings.base_url and not is_same_service(held, settings.base_url):",
        "if False:",
        (
            "tests/survival/test_damage.py::test_a_data_folder_belongs_to_one_service_also_after_its_state_store_is_lost",
        ),
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
        (POSTGRESQL,),
        "src/wms_sync/state/engine.py",
        "if code in StateRefused.MENDED_BY:",
        "if False:",
        ENGINE,
    ),
    Fault(
        "a run that cannot be recorded sends no alert",
        (POSTGRESQL,),
        "src/wms_sync/recording.py",
        '        if ended.outcome == "failed" and record is None:\n',
        "        if False:\n",
        ("tests/reports/alerts/test_runs.py::test_a_run_that_cannot_be_recorded_is_told_at_once",),
    ),
    Fault(
        "a read begins though the disk has no room for it",
        ("the disk is full", '`make soak SOAK="-k full_disk"`'),
        "src/wms_sync/shipments/read/raw.py",
        "if needed > free:",
        "if False:",
        ("tests/shipments/read/test_raw.py",),
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
        "a list of forgotten orders that is damaged counts as empty",
        (FORGOTTEN,),
        "src/wms_sync/upkeep/forgotten_orders.py",
        'raise ValueError("is damaged") from None',
        "return frozenset()",
        ("tests/upkeep/test_forgotten_orders.py",),
    ),
    Fault(
        "a list of forgotten orders that was deleted is not written again",
        (FORGOTTEN,),
        "src/wms_sync/upkeep/forgotten_orders.py",
        "if any(copy != everyone for _, copy in copies):",
        "if False:",
        ("tests/upkeep/test_forgotten_orders.py",),
    ),
    Fault(
        "a run goes on though both lists of forgotten orders are lost",
        (FORGOTTEN,),
        "src/wms_sync/upkeep/forgotten_orders.py",
        "if not outdated or any(copy is not None for _, copy in _copies(layout)):",
        "if True:",
        ("tests/upkeep/test_forgotten_orders.py",),
    ),
    Fault(
        "a published file that was deleted is not missed",
        ("`analytics.duckdb` is deleted",),
        "src/wms_sync/targets/target.py",
        "return noted is not None and noted.about == target.name and not target.is_published",
        "return False",
        ("tests/reports/alerts/test_observe.py::test_a_published_file_that_is_gone_is_told_once_and_so_is_its_return",),
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
        " or (not from_scratch and are_older(target, store.forgotten()))",
        "",
        ("tests/upkeep/test_forget.py::test_nothing_of_a_forgotten_order_is_left",),
    ),
    Fault(
        "an altered page is flattened",
        (PAGE,),
        "src/wms_sync/shipments/flatten/window.py",
        "        if (reason := content_differs(Path(path).read_bytes(), page)) is not None:\n",
        "        if (reason := None) is not None:\n",
        (
            "tests/survival/test_damage.py::test_a_damaged_page_of_old_fails_a_rebuild_by_name_and_the_next_sync_reads_it_again",
        ),
    ),
    Fault(
        "a window with a damaged page stays covered",
        (PAGE,),
        "src/wms_sync/shipments/load/damage.py",
        "    store.abandon(window_id)\n",
        "",
        ("tests/survival/test_damage.py::test_a_damaged_page_that_is_not_in_the_tables_yet_is_asked_for_again",),
    ),
    Fault(
        "forget leaves a damaged page, which may be about the order",
        (PAGE,),
        "src/wms_sync/upkeep/forget.py",
        "                layout.files.delete(store.turn, key)\n                logger",
        "                logger",
        (
            "tests/survival/test_damage.py::test_orders_are_forgotten_although_a_page_is_damaged_and_the_page_comes_back_without_them",
        ),
    ),
    Fault(
        "a page that forget rewrote is not recorded before it is written",
        (PAGE, "`kill -9`, anywhere"),
        "src/wms_sync/upkeep/forget.py",
        "    if recorded is not None and harm is None:  # record",
        "    if False:  # record",
        ("tests/upkeep/test_forget.py::test_what_was_interrupted_is_finished_by_running_again",),
    ),
    Fault(
        "a window whose manifest cannot be read counts as covered",
        (MANIFEST,),
        "src/wms_sync/shipments/read/quarantined_windows.py",
        'run.store.adopt(replace(begun, state="abandoned", landed_at=now))',
        'run.store.adopt(replace(begun, state="landed", landed_at=now))',
        (
            "tests/survival/test_damage.py::test_a_window_that_only_a_damaged_manifest_knows_is_set_aside_until_somebody_decides",
        ),
    ),
    Fault(
        "a rebuild leaves damaged manifests as they are",
        (MANIFEST,),
        "src/wms_sync/shipments/load/refresh.py",
        "        mend_manifests(self._layout, self._store)\n",
        "",
        ("tests/survival/test_damage.py::test_a_damaged_manifest_of_a_known_window_is_made_again",),
    ),
    Fault(
        "raw pages are dropped by this machine's clock alone",
        (PAGE,),
        "src/wms_sync/shipments/load/retention.py",
        "latest = store.latest_served() or now",
        "latest = now",
        ("tests/upkeep/test_retention.py::test_what_else_is_dropped_and_when",),
    ),
)
