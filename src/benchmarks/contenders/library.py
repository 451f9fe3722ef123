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
from wms_sync.state.store import StateStore
from wms_sync.state.turns import taking_turn

RUN = "benchmark"


def main(result: Path) -> None:
    """Run one sync. Write its phases to `result`."""
    settings = Settings.load()
    layout = settings.layout
    url = settings.database_url
    with taking_turn(url, layout, RUN, waiting=print) as turn, StateStore(url, turn) as store:
        with GlobalApi.from_settings(settings) as api, Flattening(settings, store) as ahead:
            read = Reading(settings, store, api, run_id=RUN, landed=ahead.add).sync()
        refreshed = refresh(settings, store, run_id=RUN, say=print)
    result.write_text(json.dumps({"phases": {"read": read.seconds, "refresh": refreshed.seconds}}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
