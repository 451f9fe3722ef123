"""Databases for lakes in PostgreSQL, each with state and catalogue of one installation; and copies of them."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.postgres import connected
from wms_sync.settings import Settings
from wms_sync.targets.ducklake.catalogue import LakeCatalogue, StoredTable

MOVED = "update lake.ducklake_metadata set value = %s where key = 'data_path'"


def tables_of(settings: Settings) -> tuple[StoredTable, ...]:
    """The tables of a lake as its newest snapshot has them."""
    with LakeCatalogue.opened(settings.database_url) as catalogue:
        return catalogue.tables()


class Lakes:
    """Makes databases, and removes those that it made."""

    def __init__(self, server_url: str) -> None:
        self._server_url = server_url
        self._made: list[str] = []

    def new(self) -> str:
        """The URL of an empty database."""
        return self._create("create database {}")

    def copy(self, url: str, folder: Path | None = None) -> str:
        """The URL of a copy of a database that nobody has open; ``folder``: its data folder was copied to there."""
        copied = self._create("create database {} template " + name_of(url))
        if folder is not None:
            self.execute(copied, MOVED, f"{folder}/lake/")
        return copied

    def execute(self, url: str, statement: str | bytes, *values: Any) -> None:
        """One statement, committed; several if they have no values."""
        with connected(url) as connection:
            connection.execute(statement, values)

    def replace(self, url: str, other: str | None) -> None:
        """Lose the database, and find a copy of the other in its place, or an empty one."""
        template = "" if other is None else f" template {name_of(other)}"
        for statement in (f"drop database {name_of(url)} with (force)", f"create database {name_of(url)}{template}"):
            self.execute(self._server_url, statement)

    def remove(self) -> None:
        """Drop every database that was made."""
        for name in self._made:
            self.execute(self._server_url, f"drop database if exists {name} with (force)")
        self._made.clear()

    def _create(self, statement: str) -> str:
        name = f"t{uuid4().hex}"
        self.execute(self._server_url, statement.format(name))
        self._made.append(name)
        return self._server_url.replace("/postgres?", f"/{name}?")


def on_lake(url: str) -> Mapping[str, str]:
    """The variables of an installation whose tables are in a lake."""
    return {"WMS_ANALYTICS": "ducklake", "WMS_STATE_URL": url}


def name_of(url: str) -> str:
    """The name of a database."""
    return url.partition("?")[0].rpartition("/")[2]


def in_the_database(url: str, text: str) -> set[str]:
    """The tables of a PostgreSQL database that hold a text, its own statistics among them."""
    tables = """
        select quote_ident(schemaname) || '.' || quote_ident(tablename)
        from pg_tables
        where schemaname in ('lake', 'public')
        union all
        select 'pg_stats'
    """
    with connected(url) as connection:
        names = connection.execute(tables).fetchall()
        query = "select 1 from {} as held where strpos(held::text, %s) > 0 limit 1"
        return {name for (name,) in names if connection.execute(query.format(name), [text]).fetchone()}


def in_the_files(url: str, text: bytes) -> set[str]:
    """The tables of a PostgreSQL database whose files hold a text, also in rows that are dead."""
    named = "select relnamespace::regnamespace || '.' || relname from pg_class where oid = pg_filenode_relation(0, %s)"
    with connected(url) as connection:
        connection.execute("checkpoint")
        [(folder, database)] = connection.execute(
            "select current_setting('data_directory'), oid from pg_database where datname = current_database()"
        ).fetchall()
        files = Path(folder, "base", str(database)).iterdir()
        numbers = {int(re.split(r"[._]", path.name)[0]) for path in files if text in path.read_bytes()}
        return {name for number in numbers for (name,) in connection.execute(named, [number])}
