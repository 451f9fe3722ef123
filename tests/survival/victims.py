"""Commands that are killed: what each of them finds, and what is promised after the kill."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from tests.changed_files import bloat
from tests.conftest import CONFIG
from tests.survival.installation import ENDED, IN_FLIGHT, PARALLEL, Installation, rows
from tests.survival.moments import Moment
from tests.unpacked import files_holding
from tests.upkeep.test_forget import MARK
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.master_data.apply import AHEAD_UNIQUE
from wms_sync.state.ledger import State
from wms_sync.upkeep.backups import Backups

FAILED, REFUSED, REJECTED = 1, 2, 3
BACKFILL = ("backfill", "--from", "2026-03-10", "--to", "2026-04-02")
COPIED = Moment("refresh > Refresh.run > FileTarget.load > FileTarget._copy_to: before sendfile")
PUBLISHED_LAKE = Moment("Operation._load > refresh > Refresh.run > LakeLoad.publish: before commit")
PERSONAL = {"WMS_INCLUDE_ADDRESSES": "true", "WMS_PAGE_SIZE": "20", "WMS_CLOCK_TOLERANCE_SECONDS": "86400"}
"""The sandbox's clock stands still while forgets are killed, which takes minutes."""
MERCHANT = {"WMS_MERCHANT_USERNAME": "sandbox-merchant", "WMS_MERCHANT_API_KEY": "sandbox-api-key"}
BAD = "bad"
"""The row that is rejected has no name."""
ROWS = 60
Command = tuple[str, ...]


@dataclass(frozen=True)
class Stage:
    """Where a command is killed; a fixture is made when a victim first asks for it."""

    fixture: Callable[[str], Any]
    folder: Path


@dataclass(frozen=True)
class Victim:
    """A command that is killed. ``share`` are the moments of ``make proof``."""

    share: tuple[Moment, ...] = ()
    targets: tuple[str, ...] = ("file",)

    def begin(self, stage: Stage, name: str) -> Installation:
        """The installation that the command finds."""
        installation: Installation = stage.fixture("install")(name)
        return installation

    def command(self, stage: Stage, installation: Installation) -> Command:
        raise NotImplementedError

    def prove(self, stage: Stage, installation: Installation, number: int) -> None:
        """Assert what is promised after the ``number``-th kill."""
        raise NotImplementedError


@dataclass(frozen=True)
class Run(Victim):
    """A run that reads or loads; ``again`` is what is run afterwards.

    The published file opens and is whole, nothing counts as covered that is not on disk, one more run succeeds, every
    table equals the service, at most the pages in flight are requested again, and analysts see the whole ledger.

    ``synced``: there was a sync before. ``bloated``: much of the file is free space. A random kill comes within so
    many ``seconds``, of the start or of the moment ``since``.
    """

    typed: Command = ("sync",)
    again: Command = ("sync",)
    targets: tuple[str, ...] = ("file", "lake")
    synced: bool = True
    bloated: bool = False
    since: dict[str, Moment] = field(default_factory=dict)
    seconds: float = 4.0

    def begin(self, stage: Stage, name: str) -> Installation:
        installation: Installation = stage.fixture("install")(name, synced=self.synced)
        if self.bloated:
            bloat(installation.layout.published)
        installation.service.sandbox.requests.clear()
        return installation

    def command(self, stage: Stage, installation: Installation) -> Command:
        return self.typed

    def prove(self, stage: Stage, installation: Installation, number: int) -> None:
        expected = stage.fixture("expected")
        if installation.target.is_published:
            is_the_old_one = self.synced and installation.rows() == stage.fixture("synced_once").rows()
            assert is_the_old_one or installation.differences(expected) == []
        else:
            assert not self.synced
        installation.assert_coverage_is_true()
        reads_again = self.again == BACKFILL and not installation.is_half_read  # its days were read, and it asks again
        installation.runs(*self.again)
        assert installation.differences(expected) == []
        installation.assert_coverage_is_true()
        assert reads_again or installation.asked_twice <= IN_FLIGHT
        pushes = installation.pushes_known()
        assert installation.pushes_published() == pushes
        assert all(entry["seen_at"] for entry in pushes)


