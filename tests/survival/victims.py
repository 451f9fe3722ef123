"""Commands that are killed: what each of them finds, and what is promised after the kill."""

import csv
import shutil
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from tests.bench import CONFIG
from tests.changed_files import bloat
from tests.survival.installation import ENDED, IN_FLIGHT, PARALLEL, Installation, Rows, rows
from tests.survival.moments import Moment
from tests.unpacked import files_holding
from tests.upkeep.test_forget import MARK
from wms_sandbox.app import Sandbox
from wms_sandbox.server import SandboxServer
from wms_sync.catalogue import relations
from wms_sync.layout import backups_in
from wms_sync.master_data.apply import AHEAD_UNIQUE
from wms_sync.state.ledger import State
from wms_sync.targets.database import records

FAILED, REFUSED = 1, 2
BACKFILL = ("backfill", "--from", "2026-03-10", "--to", "2026-04-02")
PERSONAL = {"WMS_INCLUDE_ADDRESSES": "true", "WMS_PAGE_SIZE": "20", "WMS_CLOCK_TOLERANCE_SECONDS": "86400"}
"""The sandbox's clock stands still while forgets are killed, which takes minutes."""
ROWS = 60
Command = tuple[str, ...]


@dataclass(frozen=True)
class Victim(ABC):
    """A command that is killed, with the fixtures of the test. ``share`` are the moments of ``make proof``.

    A ``repeated`` one finds what it made earlier.
    """

    share: tuple[Moment, ...] = ()
    targets: tuple[str, ...] = ("file",)
    repeated: bool = False

    def begin(self, test: pytest.FixtureRequest, data: Path) -> Installation:
        """The installation that the command finds."""
        installation: Installation = test.getfixturevalue("install")(data.name)
        if self.repeated:
            installation.runs(*self.command(test, installation), exitcodes=(0,))
        return installation

    @abstractmethod
    def command(self, test: pytest.FixtureRequest, installation: Installation) -> Command:
        """What is typed."""

    @abstractmethod
    def prove(self, test: pytest.FixtureRequest, installation: Installation, number: int) -> None:
        """Assert what is promised after the ``number``-th kill."""


@dataclass(frozen=True)
class Run(Victim):
    """A run that reads or loads; ``again`` is what is run afterwards.

    The published file opens and is whole, nothing counts as covered that is not on disk, one more run succeeds, every
    table equals the service, at most the pages in flight are requested again, and analysts see the whole ledger.

    ``synced``: there was a sync before. ``bloated``: much of the file is free space. ``lost``: the state store is lost.
    A random kill comes within so many ``seconds``, of the start or of the moment ``since``.
    """

    typed: Command = ("sync",)
    again: Command = ("sync",)
    targets: tuple[str, ...] = ("file", "lake")
    synced: bool = True
    bloated: bool = False
    lost: bool = False
    since: dict[str, Moment] = field(default_factory=dict)
    seconds: float = 4.0

    def begin(self, test: pytest.FixtureRequest, data: Path) -> Installation:
        installation: Installation = test.getfixturevalue("install")(data.name, synced=self.synced)
        if self.bloated:
            bloat(installation.layout.published)
        if self.lost:
            installation.lose_state()
        installation.service.sandbox.requests.clear()
        return installation

    def command(self, test: pytest.FixtureRequest, installation: Installation) -> Command:
        return self.typed

    def prove(self, test: pytest.FixtureRequest, installation: Installation, number: int) -> None:
        expected = test.getfixturevalue("expected")
        if not installation.target.is_published:
            assert not self.synced
        elif not self.synced or installation.rows() != test.getfixturevalue("synced_once").rows():
            assert installation.differences(expected) == []
        installation.assert_coverage_is_true()
        with installation.store() as store:
            reads_again = self.again == BACKFILL and not store.windows("reading")  # its days were read
        installation.runs(*self.again)
        assert installation.differences(expected) == []
        installation.assert_coverage_is_true()
        assert reads_again or installation.asked_twice <= IN_FLIGHT
        pushes = installation.pushes_known()
        with installation.target.published() as connection:
            assert records(connection.execute("from ops.push_ledger order by intended_at, kind, key")) == pushes
        assert all(entry["seen_at"] for entry in pushes)


