"""Who started a run of Dagster (`schedule`, `sensor`, `ui` or `command line`) and what for, as tags of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import dagster as dg

Source = Literal["schedule", "sensor", "ui", "command line"]
SOURCE = "wms/source"
"""The tag with who started a run. The command line gives it; a run of anyone else gets it with its first step."""
MODE = "wms/mode"
"""The tag with what a run is for: `sync`, `backfill`, `load`, `rebuild`, `maintain`, `plan` or `push`."""
PLAN = "plan"
COMMAND_LINE: Source = "command line"
SCHEDULE, SENSOR = "dagster/schedule_name", "dagster/sensor_name"
NIGHT, ATTEMPT = "wms/night", "wms/attempt"
"""The tags of a scheduled night: the tick of its schedule, and the number of the attempt. A sensor starts the later
ones."""


def source_of(tags: Mapping[str, str]) -> Source:
    """Return who started the run with these tags."""
    if tags.get(SOURCE) == COMMAND_LINE:
        return COMMAND_LINE
    if SCHEDULE in tags or NIGHT in tags:
        return "schedule"
    return "sensor" if SENSOR in tags else "ui"


def tag_run(instance: dg.DagsterInstance, run: dg.DagsterRun, mode: str) -> None:
    """Tag a run with who started it and what for, so that Dagster's list of runs can be filtered by both."""
    instance.add_run_tags(run.run_id, {SOURCE: source_of(run.tags), MODE: mode})
