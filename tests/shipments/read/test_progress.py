"""What a read warns of is kept for its report and for the status; a remark is told alone."""

from tests.bench import logged
from wms_sync.shipments.read.progress import Warnings


def test_a_warning_is_told_once_and_kept_and_a_remark_is_told_once():
    warnings = Warnings()
    with logged() as told:
        for _ in range(2):
            warnings.warn("narrow", "It is narrower.")
            warnings.remark("It is odd.")
    assert told == ["It is narrower.", "It is odd."]
    warnings.warn("narrow", "It is narrower by 2.")
    assert warnings.kept == {"narrow": "It is narrower."}


def test_the_status_shows_the_warnings_of_the_last_sync_and_of_reads_after_it(bench):
    bench.store.record_warnings({"healed": "It was.", "still": "It is, at 12:00."}, from_scratch=True)
    bench.store.record_warnings({"still": "It is, at 13:00."}, from_scratch=True)
    bench.store.record_warnings({"still": "It is, at 14:00.", "another": "It came."}, from_scratch=False)
    assert {name: text for name, (text, _) in bench.store.warnings().items()} == {
        "still": "It is, at 14:00.",
        "another": "It came.",
    }
