"""What most tests start from: a service, settings for it and a data folder. Nothing is patched.

- ``in_process``: the sandbox in this process, without a socket. It is the transport of its clients, which ``Bench``
  passes on; what ignores it finds nothing at its address.
- ``server``: the sandbox on a socket, for what other processes read and for what happens below HTTP.
- ``sandbox``: ``in_process`` with data of the test's own. A folder or module that needs a socket overrides it with
  ``server``.
- ``settings_for``: settings of the test's own data folder and of one of these.
- ``bench``: an empty installation that reads ``sandbox``. ``tests.test_sync.first_synced`` gives it the data of a first
  sync, which is made once in a process and copied; ``begun`` does so for other beginnings. Only equal
  settings share one, so a test changes them afterwards.
- ``tests.landed.assert_landed``: what was read is right, without a load, which takes most of the time of a test that
  has one. ``tests.test_sync.assert_equal`` looks at every table after a load.
- ``postgres_url``, ``lakes``, ``lake_url``: a PostgreSQL, databases in it for the module, and one of them.
"""

import gc
import logging
import os
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import httpx
import hypothesis
import pytest

from tests import beginnings
from tests.lakes import Lakes
from tests.postgres import postgres_where_installed
from tests.receiver import Receiver, receiving
from tests.services import Service, transport_to
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.server import SandboxServer
from wms_sandbox.transport import InProcess
from wms_sync.cli.runs import report
from wms_sync.layout import Layout
from wms_sync.logs import Lines, handling
from wms_sync.reports.finding import exit_code, open_findings
from wms_sync.reports.findings import findings_of
from wms_sync.runs import Operation
from wms_sync.service.answers import RetryPolicy
from wms_sync.service.client import GlobalApi
from wms_sync.settings import Settings
from wms_sync.shipments.load.refresh import RefreshReport
from wms_sync.shipments.read.reader import Reading, ReadReport
from wms_sync.state.engine import open_engine
from wms_sync.state.holder import WRITER, Held, Holder
from wms_sync.state.snapshot_files import write_snapshot
from wms_sync.state.store import Run, StateStore
from wms_sync.state.turns import Turn
from wms_sync.upkeep.recovery import recover_state, recovered

NOW = datetime(2026, 3, 31, 12, 0, 0, tzinfo=UTC)
CONFIG = SandboxConfig(shipments=600, seed=5, days=20, now=NOW, families=60, odd_values=True)
FEWER = replace(CONFIG, shipments=240)
"""For what does not depend on how many there are."""
MEMORY, PLENTY = Path("/dev/shm"), 8 * 1024**3
"""A file system in memory, and how much of it must be free. All tests together take up to 3 GiB."""
HERE = Path(__file__).parent
QUICK = {"service", "master_data", "sandbox", "sql", "state"}
"""Folders of thousands of small tests. They come last, so that no process ends with a long file while others wait."""
LONG = "test_lock.py"
"""What is long in them."""
PROOF_FOLDERS = {"benchmarks", "cli", "pipelines", "sandbox", "survival"}
PROOF_FIXTURES = {"instance", "postgres_url", "s3", "server"}
"""``make proof`` runs the tests that lie or use something here, ``make test`` all others: they need no server, no other
process and no Dagster instance. A test that starts a process by itself, or that takes ten seconds, has the mark
``proof``."""
IMPATIENT = RetryPolicy(attempts=4, total_seconds=5, first_wait=0.01, longest_wait=0.05)


hypothesis.settings.register_profile("no test asserts a time", deadline=None)
hypothesis.settings.load_profile("no test asserts a time")
logging.getLogger("wms_sync").setLevel(logging.INFO)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--soak", action="store_true", help="Full counts of seeds and kills instead of a small share.")
    parser.addoption("--target", choices=("file", "lake"), default="file", help="Where tests of survival keep tables.")
    parser.addoption("--pictures", type=Path, help="Folder for what the browser's test looks at.")


def pytest_configure(config: pytest.Config) -> None:
    """Temporary files are in memory where there is plenty: a test waits for the disk whenever a run syncs a file."""
    config.addinivalue_line("markers", "proof: needs a server, another process or Dagster, and runs by make proof")
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= PLENTY:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """As on a full disk, the system refuses what comes after so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        folder = item.path.relative_to(HERE).parts[0]
        if folder in PROOF_FOLDERS or not PROOF_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("proof")
    items.sort(key=lambda item: item.path.relative_to(HERE).parts[0] in QUICK and item.path.name != LONG)


def pytest_collection_finish() -> None:
    """What was imported stays: the collector need not look through it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _beginnings(tmp_path_factory: pytest.TempPathFactory) -> None:
    beginnings.root = tmp_path_factory.mktemp("beginnings")


@pytest.fixture(scope="session")
def server() -> Iterator[SandboxServer]:
    """One socket for all: starting and ending a server takes longer than most tests."""
    with SandboxServer(Sandbox(CONFIG)) as started:
        yield started


@pytest.fixture(scope="session")
def in_process() -> InProcess:
    return InProcess(Sandbox(CONFIG))


@pytest.fixture
def sandbox(in_process: InProcess) -> InProcess:
    """A sandbox of the test's own."""
    in_process.sandbox = Sandbox(CONFIG)
    return in_process


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    with postgres_where_installed() as url:
        yield url


@pytest.fixture(scope="module")
def lakes(postgres_url: str) -> Iterator[Lakes]:
    """Makes databases of the module's own."""
    made = Lakes(postgres_url)
    yield made
    made.remove()


@pytest.fixture(scope="module")
def lake_url(postgres_url: str) -> Iterator[str]:
    """One such database. It needs no ``lakes``, which tests of survival have for each test alone."""
    made = Lakes(postgres_url)
    yield made.new()
    made.remove()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """One for each test: an alert that a test does not wait for would arrive in the next one."""
    with receiving() as started:
        yield started


@pytest.fixture
def settings_for(tmp_path: Path) -> Callable[..., Settings]:
    return partial(settings_in, tmp_path / "data")


def settings_in(folder: Path, service: Service, **overrides: object) -> Settings:
    """Settings of a data folder, for what a module makes once."""
    values: dict[str, object] = {
        "base_url": service.base_url,
        "api_token": service.sandbox.config.token,
        "data_dir": folder,
        "start_date": date(2026, 3, 1),
        "page_size": 50,
        "clock_tolerance_seconds": 3600,  # the beginning of a test may be that old, by a service whose clock stands
    }
    return Settings.load(_env_file=None, **(values | overrides))


def store_at(url: str, folder: Path, what: str = WRITER) -> StateStore:
    """A state store in a turn without its lock, for tests that are alone with their data folder."""
    engine, held = open_engine(url), Held(what, Holder("test", None, os.getpid(), "this host", NOW))
    return StateStore(engine, Turn.taken(engine, Layout(folder), held))


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
    """The state store, to be written in a turn that is taken for it."""
    beginnings.empty_state(settings)
    return store_at(settings.database_url, settings.data_dir)


def queried(file: Path, query: str, *parameters: object) -> list[tuple[Any, ...]]:
    """The rows of a query of a published file."""
    with duckdb.connect(file, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        return connection.execute(query, parameters).fetchall()


STANDS_STILL = frozenset({"stale", "clocks", "nothing-synced", "landed"})
"""What is always found where the service's clock stands still, or where a test reads and does not load."""


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


@pytest.fixture
def bench(sandbox: Service, settings_for: Callable[..., Settings]) -> Iterator[Bench]:
    settings = settings_for(sandbox)
    bench = Bench(settings, opened_store(settings), transport_to(sandbox))
    yield bench
    bench.store.close()
