"""A service, an installation of it, and a small model of what the published tables must hold.

The installation is driven as an operator does: by commands, by files that are lost or damaged, and by what a failed
command says. Nothing here knows how the product works.
"""

import random
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from starlette.requests import Request

from tests.bench import CONFIG, NOW
from tests.lakes import Lakes, on_lake
from tests.oracle import SHARED, differences, expected_tables
from tests.processes import Ended
from tests.services import data_of
from tests.survival.installation import ENDED, KILLED, Installation, Rows
from wms_sandbox.advance import Advance
from wms_sandbox.app import Sandbox
from wms_sandbox.slots import order_id

SMALL = replace(CONFIG, shipments=40, families=20)
LATEST = 240
START = (NOW - timedelta(days=40)).date()
SETTINGS = {
    "WMS_START_DATE": START.isoformat(),
    "WMS_OVERLAP_SECONDS": str(LATEST + 60),
    "WMS_INCLUDE_ADDRESSES": "true",
    "WMS_AUDIT_PAGES": "0",
}
TRIES = 3
"""After damage a command may fail with what to do; the next ones mend it."""
MOMENTS = 150
"""A killed command dies at one of so many, or ends before."""
FAR_FUTURE = 32_472_144_000_000
PERSONS_OF = """
select order_id from pii.order_addresses where order_id in (select unnest($orders::bigint[]))
union all
select id from main.orders where id in (select unnest($orders::bigint[]))
and coalesce(ship_to_country, ship_to_region, ship_to_classification) is not null
"""
WRONGLY_MARKED = """
select id from main.shipments where (_missing_since is not null) <> (id in (select unnest($deleted::bigint[])))
"""
BY_OTHER_KEYS = {*SHARED, "retailer_ship_to_contacts", "galleries", "gallery_items"}
ODD_VALUES: Mapping[str, tuple[Any, ...]] = {
    "packed_at": ("2026-01-01T00:00:00 EST", "infinity", 12, {}, "yesterday"),
    "carrier_shipping_cost": ("12 EUR", "1_000", [], "NaN"),
    "target_ship_date": ("2026-02-30", "epoch", 5),
    "is_international": ("perhaps", 2),
    "item_weight": ("heavy", {"value": "much", "unit": 3}),
    "packages": ("none", [None, 5]),
}
Command = tuple[str, ...]