@dataclass(frozen=True)
class Push(Victim):
    """A push of a file of sixty good rows and a bad one; ``under_way`` creates may be in doubt after a kill.

    Nothing is in the service twice or without the ledger's knowledge, and what the ledger calls created is there. One
    more push brings everything in, or names as doubtful what was under way, and writes the rejected rows. The published
    file is not touched. Of products all this holds also if the state store is lost, since ``creates.jsonl`` has what
    the published file does not know yet.
    """

    kind: str = "products"
    lines: Sequence[str] = ()
    key: str = "sku"
    under_way: int = 2 * PARALLEL

    def begin(self, stage: Stage, name: str) -> Installation:
        """A service where nothing was created yet; a doubt is settled by both clocks, so its clock is right."""
        server: SandboxServer = stage.fixture("server")
        server.sandbox = Sandbox(replace(CONFIG, now=datetime.now(UTC)))
        shutil.copytree(stage.fixture("template"), stage.folder / name)
        installation = Installation(stage.folder / name, server, MERCHANT)
        installation.lose_state()
        return installation

    def command(self, stage: Stage, installation: Installation) -> Command:
        path = stage.folder / f"{self.kind}.csv"
        path.write_text("".join(f"{line}\n" for line in self.lines))
        return ("push", self.kind, str(path))

    def prove(self, stage: Stage, installation: Installation, number: int) -> None:
        command = self.command(stage, installation)
        published = stage.fixture("synced_once").layout.published.read_bytes()
        everything = {row[self.key] for row in csv.DictReader(self.lines)} - {BAD, ""}
        known = self._known(installation)
        created = {key for key, state in known.items() if state is State.CREATED}
        assert created <= self._made(installation) <= known.keys()
        assert sum(state is State.INTENDED for state in known.values()) <= self.under_way

        if self.kind == "products" and number % 2 == 0:
            installation.lose_state()
        installation.runs(*command, exitcodes=(REJECTED,))
        doubtful = everything - self._made(installation)
        unsettled = {key for key, state in self._known(installation).items() if state is not State.CREATED}
        assert unsettled == doubtful
        assert len(doubtful) <= (self.under_way if self.kind == "products" else 0)
        if doubtful:
            installation.runs(*command, "--resend", exitcodes=(REJECTED,))
        sent = creates_sent(installation)
        installation.runs(*command, exitcodes=(REJECTED,))
        assert creates_sent(installation) == sent
        assert self._made(installation) == everything
        assert self._known(installation) == dict.fromkeys(everything, State.CREATED)
        rejects = [path.read_text().splitlines() for path in installation.layout.rejects.glob("*.csv")]
        assert rejects
        assert all(len(lines) == 2 and BAD in lines[1] for lines in rejects)
        assert installation.layout.published.read_bytes() == published

    def _made(self, installation: Installation) -> set[str]:
        """The keys of what the service has, each once."""
        times = Counter(created[self.key] for created in getattr(installation.service.sandbox, self.kind)())
        assert set(times.values()) <= {1}
        return set(times)

    def _known(self, installation: Installation) -> dict[str, State]:
        """The ledger's states of the kind, by key."""
        return {entry["key"]: entry["state"] for entry in installation.pushes_known() if entry["kind"] == self.kind}


def creates_sent(installation: Installation) -> int:
    return sum(one.method == "POST" and "/v1/" in one.path for one in installation.service.sandbox.requests)


@dataclass(frozen=True)
class Read:
    """An installation with persons, read twice, so that orders stand in several windows; one order is forgotten."""

    data: Path
    service: SandboxServer
    order: int

    def copy(self, data: Path) -> Installation:
        shutil.copytree(self.data, data)
        return Installation(data, self.service, PERSONAL)

    @cached_property
    def rows(self) -> tuple[Any, Any]:
        """The rows before the order is forgotten and after it."""
        whole = self.copy(self.data.with_name("whole"))
        before = rows(whole.layout)
        whole.runs("forget", "--yes", str(self.order))
        assert self.holding(whole) == set()
        return before, rows(whole.layout)

    def holding(self, installation: Installation) -> set[str]:
        """The files that hold what is personal of the order."""
        return files_holding(installation.data, (MARK % self.order).encode())


@dataclass(frozen=True)
class Forget(Victim):
    """A forget.

    The published file opens, and is as it was or as it is to be. One more forget, night or rebuild later no byte of the
    order's persons is in any file, every other row is there, what is recorded of the raw pages is what they are, and
    none was given up.
    """

    def begin(self, stage: Stage, name: str) -> Installation:
        read: Read = stage.fixture("read")
        return read.copy(stage.folder / name)

    def command(self, stage: Stage, installation: Installation) -> Command:
        return ("forget", "--yes", str(stage.fixture("read").order))

    def prove(self, stage: Stage, installation: Installation, number: int) -> None:
        """What comes next is another forget, a rebuild or a sync by turns."""
        read: Read = stage.fixture("read")
        before, after = read.rows
        assert rows(installation.layout) in (before, after)
        if not known_to_forget(installation):
            assert rows(installation.layout) == before
            installation.runs(*self.command(stage, installation))
        again = ("forget", "rebuild", "sync")[number % 3]
        installation.runs(again, exitcodes=(*ENDED, REFUSED) if again == "forget" else ENDED)  # nothing may be left
        assert known_to_forget(installation) == {read.order}
        assert read.holding(installation) == set()
        assert rows(installation.layout) == after
        installation.assert_coverage_is_true()
        with installation.store() as store:
            assert store.windows("abandoned") == ()
            assert store.forgotten(unfinished=True) == frozenset()


