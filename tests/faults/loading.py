"""Faults in flattening, merging, history and publishing: rows are lost, doubled, stale or seen half."""

from tests.faults.fault import Fault

ONCE = "It takes effect in the tables exactly once"
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
        '            self._run.store.mark_loaded(pending.landed)\n            with self._phase("publish"):\n',
        ("tests/survival/test_order_of_steps.py",),
    ),
    Fault(
        "an older version takes the place of a newer one",
        (ONCE, ANY_ORDER),
        "sql/merge/contest.sql",
        "when bool_and(is_new or (is_newer and not is_late)) then 'follows'",
        "when bool_and(is_new or not is_late) then 'follows'",
        ("tests/survival/test_random_merges.py::test_any_order_of_arrival_gives_the_same_tables",),
    ),
    Fault(
        "what a window omits is emptied in the tables",
        ("A kind that a window was not sent changes nothing stored",),
        "src/wms_sync/shipments/load/merge.py",
        "        filling.keep_stored(batch)  # before the rows are replaced\n",
        "",
        ("tests/shipments/load/test_omitted.py",),
    ),
    Fault(
        "a night fails for the damaged file of an old window",
        ("a Parquet file is missing or damaged",),
        "src/wms_sync/shipments/load/refresh.py",
        "if is_final or not take_away_damaged(self._run.layout, self._run.store):",
        "if True:",
        ("tests/shipments/flatten/test_damage.py",),
    ),
    Fault(
        "a record of a page that became no row is not missed",
        ("No record is lost",),
        "src/wms_sync/shipments/flatten/batch.py",
        "if accounted[page.number] != page.records:",
        "if False:",
        ("tests/shipments/flatten/test_batch.py",),
    ),
    Fault(
        "history appends what arrives late, out of order",
        ("History holds each version that was read, once, whatever the order of arrival", ANY_ORDER),
        "sql/merge/contest.sql",
        "incoming._extracted_at < stored.last_seen_at\n",
        "false\n",
        ("tests/survival/test_random_merges.py::test_any_order_of_arrival_gives_the_same_tables",),
    ),
    Fault(
        "a row names the next page instead of its own",
        ("Every row can be traced",),
        "sql/flatten/page/provenance.sql",
        "    _page,\n",
        "    _page + 1 as _page,\n",
        ("tests/shipments/flatten/test_batch.py",),
    ),
    Fault(
        "the published file is written in place",
        (READERS, "the disk is full", '`make soak SOAK="-k readers"`'),
        "src/wms_sync/targets/file.py",
        "        self._lease.put_in_place(self._private, self._layout.published)\n",
        "        self._lease.check()\n        self._layout.published.touch()\n"
        "        self._layout.published.chmod(0o600)\n"
        "        self._layout.published.write_bytes(self._private.read_bytes())\n",
        ("tests/survival/test_readers.py::test_readers_see_published_states_without_errors",),
    ),
    Fault(
        "the published file is away while it is replaced",
        (READERS,),
        "src/wms_sync/targets/file.py",
        "        self._lease.put_in_place(self._private, self._layout.published)\n",
        "        self._layout.published.unlink(missing_ok=True)\n"
        "        self._lease.put_in_place(self._private, self._layout.published)\n",
        ("tests/survival/test_readers.py::test_readers_see_published_states_without_errors",),
    ),
    Fault(
        "a monitor sees no warning after a sync that could not take a value",
        ("text where a number is expected",),
        "src/wms_sync/reports/finding.py",
        "ATTENTION if severities and is_strict else WELL",
        "WELL",
        ("tests/test_content.py::test_other_shipments_are_there_and_the_sync_warns",),
    ),
)
