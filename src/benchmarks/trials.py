"""A contender, a service and what is left of both: runs that can be killed, and the rows beside the service's truth.

The service runs in this process, so that a trouble can reach into it (`Sandbox.intercept`, `Sandbox.rewrite`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import parse_qs

import duckdb
import httpx
from starlette.requests import Request

from benchmarks.runs import BENCH_PYTHON, Folder, bench_script, dlt_script
from benchmarks.service import DAYS, SEED, Service
from wms_sandbox.app import SHIPMENTS, Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.server import SandboxServer

PAGE_SIZE = 100
REFEREE = "referee"
_SECONDS, _LOOK_SECONDS = 600.0, 0.2
COMPARED = ("updated_at", "packed_at", "status", "shipping_method", "target_ship_date", "packages")
Row = tuple[Any, ...]
"""These values of a shipment: times in milliseconds, of packages their number."""


@dataclass(frozen=True)
class Contender:
    """How it is run, and the query for what it has, with the id before the values of `Row`."""

    name: str
    command: Sequence[str | Path]
    database: str
    query: str
    needs: str = ""


OURS = Contender(
    "wms-sync sync",
    (Path(sys.executable).with_name("wms-sync"), "sync"),
    "analytics.duckdb",
    """
    select id, epoch_ms(updated_at), epoch_ms(packed_at), status, shipping_method, target_ship_date::varchar,
        (select count(*) from packages where packages.shipment_id = shipments.id)
    from shipments
    """,
)
DLT = Contender(
    "dlt",
    (*dlt_script(), "result.json"),
    "dlt.duckdb",
    """
    select id, epoch_ms(updated_at), epoch_ms(packed_at), status, shipping_method, target_ship_date::varchar,
        (
            select count(*) from main_data.shipments__packages as packages
            where packages._dlt_parent_id = shipments._dlt_id
        )
    from main_data.shipments
    """,
    needs="dlt",
)
SINGER = Contender(
    "Singer tap, target-duckdb",
    bench_script("singer.py"),
    "singer.duckdb",
    """
    select id, epoch_ms(updated_at), epoch_ms(packed_at), status, shipping_method, target_ship_date::varchar,
        coalesce(json_array_length(packages::json), 0)
    from main_data.shipments
    """,
    needs="singer_sdk, target_duckdb",
)
ALL = (OURS, DLT, SINGER)
"""`needs`: the modules that must be installed beside dlt's."""


@dataclass(frozen=True)
class Rows:
    """How the rows of a contender differ from the truth."""

    lost: int
    doubled: int
    wrong: int


