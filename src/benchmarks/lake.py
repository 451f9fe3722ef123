"""Measure a lake beside a file: a first sync, and nights of 1,000 changes, by turns against the same service.

The catalogue is in the PostgreSQL of `--lake-url`, an empty database; its processor time is not counted. With
`--copies` what the first sync read is multiplied in both before the nights, as `growth` does; the first night, which
meets the copies, is not counted. Maintenance comes when it is due: the slowest night is shown beside the median. Then
it is done once more by itself, and a last night follows, with PostgreSQL 25 ms away, as in another region.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path

from benchmarks.growth import multiply, multiply_in
from benchmarks.measuring import ContenderFailed
from benchmarks.night import CHANGES, PASSED_SECONDS, median
from benchmarks.report import Figure, Row, Section
from benchmarks.runs import Folder, Run
from benchmarks.service import serving
from benchmarks.slow_database import slow_database
from wms_sync.targets.ducklake.catalogue import LakeCatalogue

FILE, LAKE = "file", "lake"
FAR = 0.025
"""Seconds that each request to a distant PostgreSQL takes more."""


def lake(shipments: int, url: str | None, scratch: Path, *, nights: int, copies: int) -> Section:
    """Measure both at this size."""
    if url is None:
        raise ContenderFailed("--lake-url names no empty database of PostgreSQL, such as postgresql+psycopg://u@h/d")
    with serving(shipments) as service:
        service.warm_up()
        settings = {"WMS_ANALYTICS": "ducklake", "WMS_STATE_URL": url}
        folders = {
            FILE: Folder(scratch / "beside-a-lake", service),
            LAKE: Folder(scratch / "lake", service, settings),
        }
        first = {name: folder.command_line("sync") for name, folder in folders.items()}
        if copies > 1:
            with ProcessPoolExecutor(1, get_context("spawn")) as apart:
                apart.submit(multiply, folders[FILE].layout.published, copies).result()
                apart.submit(_multiply_lake, folders[LAKE].environment(), copies).result()
        runs: dict[str, list[Run]] = {name: [] for name in folders}
        for _ in range(nights + (copies > 1)):
            service.advance(seconds=PASSED_SECONDS, **CHANGES)
            for name, folder in folders.items():
                runs[name].append(folder.command_line("sync"))
        upkeep = folders[LAKE].command_line("maintain")
        files = _most_files_of_a_table(url)
        service.advance(seconds=PASSED_SECONDS, **CHANGES)
        with slow_database(url, FAR) as (proxy, slow_url):
            far = folders[LAKE].with_settings({"WMS_STATE_URL": slow_url}).command_line("sync")
        for folder in folders.values():
            folder.remove()
    counted = {name: found[copies > 1 :] for name, found in runs.items()}
    held = shipments * copies
    times = first[LAKE].phases["load"] / first[FILE].phases["load"]
    peak = max(run.cost.memory for run in (first[LAKE], *runs[LAKE]))
    return Section(
        name="lake",
        title=f"A lake beside a file: a first sync of {shipments:,} shipments, and {nights} nights at {held:,}",
        rows=[
            *(_row(f"first sync, {name}", [run]) for name, run in first.items()),
            *(_row(f"a night, {name}", found) for name, found in counted.items()),
            _row("maintenance of the lake", [upkeep]),
            _row(f"a night, lake, PostgreSQL {FAR * 1000:g} ms away ({proxy.requests:,} requests)", [far]),
        ],
        figures=[
            Figure("first load over that of the file, wall", times),
            Figure("a night of the lake, wall", median(counted[LAKE]).cost.wall, "s"),
            Figure(f"the same, PostgreSQL {FAR * 1000:g} ms away", far.cost.wall, "s"),
            Figure("a night over that of the file, CPU", _cpu(counted[LAKE]) / _cpu(counted[FILE])),
            Figure(
                "the last night over the first, CPU",
                _cpu(counted[LAKE][-1:]) / _cpu(counted[LAKE][:1]),
            ),
            Figure("maintenance, wall", upkeep.cost.wall, "s"),
            Figure("files of a table after maintenance, at most", files),
            Figure("peak of the lake", peak, "MiB"),
        ],
    )


def _most_files_of_a_table(url: str) -> int:
    with LakeCatalogue(url) as catalogue:
        return max(table.files for table in catalogue.tables())


def _cpu(runs: Sequence[Run]) -> float:
    return median(runs).cost.cpu


def _row(what: str, runs: Sequence[Run]) -> Row:
    run = median(runs)
    return {
        "run": what,
        **run.cost.as_row(),
        "read s": run.phases["read"],
        "flatten, merge, check, commit s": run.phases["load"],
        "slowest CPU s": max(run.cost.cpu for run in runs),
    }


def _multiply_lake(environment: dict[str, str], copies: int) -> dict[str, int]:
    os.environ.update(environment)
    from wms_sync.settings import Settings
    from wms_sync.targets.ducklake.session import opened_for_writing
    from wms_sync.upkeep.recovery import begin

    settings = Settings.load(_env_file=None)
    with begin(settings, "benchmark") as run, closing(opened_for_writing(settings, run.turn)) as connection:
        return multiply_in(connection, copies)
