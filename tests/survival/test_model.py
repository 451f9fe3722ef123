"""Random sequences of all that happens to a service and to an installation, against a model of what the tables hold.

The model is small: which records the tables may have in another way than the service, since nothing tells of it before
an audit or a backfill comes by (a change without ``updated_at``, one stamped by a clock that was set back unseen, an
odd value that was corrected without a sign, what was deleted). After each sync that ends every other row must equal the
service. In the end an audit has gone over everything: then every table equals it, nothing personal of a forgotten order
is left, and (after every third sequence, under ``--soak`` after each) a rebuild makes the same tables.
"""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.types import Message, Receive, Scope, Send

from tests.beginnings import BEGINNINGS, alike
from tests.conftest import CONFIG, NOW
from tests.lakes import Lakes
from tests.oracle import SHARED, Tables, differences, expected_tables
from tests.shipments.audit.test_audit import LONG_AGO, store
from tests.survival import commands
from tests.survival.commands import Command
from tests.survival.counts import SEQUENCES
from wms_sandbox.advance import Advance
from wms_sandbox.app import Sandbox
from wms_sandbox.clock import as_datetime
from wms_sandbox.server import SandboxServer
from wms_sandbox.slots import order_id
from wms_sync.errors import WmsSyncError
from wms_sync.json_values import LARGEST_ID
from wms_sync.layout import LAKE_OWNER, Layout
from wms_sync.settings import Settings
from wms_sync.targets.errors import REBUILT_IF_LOST, LakeReplaced
from wms_sync.targets.target import Opened, target_of

STEPS = 8
REBUILT = 3
TRIES = 3
"""After damage a run may end with an error that says what it asks for anew; the next ones mend it."""
LATEST = 240
SMALL = replace(CONFIG, shipments=40, families=20)
FAR_FUTURE = 32_472_144_000_000
PERSONS_OF = """
select order_id from pii.order_addresses where order_id in (select unnest($orders::bigint[]))
union all
select id from main.orders where id in (select unnest($orders::bigint[]))
and coalesce(ship_to_country, ship_to_region, ship_to_classification) is not null
"""
WHERE_IT_WENT = re.compile(r"orders \((?P<order>\d+),\) ship_to_\w+: None instead of ")
IF_THERE = "do $$ begin if to_regclass('{}') is not null then {}; end if; end $$"
BY_OTHER_KEYS = {*SHARED, "galleries", "gallery_items"}
OWN_CLOCK = {
    "windows": ("started_at", "landed_at", "loaded_at"),
    "audits": ("read_at",),
    "forgotten_orders": ("asked_at", "done_at"),
}
ODD_VALUES: Mapping[str, tuple[Any, ...]] = {
    "packed_at": ("2026-01-01T00:00:00 EST", "infinity", 12, {}, "yesterday"),
    "carrier_shipping_cost": ("12 EUR", "1_000", [], "NaN"),
    "target_ship_date": ("2026-02-30", "epoch", 5),
    "is_international": ("perhaps", 2),
    "item_weight": ("heavy", {"value": "much", "unit": 3}),
    "packages": ("none", [None, 5]),
}


