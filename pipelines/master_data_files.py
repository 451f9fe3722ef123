"""The sensor of master data: request a run for each new or changed file, to plan it, and to push it if that is enabled.

The sensor's cursor stores, by file name, the content for which a run was last requested, so that a file is planned only
once. A push is requested again until none of its rows is unsent or waiting. While rows are
unsent because the service was down or the run was killed, it is requested after growing pauses; while rows only wait
for the ids of other objects, after each sync. The state store records when each push ended and how many rows it left
unsent or waiting, wherever the push was started.
If pushing is enabled after a file was only planned, a push of the file is requested.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

import dagster as dg
from msgspec import Struct
from msgspec.structs import asdict

from wms_sync.master_data.csv_file import digest_of
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import KINDS, files_of, folder_of, is_arriving
from wms_sync.master_data.push import pusher
from wms_sync.settings import Settings
from wms_sync.state.ledger import PushedFile, PushFiles
from wms_sync.state.store import StateStore

from .asset_keys import location_tags
from .dead_runs import UNFINISHED
from .jobs import AssetJob, plan_name, push_name
from .master_data import GivenFile, run_config

LOOK_SECONDS = 30
PAUSES = tuple(60 * minutes for minutes in (1, 2, 5, 15, 60))
"""The pauses, in seconds, before a push that left rows unsent is requested again. The last pause repeats."""
STARTS_WITHIN = timedelta(hours=1)
"""A run that has been unfinished for longer, while no process pushes its kind, was killed."""


class Mark(Struct, frozen=True):
    """The cursor's entry for a file.

    `held` is the hash of the file's content, with a suffix if the requested run may send rows; `asked_at` is the time
    of the request (seconds since 1970); `again` is the number of repeated requests.
    """

    held: str
    asked_at: float = 0.0
    again: int = 0


Marks = dict[str, Mark]
"""The cursor's entries by file name."""


class Noticed(Struct, frozen=True):
    """A file to handle. `identity` does not change if the same tick is evaluated again."""

    given: GivenFile
    identity: tuple[object, ...]


