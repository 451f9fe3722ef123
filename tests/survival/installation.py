"""An installation and its commands, each the real command line in a process of its own that can be killed.

A kill comes at a moment by its name, at the n-th moment of all, or after some seconds.
"""

from __future__ import annotations

import itertools
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.context import ForkServerProcess
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any

import duckdb
from msgspec.structs import asdict

from tests.conftest import asks_for_page
from tests.oracle import Tables, differences
from tests.processes import PROCESSES, enter
from tests.survival.moments import Moment, Moments, read_moments
from wms_sandbox.server import SandboxServer
from wms_sync.catalogue import quote
from wms_sync.layout import Layout
from wms_sync.settings import Settings
from wms_sync.shipments.read.raw import damage, read_manifest
from wms_sync.state.ledger import PushLedger
from wms_sync.state.store import StateStore
from wms_sync.targets.database import records
from wms_sync.targets.target import Target, target_of

PARALLEL = 2
IN_FLIGHT = 2 * PARALLEL
"""Each window under way has a page that is being landed and one that is being fetched ahead."""
ENDED = 0, 3
"""Exit codes of a command that did its work; with 3 it names what needs attention, as the age of the data here."""
KILLED = -9
Rows = dict[str, list[tuple[object, ...]]]
PROVENANCE = ("_window_id", "_page", "_extracted_at", "seen_at", "last_seen_at")


@dataclass(frozen=True)
class Tell:
    """A process is to tell when it comes to a moment."""

    moment: Moment
    reached: Event


@dataclass(frozen=True)
class Installation:
    """A data folder and the service it reads; ``settings`` are variables of the environment besides the usual."""

    data: Path
    service: SandboxServer
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def layout(self) -> Layout:
        return Layout(self.data)

    @property
    def log(self) -> Path:
        """What the commands said."""
        return self.data.with_name(f"{self.data.name}.log")

    @property
    def environment(self) -> dict[str, str]:
        return {
            "WMS_BASE_URL": self.service.base_url,
            "WMS_API_TOKEN": self.service.sandbox.config.token,
            "WMS_DATA_DIR": str(self.data),
            "WMS_START_DATE": "2026-03-01",
            "WMS_PAGE_SIZE": "10",
            "WMS_MAX_PARALLEL_REQUESTS": str(PARALLEL),
            **self.settings,
        }

    def start(
        self, *command: str, kill: Moment | int | None = None, tell: Tell | None = None, listing: Path | None = None
    ) -> ForkServerProcess:
        """The command in a process that gets its signal at ``kill``, tells of one, or lists those that it came by.

        A number is the n-th moment of all.
        """
        arguments = (command, self.environment, self.log, kill, tell, listing)
        process = PROCESSES.Process(target=_command, args=arguments, daemon=True)
        process.start()
        return process

    def run(self, *command: str, kill: Moment | int | None = None, listing: Path | None = None) -> ForkServerProcess:
        """The same, to its end."""
        process = self.start(*command, kill=kill, listing=listing)
        process.join()
        return process

    def runs(self, *command: str, exitcodes: Sequence[int] = ENDED) -> None:
        """Run a command, which ends with one of these exit codes."""
        process = self.run(*command)
        assert process.exitcode in exitcodes, self.log.read_text()

    def lose_state(self) -> None:
        """Delete the state store."""
        for path in self.data.glob("state.db*"):
            path.unlink()

    def run_and_kill(self, *command: str, after: float, since: Moment | None = None) -> ForkServerProcess:
        """Kill it after so many seconds, of its start or of a moment, wherever it is then."""
        reached = PROCESSES.Event()
        process = self.start(*command, tell=None if since is None else Tell(since, reached))
        while since is not None and process.is_alive() and not reached.wait(0.01):
            pass
        process.join(after)
        process.kill()
        process.join()
        return process

    @property
    def store_url(self) -> str:
        return self.settings.get("WMS_STATE_URL", f"sqlite:///{self.data / 'state.db'}")

    @property
    def read_settings(self) -> Settings:
        """Its settings, to look at it from here."""
        given = {name.removeprefix("WMS_").lower(): value for name, value in self.environment.items() if "WMS" in name}
        return Settings.load(_env_file=None, **given)

    @property
    def target(self) -> Target:
        """Where its tables are."""
        return target_of(self.read_settings)

    def store(self) -> StateStore:
        return StateStore(self.store_url)

    @property
    def is_half_read(self) -> bool:
        """Whether a read was interrupted."""
        store = self.store()
        half_read = bool(store.windows("reading"))
        store.close()
        return half_read

    @property
    def asked_twice(self) -> int:
        """How many requests for pages repeated an earlier one."""
        asked = Counter(self.pages_asked())
        return sum(asked.values()) - len(asked)

    def pages_asked(self) -> list[str]:
        """Requests for pages of shipments since the log of requests was cleared."""
        return [one.query for one in self.service.sandbox.requests if asks_for_page(one.query)]

    def pushes_known(self) -> list[dict[str, Any]]:
        """The ledger of creates."""
        with PushLedger(self.store_url) as ledger:
            return [asdict(entry) for entry in ledger.all()]

    def pushes_published(self) -> list[dict[str, Any]]:
        """What analysts see of it."""
        with self.target.published() as connection:
            return records(connection.execute("from ops.push_ledger order by intended_at, kind, key"))

    def differences(self, expected: Tables) -> list[str]:
        """Where the published tables do not equal the service."""
        with self.target.published() as connection:
            return differences(connection, expected)

    def rows(self) -> Rows:
        """Every row of every published table."""
        with self.target.published() as connection:
            return rows_in(connection)

    def assert_coverage_is_true(self) -> None:
        """Each window that counts has all its pages on disk, as received, with the records that were counted."""
        if self.store_url.startswith("sqlite") and not (self.data / "state.db").exists():
            return
        store, layout = self.store(), self.read_settings.layout
        for window in store.windows("landed", "loaded"):
            if window.reason == "audit":
                continue  # a part of the ids: it covers nothing
            pages = store.pages(window.id)
            assert [page.number for page in pages] == list(range(1, window.pages + 1))
            assert pages[-1].next_cursor is None
            assert sum(page.records for page in pages) == window.records == window.count_reported, window
            assert not [reason for page in pages if (reason := damage(layout, page))]
            assert read_manifest(layout, window.id).pages == pages
        store.close()


