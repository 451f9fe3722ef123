"""The product's library without Dagster: what `wms-sync sync` does, as a script would call it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from wms_sync.api.client import GlobalApi
from wms_sync.extract.read import Reading
from wms_sync.flatten.workers import Flattening
from wms_sync.load.refresh import refresh
from wms_sync.settings import Settings
from wms_sync.upkeep.recovery import begin


def main(result: Path) -> None:
    """Run one sync. Write its phases to `result`."""
    settings = Settings.load()
    with begin(settings, "benchmark") as run:
        with GlobalApi.from_settings(settings) as api, Flattening(settings, run.store) as ahead:
            read = Reading(run, api, landed=ahead.add).sync()
        refreshed = refresh(run)
    result.write_text(json.dumps({"phases": {"read": read.seconds, "refresh": refreshed.seconds}}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
