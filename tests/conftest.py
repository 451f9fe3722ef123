"""What most tests start from: a service, settings for it and a data folder. Nothing is patched.

- ``in_process``: the sandbox in this process, without a socket. It is the transport of its clients, which ``Bench``
  passes on; what ignores it finds nothing at its address.
- ``server``: the sandbox on a socket, for what other processes read and for what happens below HTTP.
- ``sandbox``: ``in_process`` with data of the test's own. A folder or module that needs a socket overrides it with
  ``server``.
- ``settings_for``: settings of the test's own data folder and of one of these.
- ``bench``: an empty installation that reads ``sandbox`` (``tests/bench.py``). ``bench.first_sync(sandbox)`` gives it
  the data of a first sync, which is made once in a process and copied. Only equal settings share one, so a test
  changes them afterwards.
- ``postgres_url``, ``lakes``, ``lake_url``: a PostgreSQL, databases in it for the module, and one of them.
"""

import gc
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import hypothesis
import pytest

import tests.bench
from tests.bench import CONFIG, Bench, opened_store, settings_in
from tests.lakes import Lakes
from tests.postgres import postgres_where_installed
from tests.receiver import Receiver, receiving
from tests.services import Service, transport_to
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sandbox.transport import InProcess
from wms_sync.settings import Settings

MEMORY, PLENTY = Path("/dev/shm"), 8 * 1024**3
"""A file system in memory, and how much of it must be free. All tests together take up to 3 GiB."""
HERE = Path(__file__).parent
QUICK = {"service", "master_data", "sandbox", "sql", "state"}
"""Folders of thousands of small tests. They come last, so that no process ends with a long file while others wait."""
PROOF_FOLDERS = {"benchmarks", "cli", "pipelines", "sandbox", "survival"}
PROOF_FIXTURES = {"instance", "postgres_url", "s3", "server"}
"""``make proof`` runs the tests that lie or use something here, ``make test`` all others: they need no server, no other
process and no Dagster instance. A test that starts a process by itself, or that takes ten seconds, has the mark
``proof``."""
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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(HERE).parts[0] in PROOF_FOLDERS or not PROOF_FIXTURES.isdisjoint(
            getattr(item, "fixturenames", ())
        ):
            item.add_marker("proof")
    # one file in a folder of quick tests is long
    items.sort(key=lambda item: item.path.relative_to(HERE).parts[0] in QUICK and item.path.name != "test_lock.py")


def pytest_collection_finish() -> None:
    """What was imported stays: the collector need not look through it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _beginnings(tmp_path_factory: pytest.TempPathFactory) -> None:
    tests.bench.root = tmp_path_factory.mktemp("beginnings")


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


@pytest.fixture
def bench(sandbox: Service, settings_for: Callable[..., Settings]) -> Iterator[Bench]:
    settings = settings_for(sandbox)
    bench = Bench(settings, opened_store(settings), transport_to(sandbox))
    yield bench
    bench.store.close()
