"""Faults in flattening, merging, history and publishing: rows are lost, doubled, stale or seen half."""

from tests.faults.fault import Fault

ONCE = "It takes effect in the tables exactly once"
NO_LOSS = "No record is lost"
HISTORY = "History holds each version that was read, once, whatever the order of arrival"
TRACED = "Every row can be traced"
READERS = "Analysts are never locked out and never see half a load"
ANY_ORDER = '`make soak SOAK="-k any_order"`'

FAULTS = (
    Fault(
        "the receipt commits apart from the rows",
        (ONCE,),
        "src/wms_sync/shipments/load/merge.py",
        "        with self._session.transaction():\n            for window, flattened in group:  # receipts",
        "        if True:\n            for window, flattened in group:  # receipts",
        ("tests/shipments/load/test_merge.py",),
    ),
    Fault(
        "a window counts as loaded before the file with its rows is published",
        (ONCE, '`make soak SOAK="-k by_name"`'),
        "src/wms_sync/shipments/load/refresh.py",
        '            with self._phase("publish"):\n',
        '            self._store.mark_loaded(pending.landed)\n            with self._phase("publish"):\n',
        ("tests/survival/test_order_of_steps.py",),
    ),
    Fault(
        "an older version takes the place of a newer one",
        (ONCE, ANY_ORDER),
        "sql/merge/contest.sql",
        "when is_new or bool_and(is_newer and not is_late) over of_object then 'follows'",
        "when is_new or bool_and(not is_late) over of_object then 'follows'",
        ("tests/survival/test_random_merges.py::test_any_order_of_arrival_gives_the_same_tables",),
    ),
    Fault(
        "what an audit or a backfill read does not void what was read before",
        (ONCE,),
        "sql/merge/placed.sql",
        "max(_extracted_at) filter (where looked) over (",
        "max(_extracted_at) filter (where false) over (",
        ("tests/test_sync.py::test_after_each_sync_every_table_equals_the_service",),
    ),
    Fault(
        "children that their parent has no longer stay in the tables",
        (ONCE,),
        "src/wms_sync/shipments/load/merge.py",
        "        self._connection.execute(delete)\n",
        "        if table.is_root:\n            self._connection.execute(delete)\n",
        ("tests/test_sync.py::test_after_each_sync_every_table_equals_the_service",),
    ),
    Fault(
        "what a window omits is emptied in the tables",
        (ONCE,),
        "src/wms_sync/shipments/load/merge.py",
        "        filling.keep_stored(group[0][0].id)\n",
        "",
        ("tests/shipments/load/test_omitted.py",),
    ),
    Fault(
        "a record of a page that became no row is not missed",
        (NO_LOSS,),
        "src/wms_sync/shipments/flatten/batch.py",
        "if found + gone != page.records:",
        "if False:",
        ("tests/shipments/flatten/test_batch.py",),
    ),
    Fault(
        "a window merges with fewer shipments than its pages had",
        (NO_LOSS,),
        "src/wms_sync/shipments/load/merge.py",
        "if flattened.records != window.records:",
        "if False:",
        ("tests/shipments/load/test_merge.py",),
    ),
    Fault(
        "the rows of Parquet files are not counted before they are merged",
        (NO_LOSS,),
        "src/wms_sync/shipments/load/merge.py",
        "if held != expected:",
        "if False:",
        ("tests/shipments/load/test_merge.py",),
    ),
    Fault(
        "a row that is in the files twice is merged twice",
        (ONCE,),
        "src/wms_sync/shipments/load/merge.py",
        "if rows[root.slug] != winners:",
        "if False:",
        ("tests/shipments/load/test_merge.py",),
    ),
    Fault(
        "a version that was read again unchanged is a new one in history",
        (HISTORY,),
        "sql/merge/follows.sql",
        "latest.id is null or row({once_columns}) is distinct from row({latest_columns}) as differs",
        "true as differs",
        ("tests/shipments/load/test_history.py",),
    ),
    Fault(
        "history appends what arrives late, out of order",
        (HISTORY, ANY_ORDER),
        "sql/merge/contest.sql",
        "incoming._extracted_at < stored.last_seen_at or (",
        "false or (",
        ("tests/survival/test_random_merges.py::test_any_order_of_arrival_gives_the_same_tables",),
    ),
    Fault(
        "history holds what came last alone",
        (HISTORY,),
        "sql/merge/follows.sql",
        "where differs\n",
        "where differs and known_version is null\n",
        ("tests/shipments/load/test_history.py",),
    ),
    Fault(
        "a row names the next page instead of its own",
        (TRACED,),
        "sql/flatten/page/provenance.sql",
        "    _page,\n",
        "    _page + 1 as _page,\n",
        ("tests/shipments/flatten/test_batch.py",),
    ),
    Fault(
        "a row that several pages repeat names the oldest of them",
        (TRACED,),
        "src/wms_sync/shipments/flatten/batch.py",
        "for page in reversed(pages)",
        "for page in pages",
        ("tests/shipments/flatten/test_golden.py",),
    ),
    Fault(
        "explain shows no version but the one in the table",
        (TRACED,),
        "sql/explain/versions.sql",
        "from judged\n",
        "from judged\nwhere is_stored\n",
        ("tests/reports/test_explain.py",),
    ),
    Fault(
        "the published file is written in place",
        (READERS, "the disk is full", '`make soak SOAK="-k readers"`'),
        "src/wms_sync/targets/file.py",
        "        self._turn.put_in_place(self._private, self._layout.published)\n",
        "        self._turn.check()\n        self._layout.published.touch()\n"
        "        self._layout.published.chmod(0o600)\n"
        "        self._layout.published.write_bytes(self._private.read_bytes())\n",
        ("tests/survival/test_readers.py::test_readers_see_published_states_without_errors",),
    ),
    Fault(
        "the published file is away while it is replaced",
        (READERS,),
        "src/wms_sync/targets/file.py",
        "        self._turn.put_in_place(self._private, self._layout.published)\n",
        "        self._layout.published.unlink(missing_ok=True)\n"
        "        self._turn.put_in_place(self._private, self._layout.published)\n",
        ("tests/survival/test_readers.py::test_readers_see_published_states_without_errors",),
    ),
    Fault(
        "a load that a blocking check refuses is published",
        (READERS,),
        "src/wms_sync/shipments/load/refresh.py",
        "size = loading.publish() if is_accepted else 0",
        "size = loading.publish()",
        ("tests/pipelines/test_shipments.py::test_a_blocking_check_that_fails_publishes_nothing",),
    ),
    Fault(
        "an analyst may write into the published file",
        (READERS,),
        "src/wms_sync/storage/durable.py",
        "    path.chmod(_READ_ONLY)\n    opened",
        "    opened",
        ("tests/test_durable.py",),
    ),
    Fault(
        "a log that an analyst left stays beside the file that is published",
        (READERS,),
        "src/wms_sync/targets/file.py",
        "        report_foreign_log(self._layout)\n        self._turn",
        "        self._turn",
        ("tests/survival/test_readers.py::test_logs_of_analysts_are_reported_and_do_no_harm",),
    ),
    Fault(
        "a sync that could not take a value ends with exit code 0",
        (NO_LOSS, "`.venv/bin/python -m pytest tests/test_content.py tests/test_type_clashes.py`"),
        "src/wms_sync/cli/runs.py",
        "    return exit_code_of_run(outcome.findings)",
        "    return 0",
        ("tests/test_content.py::test_other_shipments_are_there_and_the_sync_warns",),
    ),
)
