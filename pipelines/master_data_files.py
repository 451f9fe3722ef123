"""The sensor of master data: a file that is new or has changed is planned, once, and pushed where that is switched on.

Its cursor remembers what each file held when it was last asked for, by name. So a file is not looked at again until it
changes, whether its run went well or not. A file that is switched on for pushing after it was only planned is asked for
again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from pipelines.jobs import AssetJob, push_name
from pipelines.master_data import GivenFile, run_config
from wms_sync.master_data.folder import digest_of, files_of, folder_of
from wms_sync.master_data.kinds import Kind
from wms_sync.settings import Settings

LOOK_SECONDS = 30
SETTLE_SECONDS = 10.0
"""A file that was written to less long ago may still be on its way."""

Marks = dict[str, str]
"""By the name of a file: what it held and whether it was to be sent."""


@dataclass(frozen=True)
class Noticed:
    """A file that is to be handled; its mark goes into the cursor."""

    path: Path
    sha256: str
    modified: int


def master_data_files(settings: Settings, pushes: Mapping[Kind, AssetJob]) -> dg.SensorDefinition:
    """One run a kind, for all its files that are new or have changed, in the order of their names."""

    @dg.sensor(
        name="master_data_files",
        jobs=list(pushes.values()),
        minimum_interval_seconds=LOOK_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Starts a run for new and changed files in WMS_MASTER_DATA_DIR.",
    )
    def master_data_files(context: dg.SensorEvaluationContext) -> dg.SensorResult:
        if settings.master_data_dir is None:
            return dg.SensorResult(skip_reason="WMS_MASTER_DATA_DIR is not set")
        before: Marks = json.loads(context.cursor or "{}")
        after: Marks = {}
        requests = [request for kind in Kind if (request := _request(settings, kind, before, after)) is not None]
        reason = None if requests else "no file is new or has changed"
        return dg.SensorResult(run_requests=requests, skip_reason=reason, cursor=json.dumps(after))

    return master_data_files


def _request(settings: Settings, kind: Kind, before: Marks, after: Marks) -> dg.RunRequest | None:
    """The run for the files of a kind that are not as they were; `after` takes the marks of all."""
    files: list[Noticed] = []
    for path in files_of(folder_of(settings), kind):
        if _may_be_on_its_way(path):
            after |= {path.name: before[path.name]} if path.name in before else {}
            continue
        file = Noticed(path, digest_of(path), path.stat().st_mtime_ns)
        handled = before.get(path.name)
        if handled in {file.sha256, _sent(file)} and not (settings.push_enabled and handled == file.sha256):
            after[path.name] = handled
        else:
            after[path.name] = _sent(file) if settings.push_enabled else file.sha256
            files.append(file)
    if not files:
        return None
    given = [GivenFile(path=str(file.path), sha256=file.sha256) for file in files]
    return dg.RunRequest(
        run_key=_run_key(settings, files), job_name=push_name(kind), run_config=run_config(kind, given)
    )


def _may_be_on_its_way(path: Path) -> bool:
    return 0 <= time.time() - path.stat().st_mtime < SETTLE_SECONDS


def _sent(file: Noticed) -> str:
    return f"{file.sha256} sent"


def _run_key(settings: Settings, files: list[Noticed]) -> str:
    """The same for the same files, so that a tick that is evaluated twice starts one run."""
    told = json.dumps([settings.push_enabled, [(file.path.name, file.sha256, file.modified) for file in files]])
    return hashlib.sha256(told.encode()).hexdigest()
