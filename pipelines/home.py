"""The folder of Dagster's history, as `DAGSTER_HOME` names it."""

from __future__ import annotations

import os
from pathlib import Path

HOME_VARIABLE = "DAGSTER_HOME"


def home_of_user() -> Path | None:
    """Return the folder that `DAGSTER_HOME` names; None if it is not set."""
    named = os.environ.get(HOME_VARIABLE)
    return Path(named) if named else None