def known_to_forget(installation: Installation) -> frozenset[int]:
    """The orders that were asked to be forgotten."""
    if not installation.layout.state.exists():
        return frozenset()
    with installation.store() as store:
        return store.forgotten()


@dataclass(frozen=True)
class Backup(Victim):
    """A backup: each that has a record is whole, and another one deletes what was left."""

    def command(self, stage: Stage, installation: Installation) -> Command:
        return ("backup", str(installation.data.with_suffix(".kept")))

    def prove(self, stage: Stage, installation: Installation, number: int) -> None:
        _, folder = command = self.command(stage, installation)
        kept = Backups.at(Path(folder))
        if kept.layout.backups():
            installation.runs("verify", folder, exitcodes=(0,))
        installation.runs(*command, exitcodes=(0,))
        installation.runs("verify", folder, exitcodes=(0,))
        assert kept.layout.unfinished() == []


@dataclass(frozen=True)
class Restore(Victim):
    """A restore over a data folder.

    Either the folder is as it was, or the restore has ended, or no command reads or writes until it is repeated;
    analysts have a published file at every moment.
    """

    def command(self, stage: Stage, installation: Installation) -> Command:
        kept = stage.folder / "kept"
        if not kept.exists():
            installation.runs("backup", str(kept))
        return ("restore", str(kept), "--over", str(installation.data))

    def prove(self, stage: Stage, installation: Installation, number: int) -> None:
        before = rows(stage.fixture("synced_once").layout)
        assert rows(installation.layout) == before
        if installation.layout.restoring.exists():
            installation.runs("rebuild", exitcodes=(FAILED,))
            installation.runs("backup", str(stage.folder / "never"), exitcodes=(FAILED,))
        else:
            installation.runs("verify", exitcodes=(0,))
        installation.runs(*self.command(stage, installation))
        assert not installation.layout.staged.root.exists()
        assert rows(installation.layout) == before
        installation.assert_coverage_is_true()


RECORD = "WindowReader._read_on > WindowReader._land > StateStore.record_page > Guarded._transaction: before commit"
INTEND = "Push._top_up > Push._intend > PushLedger.record > Guarded._transaction: before commit"
SEND = "Connection.send > Connection._once > Connection._answered > Lane.send: after send"
REWRITE = "_clean_pages > _clean_page > StateStore.rewrite_page > Guarded._transaction: after commit"
PUBLISH = "Refresh.run > FileLoad.publish > Turn.put_in_place > put_in_place: before replace"
RETAILERS = (
    "code,name,parent_retailer_code",
    *(f"R{at},Name {at},{f'R{at // 10}' if at >= 10 else ''}" for at in range(ROWS)),
    f"{BAD},,",
)
PRODUCTS = ("type,sku,name", *(f"Product,P{at},Name {at}" for at in range(ROWS)), f"Product,{BAD},")
RUNS = {
    "first sync": Run((Moment(RECORD, 8),), synced=False),
    "night": Run(),
    "backfill": Run(typed=BACKFILL, again=BACKFILL),
    "rebuild": Run((Moment(PUBLISH),), typed=("rebuild",)),
    "compaction": Run(targets=("file",), bloated=True),
    "maintenance": Run(typed=("maintain",), targets=("lake",)),
}
PUBLISHING = Run(since={"file": COPIED, "lake": PUBLISHED_LAKE}, seconds=0.1)
"""A part of each run, so it is killed only at random."""
VICTIMS = {
    **RUNS,
    "push of retailers": Push(
        (Moment(INTEND, 3),), kind="retailers", lines=RETAILERS, key="code", under_way=AHEAD_UNIQUE
    ),
    "push of products": Push((Moment(SEND, 40),), lines=PRODUCTS),
    "forget": Forget((Moment(REWRITE),)),
    "backup": Backup((Moment("backup > write_whole > put_in_place: before replace", 2),)),
    "restore": Restore((Moment("restore > _swap > _replace_files: before rename", 2),)),
}
"""``REWRITE``: what is recorded of a page is not yet what it is."""
