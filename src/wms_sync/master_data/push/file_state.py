"""The state of one file's push, kept in the state store from its plan to its end."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from msgspec.structs import replace

from wms_sync.errors import WmsSyncError
from wms_sync.master_data.file.csv_file import digest_of
from wms_sync.master_data.plan.steps import Action, Plan
from wms_sync.master_data.push.outcomes import Applied, Outcome, Result
from wms_sync.state.push_files import PushedFile, PushFiles


class FileState:
    """Records one push of one file; opened within its turn."""

    def __init__(self, files: PushFiles, service: str, kind: str, path: Path, run_id: str) -> None:
        self._files = files
        self._path = path
        self._file = PushedFile(service, kind, str(path.absolute()), "", run_id, 0, 0, None, datetime.now(UTC), None)

    def unreadable(self) -> None:
        """Record that the file cannot be read until its content changes."""
        self._record(sha256=digest_of(self._path), ended_at=datetime.now(UTC))

    def planned(self, plan: Plan) -> None:
        """Record the plan, before anything is sent."""
        self._record(
            sha256=plan.checked.file.sha256, unsent=plan.sends, waits=plan.counts.get(Action.WAITS, 0), ended_at=None
        )

    def refused(self, error: WmsSyncError) -> None:
        """Record why the plan is not applied."""
        self._record(reason=str(error), ended_at=datetime.now(UTC))

    def ended(self, applied: Applied, unsettled: Sequence[Result]) -> None:
        """Record that the push is over, and what it left undone."""
        waits = sum(one.outcome is Outcome.WAITS for one in applied.results)
        reason = str(applied.stopped or "") or next((one.message for one in unsettled), None)
        self._record(unsent=len(unsettled), waits=waits, reason=reason, ended_at=datetime.now(UTC))

    def _record(self, **values: object) -> None:
        self._file = replace(self._file, **values)
        self._files.record(self._file)
