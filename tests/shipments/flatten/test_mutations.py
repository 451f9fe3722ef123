"""Pages changed at random, always by the same seeds: no window stops, and no other record is lost or changed."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import duckdb

from wms_sync.catalogue import tables

GOLDEN = Path(__file__).parent / "golden"
SEEDS = range(12)
NEIGHBOURS = (7_000_001, 7_000_003)
ODD: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        -7,
        2**63,
        -(2**80),
        0.5,
        1e300,
        float("nan"),
        float("-inf"),
        "",
        " ",
        "12",
        "1.5",
        "x" * 999,
    ),
    *(
        "true",
        "2024-02-31",
        "2024-01-01T25:00:00Z",
        "0000-00-00",
        "\ud83d",
        "a\u0000b",
        [],
        {},
        [None],
        [[]],
        {"id": "x"},
    ),
)


def three_shipments() -> dict[str, Any]:
    """A page with a whole shipment, three times."""
    text = (GOLDEN / "everything_inline" / "page-00001.json").read_text(encoding="utf-8")
    page, *others = (json.loads(text) for _ in range(3))
    page["collection"] += [other["collection"][0] for other in others]
    for id_, shipment in enumerate(page["collection"], 7_000_001):
        shipment["id"] = id_
    return dict(page)


def with_odd_values(chance: Random) -> bytes:
    """The page, where the second shipment has another value or a new key in up to four places."""
    page = three_shipments()
    for _ in range(chance.randint(1, 4)):
        holder: Any = page["collection"][1]
        while True:
            key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
            if not isinstance(holder[key], dict | list) or not holder[key] or chance.random() < 0.2:
                break
            holder = holder[key]
        if isinstance(holder, dict) and chance.random() < 0.2:
            key = "unheard_of"
        holder[key] = chance.choice(ODD)
    return json.dumps(page).encode()


def with_odd_bytes(chance: Random) -> bytes:
    """The page, with up to four bytes that are others or missing."""
    content = bytearray(json.dumps(three_shipments()).encode())
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(content))
        content[place : place + chance.randint(1, 3)] = bytes([chance.randrange(256)])
    return bytes(content)


def test_what_changed_at_random_costs_no_other_record(flattener, land, tmp_path):
    """Each third page is whole, one has odd values in its second record, one has odd bytes anywhere."""
    whole = json.dumps(three_shipments()).encode()
    pages = land(
        *(content for seed in SEEDS for content in (whole, with_odd_values(Random(seed)), with_odd_bytes(Random(seed))))
    )

    done = flattener.flatten(pages, window_id="w", part=1, parquet_dir=tmp_path)

    assert done.rows["shipments"] + done.records_removed == sum(page.records for page in pages)
    assert done.quarantined > len(SEEDS)
    with duckdb.connect() as connection:
        for table in tables():
            if table.root == "shipments" and table.slug in done.files:
                query = f"select _page, * exclude (_page) from read_parquet(?) where {table.root_key} = ? order by all"
                for neighbour in NEIGHBOURS:
                    found = connection.execute(query, [str(done.files[table.slug]), neighbour]).fetchall()
                    by_page = {page.number: [row[1:] for row in found if row[0] == page.number] for page in pages}
                    assert by_page[1], table.slug
                    spared = [page.number for page in pages if page.number % 3]
                    assert [number for number in spared if by_page[number] != by_page[1]] == [], (table.slug, neighbour)
