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

    `sha256` is the hash of the content for which a run was last requested, `is_sent` whether that run may send rows;
    `asked_at` is the time of the request (seconds since 1970); `again` is the number of repeated requests.
    """

    sha256: str
    is_sent: bool
    asked_at: float
    again: int = 0


Marks = dict[str, Mark]
"""The cursor's entries by file name."""


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
        given: list[GivenFile] = []
        identity: list[object] = []  # does not change if the same tick is evaluated again
        sends = self._settings.push_enabled
        for path in files_of(folder_of(self._settings), self._kind):
            mark = self._before.get(path.name)
            if is_arriving(path):
                self.after |= {path.name: mark} if mark is not None else {}
                continue
            sha256 = digest_of(path)
            pushed = self._pushed.get(str(path)) if sends else None
            if pushed is not None and pushed.sha256 != sha256:
                pushed = None
            has_ended = False
            if mark is None or mark.sha256 != sha256 or (sends and not mark.is_sent):
                self.after[path.name] = Mark(sha256, sends, self._now)
            elif sends and self._is_due(pushed, mark) and not self._is_under_way:
                self.after[path.name] = Mark(sha256, sends, self._now, mark.again + 1)
                has_ended = pushed is not None and pushed.ended_at is not None
            else:
                self.after[path.name] = mark
                continue
            given.append(GivenFile(path=str(path), sha256=sha256, again=has_ended))
            identity.append((path.name, sha256, path.stat().st_mtime_ns, mark and (mark.asked_at, mark.again)))
        return self._run(given, identity) if given else None

    def _is_due(self, pushed: PushedFile | None, mark: Mark) -> bool:
        """Return whether to push again: not if all rows are settled or wait for a load, or if too many are unsent."""
        ended_at = pushed.ended_at.timestamp() if pushed is not None and pushed.ended_at is not None else None
        paused = max(mark.asked_at, ended_at or 0.0) + PAUSES[min(mark.again, len(PAUSES) - 1)]
        if pushed is None or ended_at is None:  # the run failed before it had a plan, or was killed
            return paused <= self._now
        if pushed.unsent:  # a push of more than the limit is refused until the limit is raised
            return paused <= self._now and pushed.unsent <= self._settings.push_limit
        loaded_at = self._newest_load() if pushed.waits else 0.0
        return loaded_at > ended_at and (mark.asked_at < loaded_at or paused <= self._now)

    @cached_property
    def _pushed(self) -> Mapping[str, PushedFile]:
        with PushFiles.opened(self._settings.database_url) as files:
            return files.of_kind(self._settings.base_url or "", self._kind.name)

    def _newest_load(self) -> float:
        with StateStore.opened(self._settings.database_url) as store:
            return max(
                (window.loaded_at.timestamp() for window in store.windows("loaded") if window.loaded_at), default=0
            )

    @cached_property
    def _is_under_way(self) -> bool:
        since = datetime.now(UTC) - STARTS_WITHIN
        tags = location_tags(self._settings)
        runs = dg.RunsFilter(job_name=push_name(self._kind), statuses=UNFINISHED, created_after=since, tags=tags)
        return pusher(self._settings, self._kind.name) is not None or bool(self._instance.get_runs(runs, limit=1))

    def _run(self, given: Sequence[GivenFile], identity: Sequence[object]) -> dg.RunRequest:
        """Return the run request for these files. Its run key prevents two runs if a tick is evaluated twice."""
        sends = self._settings.push_enabled
        return dg.RunRequest(
            run_key=hashlib.sha256(json.dumps([sends, identity]).encode()).hexdigest(),
            job_name=push_name(self._kind) if sends else plan_name(self._kind),
            run_config=run_config(self._settings, self._kind, given),
        )
