"""Faults in reading: what is covered was not read, or what was read is not covered."""

from tests.faults.fault import Fault

FETCHED = "Each page is fetched at least once"
KILLED = "`kill -9`, anywhere"
MOVING = '`make soak SOAK="-k rests"`'

FAULTS = (
    Fault(
        "the sync cursor is set to the time of the last page",
        (FETCHED, MOVING),
        "src/wms_sync/shipments/read/reader.py",
        """\
        if self._landed is not None:
            self._landed(window.id)
        return window.id

    def _source(self, window: Window) -> Source:
        if window.reason == "undated":
            return self._listing.undated()
        return self._listing.changed_within(window.from_at, window.to_at)
""",
        """\
        self._store._update(window.id, to_at=self._store.pages(window.id)[-1].served_at.replace(microsecond=0))
        if self._landed is not None:
            self._landed(window.id)
        return window.id

    def _source(self, window: Window) -> Source:
        if window.reason == "undated":
            return self._listing.undated()
        return self._listing.between(0, since=window.from_at)
""",
        ("tests/shipments/read/test_reader.py::test_what_changes_while_a_read_takes_long_is_read_by_the_next",),
    ),
    Fault(
        "a filter that compares minutes or dates is taken for an exact one",
        (FETCHED,),
        "src/wms_sync/shipments/read/listing.py",
        "changed_at, changed_at + timedelta(seconds=1)",
        "changed_at - timedelta(days=2), changed_at + timedelta(days=2)",
        ("tests/shipments/read/test_listing.py",),
    ),
    Fault(
        "an answer 404 is an empty list also where the service answers with lists",
        (FETCHED,),
        "src/wms_sync/service/shipments.py",
        "            if status is None or status != self.status_of_empty_list():",
        "            if status is None:",
        ("tests/shipments/read/test_listing.py",),
    ),
    Fault(
        "the horizon is the service's clock, without a margin",
        (FETCHED,),
        "src/wms_sync/shipments/read/plan.py",
        "(trusted - MARGIN)",
        "trusted",
        ("tests/shipments/read/test_plan.py",),
    ),
    Fault(
        "the overlap before a gap is not read",
        (FETCHED,),
        "src/wms_sync/shipments/read/plan.py",
        "below = [again for gap in unread for again in _before(gap, start, overlap)]",
        "below = []",
        ("tests/shipments/read/test_plan.py",),
    ),
    Fault(
        "a sync reads what is newer than all coverage, and leaves the gaps",
        (FETCHED,),
        "src/wms_sync/shipments/read/plan.py",
        "unread = find_gaps(start, end, known)",
        "unread = find_gaps(max((one.end for one in known), default=start), end, known)",
        ("tests/shipments/read/test_plan.py",),
    ),
    Fault(
        "a window that is still being read counts as covered",
        (FETCHED, KILLED),
        "src/wms_sync/state/store.py",
        "states: Sequence[str] = COMPLETE_STATES,",
        'states: Sequence[str] = (*COMPLETE_STATES, "reading"),',
        ("tests/state/test_store.py",),
    ),
    Fault(
        "the horizon follows the service's clock, however far ahead that is",
        (FETCHED,),
        "src/wms_sync/service/headers.py",
        "trusted=min(readings.trusted, date, mine + tolerance)",
        "trusted=min(readings.trusted, date)",
        (
            "tests/shipments/read/test_clocks.py::test_a_service_that_is_ahead_is_read_as_far_as_this_machine_vouches_for",
        ),
    ),
    Fault(
        "a service's clock that went back is not noticed",
        (FETCHED,),
        "src/wms_sync/shipments/read/clocks.py",
        "return back if back > self.tolerance else NO_TIME",
        "return NO_TIME",
        ("tests/shipments/read/test_clocks.py::test_what_changes_after_the_clock_went_back_is_read",),
    ),
    Fault(
        "a window is complete whatever the service counts",
        (FETCHED, '`make soak SOAK="-k test_model"`'),
        "src/wms_sync/shipments/read/proof.py",
        "return window.records == window.count_reported and counted_last in {None, window.records}",
        "return True",
        ("tests/shipments/read/test_complete.py",),
    ),
    Fault(
        "what the service counts with the last page is not compared",
        (FETCHED,),
        "src/wms_sync/shipments/read/proof.py",
        "return window.records == window.count_reported and counted_last in {None, window.records}",
        "return window.records == window.count_reported",
        (
            "tests/shipments/read/test_complete.py::test_a_record_that_is_committed_after_its_page_was_read_is_found_by_the_last_count",
        ),
    ),
    Fault(
        "nothing is requested after the end of a list",
        (FETCHED,),
        "src/wms_sync/shipments/read/window.py",
        "            self._read_rest(window, source)\n",
        "",
        ("tests/shipments/read/test_rest.py",),
    ),
    Fault(
        "shipments without updated_at are not read",
        (FETCHED, "no `updated_at`"),
        "src/wms_sync/shipments/read/reader.py",
        "if not count or horizon <= self._settings.start:",
        "if True:",
        ("tests/shipments/read/test_undated.py",),
    ),
    Fault(
        "a half-read window is never resumed",
        (
            KILLED,
            "429 for ever",
            "503 for ever",
            "403 of a firewall for ever",
            "200 with HTML for ever",
            "200 with `errors` for ever",
        ),
        "src/wms_sync/shipments/read/reader.py",
        "if not self._is_fresh(window) or (inside and not usable):",
        "if True:",
        ("tests/shipments/read/test_reader.py::test_after_a_failure_the_read_goes_on_at_the_next_page",),
    ),
    Fault(
        "a half-read window is resumed however old it is",
        (FETCHED,),
        "src/wms_sync/shipments/read/reader.py",
        "return datetime.now(UTC) - window.started_at <= RESUME_WITHIN",
        "return True",
        ("tests/shipments/read/test_reader.py::test_a_half_read_window_resumes_or_is_read_anew",),
    ),
    Fault(
        "a half-read window is resumed though other fields are requested now",
        (FETCHED,),
        "src/wms_sync/shipments/read/reader.py",
        "window.started_at >= since\n                and self._listing.requests_the_same(window.signature)"
        "\n            )",
        "window.started_at >= since\n            )",
        ("tests/shipments/read/test_reader.py::test_a_half_read_window_resumes_or_is_read_anew",),
    ),
    Fault(
        "what was committed late behind landed pages is not read",
        (KILLED,),
        "src/wms_sync/shipments/read/reader.py",
        "rest = union((*unread, *(late for window in resumed for late in self._late(window))))",
        "rest = union(unread)",
        (
            "tests/shipments/read/test_reader.py::test_what_is_committed_late_behind_the_pages_of_a_half_read_window_is_read",
        ),
    ),
    Fault(
        "a backfill that had read everything is resumed, and reads nothing",
        (KILLED,),
        "src/wms_sync/shipments/read/reader.py",
        "if before is not None and not before.has_all_landed(landed):",
        "if before is not None:",
        ("tests/shipments/read/test_reader.py::test_a_backfill_that_was_killed_after_its_last_window_is_read_again",),
    ),
)
