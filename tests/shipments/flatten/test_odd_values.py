"""Values of every type in every odd form, thrown into pages: each record is on a row, and every other cell is right.

The odd cell holds what the value says, or null with a row in quarantine.

What a value says is known here from how it was put together, not from reading it. Each goes both ways: together with
values that pass the gate, and together with values that do not.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from wms_sync.shipments.flatten.gate import Gate
from wms_sync.shipments.flatten.shape import create_types, shape_of

ANY = object()
"""Not null; Python has no such time."""


@dataclass(frozen=True)
class Odd:
    """A value as JSON, what it says (None: nothing of its type), and whether it is taken in another form.

    One that is ``empty`` says that there is none.
    """

    raw: str
    says: Any = None
    cast: bool = False
    empty: bool = False

    def __repr__(self) -> str:
        return f"Odd({self.raw[:99]}, {self.says!s:.99}, {self.cast})"


@dataclass(frozen=True)
class Said:
    """What a JSON column says, however it is spaced."""

    value: Any


DAY_ZERO = re.compile(r"0000-00-00([T ]00:00:00(\.0)?Z?)?")


def text(value: str, says: Any = None, *, cast: bool = False) -> Odd:
    return Odd(json.dumps(value), says, cast, empty=DAY_ZERO.fullmatch(value) is not None)


def nothing(*raw: str) -> list[Odd]:
    return [Odd(one) for one in raw]


DAYS = st.tuples(
    st.sampled_from([0, 1, 1970, 2024, 2026, 9999, 12026]),
    st.sampled_from([0, 1, 2, 12, 13]),
    st.sampled_from([0, 1, 28, 29, 30, 31, 32]),
)
CLOCKS = st.tuples(
    st.sampled_from([0, 10, 23, 24, 25]), st.sampled_from([0, 20, 59, 60]), st.sampled_from([0, 30, 59, 60, 61])
)
FRACTIONS = st.sampled_from(["", "0", "5", "123456", "999999999", "1234567890123"])
ZONES: dict[str, timedelta | None] = {
    "": timedelta(),
    "Z": timedelta(),
    "z": timedelta(),
    "+00:00": timedelta(),
    "-0500": -timedelta(hours=5),
    "+05:30": timedelta(hours=5, minutes=30),
    "+05": timedelta(hours=5),
    " UTC": timedelta(),
    " +02:00": timedelta(hours=2),
    "-23:59": -timedelta(hours=23, minutes=59),
    "+24:00": None,
    "+05:60": None,
    " EST": None,
    " CST": None,
    " America/New_York": None,
    " Z Z": None,
    "+0": None,
}
MARKED = {"": True, " ": True, "\t": True, "_": False, "x": False}


@st.composite
def moments(draw: st.DrawFn) -> tuple[str, datetime | None, timedelta, str]:
    """A time as it is written, by the clock of its zone, that zone, and what stands around it."""
    (year, month, day), (hour, minute, second) = draw(DAYS), draw(CLOCKS)
    fraction, zone = draw(FRACTIONS), draw(st.sampled_from(list(ZONES)))
    around = draw(st.sampled_from(list(MARKED)))
    written = f"{year:04}-{month:02}-{day:02}{draw(st.sampled_from('Tt '))}{hour:02}:{minute:02}:{second:02}"
    written += f".{fraction}" if fraction else ""
    extra = timedelta()
    if (minute, second) == (59, 60):
        second, extra = 59, timedelta(seconds=1)
    if (hour, minute, second) == (24, 0, 0) and not fraction.strip("0"):
        hour, extra = 0, timedelta(days=1)
    try:
        at = datetime(year, month, day, hour, minute, second, int(fraction[:6].ljust(6, "0"))) + extra  # noqa: DTZ001
    except (ValueError, OverflowError):
        at = None
    offset = ZONES[zone]
    if offset is None or not MARKED[around]:
        at = None
    return f"{around}{written}{zone}{around}", at, offset or timedelta(), written[:10]


@st.composite
def times(draw: st.DrawFn) -> Odd:
    written, at, offset, _ = draw(moments())
    if at is None:
        return text(written)
    try:
        return text(written, at.replace(tzinfo=timezone(offset)).astimezone(UTC))
    except OverflowError:
        return text(written, ANY)


@st.composite
def dates(draw: st.DrawFn) -> Odd:
    if draw(st.booleans()):
        year, month, day = draw(DAYS)
        try:
            return text(f"{year:04}-{month:02}-{day:02}", date(year, month, day))
        except ValueError:
            return text(f"{year:04}-{month:02}-{day:02}")
    written, at, offset, as_written = draw(moments())
    if at is None:
        return text(written)
    same = at == datetime.fromisoformat(as_written) and not offset
    return text(written, date.fromisoformat(as_written), cast=not same)


NUMBERS = st.tuples(
    st.sampled_from(["", "-"]),
    st.sampled_from(["0", "7", "12", "007", "99999999999999", "100000000000000", "9" * 25, "1" * 5000]),
    st.sampled_from(["", ".5", ".1234", ".12345", ".99999", ".00004", ".30000000000000004"]),
    st.sampled_from(["", "", "", "e2", "E-3", "e+1", "e400", "e-400"]),
)
DECORATED = {"": True, " ": True, "+": True, "_": False, "0x": False, "$": False}


@st.composite
def numbers(draw: st.DrawFn) -> tuple[str, Decimal | float | int | None]:
    """A number as JSON, or as a text, and what it is; a number of JSON that is not whole is a float, as JSON has it."""
    sign, digits, fraction, exponent = draw(NUMBERS)
    written = f"{sign}{digits}{fraction}{exponent}"
    if draw(st.booleans()):
        sound = not (digits.startswith("0") and len(digits) > 1)
        if not sound:
            written = written.replace("007", "7")
        if len(digits) > 4000:
            return written, None
        if fraction or exponent:
            return written, float(written) if math.isfinite(float(written)) else None
        return written, int(written)
    mark = draw(st.sampled_from(list(DECORATED)))
    if (mark == "+" and sign) or mark == "_":
        return json.dumps(f"{mark}{written}_000"), None
    return json.dumps(f"{mark}{written}"), Decimal(written) if DECORATED[mark] and len(digits) < 400 else None


@st.composite
def decimals(draw: st.DrawFn) -> Odd:
    raw, number = draw(numbers())
    if number is None:
        return Odd(raw)
    exact = Decimal(repr(number)) if isinstance(number, float) else Decimal(number)
    if abs(exact) >= 10**14:
        return Odd(raw)
    rounded = exact.quantize(Decimal("0.0001"), ROUND_HALF_UP)
    if abs(rounded) >= 10**14:
        return Odd(raw)
    same = rounded == exact or (isinstance(number, float) and math.isclose(rounded, exact, rel_tol=1e-15))
    return Odd(raw, rounded, cast=not same)


@st.composite
def doubles(draw: st.DrawFn) -> Odd:
    raw, number = draw(numbers())
    if number is None or abs(Decimal(number)) > 10**300:
        return Odd(raw)
    return Odd(raw, float(number))


@st.composite
def measures(draw: st.DrawFn) -> Odd:
    odd = draw(doubles())
    return Odd(odd.raw, odd.says, cast=odd.says is not None)


WHOLE = [
    Odd("12", 12),
    Odd("12.0", 12),
    Odd("1.2e1", 12),
    Odd('"12"', 12),
    Odd('"-12"', -12),
    Odd('"0012"', 12),
    Odd(str(2**63 - 1), 2**63 - 1),
    Odd(f'"{2**63 - 1}"', 2**63 - 1),
    *nothing(
        str(2**63), f'"{2**63}"', "12.5", '"12.5"', '"0x10"', '"1_000"', '" 12"', '"+12"', '"1e3"', '"１２"', "1e400"
    ),
    *nothing("1" * 5000),
]
FLAGS = [
    Odd("true", True),
    Odd("false", False),
    Odd("1", True),
    Odd("0", False),
    Odd("1.0", True),
    *(
        text(word, says)
        for says, words in {True: ("true", "1", "TRUE"), False: ("0", "false")}.items()
        for word in words
    ),
    *nothing("2", "-1", "0.5", '"yes"', '"2"', '"t"', "NaN"),
]
TEXTS = [
    text("Ünïcödé 📦", "Ünïcödé 📦"),
    text("a\u0000b", "a\u0000b"),
    Odd('"raw\ttab"', "raw\ttab"),
    Odd('"line\nbreak"', "line\nbreak"),
    text("\u2028", "\u2028"),
    text("infinity", "infinity"),
    Odd("7", "7"),
    Odd("-1.5", "-1.5"),
    Odd("true", "true"),
    Odd(str(2**70), str(2**70)),
    *nothing('"\\ud83d"', "NaN", "Infinity", "1e400", "1" * 5000),
]
SAID: list[Any] = [{}, [], {"a": [1, {"b": None}]}, "epoch", 7, 2**70, 1.5, True, {"ключ": "\u0000"}, [[[]]], ""]
JSONS = [
    *(Odd(json.dumps(value), Said(value)) for value in SAID),
    *nothing("NaN", '{"a": [Infinity]}', '["\\ud83d"]'),
]
"""A number beyond a double is kept where the page passes the gate, and in quarantine where it does not."""
EMPTY = [Odd('""', empty=True), Odd('" "', empty=True)]
NO_TIMES = [
    *EMPTY,
    *(text(word) for word in ("0000-00-00", "0000-00-00 00:00:00", "0000-00-00T00:00:00.0Z")),
    *(text(word) for word in ("infinity", "-infinity", "epoch", "now", "today", "noon", "1767225600", "0000-00-01")),
]
NO_NUMBERS = [
    *EMPTY,
    *(text(word) for word in ("inf", "-Infinity", "nan", "NaN", "1,5", "1,000.5", "１２", "12 EUR", "--1")),
]
SHAPES = nothing("{}", "[]", '{"a": 1}', "[1]", "[null]", '{"value": {"value": 1}}', '[["2026-01-01"]]')
TYPES: dict[str, st.SearchStrategy[Odd]] = {
    "packed_at": times() | st.sampled_from([*NO_TIMES, *nothing("1767225600", "true", "1.5", "NaN"), *SHAPES]),
    "target_ship_date": dates() | st.sampled_from([*NO_TIMES, *nothing("20260101", "false"), *SHAPES]),
    "carrier_shipping_cost": decimals() | st.sampled_from([*NO_NUMBERS, *nothing("true", "NaN", "-Infinity"), *SHAPES]),
    "item_weight.value": doubles() | st.sampled_from([*NO_NUMBERS, *nothing("true", "NaN", "-Infinity"), *SHAPES]),
    "order.id": st.sampled_from([*WHOLE, *EMPTY, *nothing("true", "NaN"), *SHAPES]),
    "is_international": st.sampled_from([*FLAGS, *EMPTY, *SHAPES]),
    "scac": st.sampled_from([*TEXTS, *SHAPES]),
    "packages[0].container": st.sampled_from(JSONS),
    "total_weight": measures() | st.sampled_from([*NO_NUMBERS, *nothing("true", "NaN", "[1]")]),
}
ODDITIES = st.lists(
    st.one_of(*(st.tuples(st.just(field), values) for field, values in TYPES.items())), min_size=150, max_size=150
)
COLUMNS = {
    "id": None,
    "packed_at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    "target_ship_date": date(2026, 1, 9),
    "carrier_shipping_cost": Decimal("12.3400"),
    "item_weight_value": 1.25,
    "item_weight_unit": "lb",
    "order_id": 99,
    "is_international": True,
    "scac": "ABCD",
    "container": '{"a":1}',
    "total_weight_value": 2.5,
    "total_weight_unit": "lb",
}
"""What stands in the cells that nobody touched."""
PLAIN = {
    "packed_at": '"2026-01-02T03:04:05Z"',
    "target_ship_date": '"2026-01-09"',
    "carrier_shipping_cost": "12.34",
    "item_weight": '{"value": 1.25, "unit": "lb"}',
    "order": '{"type": "Order", "id": 99}',
    "is_international": "true",
    "scac": '"ABCD"',
    "packages": '[{"container": {"a":1}}]',
    "total_weight": '{"value": 2.5, "unit": "lb"}',
}
Case = tuple[str, Odd]


def record(id_: int, case: Case) -> str:
    """One shipment, with the odd value at its place."""
    field, odd = case
    name, _, inner = field.partition(".")
    raw = f'{{"{inner}": {odd.raw}}}' if inner else odd.raw
    fields = PLAIN | ({name: raw} if name in PLAIN else {name.removesuffix("[0]"): f"[{raw}]"})
    return f'{{"type": "Shipment", "id": {id_}, ' + ", ".join(f'"{key}": {raw}' for key, raw in fields.items()) + "}"


def page(records: list[str]) -> bytes:
    return ('{"collection": [' + ",\n".join(records) + "]}").encode()


def expected(id_: int, case: Case) -> dict[str, Any]:
    field, odd = case
    column = {"total_weight": "total_weight_value", "packages[0].container": "container"}.get(
        field, field.replace(".", "_")
    )
    gone = {"item_weight.value": {"item_weight_unit": None}, "total_weight": {"total_weight_unit": None}}
    return COLUMNS | {"id": id_, column: odd.says} | gone.get(field, {})


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        create_types(connection)
        yield connection


@dataclass(frozen=True)
class Found:
    """What was flattened, by page."""

    connection: duckdb.DuckDBPyConnection
    files: Mapping[str, Path]

    def rows(self, page: int) -> dict[int, dict[str, Any]]:
        columns = [name for name in COLUMNS if name != "container"]
        rows = self._fetched("shipments", ", ".join(columns), page)
        found = {row[0]: dict(zip(columns, row, strict=True)) for row in rows}
        for id_, container in self._fetched("packages", "shipment_id, container", page):
            found[id_]["container"] = container
        return found

    def quarantined(self, page: int) -> set[str]:
        return {path for (path,) in self._fetched("ops_quarantine", "path", page)}

    def cast(self, page: int) -> int:
        return sum(count for count, why in self._fetched("ops_schema_drift", "occurrences, why", page) if why)

    def _fetched(self, table: str, columns: str, page: int) -> list[tuple[Any, ...]]:
        if table not in self.files:
            return []
        query = f"select {columns} from read_parquet(?) where _page = ?"
        return self.connection.execute(query, [str(self.files[table]), page]).fetchall()


def test_an_odd_value_costs_its_own_cell_and_no_more(flattener, connection, land, tmp_path, request):
    soak = request.config.getoption("--soak")
    gate = Gate(shape_of(connection))

    @settings(
        max_examples=150 if soak else 3,
        derandomize=not soak,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases=ODDITIES)
    def every_cell_is_right(cases: list[Case]) -> None:
        passing = [case for case in cases if gate.examine(page([record(1, case)])).fits]
        records = [[record(id_, case) for id_, case in enumerate(some)] for some in (passing, cases)]
        pages = [replace(one, records=len(some)) for one, some in zip(land(*map(page, records)), records, strict=True)]
        done = flattener.flatten(pages, window_id="w", part=1, parquet_dir=tmp_path / "parquet")
        assert done.records_removed == 0
        found = Found(connection, done.files)
        for number, some in enumerate((passing, cases), 1):
            assert_right(found, number, some)

    every_cell_is_right()


def assert_right(found: Found, number: int, cases: Sequence[Case]) -> None:
    rows = found.rows(number)
    assert len(rows) == len(cases)
    for id_, case in enumerate(cases):
        wanted, row = expected(id_, case), rows[id_]
        differing = {key: (value, row[key]) for key, value in wanted.items() if not same(value, row[key])}
        assert not differing, (number, case)
    out = {f"$.collection[{id_}].{field}" for id_, (field, odd) in enumerate(cases) if odd.says is None}
    silent = {f"$.collection[{id_}].{field}" for id_, (field, odd) in enumerate(cases) if odd.empty}
    empty = {f"$.collection[{id_}].{field}" for id_, (field, odd) in enumerate(cases) if odd.raw in {"[]", "{}"}}
    quarantined = found.quarantined(number)
    assert out - empty - silent <= quarantined <= out - silent, number
    assert found.cast(number) == sum(odd.cast for _, odd in cases), number


def same(wanted: Any, found: Any) -> bool:
    if wanted is ANY:
        return found is not None
    if isinstance(wanted, Said):
        return isinstance(found, str) and json.loads(found) == wanted.value
    return bool(type(wanted) is type(found) and wanted == found)
