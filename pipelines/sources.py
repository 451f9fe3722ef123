"""Who started a run of Dagster: `schedule`, `sensor`, `ui` or `command line`, from the tags of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Source = Literal["schedule", "sensor", "ui", "command line"]
SOURCE = "wms/source"
"""The tag of the runs of the command line; Dagster tags those of schedules and sensors itself."""
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
