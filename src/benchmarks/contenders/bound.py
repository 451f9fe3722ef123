"""The bound of a night: the DELETEs and INSERTs of the rows that it changed, and nothing else that it does.

Imports DuckDB, an HTTP client and SQLAlchemy, opens the file of before the night, deletes and inserts the same rows in
one transaction, checkpoints, closes, and copies the file. With a Dagster home it also imports Dagster and stores a run
of one step. It reads no page, flattens nothing, keeps no state, checks nothing and alerts nobody. It is what a program
that keeps these tables in a DuckDB file, or this Dagster, cannot do without.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from time import monotonic

import duckdb
import httpx as httpx
import sqlalchemy as sqlalchemy


def main(plan: Path, result: Path) -> None:
    """Do what the plan says, a JSON object: `database`, `settings`, `statements`, `copy`, and perhaps `home`."""
    said = json.loads(plan.read_text())
    if said["home"]:
        _run_of_dagster(said["home"])
    started = monotonic()
    with duckdb.connect(said["database"], config=said["settings"]) as connection:
        connection.begin()
        for statement in said["statements"]:
            connection.execute(statement)
        connection.commit()
        connection.execute("checkpoint")
    _copy(said["database"], said["copy"])
    phases = {"read": 0.0, "load": monotonic() - started}
    result.write_text(json.dumps({"phases": phases}))


def _run_of_dagster(home: str) -> None:
    os.environ["DAGSTER_HOME"] = home
    import dagster as dg

    @dg.op
    def step() -> None:
        """Do nothing."""

    @dg.job
    def job() -> None:
        step()

    with dg.DagsterInstance.get() as instance:
        job.execute_in_process(instance=instance)


def _copy(source: str, target: str) -> None:
    from wms_sync.storage.durable import sync

    shutil.copyfile(source, target)
    sync(Path(target))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
