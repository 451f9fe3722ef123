"""An installation in this process, which reads a sandbox, and what tests do with it and see of it. Nothing is patched.

Most tests begin with a data folder after a first sync, which takes most of such a test's time. ``Bench.begin`` makes it
once in a process and copies it to each test that begins alike: with the same service, to which nothing happened yet,
read with the same settings. The service is a function of its configuration and its clock stands still, so the copy is
what the test would have made. ``assert_landed`` proves what was read without a load, which takes most of the time of a
test that has one; ``assert_equal`` compares every table after a load.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, TypeVar

import duckdb
import httpx

from tests.oracle import differences, expected_tables, service_pages
from tests.services import Service
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sync.cli.operations import report
from wms_sync.layout import Layout
from wms_sync.logs import Lines, handling
from wms_sync.reports.finding import exit_code, open_findings
from wms_sync.reports.findings import findings_of
from wms_sync.runs import Operation
from wms_sync.service.answers import RetryPolicy
from wms_sync.service.client import GlobalApi
from wms_sync.settings import Settings
from wms_sync.shipments.flatten.page import RawPage
from wms_sync.shipments.load.refresh import RefreshReport, refresh
from wms_sync.shipments.read.reader import Reading, ReadReport
from wms_sync.state.engine import open_engine
from wms_sync.state.holder import WRITER, Held, Holder
from wms_sync.state.leases import Lease
from wms_sync.state.snapshot_files import write_snapshot
from wms_sync.state.store import Run, StateStore
from wms_sync.storage.durable import make_private
from wms_sync.targets.opening import open_for_writing
from wms_sync.upkeep.recovery import recover_state, recovered

T = TypeVar("T")

NOW = datetime(2026, 3, 31, 12, 0, 0, tzinfo=UTC)
CONFIG = SandboxConfig(shipments=600, seed=5, days=20, now=NOW, families=60, odd_values=True)
FEWER = replace(CONFIG, shipments=240)
"""For what does not depend on how many there are."""
IMPATIENT = RetryPolicy(attempts=4, total_seconds=5, first_wait=0.01, longest_wait=0.05)
STANDS_STILL = frozenset({"stale", "clocks", "nothing-synced", "landed"})
"""What is always found where the service's clock stands still, or where a test reads and does not load."""
NEW = {"state.db", "raw", "creates.jsonl", "forgotten-orders.json", "work"}
"""What a new installation has."""
root = Path()
"""Where the folders that are copied lie as long as this process runs; ``conftest.py`` sets it."""
MADE: dict[Hashable, tuple[Path, Any]] = {}
"""These folders, and what was returned when they were made."""


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """As on a full disk, the system refuses what comes after so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def settings_in(folder: Path, service: Service, **overrides: object) -> Settings:
    """Settings of a data folder, for what a module makes once."""
    return Settings.load(
        _env_file=None,
        **{
            "base_url": service.base_url,
            "api_token": service.sandbox.config.token,
            "data_dir": folder,
            "start_date": date(2026, 3, 1),
            "page_size": 50,
            "clock_tolerance_seconds": 3600,  # the beginning of a test may be that old, by a service whose clock stands
            **overrides,
        },
    )


def store_at(url: str, folder: Path, what: str = WRITER) -> StateStore:
    """A state store with a lease but without its lock, for tests that are alone with their data folder."""
    engine, held = open_engine(url), Held(what, Holder("test", None, os.getpid(), "this host", NOW))
    return StateStore(engine, Lease.taken(engine, Layout(folder), held))


def let_pass(sandbox: Sandbox, **passes: Any) -> None:
    """Let this happen in the service, and the seconds after it that no read covers yet."""
    sandbox.advance(**passes)
    sandbox.advance(seconds=10)


def asks_for_page(query: str) -> bool:
    """Whether a request is for a page of shipments; the first of a read counts, with one record, and lands nothing."""
    return "fields" in query and "sort=-id&limit=1&count=1&" not in query


def pages_asked(service: Service) -> list[str]:
    """The requests for pages of shipments since the log of requests was cleared."""
    return [request.query for request in service.sandbox.requests if asks_for_page(request.query)]


@contextmanager
def logged() -> Iterator[list[str]]:
    """What the library logs inside the block."""
    messages: list[str] = []
    with handling(Lines(lambda _, text: messages.append(text))):
        yield messages


def opened_store(settings: Settings) -> StateStore:
    """The state store, with a lease that is taken for it."""
    empty_state(settings)
    return store_at(settings.database_url, settings.data_dir)


def queried(file: Path, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    """The rows of a query of a published file."""
    with duckdb.connect(file, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        return connection.execute(query, parameters).fetchall()


def ending(settings: Settings, read: ReadReport | None, refreshed: RefreshReport | None = None) -> int:
    """The exit code of a monitor after a run with these reports, which prints them."""
    found = tuple(finding for finding in findings_of(settings) if finding.name not in STANDS_STILL)
    run = Operation(settings, source="test")
    run.read, run.refreshed, run.findings = read, refreshed, found
    report(run, 0)
    return exit_code(found, is_strict=True)


def needs(settings: Settings) -> list[str]:
    """The open findings, as a person reads them."""
    return [finding.sentence for finding in open_findings(findings_of(settings))]


@dataclass
class Bench:
    """One installation: settings, its state store, and reads against the sandbox, over a socket without a transport."""

    settings: Settings
    store: StateStore
    transport: httpx.BaseTransport | None = None
    run_id: str = "test"

    @property
    def layout(self) -> Layout:
        return self.settings.layout

    @property
    def run(self) -> Run:
        """What a run of this installation hands on."""
        return Run(self.settings, self.store, self.run_id)

    def api(self) -> GlobalApi:
        return GlobalApi.from_settings(self.settings, policy=IMPATIENT, transport=self.transport)

    def reading(self, api: GlobalApi) -> Reading:
        return Reading(self.run, api)

    def read(self) -> ReadReport:
        """What a night reads; nothing is loaded."""
        with self.api() as api:
            return self.reading(api).sync()

    def backfill(self, start: datetime, end: datetime) -> ReadReport:
        """What a backfill of these days reads; nothing is loaded."""
        with self.api() as api:
            return self.reading(api).backfill(start, end)

    def load(self) -> RefreshReport:
        """A load of what is landed; the first one into tables that are there and empty."""
        if self.settings.analytics == "file" and not self.layout.published.exists():
            empty_tables(self.layout.published)
        return refresh(self.run)

    def sync(self) -> tuple[ReadReport, RefreshReport]:
        """What a night reads and loads."""
        return self.read(), self.load()

    def first_sync(self, service: Service) -> tuple[ReadReport, RefreshReport]:
        """As ``sync`` on an empty data folder, with a service to which nothing happened yet."""
        return self.begin(service, Bench.sync)

    def begin(self, service: Service, how: Callable[[Bench], T]) -> T:
        """What ``how`` does with an empty data folder and a service to which nothing happened yet."""
        assert {path.name for path in self.layout.root.iterdir()} <= {*NEW, "state.db-wal", "state.db-shm"}
        assert self.store.windows() == ()

        def make(folder: Path) -> T:
            settings = self.settings.model_copy(update={"data_dir": folder})
            with closing(opened_store(settings)) as store:
                return how(replace(self, settings=settings, store=store))

        folder, reports = made((how, alike(service, self.settings)), make)
        self.store.close()
        shutil.rmtree(self.layout.root)
        shutil.copytree(folder, self.layout.root)
        self.store = opened_store(self.settings)
        return reports

    @contextmanager
    def published(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with duckdb.connect(self.layout.published, read_only=True) as connection:
            connection.execute("set timezone = 'UTC'")
            yield connection

    def assert_equal(self, service: Service) -> None:
        """Every table has what the service has."""
        with self.published() as connection:
            found = differences(connection, expected_tables(service))
        assert not found, f"{len(found)} differences, such as " + "; ".join(sorted(set(found))[:20])

    def landed_contents(self, *states: str) -> Iterator[tuple[tuple[str, int], bytes]]:
        """Window, number and content of the landed pages of windows that count, or are in these states."""
        for window in self.store.windows(*(states or ("landed", "loaded"))):
            for page in self.store.pages(window.id):
                raw = RawPage(
                    self.layout.raw / window.id / page.file,
                    page.number,
                    page.records,
                    page.served_at,
                    page.content_bytes,
                )
                yield (window.id, page.number), raw.content()

    def landed_ids(self, *states: str, only: str | None = None) -> list[int]:
        """The ids of the shipments on these pages, or on those of one window."""
        return [
            shipment["id"]
            for (window, _), content in self.landed_contents(*states)
            if only in {None, window}
            for shipment in json.loads(content)["collection"]
        ]

    def assert_landed(self, service: Service) -> None:
        """Every shipment and every related object is on a landed page as the service has it now."""
        wanted = _objects(service_pages(service, include_addresses=self.settings.include_addresses))
        lacking = wanted.keys() - _objects(json.loads(content) for _, content in self.landed_contents()).keys()
        assert not lacking, f"{len(lacking)} of {len(wanted)} lack: {sorted(wanted[text] for text in lacking)[:20]}"

    @property
    def needs(self) -> list[str]:
        """What is open, as a person reads it."""
        return needs(self.settings)

    def recover(self) -> None:
        """What a run does before it begins."""
        self.store.close()
        recover_state(self.settings)
        self.store = opened_store(self.settings)
        with recovered(self.settings, self.store, self.run_id):
            pass

    def lose_the_state_store(self, copy: Path | None = None, *, during_a_run: bool = False) -> None:
        """Delete it, and put a copy in its place if there is one; ``recover`` follows.

        ``during_a_run`` there is no snapshot of the end of what was done last.
        """
        if not during_a_run:
            write_snapshot(self.layout, self.store)
        self.store.close()
        for path in self.layout.root.glob("state.db*"):
            path.unlink()
        if copy is not None:
            shutil.copy(copy, self.layout.state)


def _objects(pages: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Kind and id, by all that an object holds."""
    return {
        json.dumps(thing, sort_keys=True): f"{kind} {thing['id']}"
        for page in pages
        for kind, objects in {"Shipment": page["collection"], **page["included"]}.items()
        for thing in objects
    }