@dataclass
class Trial:
    """One contender against one service. `exits` and `said` are those of its runs so far.

    `odd`: values that the service sends and no type can hold, by id of the shipment. A row may have them as text, or
    null.
    """

    contender: Contender
    folder: Folder
    sandbox: Sandbox
    shipments: int
    odd: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    exits: list[int] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def database(self) -> Path:
        """Return the database that readers open."""
        return self.folder.layout.root / self.contender.database

    @property
    def pages(self) -> int:
        """Return how many pages were asked for by now."""
        asked = (request for request in self.sandbox.requests if request.path == SHIPMENTS)
        return sum(_many(request.query) for request in asked if request.user_agent != REFEREE)

    @property
    def ids(self) -> list[int]:
        """Return the ids of all shipments."""
        return sorted(self.truth())

    @contextmanager
    def reader(self) -> Iterator[None]:
        """Hold the database open in another process, as an analyst's notebook does."""
        code = (
            "import duckdb, sys; held = duckdb.connect(sys.argv[1], read_only=True); print('open', flush=True); input()"
        )
        command = [sys.executable, "-c", code, str(self.database)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                if process.stdout:
                    process.stdout.readline()
                yield
            finally:
                process.kill()

    def run(self, *, killed_when: Event | None = None) -> None:
        """Run it to its end, or kill it with all its processes when the event comes."""
        log = self.folder.path / f"log-{len(self.exits)}.txt"
        with log.open("wb") as said:
            process = subprocess.Popen(
                [str(part) for part in self.contender.command],
                cwd=self.folder.path,
                env=self.folder.environment({"WMS_PAGE_SIZE": str(PAGE_SIZE)}),
                stdout=said,
                stderr=said,
                start_new_session=True,
            )
            while killed_when and process.poll() is None:
                if killed_when.wait(_LOOK_SECONDS):
                    os.killpg(process.pid, signal.SIGKILL)
                    break
            self.exits.append(process.wait(_SECONDS))
        self.said.append(log.read_text(errors="replace"))

    def rows(self) -> Rows:
        """Compare what it has with the truth."""
        truth = self.truth()
        with duckdb.connect(self.database, read_only=True) as connection:
            connection.execute("set timezone = 'UTC'")
            stored = connection.execute(self.contender.query).fetchall()
        by_id = {row[0]: row[1:] for row in stored}
        return Rows(
            lost=len(truth.keys() - by_id.keys()),
            doubled=len(stored) - len(by_id),
            wrong=sum(not self._is_right(key, row, truth.get(key)) for key, row in by_id.items()),
        )

    def _is_right(self, key: int, row: Row, true: Row | None) -> bool:
        if key not in self.odd or true is None:
            return row == true
        of_odd = [name in self.odd[key] for name in COMPARED]
        return all(
            value == other or (is_odd and (value is None or value == str(self.odd[key][name])))
            for value, other, is_odd, name in zip(row, true, of_odd, COMPARED, strict=True)
        )

    def truth(self) -> dict[int, Row]:
        """Return what the service has, read without any trouble."""
        self.sandbox.intercept = self.sandbox.rewrite = None
        found: dict[int, Row] = {}
        settings = self.folder.environment()
        target = f"{SHIPMENTS}?sort=id&limit=1000&fields=all&fields:packages=basic"
        headers = {"Authorization": f"Bearer {settings['WMS_API_TOKEN']}", "User-Agent": REFEREE}
        with httpx.Client(base_url=settings["WMS_BASE_URL"], headers=headers, timeout=_SECONDS) as client:
            while target:
                page = client.get(target).raise_for_status().json()
                found |= {record["id"]: _row(record) for record in page["collection"]}
                target = page["next"] if page["has_more"] else ""
        return found


def asks_for_page(request: Request) -> bool:
    """Return whether a request asks for more than one shipment."""
    return request.url.path == SHIPMENTS and _many(request.url.query)


def _many(query: str) -> bool:
    return parse_qs(query).get("limit") != ["1"]


@contextmanager
def trial(contender: Contender, path: Path, shipments: int) -> Iterator[Trial]:
    """Begin with an empty folder and a new service, the same each time but for its clock, which runs."""
    sandbox = Sandbox(SandboxConfig(shipments, SEED, days=DAYS))
    start = (datetime.now(UTC) - timedelta(days=DAYS + 1)).date()
    with SandboxServer(sandbox) as server:
        folder = Folder(path, Service(server.base_url, sandbox.config.token, os.getpid(), start))
        yield Trial(contender, folder, sandbox, shipments)
        folder.remove()


def contenders() -> list[Contender]:
    """Return those that are installed."""
    return [contender for contender in ALL if not contender.needs or _is_installed(contender.needs)]


def _is_installed(modules: str) -> bool:
    command: list[str | Path] = [BENCH_PYTHON, "-c", f"import {modules}"]
    return BENCH_PYTHON.exists() and subprocess.run(command, capture_output=True, check=False).returncode == 0


def _row(shipment: dict[str, Any]) -> Row:
    return (
        _milliseconds(shipment["updated_at"]),
        _milliseconds(shipment.get("packed_at")),
        shipment.get("status"),
        shipment.get("shipping_method"),
        shipment.get("target_ship_date"),
        len(shipment.get("packages") or ()),
    )


def _milliseconds(moment: str | None) -> int | None:
    return None if moment is None else int(datetime.fromisoformat(moment).timestamp() * 1000)
