"""What a read warns of is kept for its report and for the status; a remark is told alone."""

from __future__ import annotations

from tests.conftest import logged
from wms_sync.shipments.read.progress import Warnings


def test_a_warning_is_told_once_and_kept_and_a_remark_is_told_once():
    warnings = Warnings()
    with logged() as told:
        for _ in range(2):
            warnings.warn("It is narrower.")
            warnings.remark("It is odd.")
    assert told == ["It is narrower.", "It is odd."]
    assert warnings.kept == ("It is narrower.",)


def test_the_status_shows_the_warnings_of_the_last_sync_and_of_reads_after_it(bench):
    bench.store.record_warnings("first", ["healed since", "still so"], from_scratch=True)
    bench.store.record_warnings("second", ["still so"], from_scratch=True)
    bench.store.record_warnings("backfill", ["still so", "another"], from_scratch=False)
    assert set(bench.store.warnings()) == {"still so", "another"}