def made(key: Hashable, make: Callable[[Path], T]) -> tuple[Path, T]:
    """The folder of this key and what ``make`` returned, which is called with it where it is not there yet.

    Nobody writes into it later.
    """
    if key not in MADE:
        folder = Path(mkdtemp(dir=root))
        MADE[key] = folder, make(folder)
    return MADE[key]


def alike(service: Service, settings: Settings) -> Hashable:
    """The key of a service to which nothing happened yet and of the settings it is read with, wherever the data is."""
    sandbox, new = service.sandbox, Sandbox(service.sandbox.config)
    assert type(sandbox) is Sandbox
    assert sandbox.config.now is not None, "its clock must stand still"
    assert (sandbox._store.version, sandbox.clock.now()) == (new._store.version, new.clock.now())
    for hook in ("intercept", "rewrite", "redate", "field_treatment"):
        assert getattr(sandbox, hook) == getattr(new, hook), hook
    return service.base_url, sandbox.config, settings.model_dump_json(exclude={"data_dir"})


def empty_state(settings: Settings) -> None:
    """Put a state store there that no run has written into, unless there is one: its migrations take as long as many
    a test."""
    if any(settings.data_dir.glob("state.db*")):
        return
    if settings.state_url is not None or settings.files_url is not None:
        recover_state(settings)
        return
    assert not any(settings.data_dir.glob("raw/*"))

    def make(folder: Path) -> None:
        recover_state(settings.model_copy(update={"data_dir": folder}))
        assert {path.name for path in folder.iterdir()} == NEW

    folder, _ = made("empty state", make)
    shutil.copytree(folder, make_private(settings.data_dir), dirs_exist_ok=True)


def empty_tables(path: Path) -> Path:
    """Put a file there that has every table, view and comment and no row, which takes a load 0.2 s to make."""

    def make(folder: Path) -> Path:
        with open_for_writing(folder / "empty.duckdb", memory_limit="300MB"):
            return folder / "empty.duckdb"

    _, tables = made("empty tables", make)
    make_private(path.parent)
    shutil.copyfile(tables, path)
    return path