class World:
    """The service, the installation and the model; the steps are the methods of ``STEPS_BY_WEIGHT``."""

    def __init__(self, seed: int, server: SandboxServer, folder: Path, lakes: Lakes | None = None) -> None:
        self.chance = random.Random(seed)
        self.server = server
        self.sandbox = server.sandbox = Sandbox(SMALL)
        self.layout = Layout(folder / "data")
        self.copy = folder / "state-copy.db"
        self.values: dict[str, Any] = {
            "base_url": server.base_url,
            "api_token": SMALL.token,
            "data_dir": self.layout.root,
            "start_date": (NOW - timedelta(days=40)).date(),
            "page_size": 10,
            "overlap_seconds": LATEST + 60,
            "include_addresses": True,
            "max_parallel_requests": 2,
            "audit_pages": 2,
        }
        self.lakes = lakes
        self.copied: str | None = None
        if lakes is not None:
            self.values |= {"analytics": "ducklake", "state_url": lakes.new()}
        self.unsure: set[int] = set()
        self.deleted: set[int] = set()
        self.forgotten: set[int] = set()
        self.told: list[str] = []
        self._asked: tuple[object, Tables] = (None, {})

    # --- what happens to the service ---

    def time_passes(self) -> None:
        self._advance(self.chance.uniform(60, 7200), late=0)

    def commits_late(self) -> None:
        """Behind what was read last, within the overlap."""
        self._advance(5, late=self.chance.uniform(5, LATEST))

    def changes_silently(self) -> None:
        """Shipments or orders, without ``updated_at``."""
        with store(self) as held:
            shipments, of_orders = self._some(3), self._some(2)
            held.step[shipments] += 1
            held.order_step[held.order_first[of_orders]] += 1
            self._doubt([*shipments, *of_orders])

    def moves_back(self) -> None:
        """Some go back in time with another content, as after a restore; one has been said to be of the year 2999."""
        with store(self) as held:
            back, ahead = self._some(2), self._some(1)
            for index in back:
                held.updated[index] -= self.chance.randrange(1000, 10 * 86_400_000, 1000)
                held.step[index] += 1
            held.updated[ahead] = FAR_FUTURE
            self._doubt([*back, *ahead])

    def comes_from_the_future(self) -> None:
        """What was of the year 2999 is of now."""
        with store(self) as held:
            held.updated[held.updated == FAR_FUTURE] = self.sandbox.clock.now() // 1000 * 1000

    def deletes(self) -> None:
        gone = [int(self.sandbox._store.ids[index]) for index in self._some(1)]
        self.sandbox.delete_shipments(gone)
        self.deleted.update(gone)

    def sets_its_clock_back(self) -> None:
        """A sync at once notices; what is changed before one does may be stamped where nobody looks again."""
        self.sandbox.clock.advance(-self.chance.randrange(1000, 3_600_000, 1000))
        if self.chance.random() < 0.5:
            self.syncs()
        else:
            done = self._advance(self.chance.uniform(1, 600), late=0)
            self._doubt(self._indexes({*done.changed, *done.new, *done.order_shipments}))
            self.syncs()

    def answers_with_a_wrong_clock(self) -> None:
        """One sync during which some answers are hours or a year off."""
        off = timedelta(seconds=self.chance.choice((-86_400 * 365, -10_800, 10_800, 86_400 * 365)))
        self.server.sandbox = _Dated(self.sandbox, self.chance.choice((1, 1, 3)), off)  # type: ignore[assignment]
        self._attempt(commands.sync)
        self.server.sandbox = self.sandbox
        self.syncs()

    def sends_an_odd_value(self) -> None:
        """For one sync; then it is as it should be, without a sign."""
        index, (key, values) = self._some(1)[0], self.chance.choice(list(ODD_VALUES.items()))
        odd, where = self.chance.choice(values), int(self.sandbox._store.ids[index])

        def rewrite(envelope: dict[str, Any]) -> dict[str, Any]:
            for one in envelope["collection"]:
                if one["id"] == where:
                    one[key] = odd
            return envelope

        with store(self) as held:
            held.updated[index] = max(self.sandbox.clock.now() // 1000 * 1000 - 3000, int(held.updated[index]) + 1)
        self.sandbox.rewrite = rewrite
        self._attempt(commands.sync)
        self.sandbox.rewrite = None
        self._doubt([index])

    # --- what an operator does ---

    def begins(self) -> None:
        """With a first sync: every sequence with the same, which is made and looked at once."""
        if self.lakes is not None:
            self.syncs()
            return

        def make(folder: Path) -> None:
            self.syncs()
            shutil.copytree(self.layout.root, folder)

        made, _ = BEGINNINGS.made(alike(self.server, Settings.load(_env_file=None, **self.values)), make)
        shutil.copytree(made, self.layout.root, dirs_exist_ok=True)

    def syncs(self) -> None:
        self._until_it_ends(commands.sync)
        self.assert_equal_where_sure()

    def audits(self) -> None:
        self._make_the_audit_due()
        self.syncs()

    def backfills(self) -> None:
        self._until_it_ends(self._backfill())

    def rebuilds(self) -> None:
        self._until_it_ends(commands.rebuild, otherwise=commands.sync)

    def forgets(self) -> None:
        order = self._order_of(self._some(1)[0])
        self.forgotten.add(order)
        self._until_it_ends(partial(commands.forget, order=order))

    def is_killed(self) -> None:
        """Anything, anywhere; what was asked to be forgotten may not have been noted yet, so it is asked again."""
        order = self._order_of(self._some(1)[0])
        command: Command = self.chance.choice(
            (commands.sync, commands.sync, self._backfill(), commands.rebuild, partial(commands.forget, order=order))
        )
        commands.run_and_kill(self.values, command, self.chance.randrange(1, 150))
        if isinstance(command, partial) and command.func is commands.forget:
            self.forgotten.add(order)
            self._until_it_ends(command)

    # --- what happens to the installation ---

    def loses_the_state_store(self) -> None:
        """And with it the catalogue of a lake, which is in the same database."""
        if self.lakes is not None:
            self.lakes.replace(self.values["state_url"], None)
            return
        (self.layout.root / "state.db").unlink(missing_ok=True)

    def gets_an_old_state_store_back(self) -> None:
        """Or, where there is no copy yet, one is made."""
        if self.lakes is not None:
            if self.copied is None:
                self.copied = self.lakes.copy(self.values["state_url"])
            else:
                self.lakes.replace(self.values["state_url"], self.copied)
                self.copied = None
            return
        if self.copy.exists():
            shutil.copyfile(self.copy, self.layout.root / "state.db")
            self.copy.unlink()
        elif (self.layout.root / "state.db").exists():
            shutil.copyfile(self.layout.root / "state.db", self.copy)

    def loses_the_published_file(self) -> None:
        """Or the schema of the lake's catalogue."""
        if self.lakes is not None:
            self.lakes.execute(self.values["state_url"], "drop schema if exists lake cascade")
            return
        self.layout.published.unlink(missing_ok=True)

    def has_a_damaged_page(self) -> None:
        pages = sorted(self.layout.raw.glob("*/page-*"))
        if pages:
            page = self.chance.choice(pages)
            content = page.read_bytes()
            page.chmod(0o600)
            page.write_bytes(self.chance.choice((content[: len(content) // 2], b"", bytes(reversed(content)))))

    def sets_its_own_clock(self) -> None:
        """This machine's clock is set: what it has noted moves the other way."""
        by = f"{self.chance.choice((-1, 1)) * self.chance.randrange(60, 90_000)} seconds"
        moved = "strftime('%Y-%m-%d %H:%M:%f000', {}, '{}')" if self.lakes is None else "{} + interval '{}'"
        self._in_state_store(
            *(
                f"update {table} set {column} = {moved.format(column, by)}"
                for table, columns in OWN_CLOCK.items()
                for column in columns
            )
        )

    # --- what must be true ---

    def settle(self) -> None:
        """The service rests; a sync and an audit of everything come by."""
        self.sandbox.advance(seconds=LATEST + 60)
        self.syncs()
        self.values["audit_pages"] = 1000
        self._begin_a_round()
        self._until_it_ends(commands.sync)

    def assert_equal_where_sure(self) -> None:
        unsure = self.unsure | self._of(self._not_settled())
        found = [one for one in self.found() if not _speaks_of(unsure, one)]
        assert not found, self.story(found)

    def assert_equal(self) -> None:
        found = self.found()
        assert not found, self.story(found)
        with self._published() as connection:
            marked = connection.execute("select id from main.shipments where _missing_since is not null").fetchall()
            stored = connection.execute("select id from main.shipments").fetchall()
            left = connection.execute(PERSONS_OF, {"orders": list(self.forgotten)}).fetchall()
        assert {one for (one,) in marked} == {one for (one,) in stored} & self.deleted, self.story([])
        assert left == [], self.story([])

    def found(self) -> list[str]:
        """Where the published tables do not equal the service."""
        orders = {self._order_of(index) for index in self._indexes(self.deleted)}
        with self._published() as connection:
            found = differences(connection, self._expected(), self.deleted | orders)
        return [one for one in found if not self._was_forgotten(one)]

    def _was_forgotten(self, difference: str) -> bool:
        """Whether it is that a forgotten order does not say any more where it went."""
        named = WHERE_IT_WENT.match(difference)
        return named is not None and int(named["order"]) in self.forgotten

    def story(self, found: list[str]) -> str:
        return f"{len(found)} differences, such as {sorted(set(found))[:8]}, after: {', '.join(self.told)}"

    def take(self, step: Callable[[World], None]) -> None:
        self.told.append(step.__name__)
        step(self)

    # --- how ---

    def _published(self) -> Opened:
        return target_of(Settings.load(_env_file=None, **self.values)).published()

    def _expected(self) -> Tables:
        """What every table must hold; asked for again when the service has changed."""
        moment = self.sandbox._store.version, self.sandbox.clock.now()
        if self._asked[0] != moment:
            self._asked = moment, expected_tables(self.server)
        return self._asked[1]

    def _not_settled(self) -> list[int]:
        """Stamped with a moment that the service's clock, which may have been set back, is not yet past."""
        return np.nonzero(self.sandbox._store.updated > self.sandbox.clock.now() - 5000)[0].tolist()

    def _advance(self, seconds: float, *, late: float) -> Advance:
        return self.sandbox.advance(
            seconds=seconds,
            changed=self.chance.randrange(6),
            new=self.chance.randrange(3),
            packages_added=1,
            packages_removed=1,
            orders=self.chance.randrange(3),
            late=late,
        )

    def _doubt(self, indexes: list[int]) -> None:
        self.unsure |= self._of(indexes)

    def _of(self, indexes: list[int]) -> set[int]:
        """The ids of these shipments, and of their orders."""
        return {int(self.sandbox._store.ids[index]) for index in indexes} | {self._order_of(one) for one in indexes}

    def _some(self, most: int) -> list[int]:
        living = self.sandbox._store.living().tolist()
        return self.chance.sample(living, self.chance.randint(1, most))

    def _indexes(self, ids: set[int]) -> list[int]:
        return [index for index, one in enumerate(self.sandbox._store.ids.tolist()) if one in ids]

    def _order_of(self, index: int) -> int:
        return int(order_id(self.sandbox._store.order_first[[index]].astype(int))[0])

    def _backfill(self) -> Command:
        start = datetime.combine(self.values["start_date"], time(), UTC) + timedelta(days=self.chance.randrange(1, 40))
        return partial(commands.backfill, start=start, end=start + timedelta(days=self.chance.randrange(1, 10)))

    def _make_the_audit_due(self) -> None:
        ago = f"datetime('now', '-{LONG_AGO.days} days') || '.000000'"
        if self.lakes is not None:
            ago = f"now() at time zone 'UTC' - interval '{LONG_AGO.days} days'"
        self._in_state_store(f"update audits set read_at = {ago}")

    def _begin_a_round(self) -> None:
        """The next slice begins with the first shipment, and everything fits into it."""
        self._in_state_store(f"update audits set to_id = {LARGEST_ID}")
        self._make_the_audit_due()

    def _in_state_store(self, *statements: str) -> None:
        if self.lakes is not None:
            for statement in statements:
                table = statement.split()[1]
                self.lakes.execute(self.values["state_url"], IF_THERE.format(table, statement))
            return
        path = self.layout.root / "state.db"
        if not path.exists():
            return
        connection = sqlite3.connect(path)
        with connection:
            for statement in statements:
                connection.execute(statement)
        connection.close()

    def _attempt(self, command: Command) -> WmsSyncError | None:
        try:
            commands.run(self.values, command)
        except WmsSyncError as error:
            return error
        return None

    def _until_it_ends(self, command: Command, otherwise: Command | None = None) -> None:
        for _ in range(TRIES):
            error = self._attempt(command)
            if error is None:
                return
            if isinstance(error, LakeReplaced):  # by a lake that was made since the copy: it says what to do
                (self.layout.root / LAKE_OWNER).unlink()
            if isinstance(error, LakeReplaced) or REBUILT_IF_LOST in str(error):
                self._attempt(commands.rebuild)  # the latter: by a forget or maintenance since the copy
            if otherwise is not None:
                self._attempt(otherwise)
        raise AssertionError(self.story([f"{type(error).__name__}: {error}"])) from error


def _speaks_of(unsure: set[int], difference: str) -> bool:
    named = re.match(r"(\w+) \((\d+)", difference)
    assert named is not None, difference
    table, key = named.groups()
    return int(key) in unsure or (table in BY_OTHER_KEYS and bool(unsure))


class _Dated:
    """The service; every n-th answer has a ``Date`` that is off."""

    def __init__(self, app: Sandbox, every: int, off: timedelta) -> None:
        self._app, self._every, self._off, self._answers = app, every, off, 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._answers += 1
        wrong = self._answers % self._every == 0

        async def dated(message: Message) -> None:
            if wrong and message["type"] == "http.response.start":
                said = format_datetime(as_datetime(self._app.clock.now()) + self._off, usegmt=True).encode()
                message["headers"] = [(k, said if k.lower() == b"date" else v) for k, v in message["headers"]]
            await send(message)

        await self._app(scope, receive, dated)


STEPS_BY_WEIGHT: Mapping[Callable[[World], None], int] = {
    World.time_passes: 4,
    World.commits_late: 2,
    World.changes_silently: 2,
    World.moves_back: 1,
    World.comes_from_the_future: 1,
    World.deletes: 1,
    World.sets_its_clock_back: 1,
    World.answers_with_a_wrong_clock: 1,
    World.sends_an_odd_value: 2,
    World.syncs: 4,
    World.audits: 1,
    World.backfills: 2,
    World.rebuilds: 1,
    World.forgets: 1,
    World.is_killed: 5,
    World.loses_the_state_store: 1,
    World.gets_an_old_state_store_back: 2,
    World.loses_the_published_file: 1,
    World.has_a_damaged_page: 2,
    World.sets_its_own_clock: 1,
}


@pytest.mark.targets("file", "lake")
@pytest.mark.seeds(SEQUENCES)
def test_in_the_end_every_table_equals_the_service(seed, server, tmp_path, lakes, request):
    world = World(seed, server, tmp_path, lakes)
    world.take(World.begins)
    for step in world.chance.choices(list(STEPS_BY_WEIGHT), list(STEPS_BY_WEIGHT.values()), k=STEPS):
        world.take(step)
    world.settle()
    world.assert_equal()
    if seed % REBUILT == 1 or request.config.getoption("--soak"):
        world.take(World.rebuilds)
        world.assert_equal()
    print(f"seed {seed}: {', '.join(world.told)}")
