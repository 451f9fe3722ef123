"""``wms-sync maintain``: keep a lake as fast and as small as it was after its first load."""

from __future__ import annotations

from datetime import timedelta

from wms_sync.settings import Settings
from wms_sync.state.run import Run
from wms_sync.targets.target import Maintained, target_of

USUAL_NIGHTS, LATE = 7, 3
"""Somebody should look when so many times more loads have gathered than maintenance waits for."""


def maintain(run: Run) -> Maintained | None:
    """Maintain the tables now; None if they need none. The caller holds the writer's lock."""
    return target_of(run.settings).maintain(run.turn, timedelta(days=run.settings.snapshot_days))


def is_due(settings: Settings) -> bool:
    """Return whether so many loads have gathered that maintenance should follow (``WMS_MAINTENANCE_NIGHTS``)."""
    nights = settings.maintenance_nights
    return nights > 0 and target_of(settings).loads_gathered >= nights


def loads_too_many(settings: Settings) -> int:
    """Return how many loads have gathered if somebody should see to maintenance, else 0."""
    gathered = target_of(settings).loads_gathered
    return gathered if gathered > LATE * (settings.maintenance_nights or USUAL_NIGHTS) else 0
