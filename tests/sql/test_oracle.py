"""The marts and the report against the oracle: every cell, in a world with every trap."""

import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import duckdb
import pytest

from tests.sql.oracle import Marts, Row, Service
from tests.sql.page_oracle import PageOracle
from tests.sql.zones import OTHER_ZONE, ZONES, Played, play
from wms_sync import sql_files
from wms_sync.catalogue import marts
from wms_sync.reports.report import make_report
from wms_sync.shipments.flatten.page import unpacked_page
from wms_sync.state.store import StateStore
from wms_sync.targets.database import records

KEYS = {mart.name: sql_files.headers(mart.create)["keys"].split(", ") for mart in marts() if mart.schema == "marts"}
STEPS = "select column_name, value, next_step from ops.code_values where next_step is not null"


@pytest.fixture(scope="module", params=[1, pytest.param(2, marks=pytest.mark.proof)])
def world(request, tmp_path_factory) -> tuple[Played, Marts]:
    played = play(tmp_path_factory.mktemp("zones") / "data", request.param)
    return played, Marts(Service(raw_pages(played)), played.until, ZONES, OTHER_ZONE, played.deleted)


def raw_pages(played: Played) -> Iterator[tuple[bytes, datetime, bool]]:
    """Each page, when it was served, and whether it was read to look again."""
    with StateStore.opened(played.settings.database_url) as store:
        for window in store.windows("loaded"):
            for page in store.pages(window.id):
                path = played.settings.layout.raw / window.id / page.file
                yield unpacked_page(path.read_bytes(), path), page.served_at, window.reason in {"audit", "backfill"}


def asked(played: Played, query: str) -> list[Row]:
    """The rows that an analyst sees in a zone of his own."""
    with duckdb.connect(played.settings.layout.published, read_only=True) as connection:
        connection.execute("set timezone = 'Asia/Tokyo'")
        return records(connection.execute(query))


def differences(found: Sequence[Row], expected: Sequence[Row], keys: Sequence[str]) -> list[str]:
    assert len(found) == len(expected) > 0
    by_key = {tuple(row[key] for key in keys): row for row in expected}
    said = []
    for row in found:
        wanted = by_key[tuple(row[key] for key in keys)]
        assert row.keys() == wanted.keys()
        said += [
            f"{[row[key] for key in keys]} {name}: {value!r} instead of {wanted[name]!r}"
            for name, value in row.items()
            if not is_same(value, wanted[name])
        ]
    return said


def is_same(found: Any, expected: Any) -> bool:
    if isinstance(found, float) and expected is not None:
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)
    return bool(found == expected)


@pytest.mark.parametrize("mart", sorted(KEYS.keys() - {"freshness"}))
def test_every_cell_of_a_mart_is_as_its_comment_says(mart, world):
    played, oracle = world
    expected = getattr(oracle, mart)
    assert [name for name in expected[0] if len({row[name] for row in expected}) == 1] == [], (
        "columns that show nothing"
    )
    assert differences(asked(played, f"from marts.{mart}"), expected, KEYS[mart]) == []


def test_every_number_of_the_report(world):
    played, oracle = world
    steps = {(row["column_name"], row["value"]): row["next_step"] for row in asked(played, STEPS)}
    page = PageOracle(oracle, steps)
    path, report = make_report(played.settings, findings=())
    assert report.weeks == page.weeks
    for name, expected in page.rows().items():
        found, wanted = (
            [{"place": place, **row} for place, row in enumerate(rows)] for rows in (report.rows[name], expected)
        )
        assert differences(found, wanted, ["place"]) == [], name
    on_time, orders, units, cost, backlog = page.signs()
    shown = re.findall(r'<p class="value">(.*?)</p>', path.read_text())
    assert shown == [f"{100 * on_time:.1f} %", f"{orders:,.0f}", f"{units:,.0f}", f"{cost:,.2f}", f"{backlog:,.0f}"]