def master_data_files(settings: Settings, jobs: Sequence[AssetJob]) -> dg.SensorDefinition:
    """Return a sensor that requests one run per kind, with all files of the kind to handle, in order of their names."""

    @dg.sensor(
        name="master_data_files",
        jobs=jobs,
        minimum_interval_seconds=LOOK_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Starts a run for new and changed files in WMS_MASTER_DATA_DIR, and for unsent or waiting rows.",
    )
    def master_data_files(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        if settings.master_data_dir is None:
            return dg.SensorResult(skip_reason="WMS_MASTER_DATA_DIR is not set")
        with StateStore.opened(settings.database_url) as store:
            has_synced = bool(store.windows("loaded"))
        if not has_synced:
            return dg.SensorResult(skip_reason="waits for the first sync: files refer to objects in its tables")
        before: Marks = {name: Mark(**kept) for name, kept in json.loads(context.cursor or "{}").items()}
        looks = [_Look(settings, kind, before, context.instance) for kind in KINDS]
        requests = [request for look in looks if (request := look.request()) is not None]
        after = {name: asdict(mark) for look in looks for name, mark in look.after.items()}
        reason = None if requests else "no file is new or has changed, and no push is due again"
        return dg.SensorResult(run_requests=requests, skip_reason=reason, cursor=json.dumps(after))

    return master_data_files


class _Look:
    """The files of a kind as one tick finds them. `after` has the marks to store in the cursor."""

    def __init__(self, settings: Settings, kind: Kind, before: Marks, instance: dg.DagsterInstance) -> None:
        self.after: Marks = {}
        self._settings = settings
        self._kind = kind
        self._before = before
        self._instance = instance
        self._now = time.time()

    def request(self) -> dg.RunRequest | None:
        """Return a run for new and changed files, and for files whose push is due again; None without such files."""
        noticed: list[Noticed] = []
        due: list[tuple[str, Noticed]] = []
        for path in files_of(folder_of(self._settings), self._kind):
            mark = self._before.get(path.name)
            if is_arriving(path):
                self.after |= {path.name: mark} if mark is not None else {}
                continue
            sha256 = digest_of(path)
            if mark is None or self._is_another(mark, sha256):
                self.after[path.name] = Mark(_sent(sha256) if self._settings.push_enabled else sha256, self._now)
                given = GivenFile(path=str(path), sha256=sha256)
                noticed.append(Noticed(given, (path.name, sha256, path.stat().st_mtime_ns)))
            else:
                self.after[path.name] = mark
                if self._settings.push_enabled and (again := self._again(path, sha256, mark)) is not None:
                    due.append((path.name, again))
        if due and not self._is_under_way():
            for name, again in due:
                mark = self.after[name]
                self.after[name] = Mark(mark.held, self._now, mark.again + 1)
                noticed.append(again)
        return self._run(noticed) if noticed else None

    def _is_another(self, mark: Mark, sha256: str) -> bool:
        """Return whether the file has changed since its mark, or was only planned and can now be pushed."""
        if mark.held not in {sha256, _sent(sha256)}:
            return True
        return self._settings.push_enabled and mark.held == sha256

    def _again(self, path: Path, sha256: str, mark: Mark) -> Noticed | None:
        """Return the file if its push left open rows and is due again; otherwise None."""
        pushed = self._pushed.get(str(path))
        if pushed is not None and pushed.sha256 != sha256:
            pushed = None
        due_at = self._due_at(pushed, mark)
        if due_at is None or due_at > self._now:
            return None
        has_ended = pushed is not None and pushed.ended_at is not None
        given = GivenFile(path=str(path), sha256=sha256, again=has_ended)
        return Noticed(given, (path.name, sha256, mark.asked_at, mark.again))

    def _due_at(self, pushed: PushedFile | None, mark: Mark) -> float | None:
        """Return the time to push again; None if all rows are settled or wait for a load, or if too many are unsent."""
        ended_at = pushed.ended_at if pushed is not None else None
        tried_at = max(mark.asked_at, ended_at.timestamp() if ended_at is not None else 0.0)
        paused = tried_at + PAUSES[min(mark.again, len(PAUSES) - 1)]
        if pushed is None or ended_at is None:  # the run failed before it had a plan, or was killed
            return paused
        if pushed.unsent:  # a push of more than the limit is refused until the limit is raised
            return paused if pushed.unsent <= self._settings.push_limit else None
        if not pushed.waits or (loaded_at := self._newest_load()) <= ended_at:
            return None
        return loaded_at.timestamp() if mark.asked_at < loaded_at.timestamp() else paused

    @cached_property
    def _pushed(self) -> Mapping[str, PushedFile]:
        with PushFiles.opened(self._settings.database_url) as files:
            return files.of_kind(self._settings.base_url or "", self._kind.name)

    def _newest_load(self) -> datetime:
        with StateStore.opened(self._settings.database_url) as store:
            loaded = [window.loaded_at for window in store.windows("loaded") if window.loaded_at is not None]
        return max(loaded, default=datetime.min.replace(tzinfo=UTC))

    def _is_under_way(self) -> bool:
        if pusher(self._settings, self._kind.name) is not None:
            return True
        since = datetime.now(UTC) - STARTS_WITHIN
        tags = location_tags(self._settings)
        runs = dg.RunsFilter(job_name=push_name(self._kind), statuses=UNFINISHED, created_after=since, tags=tags)
        return bool(self._instance.get_runs(runs, limit=1))

    def _run(self, noticed: list[Noticed]) -> dg.RunRequest:
        """Return the run request for these files. Its run key prevents two runs if a tick is evaluated twice."""
        ordered = sorted(noticed, key=lambda file: file.given.path)
        identity = json.dumps([self._settings.push_enabled, [file.identity for file in ordered]])
        return dg.RunRequest(
            run_key=hashlib.sha256(identity.encode()).hexdigest(),
            job_name=push_name(self._kind) if self._settings.push_enabled else plan_name(self._kind),
            run_config=run_config(self._settings, self._kind, [file.given for file in ordered]),
        )


def _sent(sha256: str) -> str:
    return f"{sha256} sent"
