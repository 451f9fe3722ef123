"""Play the same troubles for the product, dlt and a Singer tap, and count what they lose, double and get wrong.

The others are used as their documentation advises: an incremental cursor, a merge by primary key, a state that is kept
between runs. Each trouble begins with an empty folder and a new service; after the last run the rows of `shipments`,
with the number of their packages, are compared with what the service has. "Pages again" are those asked for beyond what
the same runs without trouble need.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from itertools import count
from pathlib import Path
from threading import Event
from time import sleep
from typing import Any

from starlette.requests import Request

from benchmarks.report import Figure, Section, Value
from benchmarks.trials import ALL, PAGE_SIZE, Contender, Trial, asks_for_page, contenders, trial

MOVES_EVERY, MOVE_SECONDS = 3, 0.3
MOVED, NEW = 10, 2
CHANGED = 50
ODD = ({"shipping_method": 7}, {"target_ship_date": "2026-02-30"}, {"packed_at": "2026-11-03T25:61:00Z"})
SAID = 120
TELLING = (r"^doubts", r"Could not (set|convert)", r"failed\.")
"""What a line says that tells what went wrong, the clearest first."""
FOLDERS = re.compile(r"(/[\w.-]+)+/")
ONCE, TWICE, THRICE = "once", "twice", "thrice, with changes before the second"


def troubles(shipments: int, scratch: Path) -> Section:
    """Play every trouble for everyone."""
    rows: list[dict[str, Value]] = []
    said: dict[str, list[str]] = {}
    playing = contenders()
    for contender in playing:
        undisturbed = _undisturbed(contender, scratch, shipments)
        for name, (play, runs) in TROUBLES.items():
            with trial(contender, scratch / "troubles", shipments) as now:
                play(now)
                again = max(0, now.pages - undisturbed[runs])
                rows.append({"trouble": name, "contender": contender.name, **asdict(now.rows()), "pages again": again})
                rows[-1] |= {"exit codes": ", ".join(map(str, now.exits)), "said": _last_words(now)}
                said[f"{name}: {contender.name}"] = now.said
    return Section(
        name="troubles",
        title=f"Troubles with {shipments:,} shipments in pages of {PAGE_SIZE}",
        rows=sorted(rows, key=lambda row: list(TROUBLES).index(str(row["trouble"]))),
        figures=[
            Figure("rows that wms-sync lost, doubled or got wrong", _faults(rows, playing[0])),
        ],
        notes=[f"{absent.name}: not installed, see .requirements/bench.txt" for absent in ALL if absent not in playing],
        details=said,
    )


def _undisturbed(contender: Contender, scratch: Path, shipments: int) -> Mapping[str, int]:
    """Return how many pages the runs ask for when nothing is in their way."""
    asked = {}
    with trial(contender, scratch / "troubles", shipments) as quiet:
        for runs in (ONCE, TWICE):
            quiet.run()
            asked[runs] = quiet.pages
    with trial(contender, scratch / "troubles", shipments) as quiet:
        quiet.run()
        _change(quiet)
        quiet.run()
        quiet.run()
        asked[THRICE] = quiet.pages
    return asked


def _moves(now: Trial) -> None:
    """Change shipments, and add some, between the pages of the first run. A second run follows."""
    passed = 0.0
    pages = count(1)

    def move(request: Request) -> None:
        nonlocal passed
        if asks_for_page(request) and next(pages) % MOVES_EVERY == 0:
            now.sandbox.advance(seconds=MOVE_SECONDS, changed=MOVED, new=NEW)
            passed += MOVE_SECONDS

    now.sandbox.intercept = move
    now.run()
    now.sandbox.intercept = None
    sleep(passed + 1)  # so that what changed is past for who asks by this machine's clock
    now.run()


def _is_killed(now: Trial) -> None:
    """Kill the first run when half of the pages were asked for. A second run follows."""
    half = now.shipments // PAGE_SIZE // 2
    pages, reached = count(1), Event()

    def watch(request: Request) -> None:
        if asks_for_page(request) and next(pages) >= half:
            reached.set()

    now.sandbox.intercept = watch
    now.run(killed_when=reached)
    now.sandbox.intercept = None
    now.run()


def _leaves_one_off(now: Trial) -> None:
    """Leave a record off a page of the first run, once. A second run follows."""
    left: list[Any] = []

    def leave_off(page: dict[str, Any]) -> dict[str, Any]:
        if len(page["collection"]) > 1 and not left:
            left.append(page["collection"].pop(len(page["collection"]) // 2))
        return page

    now.sandbox.rewrite = leave_off
    now.run()
    now.run()


def _is_odd(now: Trial) -> None:
    """Send a number where a text is expected, an impossible date and an impossible time, whenever asked.

    Not in the first record: that a column's type follows from a value that nobody has seen before proves nothing.
    """

    def put_in(page: dict[str, Any]) -> dict[str, Any]:
        for record in page["collection"]:
            if record["id"] in now.odd:
                record |= now.odd[record["id"]]
        return page

    quarters = now.ids[now.shipments // 4 :: now.shipments // 4]
    now.odd = dict(zip(quarters, ODD, strict=False))
    now.sandbox.rewrite = put_in
    now.run()
    now.run()


def _is_held(now: Trial) -> None:
    """Let a reader hold the file open during the second run, after some changes. A third run follows."""
    now.run()
    _change(now)
    with now.reader():
        now.run()
    now.run()


def _change(now: Trial) -> None:
    now.sandbox.advance(seconds=MOVE_SECONDS, changed=CHANGED)
    sleep(MOVE_SECONDS + 1)


TROUBLES: Mapping[str, tuple[Callable[[Trial], None], str]] = {
    "the service changes during the first of two runs": (_moves, TWICE),
    "kill -9 halfway, then a second run": (_is_killed, ONCE),
    "a record left off a page, once": (_leaves_one_off, TWICE),
    "a number for a text, a 30th of February, a 25th hour": (_is_odd, TWICE),
    "a reader holds the file during the second of three runs": (_is_held, THRICE),
}


def _faults(rows: list[dict[str, Value]], contender: Contender) -> int:
    mine = [row for row in rows if row["contender"] == contender.name]
    return sum(int(row[word]) for row in mine for word in ("lost", "doubled", "wrong"))


def _last_words(now: Trial) -> str:
    """Return the most telling line of the last run that did not end with 0, without folders."""
    doubtful = [said for code, said in zip(now.exits, now.said, strict=True) if code > 0]
    lines = [line.strip() for said in doubtful[-1:] for line in said.splitlines()]
    telling = [line for pattern in TELLING for line in reversed(lines) if re.search(pattern, line)]
    return " ".join(FOLDERS.sub("", "".join(telling[:1]).replace("|", "/")).split())[:SAID]
