"""A copy of the product whose ``sql`` has learned something; a copy of the data, replayed and then rebuilt by it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
REPLAYED = "replayed.duckdb"
"""The published file after the replay, in the copy of the data."""
REPLAY = """
import shutil
import sys
from wms_sync.shipments.load.refresh import replay
from wms_sync.reports.status import status
from wms_sync.settings import Settings
from wms_sync.upkeep.recovery import begin
settings = Settings.load(_env_file=None, data_dir=sys.argv[1])
with begin(settings, "replay") as run:
    windows = {window for entry in status(settings, run.store).inbox for window in entry.windows}
    assert replay(run, windows).refreshed.published
shutil.copy(settings.layout.published, settings.data_dir / sys.argv[2])
"""
REBUILD = """
import sys
from wms_sync.shipments.load.refresh import rebuild
from wms_sync.settings import Settings
from wms_sync.upkeep.recovery import begin
settings = Settings.load(_env_file=None, data_dir=sys.argv[1])
with begin(settings, "rebuild") as run:
    assert rebuild(run).published
"""


def rebuilt_elsewhere(
    folder: Path, data: Path, taught: Mapping[str, Mapping[str, str]], *, replayed: bool = False
) -> Path:
    """The copy of the data. ``taught`` says, by file below ``sql``, what pieces become; a new file is one piece."""
    shutil.copytree(ROOT / "src" / "wms_sync", folder / "src" / "wms_sync")
    shutil.copytree(ROOT / "sql", folder / "sql")
    copied = Path(shutil.copytree(data, folder / "data"))
    for name, changes in taught.items():
        _teach(folder / "sql" / name, changes)
    script = REPLAY + REBUILD if replayed else REBUILD
    subprocess.run(
        [sys.executable, "-c", script, str(copied), REPLAYED], env={"PYTHONPATH": str(folder / "src")}, check=True
    )
    return copied


def _teach(file: Path, changes: Mapping[str, str]) -> None:
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    for before, after in changes.items():
        assert text.count(before) == 1 or not text, f"{before!r} in {file}"
        text = text.replace(before, after) if text else after
    file.write_text(text, encoding="utf-8")
