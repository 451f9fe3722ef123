"""An installation and its commands, each the real command line in a process of its own that can be killed.

A kill comes at a moment by its name, at the n-th moment of all, or after some seconds.
"""

import json
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
from msgspec.structs import asdict

from tests.bench import pages_asked
from tests.oracle import Tables, differences
from tests.processes import Command, Ended
from tests.survival.moments import Moment, watched
from wms_sandbox.server import SandboxServer
from wms_sync.catalogue import quote
from wms_sync.layout import Layout
from wms_sync.settings import Settings
from wms_sync.shipments.read.raw import damage
from wms_sync.state.ledger import PushLedger
from wms_sync.state.store import StateStore
from wms_sync.targets.target import Target, target_of

PARALLEL = 2
IN_FLIGHT = 2 * PARALLEL
"""Each window under way has a page that is being landed and one that is being fetched ahead."""
ENDED = 0, 3
"""Exit codes of a command that did its work; with 3 a push names rows that were not created."""
KILLED = -9
SECONDS = 900
"""How long a command lasts at most. The machine may have other work."""
Rows = dict[str, list[tuple[object, ...]]]


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

    def start(self, *command: str, kill: Moment | int | None = None) -> Command:
        """The command in a process that gets its signal at ``kill``; a number is the n-th moment of all."""
        typed = self.data.with_suffix(".typed")  # what it prints is kept beside this
        typed.mkdir(exist_ok=True)
        return Command(command if kill is None else partial(_watched, command, kill), self.environment, typed)

    def run(self, *command: str, kill: Moment | int | None = None) -> Ended:
        """The same, to its end."""
        return self.start(*command, kill=kill).ended(SECONDS)

    def runs(self, *command: str, exitcodes: Sequence[int] = ENDED) -> Ended:
        """Run a command, which ends with one of these exit codes."""
        ended = self.run(*command)
        assert ended.returncode in exitcodes, ended.said
        return ended

    def suspended(self, moment: Moment, *command: str) -> Command:
        """The command, which has come to the moment and stands still."""
        process = self.start(*command, kill=replace(moment, signal=signal.SIGSTOP))
        status = Path(f"/proc/{process.pid}/status")
        wait_until(f"a stop at {moment}", 120, lambda: not process.is_running or "State:\tT" in status.read_text())
        assert process.is_running, process.stderr
        return process

    def lose_state(self) -> None:
        """Delete the state store."""
        for path in self.data.glob("state.db*"):
            path.unlink()

    def run_and_kill(self, *command: str, after: float, since: Moment | None = None) -> int:
        """The exit code of a command that is killed after so many seconds, of its start or of a moment."""
        process = self.start(*command) if since is None else self.suspended(since, *command)
        with process:
            process.send_signal(signal.SIGCONT)
            process.join(after)
        return process.ended().returncode

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
        return StateStore.opened(self.store_url)

    @property
    def asked_twice(self) -> int:
        """How many requests for pages of shipments repeated an earlier one since the log of requests was cleared."""
        asked = pages_asked(self.service)
        return len(asked) - len(set(asked))

    def pushes_known(self) -> list[dict[str, Any]]:
        """The ledger of creates."""
        with PushLedger.opened(self.store_url) as ledger:
            return [asdict(entry) for entry in ledger.all()]

    def differences(self, expected: Tables) -> list[str]:
        """Where the published tables do not equal the service."""
        with self.target.published() as connection:
            return differences(connection, expected)

    def rows(self) -> Rows:
        """Every row of every published table, without where and when it was read."""
        with self.target.published() as connection:
            return rows_in(connection)

    def assert_coverage_is_true(self) -> None:
        """Each window that counts has all its pages on disk, as received, with the records that were counted."""
        if self.store_url.startswith("sqlite") and not (self.data / "state.db").exists():
            return
        layout = self.read_settings.layout
        with self.store() as store:
            # an audit is of a part of the ids: it covers nothing
            for window in (found for found in store.windows("landed", "loaded") if found.reason != "audit"):
                pages = store.pages(window.id)
                assert [page.number for page in pages] == list(range(1, window.pages + 1))
                assert pages[-1].next_cursor is None
                assert sum(page.records for page in pages) == window.records == window.count_reported, window
                assert not [reason for page in pages if (reason := damage(layout, page))]


def rows(layout: Layout) -> Rows:
    """Every row of every table of the published file."""
    with duckdb.connect(layout.published, read_only=True) as connection:
        return rows_in(connection)


def rows_in(connection: duckdb.DuckDBPyConnection) -> Rows:
    """The same of an open database, without where and when a row was read."""
    found = connection.execute(
        "select schema_name || '.' || table_name, list(column_name order by column_index) from duckdb_columns() "
        "where not internal and schema_name not in ('ops', 'marts') and not list_contains(?, column_name) "
        "and database_name = current_database() group by all order by all",
        [["_window_id", "_page", "_extracted_at", "seen_at", "last_seen_at"]],
    ).fetchall()
    return {
        table: connection.execute(f"select {', '.join(map(quote, names))} from {table} order by all").fetchall()
        for table, names in found
    }


def moments_of(command: Sequence[str], installation: Installation) -> list[Moment]:
    """Every name that the command comes by, the first time, and the last where it comes by again."""
    listing = installation.data.with_suffix(".moments")
    ended = Command(
        partial(_watched, command, None, listing), installation.environment, installation.data.parent
    ).ended(SECONDS)
    assert ended.returncode in ENDED, ended.said
    counted: dict[str, int] = json.loads(listing.read_text())
    return [Moment(name, number) for name, times in sorted(counted.items()) for number in sorted({1, times})]


def ever_sooner(seed: str, within: float) -> Iterator[float]:
    """Seconds after which to kill a command; what has ended by then is tried again with fewer."""
    chance = random.Random(seed)
    while True:
        within = chance.uniform(0, within)
        yield within


def wait_until(what: str, seconds: float, seen: Callable[[], bool]) -> None:
    """Poll for something that happens in another process."""
    end = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < end, f"{what} did not happen within {seconds} s"
        time.sleep(0.02)


def _watched(command: Sequence[str], kill: Moment | int | None, listing: Path | None = None) -> None:
    from wms_sync.cli.main import main

    counted: Counter[str] = Counter()

    def look(name: str) -> None:
        counted[name] += 1
        if kill in (Moment(name, counted[name]), counted.total()):
            # to this thread: another one would take a signal to the process, and this one run on meanwhile
            signal.pthread_kill(threading.get_ident(), kill.signal if isinstance(kill, Moment) else signal.SIGKILL)

    with watched(look):
        try:
            main(list(command))
        finally:
            if listing is not None:
                listing.write_text(json.dumps(counted))
