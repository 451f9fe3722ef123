"""A Singer tap into target-duckdb, run as a runner does: the last state that the target prints is the next run's.

`target-duckdb` prints a state once everything before it is in the database. Ends with the exit code of the tap, or with
that of the target.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

TAP = Path(__file__).with_name("singer_tap.py")
TARGET = Path(__file__).with_name("singer_target.py")


def main() -> int:
    """Run both, once."""
    folder = Path(os.environ["WMS_DATA_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "state.json"
    tap_config = {
        "base_url": os.environ["WMS_BASE_URL"],
        "token": os.environ["WMS_API_TOKEN"],
        "start_date": f"{os.environ['WMS_START_DATE']}T00:00:00Z",
        "page_size": int(os.environ["WMS_PAGE_SIZE"]),
    }
    target_config = {"path": str(folder / "singer.duckdb"), "default_target_schema": "main_data"}
    command: list[str | Path] = [sys.executable, TAP, "--config", _written(folder / "tap.json", tap_config)]
    if state.exists():
        command += ["--state", state]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as tap:
        target = subprocess.run(
            [sys.executable, TARGET, "--config", _written(folder / "target.json", target_config)],
            stdin=tap.stdout,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        if tap.stdout:
            tap.stdout.close()
    if states := target.stdout.splitlines():
        _written(state, json.loads(states[-1]))
    return tap.returncode or target.returncode


def _written(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


if __name__ == "__main__":
    sys.exit(main())
