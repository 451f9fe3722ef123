"""Measure the least that a night can cost: the rows that it changed, deleted and inserted in the file of before it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb

from benchmarks.runs import Folder, Run, module
from wms_sync.catalogue import Table, history_tables, literal, tables
from wms_sync.targets.opening import settings_of

MEMORY = "4GB"
"""So that one transaction is enough at any size."""


class Bound:
    """Keeps the published file as it is before a night, and then measures the bound of that night."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._rows = folder.path / "bound"
        shutil.rmtree(self._rows, ignore_errors=True)
        self._rows.mkdir()
        self._database = self._rows / "before.duckdb"
        shutil.copyfile(folder.layout.published, self._database)
        self._database.chmod(0o600)

    def measure(self, home: Path | None = None) -> Run:
        """Change the same rows as the night did, after which this is called."""
        plan = self._rows / "plan.json"
        said = {
            "database": str(self._database),
            "copy": str(self._rows / "copy.duckdb"),
            "settings": settings_of(self._database, MEMORY),
            "statements": list(self._statements()),
            "home": str(home) if home else "",
        }
        plan.write_text(json.dumps(said))
        run = self._folder.script([*module("bound"), plan])
        shutil.rmtree(self._rows)
        return run

    def _statements(self) -> Iterator[str]:
        """Yield the statements, and write the rows that the night's window brought to files."""
        with duckdb.connect(self._folder.layout.published, read_only=True) as connection:
            query = "select window_id from ops.loads order by loaded_at desc limit 1"
            ((window,),) = connection.execute(query).fetchall()
            kept = [table for table in (*tables(), *history_tables()) if table.schema != "ops"]
            keys = {
                kept_table.name: self._written(connection, f"keys-{kept_table.name}", _keys_of(kept_table, window))
                for kept_table in kept
                if kept_table.is_root and kept_table.schema != "history"
            }
            for kept_table in kept:
                changed = f"{kept_table.root_key} in (select key from read_parquet({literal(keys[kept_table.root])}))"
                changed += " and is_current" if kept_table.schema == "history" else ""
                rows = self._written(connection, kept_table.slug, f"from {kept_table.qualified} where {changed}")
                yield f"delete from {kept_table.qualified} where {changed}"
                yield f"insert into {kept_table.qualified} by name from read_parquet({literal(rows)})"

    def _written(self, connection: duckdb.DuckDBPyConnection, name: str, query: str) -> str:
        path = str(self._rows / f"{name}.parquet")
        connection.execute(f"copy ({query}) to {literal(path)} (format parquet)")
        return path


def _keys_of(root: Table, window: str) -> str:
    return f"select {root.root_key} as key from {root.qualified} where _window_id = {literal(window)}"
