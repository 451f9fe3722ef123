"""Values of every type in every odd form: each record is on a row, and every other cell is right.

The odd cell holds what the value says, or null with a row in quarantine.

Each goes both ways: together with
values that pass the gate, and together with values that do not.
"""

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from msgspec import structs

from wms_sync.shipments.flatten.gate import Gate
from wms_sync.shipments.flatten.shape import shape_of

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


@dataclass(frozen=True)
class Said:
    """What a JSON column says, however it is spaced."""

    value: Any


DAY_ZERO = re.compile(r"0000-00-00([T ]00:00:00(\.0)?Z?)?")


def text(value: str, says: Any = None, *, cast: bool = False) -> Odd:
    return Odd(json.dumps(value), says, cast, empty=DAY_ZERO.fullmatch(value) is not None)


def nothing(*raw: str) -> list[Odd]:
    return [Odd(one) for one in raw]


def at(day: int = 2, hour: int = 3, minute: int = 4, second: int = 5, micro: int = 0, *, year: int = 2026) -> datetime:
    return datetime(year, 1, day, hour, minute, second, micro, tzinfo=UTC)


TIMES = [
    *(text(f"2026-01-02{mark}03:04:05Z", at()) for mark in "Tt "),
    *(text(f"2026-01-02T03:04:05{zone}", at()) for zone in ("z", "+00:00", " UTC", "Z ", "Z\t")),
    text("2026-01-02T03:04:05", at(), cast=True),
    text("2026-01-02", at(2, 0, 0, 0), cast=True),
    *(text(f"{around}2026-01-02T03:04:05Z", at()) for around in (" ", "\t")),
    *(text(f"2026-01-02T03:04:05.{digits}Z", at(micro=micro)) for digits, micro in (("0", 0), ("5", 500_000))),
    *(
        text(f"2026-01-02T03:04:05.{digits}", at(micro=micro), cast=True)
        for digits, micro in (("123456", 123_456), ("999999999", 999_999))
    ),
    text("2026-01-02T03:04:05.1234567890123Z", at(micro=123_456)),
    *(text(f"2026-01-02T03:04:05{zone}", at(hour=8)) for zone in ("-0500", "-05", "-05:00")),
    text("2026-01-02T03:04:05+05:30", at(1, 21, 34)),
    text("2026-01-02T03:04:05 +02:00", at(hour=1)),
    text("2026-01-02T03:04:05-23:59", at(3, 3, 3)),
    text("2026-01-02T24:00:00Z", at(3, 0, 0, 0)),
    text("2026-01-02T23:59:60Z", at(3, 0, 0, 0)),
    text("2024-02-29T03:04:05Z", at(2, year=2024) + timedelta(days=58)),
    text("0001-01-02T03:04:05Z", at(year=1)),
    text("9999-12-31T23:59:59-0500", ANY),
    *(
        text(f"2026-01-02T03:04:05{zone}")
        for zone in ("+24:00", "+05:60", " EST", " CST", " America/New_York", " Z Z", "+0")
    ),
    *(
        text(f"2026-01-02T{clock}Z")
        for clock in ("25:00:00", "24:20:00", "24:00:01", "10:60:00", "10:20:61", "10:20:60")
    ),
    *(
        text(f"{day}T03:04:05Z")
        for day in ("2026-00-01", "2026-13-01", "2026-01-00", "2026-01-32", "2026-02-29", "12026-01-01")
    ),
    *(text(f"{mark}2026-01-02T03:04:05Z{mark}") for mark in "_x"),
]
DAYS = [
    *(
        text(day, date.fromisoformat(day))
        for day in ("2026-01-28", "2024-02-29", "0001-01-01", "1970-12-31", "9999-12-31")
    ),
    *(text(day) for day in ("2026-02-29", "2026-13-01", "2026-00-01", "2026-01-32", "12026-01-01")),
    *(
        text(f"2026-01-02{midnight}", date(2026, 1, 2))
        for midnight in ("T00:00:00Z", " 00:00:00", "t00:00:00.0", "T00:00:00Z ", "T00:00:00.000+00:00", "T00:00")
    ),
    *(
        text(f"2026-01-02{time}", date(2026, 1, 2), cast=True)
        for time in ("T00:00:01Z", "T23:30:00-05:00", "T00:00:00+01:00", "T00:00:00-0500", "T24:00:00Z", "T23:59:60Z")
    ),
    *(text(f"2026-01-02{time}") for time in ("T25:00:00Z", "T00:00:00 EST", "T00:00:00+24:00", "T10:60:00")),
]
LONG = "1" * 5000
DECIMALS = [
    *(
        Odd(raw, Decimal(raw))
        for raw in ("0", "7", "-12", "7.5", "-0.1234", "99999999999999", "7e2", "12E-3", "1.5e+1")
    ),
    *(Odd(raw, Decimal(says)) for raw, says in (("0.30000000000000004", "0.3"), ("7e-400", "0"))),
    *(Odd(raw, Decimal(says), cast=True) for raw, says in (("7.12345", "7.1235"), ("0.99999", "1"), ("-0.00004", "0"))),
    *nothing("100000000000000", "9" * 25, LONG, "99999999999999.99999", "7e400"),
    *(text(raw, Decimal(raw.strip())) for raw in ("12", " 12", "+12", "007.5", "-7.1234", "7e2", "99999999999999")),
    *(
        text(raw, Decimal(says), cast=True)
        for raw, says in (("12.12345", "12.1235"), ("0.30000000000000004", "0.3"), ("7e-400", "0"))
    ),
    *(text(raw) for raw in ("_12_000", "12_000", "0x12", "$12", "7e400", "100000000000000", "9" * 25, LONG)),
]
DOUBLES = [
    *(Odd(raw, float(raw)) for raw in ("0", "7", "-12", "7.5", "0.30000000000000004", "9" * 25, "7e2", "7e-400")),
    *(text(raw, float(raw)) for raw in ("12", " 12", "+12", "007.5", "-7.1234", "7e2", "9" * 25)),
    *nothing("7e400", LONG),
    *(text(raw) for raw in ("_12_000", "12_000", "0x12", "$12", "7e400", LONG)),
]


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
    *(Odd(raw, raw, cast=True) for raw in ("-1.5", "1.10", "1e3", "9.4001118992231974e+21", "12.0")),
    Odd("true", "true"),
    Odd(str(2**70), str(2**70)),
    *nothing('"\\ud83d"', "NaN", "Infinity", "1e400", "1" * 5000),
]
JSONS = [
    *(
        Odd(json.dumps(value), Said(value))
        for value in [{}, [], {"a": [1, {"b": None}]}, "epoch", 7, 2**70, 1.5, True, {"ключ": "\u0000"}, [[[]]], ""]
    ),
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
TYPES: dict[str, list[Odd]] = {
    "packed_at": [*TIMES, *NO_TIMES, *nothing("1767225600", "true", "1.5", "NaN"), *SHAPES],
    "target_ship_date": [*DAYS, *NO_TIMES, *nothing("20260101", "false"), *SHAPES],
    "carrier_shipping_cost": [*DECIMALS, *NO_NUMBERS, *nothing("true", "NaN", "-Infinity"), *SHAPES],
    "item_weight.value": [*DOUBLES, *NO_NUMBERS, *nothing("true", "NaN", "-Infinity"), *SHAPES],
    "order.id": [*WHOLE, *EMPTY, *nothing("true", "NaN"), *SHAPES],
    "is_international": [*FLAGS, *EMPTY, *SHAPES],
    "scac": [*TEXTS, *SHAPES],
    "packages[0].container": JSONS,
    "total_weight": [
        *[replace(odd, cast=odd.says is not None) for odd in DOUBLES],
        *NO_NUMBERS,
        *nothing("true", "NaN", "[1]"),
    ],
}
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


def found_in(connection, files):
    """Cells by page and shipment, paths in quarantine, and how many values were taken in another form, by page."""
    query = f"""
        select _page, {", ".join(COLUMNS)}
        from read_parquet($1)
        left join (select _page as page, shipment_id, container from read_parquet($2))
            on page = _page and shipment_id = id
    """
    rows = connection.execute(query, [str(files["shipments"]), str(files["packages"])]).fetchall()
    cells = {(page, row[0]): dict(zip(COLUMNS, row, strict=True)) for page, *row in rows}
    quarantine = "select distinct _page, path from read_parquet(?)"
    quarantined = set(connection.execute(quarantine, [str(files["ops_quarantine"])]).fetchall())
    drift = "select _page, sum(occurrences) from read_parquet(?) where why is not null group by all"
    return cells, quarantined, dict(connection.execute(drift, [str(files["ops_schema_drift"])]).fetchall())


def test_an_odd_value_costs_its_own_cell_and_no_more(flattener, connection, land, tmp_path):
    gate = Gate(shape_of(connection))
    cases = [(field, odd) for field, odds in TYPES.items() for odd in odds]
    passing = [case for case in cases if gate.examine(page([record(1, case)])).fits]
    assert len(passing) > 60
    both = dict(enumerate((passing, cases), 1))
    contents = [page([record(id_, case) for id_, case in enumerate(some)]) for some in both.values()]
    pages = [structs.replace(raw, records=len(both[raw.number])) for raw in land(*contents)]
    done = flattener.flatten(pages, window_id="w", part=1, parquet_dir=tmp_path / "parquet")
    assert done.rows["shipments"] == sum(page.records for page in pages)
    cells, quarantined, cast = found_in(connection, done.files)
    for number, some in both.items():
        for id_, case in enumerate(some):
            (field, odd), row = case, cells.pop((number, id_))
            differing = {key: value for key, value in expected(id_, case).items() if not same(value, row[key])}
            assert not differing, (number, case, row)
            place = (number, f"$.collection[{id_}].{field}")
            if odd.says is not None or odd.raw not in {"[]", "{}"}:
                assert (place in quarantined) == (odd.says is None and not odd.empty), (number, case)
            quarantined.discard(place)
        assert cast.get(number, 0) == sum(odd.cast for _, odd in some), number
    assert (cells, quarantined) == ({}, set())


def same(wanted: Any, found: Any) -> bool:
    if wanted is ANY:
        return found is not None
    if isinstance(wanted, Said):
        return isinstance(found, str) and json.loads(found) == wanted.value
    return bool(type(wanted) is type(found) and wanted == found)