def rows(layout: Layout) -> Rows:
    """Every row of every table of the published file."""
    with duckdb.connect(layout.published, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'")
        return rows_in(connection)


def rows_in(connection: duckdb.DuckDBPyConnection) -> Rows:
    """The same of an open database, without where and when a row was read."""
    found = connection.execute(
        "select schema_name || '.' || table_name, list(column_name order by column_index) from duckdb_columns() "
        "where not internal and schema_name not in ('ops', 'marts') and not list_contains(?, column_name) "
        "and database_name = current_database() group by all order by all",
        [list(PROVENANCE)],
    ).fetchall()
    return {
        table: connection.execute(f"select {', '.join(map(quote, names))} from {table} order by all").fetchall()
        for table, names in found
    }


def moments_of(command: Sequence[str], installation: Installation) -> list[Moment]:
    """Every name that the command comes by, the first time, and the last where it comes by again."""
    listing = installation.data.with_name(f"{installation.data.name}.moments")
    process = installation.run(*command, listing=listing)
    assert process.exitcode in ENDED, installation.log.read_text()
    counted = sorted(read_moments(listing).items())
    return [Moment(name, number) for name, times in counted for number in sorted({1, times})]


def kill_at_each(title: str, kills: Sequence[Moment], survive: Callable[[int, Moment], bool]) -> None:
    """``survive`` kills once, proves what is promised, and tells whether the command was killed before it ended."""
    died = 0
    for number, kill in enumerate(kills):
        was_killed = survive(number, kill)
        print(f"{title}: {'killed' if was_killed else 'ended before'} {kill}", flush=True)
        died += was_killed
    print(f"{title}: {died} kills by name survived", flush=True)
    # which thread comes first differs between runs, so the last time of a name may not come again
    assert died >= 0.9 * len(kills)


def kill_at_random(seed: str, within: float, attempt: Callable[[int, float], int | None]) -> float:
    """After how many seconds it was killed. What has ended by then is tried again, each time anew, with fewer."""
    chance = random.Random(seed)
    for number in itertools.count():
        after = chance.uniform(0, within)
        if attempt(number, after) == KILLED:
            break
        within = after
    return after


def wait_until(what: str, seconds: float, seen: Callable[[], bool]) -> None:
    """Poll for something that happens in another process."""
    end = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < end, f"{what} did not happen within {seconds} s"
        time.sleep(0.02)


def _command(
    command: tuple[str, ...],
    environment: dict[str, str],
    log: Path,
    kill: Moment | int | None,
    tell: Tell | None,
    listing: Path | None,
) -> None:
    enter(environment, log.parent, log, log)
    from wms_sync.cli.main import main

    moments = Moments(kill or (tell.moment if tell else None), partial(_do, kill, tell))
    if kill is not None or tell is not None or listing is not None:
        moments.watch()
    try:
        main(list(command))
    finally:
        moments.end()
        if listing is not None:
            moments.write(listing)


def _do(kill: Moment | int | None, tell: Tell | None) -> None:
    if kill is not None:
        # to this thread: another one would take a signal to the process, and this one run on meanwhile
        signal.pthread_kill(threading.get_ident(), kill.signal if isinstance(kill, Moment) else signal.SIGKILL)
    if tell is not None:
        tell.reached.set()