@dataclass(frozen=True)
class Push(Victim):
    """A push of a file of sixty rows; ``under_way`` creates may be in doubt after a kill.

    Nothing is in the service twice or without the ledger's knowledge, and what the ledger calls created is there. One
    more push brings everything in, or names as doubtful what was under way. All this holds also if the state store is
    lost, since ``creates.jsonl`` has the ledger too.
    """

    kind: str = "products"
    lines: Sequence[str] = ()
    key: str = "sku"
    under_way: int = 2 * PARALLEL

    def begin(self, test: pytest.FixtureRequest, data: Path) -> Installation:
        """A service where nothing was created yet; a doubt is settled by both clocks, so its clock is right."""
        server: SandboxServer = test.getfixturevalue("server")
        server.sandbox = Sandbox(replace(CONFIG, now=datetime.now(UTC)))
        shutil.copytree(
            test.getfixturevalue("synced_once").data, data, ignore=shutil.ignore_patterns("state.db*", "creates.jsonl")
        )
        installation = Installation(
            data, server, {"WMS_MERCHANT_USERNAME": "sandbox-merchant", "WMS_MERCHANT_API_KEY": "sandbox-api-key"}
        )
        installation.runs("restore", "--creates-are-known")
        return installation

    def command(self, test: pytest.FixtureRequest, installation: Installation) -> Command:
        path = installation.data.with_name(f"{self.kind}.csv")
        path.write_text("".join(f"{line}\n" for line in self.lines))
        return ("push", self.kind, str(path))

    def prove(self, test: pytest.FixtureRequest, installation: Installation, number: int) -> None:
        command = self.command(test, installation)
        everything = {row[self.key] for row in csv.DictReader(self.lines)}
        known = self._known(installation)
        assert (
            {key for key, state in known.items() if state is State.CREATED} <= self._made(installation) <= known.keys()
        )
        assert sum(state is State.INTENDED for state in known.values()) <= self.under_way

        if number % 2 == 0:
            installation.lose_state()
        installation.runs(*command)
        doubtful = everything - self._made(installation)
        assert {key for key, state in self._known(installation).items() if state is not State.CREATED} == doubtful
        assert len(doubtful) <= (self.under_way if self.kind == "products" else 0)
        if doubtful:
            installation.runs(*command, "--resend")
        assert self._made(installation) == everything
        assert self._known(installation) == dict.fromkeys(everything, State.CREATED)

    def _made(self, installation: Installation) -> set[str]:
        """The keys of what the service has, each once."""
        times = Counter(created[self.key] for created in getattr(installation.service.sandbox, self.kind)())
        assert set(times.values()) <= {1}
        return set(times)

    def _known(self, installation: Installation) -> dict[str, State]:
        """The ledger's states of the kind, by key."""
        return {entry["key"]: entry["state"] for entry in installation.pushes_known() if entry["kind"] == self.kind}


@dataclass(frozen=True)
class Read:
    """An installation with persons, read twice, so that orders stand in several windows; one order is forgotten.

    ``before`` and ``after`` are its rows before and after that.
    """

    first: Installation
    order: int
    before: Rows
    after: Rows


@dataclass(frozen=True)
class Forget(Victim):
    """A forget.

    The published file opens, and is as it was or as it is to be. One more forget, night or rebuild later no byte of the
    order's persons is in any file, every other row is there, what is recorded of the raw pages is what they are, and
    none was given up.
    """

    def begin(self, test: pytest.FixtureRequest, data: Path) -> Installation:
        first: Installation = test.getfixturevalue("read").first
        shutil.copytree(first.data, data)
        return replace(first, data=data)

    def command(self, test: pytest.FixtureRequest, installation: Installation) -> Command:
        return ("forget", "--yes", str(test.getfixturevalue("read").order))

    def prove(self, test: pytest.FixtureRequest, installation: Installation, number: int) -> None:
        """What comes next is another forget, a rebuild or a sync by turns."""
        read: Read = test.getfixturevalue("read")
        assert rows(installation.layout) in (read.before, read.after)
        with installation.store() as store:
            asked = store.forgotten()
        if not asked:
            assert rows(installation.layout) == read.before
            installation.runs(*self.command(test, installation))
        again = ("forget", "rebuild", "sync")[number % 3]
        installation.runs(again, exitcodes=(*ENDED, REFUSED) if again == "forget" else ENDED)  # nothing may be left
        assert files_holding(installation.data, (MARK % read.order).encode()) == set()
        assert rows(installation.layout) == read.after
        installation.assert_coverage_is_true()
        with installation.store() as store:
            assert (store.windows("abandoned"), {*store.forgotten()}) == ((), {read.order})
            assert store.forgotten(unfinished=True) == frozenset()


@dataclass(frozen=True)
class Backup(Victim):
    """A backup in place of an earlier one: each that is there is whole, and another one deletes what was left."""

    def command(self, test: pytest.FixtureRequest, installation: Installation) -> Command:
        return ("backup", "--keep", "1", str(installation.data.with_suffix(".kept")))

    def prove(self, test: pytest.FixtureRequest, installation: Installation, number: int) -> None:
        *_, folder = command = self.command(test, installation)
        assert backups_in(Path(folder))
        installation.runs("verify", folder, exitcodes=(0,))
        installation.runs("verify", exitcodes=(0,))
        installation.runs(*command, exitcodes=(0,))
        installation.runs("verify", folder, exitcodes=(0,))
        assert len(backups_in(Path(folder))) == len([*Path(folder).iterdir()]) == 1


