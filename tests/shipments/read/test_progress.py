"""What a read warns of reaches whoever runs it: at once, in the report, in the exit code and in the status."""

from __future__ import annotations

import re

from pipelines.metadata import of_read
from tests.conftest import logged
from wms_sync.cli.runs import report
from wms_sync.reports.findings import findings_of
from wms_sync.runs import RunReport
from wms_sync.shipments.read.progress import Warnings
from wms_sync.shipments.read.reader import Reading


def read_with(bench, warnings: Warnings):
    with bench.api() as api:
        return Reading(bench.run, api, warnings=warnings).sync()


def test_a_warning_is_told_once_and_ends_the_run_in_exit_3(bench, capsys):
    warnings = Warnings()
    with logged() as told:
        for _ in range(2):
            warnings.warn("It is narrower.")
            warnings.remark("It is odd.")
    read = read_with(bench, warnings)
    assert told == ["It is narrower.", "It is odd."]
    assert report(RunReport("run", read, None, findings=findings_of(bench.settings))) == 3
    assert re.search("^warning   .*It is narrower", capsys.readouterr().out, re.MULTILINE)
    assert "It is narrower." in str(of_read(read)["warnings"])
    assert "It is narrower." in bench.needs


def test_a_remark_changes_no_exit_code(bench):
    warnings = Warnings()
    warnings.remark("It is odd.")
    read = read_with(bench, warnings)
    assert "It is odd." not in bench.needs
    assert report(RunReport("run", read, None, findings=())) == 0


def test_the_status_shows_the_warnings_of_the_last_sync_and_of_reads_after_it(bench):
    bench.store.record_warnings("first", ["healed since", "still so"], from_scratch=True)
    bench.store.record_warnings("second", ["still so"], from_scratch=True)
    bench.store.record_warnings("backfill", ["still so", "another"], from_scratch=False)
    assert set(bench.store.warnings()) == {"still so", "another"}
    read_with(bench, Warnings())
    assert bench.store.warnings() == {}
