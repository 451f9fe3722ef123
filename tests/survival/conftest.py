"""What the tests of survival share: how many seeds, an installation that was synced once, commands as real processes.

``@pytest.mark.seeds("kills of machines whose disks vanish")`` runs a test with the seeds 1 to so many, a line of
``counts.py``. The seed is in the test's name, which is what ``make soak`` prints.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench import CONFIG, FEWER, let_pass
from tests.lakes import Lakes, on_lake
from tests.oracle import Tables, expected_tables
from tests.survival.counts import COUNTS
from tests.survival.installation import Installation, rows
from tests.survival.victims import PERSONAL, Read
from tests.upkeep.test_forget import marked, orders_with_addresses
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer

SMALL = replace(CONFIG, shipments=240, families=40)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "seeds(what): how many seeds the test is run with")
    config.addinivalue_line("markers", "targets(name, ...): --target may be any of these; without the mark, only file")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With ``--target lake`` only what can be played on a lake is."""
    target: str = config.getoption("--target")
    for item in items:
        marker = item.get_closest_marker("targets")
        if target not in (marker.args if marker else ("file",)) and item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.skip(reason=f"not with --target {target}"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for marker in metafunc.definition.iter_markers("seeds"):
        metafunc.parametrize(
            "seed",
            range(1, COUNTS[marker.args[0]][metafunc.config.getoption("--soak")] + 1),
            ids=lambda seed: f"seed{seed}",
        )


@pytest.fixture
def count(request: pytest.FixtureRequest) -> Callable[[str], int]:
    """How many there are of what is no seed."""
    return lambda what: COUNTS[what][request.config.getoption("--soak")]


@pytest.fixture(scope="package")
def service() -> Iterator[SandboxServer]:
    """A service that rests; nothing here changes it after the night that ``synced_once`` lets pass."""
    with SandboxServer(Sandbox(SMALL)) as server:
        yield server


@pytest.fixture
def sandbox(server: SandboxServer) -> SandboxServer:
    """A sandbox of the test's own, on the socket that other processes reach."""
    server.sandbox = Sandbox(FEWER)
    return server


@pytest.fixture(scope="package")
def lakes_once(request: pytest.FixtureRequest) -> Lakes | None:
    """Where lakes are made that stay; None where the tables are in files."""
    return None if request.config.getoption("--target") == "file" else Lakes(request.getfixturevalue("postgres_url"))


@pytest.fixture
def lakes(lakes_once: Lakes | None, request: pytest.FixtureRequest) -> Iterator[Lakes | None]:
    """The same for lakes of the test's own, which go with it."""
    if lakes_once is None:
        yield None
        return
    own = Lakes(request.getfixturevalue("postgres_url"))
    yield own
    own.remove()


@pytest.fixture(scope="package")
def synced_once(
    service: SandboxServer, lakes_once: Lakes | None, tmp_path_factory: pytest.TempPathFactory
) -> Installation:
    """An installation after a first sync and a push; then a day passes in the service, which shows what was pushed."""
    installation = Installation(
        tmp_path_factory.mktemp("template") / "data", service, {} if lakes_once is None else on_lake(lakes_once.new())
    )
    installation.runs("sync")
    pushed = installation.data.with_name("pushed.csv")
    pushed.write_text("code,name\npushed-1,One\npushed-2,Two\n")
    installation.runs("push", "retailers", str(pushed), exitcodes=(0,))
    let_pass(service.sandbox, changed=60, new=20, packages_added=10, packages_removed=10, orders=15, retailers=2)
    return installation


@pytest.fixture(scope="package")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    with SandboxServer(Sandbox(replace(SMALL, shipments=60))) as service:
        service.sandbox.rewrite = marked
        installation = Installation(tmp_path_factory.mktemp("read") / "data", service, PERSONAL)
        installation.runs("sync")
        let_pass(service.sandbox, seconds=3600, changed=30, orders=20)
        installation.runs("sync")
        order, *_ = orders_with_addresses(installation.layout.published)
        forgotten = replace(installation, data=installation.data.with_name("forgotten"))
        shutil.copytree(installation.data, forgotten.data)
        forgotten.runs("forget", "--yes", str(order))
        yield Read(installation, order, rows(installation.layout), rows(forgotten.layout))


@pytest.fixture(scope="package")
def expected(synced_once: Installation) -> Tables:
    """What every table must hold in the end."""
    return expected_tables(synced_once.service)


@pytest.fixture
def install(
    synced_once: Installation, service: SandboxServer, lakes: Lakes | None, tmp_path: Path
) -> Callable[..., Installation]:
    """An installation of the test's own: a copy of the one that was synced once, or a new one."""

    def make(name: str = "data", *, synced: bool = True) -> Installation:
        folder = tmp_path / name
        if synced:
            shutil.copytree(synced_once.data, folder)
        if lakes is None:
            return Installation(folder, service)
        return Installation(
            folder, service, on_lake(lakes.copy(synced_once.store_url, folder) if synced else lakes.new())
        )

    return make