@dataclass(frozen=True)
class Restore(Victim):
    """A restore over a data folder.

    Either the folder is as it was, or the restore has ended, or no command reads or writes until it is repeated;
    analysts have a published file at every moment.
    """

    def command(self, test: pytest.FixtureRequest, installation: Installation) -> Command:
        kept = installation.data.with_name("kept")
        if not kept.exists():
            installation.runs("backup", str(kept))
        return ("restore", str(kept), "--over", str(installation.data))

    def prove(self, test: pytest.FixtureRequest, installation: Installation, number: int) -> None:
        before = rows(test.getfixturevalue("synced_once").layout)
        assert rows(installation.layout) == before
        if installation.layout.restoring.exists():
            installation.runs("rebuild", exitcodes=(FAILED,))
            installation.runs("backup", str(installation.data.with_name("never")), exitcodes=(FAILED,))
        else:
            installation.runs("verify", exitcodes=(0,))
        installation.runs(*self.command(test, installation))
        assert not installation.layout.staged.root.exists()
        assert rows(installation.layout) == before
        installation.assert_coverage_is_true()


@dataclass(frozen=True)
class Export(Victim):
    """An export of everything over an earlier one, which is in its place, or beside it if killed between two renames,
    until the new one is."""

    def command(self, test: pytest.FixtureRequest, installation: Installation) -> Command:
        return ("export", "--all", str(installation.data.with_suffix(".export")))

    def prove(self, test: pytest.FixtureRequest, installation: Installation, number: int) -> None:
        _, _, folder = command = self.command(test, installation)
        earlier = Path(folder).parent.glob(".wms-sync-export-*.earlier")
        self._assert_whole(Path(folder) if Path(folder).exists() else next(earlier))
        installation.runs(*command, exitcodes=(0,))
        self._assert_whole(Path(folder))

    def _assert_whole(self, folder: Path) -> None:
        slugs = {relation.slug for relation in relations() if not relation.slug.startswith("pii")}
        assert {path.name for path in folder.iterdir()} == {f"{slug}.parquet" for slug in slugs}
        for path in folder.iterdir():
            duckdb.sql(f"select count(*) from read_parquet('{path}')").fetchone()


RECORD = "WindowReader._land > StateStore.record_page > StatePart._execute > Guarded._transaction: before commit"
INTEND = "Push._intend > PushLedger.record > StatePart._put > Guarded._transaction: before commit"
RUNS = {
    "first sync": Run((Moment(RECORD, 8),), synced=False),
    "night": Run(),
    "backfill": Run(typed=BACKFILL, again=BACKFILL),
    "rebuild": Run(
        (Moment("Refresh._load > FileLoad.publish > Lease.put_in_place > put_in_place: before replace"),),
        typed=("rebuild",),
    ),
    "compaction": Run(targets=("file",), bloated=True),
    "night without its state store": Run(
        (Moment("recover_state > _recover_state > Snapshots.put_back > Guarded._transaction: before commit"),),
        targets=("file",),
        lost=True,
    ),
    "maintenance": Run(typed=("maintain",), targets=("lake",)),
}
PUBLISHING = Run(
    since={
        "file": Moment("refresh > Refresh.run > Refresh._load > FileTarget.load: before sendfile"),
        "lake": Moment("refresh > Refresh.run > Refresh._load > LakeLoad.publish: before commit"),
    },
    seconds=0.1,
)
"""A part of each run, so it is killed only at random."""
VICTIMS = {
    **RUNS,
    "push of retailers": Push(
        (Moment(INTEND, 3),),
        kind="retailers",
        lines=(
            "code,name,parent_retailer_code",
            *(f"R{at},Name {at},{f'R{at // 10}' if at >= 10 else ''}" for at in range(ROWS)),
        ),
        key="code",
        under_way=AHEAD_UNIQUE,
    ),
    "push of products": Push(
        (Moment("Connection.send > Connection._once > Connection._answered > TimedClient.send: after send", 40),),
        lines=("type,sku,name", *(f"Product,P{at},Name {at}" for at in range(ROWS))),
    ),
    "forget": Forget(  # what is recorded of a page is not yet what it is
        (Moment("_clean_page > StateStore.rewrite_page > StatePart._execute > Guarded._transaction: after commit"),)
    ),
    "backup": Backup(
        (Moment("backup > _attempt: before rename", 1), Moment("backup > _attempt: after rename", 2)), repeated=True
    ),
    "export": Export((Moment("export_all > put_in_place: before replace"),), repeated=True),
    "restore": Restore((Moment("restore > _swap > _replace_files: before rename", 2),)),
}
