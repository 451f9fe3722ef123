"""What pushes left of files, over SQLite and over a real PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from wms_sync.state.ledger import PushedFile, PushFiles

MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_the_newest_push_of_a_file_counts(url, turn, request):
    service = request.node.name
    first = PushedFile(service, "retailers", "/a.csv", "0" * 64, "run", 2, 1, "The service is down.", MOMENT, None)
    other = replace(first, path="/b.csv", began_at=MOMENT + timedelta(hours=1), unsent=0)
    with PushFiles(url, turn) as files:
        for file in (other, first, replace(first, kind="products", unsent=0, waits=0)):
            files.record(file)
        assert files.of_kind(service, "retailers") == {"/a.csv": first, "/b.csv": other}
        assert [file for file in files.unfinished() if file.service == service] == [first, other]
        files.record(replace(first, unsent=0, waits=0, ended_at=MOMENT))
        assert [file for file in files.unfinished() if file.service == service] == [other]