class World:
    """The service, the installation and the model.

    ``told`` are the steps that were taken, ``said`` is what the last command printed.
    """

    def __init__(self, seed: int, first: Installation, folder: Path, lakes: Lakes | None) -> None:
        self.chance = random.Random(seed)
        self.server = first.service
        self.sandbox = self.server.sandbox = Sandbox(SMALL)
        self.folder, self.lakes = folder, lakes
        self._backups = folder / "backups"
        shutil.copytree(first.data, folder / "data")
        self.settings = {**SETTINGS, **({} if lakes is None else on_lake(lakes.copy(first.store_url, folder / "data")))}
        self.installation = Installation(folder / "data", self.server, self.settings)
        self.unsure: set[int] = set()
        self.deleted: set[int] = set()
        self.forgotten: set[int] = set()
        self.damaged = False
        self.killed = False
        self.told: list[str] = []
        self.said = ""
        self.copy = self._copied_state()

    # --- what happens to the service ---

    def time_passes(self) -> None:
        self._advance(self.chance.uniform(60, 7200))

    def commits_late(self) -> None:
        """With a time before the end of the last read, within the overlap."""
        self._advance(5, late=self.chance.uniform(5, LATEST))

    def changes_silently(self) -> None:
        """Shipments or orders, without ``updated_at``."""
        with data_of(self.server) as store:
            shipments, of_orders = self._some(3), self._some(2)
            store.step[shipments] += 1
            store.order_revision[store.order_first[of_orders]] += 1
        self.unsure |= self._of([*shipments, *of_orders])

    def moves_back(self) -> None:
        """Some go back in time with other content, as after a restore; the time of one becomes the year 2999."""
        with data_of(self.server) as store:
            back, ahead = self._some(2), self._some(1)
            for index in back:
                store.updated[index] -= self.chance.randrange(1000, 10 * 86_400_000, 1000)
                store.step[index] += 1
            store.updated[ahead] = FAR_FUTURE
        self.unsure |= self._of([*back, *ahead])

    def comes_from_the_future(self) -> None:
        """What was of the year 2999 is of now."""
        with data_of(self.server) as store:
            store.updated[store.updated == FAR_FUTURE] = self._now()

    def deletes(self) -> None:
        gone = [int(self.sandbox._store.ids[index]) for index in self._some(1)]
        self.sandbox.delete_shipments(gone)
        self.deleted.update(gone)

    def sets_its_clock_back(self) -> None:
        """The next sync notices; what changes before it may get a time that no later sync reads."""
        self.sandbox.clock.advance(-self.chance.randrange(1000, 3_600_000, 1000))
        if self.chance.random() < 0.5:
            done = self._advance(self.chance.uniform(1, 600))
            self.unsure |= self._of(self._indexes({*done.changed, *done.new, *done.order_shipments}))
        self.syncs()

    def never_rests_during_a_sync(self) -> None:
        """Between two answers records change, appear, get a time within the overlap, and are deleted."""
        calm, self.chance = self.chance, random.Random(self.chance.random())  # how many answers there are is by chance

        def move(_: Request) -> None:
            if self.chance.random() < 0.5:
                self._advance(self.chance.uniform(0, 20), late=self.chance.choice((0, self.chance.uniform(0, LATEST))))
            if self.chance.random() < 0.1:
                self.deletes()

        self.sandbox.intercept = move
        self._run("sync")
        self.sandbox.intercept = None
        self.commits_late()
        self.sandbox.advance(seconds=10)
        self.chance = calm
        self.syncs()

    def answers_with_a_wrong_clock(self) -> None:
        """During one sync some answers are hours or a year off."""
        off = timedelta(seconds=self.chance.choice((-86_400 * 365, -10_800, 10_800, 86_400 * 365)))
        every, answers = self.chance.choice((1, 1, 3)), count(1)
        self.sandbox.redate = lambda date: date if next(answers) % every else date + off
        self._run("sync")
        self.sandbox.redate = None
        self.syncs()

    def sends_an_odd_value(self) -> None:
        """For one sync; then it is right again, without a sign."""
        index, (key, values) = self._some(1)[0], self.chance.choice(list(ODD_VALUES.items()))
        odd, where = self.chance.choice(values), int(self.sandbox._store.ids[index])

        def rewrite(envelope: dict[str, Any]) -> dict[str, Any]:
            for shipment in envelope["collection"]:
                if shipment["id"] == where:
                    shipment[key] = odd
            return envelope

        with data_of(self.server) as store:
            store.updated[index] = max(self._now() - 3000, int(store.updated[index]) + 1)
        self.sandbox.rewrite = rewrite
        self._run("sync")
        self.sandbox.rewrite = None
        self.unsure |= self._of([index])

    # --- what an operator does ---

    def syncs(self) -> None:
        self._until_it_ends("sync")
        self.assert_equal_where_sure()

    def backfills(self) -> None:
        self._until_it_ends(*self._backfill())

    def rebuilds(self) -> None:
        self._until_it_ends("rebuild", otherwise=("sync",))

    def forgets(self) -> None:
        order = self._order_of(self._some(1)[0])
        self.forgotten.add(order)
        self._until_it_ends(*_forget(order))

    def pushes(self) -> None:
        self._until_it_ends(*self._push(), otherwise=("sync",))

    def is_killed(self) -> None:
        """Anywhere in any command. What was to be forgotten may not be on the list yet, so it is repeated."""
        order = self._order_of(self._some(1)[0])
        forget = _forget(order)
        command: Command = self.chance.choice(
            (("sync",), ("sync",), self._backfill(), ("rebuild",), forget, self._push())
        )
        self._run(*command, kill=self.chance.randrange(1, MOMENTS))
        if command is forget:
            self.forgotten.add(order)
            self._until_it_ends(*command)

    # --- what happens to the installation ---

    def loses_the_state_store(self, copy: str | None = None) -> None:
        """And with it the catalogue of a lake, which is in the same database, and what a killed run read last."""
        self.damaged |= self.killed
        if self.lakes is not None:
            self.lakes.replace(self.installation.store_url, copy)
            return
        self.installation.lose_state()
        if copy is not None:
            shutil.copytree(copy, self.installation.data, dirs_exist_ok=True)

    def gets_an_old_state_store_back(self) -> None:
        """That of the beginning, or the one that was there the last time."""
        old, self.copy = self.copy, self._copied_state()
        self.loses_the_state_store(old)

    def _copied_state(self) -> str:
        """A copy of the database, or of its files in a folder."""
        if self.lakes is not None:
            return self.lakes.copy(self.installation.store_url)
        folder = self.folder / f"state-{len(self.told)}"
        folder.mkdir()
        for path in self.installation.data.glob("state.db*"):
            shutil.copy(path, folder)
        return str(folder)

    def makes_a_backup(self) -> None:
        """Which is whole and has only undamaged files, or names the others."""
        self._until_it_ends("backup", str(self._backups), otherwise=("sync",))

    def is_restored(self) -> None:
        """From the newest backup, if there is one, over what there is or after the data folder is lost."""
        if not self._backups.exists():
            return
        if self.chance.random() < 0.5:
            shutil.rmtree(self.installation.data)
            self.loses_the_state_store()
        self._until_it_ends("restore", str(self._backups), "--over", str(self.installation.data))
        self.syncs()

    def loses_the_published_file(self) -> None:
        """Or the schema of the lake's catalogue."""
        if self.lakes is None:
            self.installation.layout.published.unlink(missing_ok=True)
        else:
            self.lakes.execute(self.installation.store_url, "drop schema if exists lake cascade")

    def has_a_damaged_page(self) -> None:
        pages = sorted(self.installation.layout.raw.rglob("page-*"))
        if pages:
            self.damaged = True
            page = self.chance.choice(pages)
            content = page.read_bytes()
            page.chmod(0o600)
            page.write_bytes(self.chance.choice((content[: len(content) // 2], b"", bytes(reversed(content)))))

    # --- what must be true ---

    def settle(self) -> None:
        """The service rests, and an audit reads everything; the sync that it belongs to may be killed first.

        The first audit is due at once. The next is due a day later, which no test waits for.
        """
        self.sandbox.advance(seconds=LATEST + 60)
        self.settings |= {"WMS_AUDIT_PAGES": "1000"}
        if self.chance.random() < 0.3:
            self._run("sync", kill=self.chance.randrange(1, MOMENTS))
        self.syncs_at_last()

    def syncs_at_last(self) -> None:
        """Until there was an audit: none is due before something is loaded, and a lost lake takes its audits along."""
        for _ in range(TRIES):
            self._until_it_ends("sync")
            if self._published("select window_id from ops.audits"):
                self.assert_equal()
                return
        raise AssertionError(self.story(["no audit was due"]))

    def assert_equal_where_sure(self) -> None:
        not_settled = np.nonzero(self.sandbox._store.updated > self.sandbox.clock.now() - 5000)[0].tolist()
        unsure = self.unsure | self._of(not_settled)
        found = [difference for difference in self.found() if not _speaks_of(unsure, difference)]
        assert not found, self.story(found)

    def assert_equal(self) -> None:
        marked = self._published(WRONGLY_MARKED, {"deleted": list(self.deleted)})
        kept = self._published(PERSONS_OF, {"orders": list(self.forgotten)})
        found = [
            *self.found(),
            *(f"shipment {key} is marked wrongly" for key in marked),
            *(f"order {key} was forgotten" for key in kept),
        ]
        assert not found, self.story(found)

    def found(self) -> list[str]:
        """Where the published tables do not equal the service."""
        with self.installation.target.published() as connection:
            found = differences(connection, expected_tables(self.server), self._of(self._indexes(self.deleted)))
        # a forgotten order has no place any more
        went = {text: re.match(r"orders \((\d+),\) ship_to_\w+: None instead of ", text) for text in found}
        return [text for text, named in went.items() if named is None or int(named[1]) not in self.forgotten]

    def rows(self) -> Rows:
        """Every row that a rebuild has to give again.

        A page that was damaged is given up and its time read again, and so is what a run read that was killed before
        the state store was lost. So a rebuild lacks what only that page showed:
        versions in the history, objects that no shipment refers to any more, and what the service has deleted. What was
        deleted is marked with another time if a lake was lost with its audits.
        """
        rows = self.installation.rows()
        if not self.damaged and self.lakes is None:
            return rows
        gone = self._of(self._indexes(self.deleted))
        needs_each_page = {table for table in rows if re.match(rf"history\.|\w+\.({'|'.join(BY_OTHER_KEYS)})$", table)}
        return {
            table: [row for row in found if gone.isdisjoint(row[:2])]
            for table, found in rows.items()
            if not self.damaged or table not in needs_each_page
        }

    def story(self, found: list[str]) -> str:
        return (
            f"{len(found)} differences, such as {sorted(set(found))[:8]}, after: {', '.join(self.told)}\n"
            f"{self.said[-3000:]}"
        )

    def take(self, step: Callable[..., None]) -> None:
        self.told.append(step.__name__)
        step(self)

    # --- how ---

    def _now(self) -> int:
        """The service's time in milliseconds, in whole seconds."""
        return self.sandbox.clock.now() // 1000 * 1000

    def _advance(self, seconds: float, *, late: float = 0) -> Advance:
        return self.sandbox.advance(
            seconds=seconds,
            changed=self.chance.randrange(6),
            new=self.chance.randrange(3),
            packages_added=1,
            packages_removed=1,
            orders=self.chance.randrange(3),
            late=late,
        )

    def _of(self, indexes: list[int]) -> set[int]:
        """The ids of these shipments, and of their orders."""
        return {int(self.sandbox._store.ids[index]) for index in indexes} | {self._order_of(at) for at in indexes}

    def _some(self, most: int) -> list[int]:
        return self.chance.sample(self.sandbox._store.living().tolist(), self.chance.randint(1, most))

    def _indexes(self, ids: set[int]) -> list[int]:
        return [index for index, key in enumerate(self.sandbox._store.ids.tolist()) if key in ids]

    def _order_of(self, index: int) -> int:
        return int(order_id(self.sandbox._store.order_first[[index]].astype(int))[0])

    def _backfill(self) -> Command:
        start = START + timedelta(days=self.chance.randrange(1, 40))
        return "backfill", "--from", f"{start}", "--to", f"{start + timedelta(days=self.chance.randrange(1, 10))}"

    def _push(self) -> Command:
        """A file of products, of which earlier files have some."""
        path = self.installation.data.with_name("products.csv")
        path.write_text(
            "sku,name\n" + "".join(f"PUSHED-{sku},Product {sku}\n" for sku in self.chance.sample(range(30), 6))
        )
        return "push", "products", str(path)

    def _published(self, query: str, parameters: Mapping[str, object] | None = None) -> list[int | str]:
        """The first column of what analysts see."""
        with self.installation.target.published() as connection:
            return [first for first, *_ in connection.execute(query, parameters).fetchall()]

    def _run(self, *command: str, kill: int | None = None) -> Ended:
        ended = self.installation.run(*command, kill=kill)
        self.said = ended.said
        self.killed = ended.returncode == KILLED
        wanted = {*ENDED, 1} if kill is None else {*ENDED, 1, KILLED}
        assert ended.returncode in wanted, self.story([f"{' '.join(command)} ended with {ended.returncode}"])
        assert "Traceback" not in ended.said, self.story([])
        times = Counter(product["sku"] for product in self.sandbox.products())
        assert set(times.values()) <= {1}, self.story([f"{sku} was created {times[sku]} times" for sku in times])
        return ended

    def _until_it_ends(self, *command: str, otherwise: Command | None = None) -> None:
        """Run it until it ends well, and between two attempts do what it says."""
        for _ in range(TRIES):
            ended = self._run(*command)
            if ended.returncode != 1:
                return
            if owned := re.search(r"Another lake was created in this lake's location: .* \((/[^)]+)\)", ended.said):
                Path(owned[1]).unlink()
            if "`wms-sync rebuild`" in ended.said:
                self._run("rebuild")
            if otherwise is not None:
                self._run(*otherwise)
        raise AssertionError(self.story([f"{' '.join(command)} still fails: {ended.said}"]))


def _forget(order: int) -> Command:
    return "forget", "--yes", "--unseen", str(order)


def _speaks_of(unsure: set[int], difference: str) -> bool:
    [(table, key)] = re.findall(r"^(\w+) \((\d+)", difference)
    return int(key) in unsure or (table in BY_OTHER_KEYS and bool(unsure))
