"""Faults in reading: what is covered was not read, or what was read is not covered."""

from tests.faults.fault import Fault

FETCHED = "Each page is fetched at least once"
WENT_BACK = "the service's clock goes back, alone or together with this machine's"

FAULTS = (
    Fault(
        "the sync cursor is set to the time of the last page",
        (FETCHED, '`make soak SOAK="-k rests"`'),
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
        "a read is not compared with what the service counted before it",
        (
            "A time is covered only if what the service counted there before the read has landed",
            "a part of the service's index is gone for a while, or a cache ignores the filter",
        ),
        "src/wms_sync/shipments/read/shortfall.py",
        "if lacking > most and",
        "if lacking > most * most and",
        ("tests/shipments/read/test_shortfall.py",),
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
        "windows keep covering the times that a clock passes twice",
        (FETCHED, WENT_BACK),
        "src/wms_sync/state/store.py",
        "windows.c.state.in_(COMPLETE_STATES)).values(to_at=end)",
        "windows.c.state.in_(COMPLETE_STATES)).values(to_at=windows.c.to_at)",
        ("tests/shipments/read/test_clocks.py",),
    ),
    Fault(
        "the clock that is never set is not asked",
        (FETCHED, WENT_BACK),
        "src/wms_sync/shipments/read/clocks.py",
        "at_boot.about == boot",
        "at_boot.about != boot",
        ("tests/shipments/read/test_clocks.py",),
    ),
    Fault(
        "the clocks are not read again at the end of a read",
        (FETCHED, WENT_BACK),
        "src/wms_sync/shipments/read/reader.py",
        "        if clocks.is_stuck:\n",
        "        if False:\n",
        ("tests/shipments/read/test_clocks.py",),
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
            "`kill -9`, anywhere",
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
)
