"""``wms-sync maintain``: keep a lake as fast and small as after its first load."""

from __future__ import annotations

from datetime import timedelta

from wms_sync.settings import Settings
from wms_sync.state.run import Run
from wms_sync.targets.target import Maintained, target_of

USUAL_NIGHTS, LATE = 7, 3
"""The usual number of loads between two maintenances; a finding appears after ``LATE`` times the configured number."""


def maintain(run: Run) -> Maintained | None:
    """Maintain the tables now; return None if they need none. The caller holds the writer's lock."""
    return target_of(run.settings).maintain(run.turn, timedelta(days=run.settings.snapshot_days))


def is_due(settings: Settings) -> bool:
    """Return whether ``WMS_MAINTENANCE_NIGHTS`` loads have gathered since the last maintenance."""
    nights = settings.maintenance_nights
    return nights > 0 and target_of(settings).loads_gathered >= nights


def loads_too_many(settings: Settings) -> int:
    """Return the number of loads since the last maintenance if they are too many, else 0."""
    gathered = target_of(settings).loads_gathered
    return gathered if gathered > LATE * (settings.maintenance_nights or USUAL_NIGHTS) else 0
