"""Whatever is sent, the sandbox answers as the specification says, never with 500: random requests by fixed seeds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from tests.sandbox.case import BASIC, violations
from tests.sandbox.conftest import AUTHORISED, Service
from tests.sandbox.create_bodies import LEAST
from wms_sandbox.app import MERCHANT_API, SHIPMENTS
from wms_sandbox.filters import FIELDS, OPERATORS
from wms_sandbox.kinds import PATHS

NAMES = ("filter", "sort", "count", "limit", "cursor_start", "cursor_end", "fields", "page", "", "ü", "filter[]")
TEXTS = (
    "",
    "1",
    "0",
    "-1",
    "id",
    "-id",
    "updated_at",
    "all",
    "basic",
    "status,order",
    "null",
    "9" * 30,
    "\x00",
    "é📦",
    "%",
)
SIGNS = ("{", "}", "[", "]", ":", ",", "'", '"', "\\", "\\u12", "(", "*", ".", "e9", "true", "-", "2025-01-01", " ")
VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "x" * 300,
    "\u0000",
    [],
    {},
    [[]],
    {"id": 1},
    {"type": "x"},
)


RIGHT = {
    "limit": ("1", "7", "1000"),
    "count": ("0", "1"),
    "sort": ("id", "-id", "updated_at"),
    "fields": ("all", "id", "status,order"),
    "filter": ("id{gt:100005}", "updated_at{null:true}", "unique_id{start:'1'}", "id[{lt:5},{in:[100001]}]"),
}


def parameter(chance: Random) -> tuple[str, str]:
    """A parameter as it should be, a filter or another one with odd text, or none that there is."""
    name = chance.choice((*NAMES, *RIGHT, f"fields:{chance.choice((*PATHS, ''))}"))
    odd = chance.choice((*TEXTS, "".join(chance.choices(SIGNS, k=chance.randint(1, 6)))))
    if chance.random() < 0.7:
        return name, chance.choice(RIGHT.get(name, ("all",)))
    if name == "filter" and chance.random() < 0.7:
        odd = f"{chance.choice(FIELDS)}{{{chance.choice(OPERATORS)}:{odd}}}"
    return name, odd


def changed(body: Any, chance: Random) -> Any:
    """A body with another value or key somewhere."""
    if not isinstance(body, dict) or not body or chance.random() < 0.2:
        return chance.choice(VALUES)
    key = chance.choice((*body, "unheard_of"))
    return body | {key: changed(body.get(key), chance)}


@pytest.fixture(scope="module")
def few(start: Callable[..., Service]) -> Service:
    return start(shipments=20, families=20)


def test_listings_with_random_parameters(few: Service):
    found: Counter[int] = Counter()
    for seed in range(400):
        chance = Random(seed)
        parameters = [parameter(chance) for _ in range(chance.randint(1, 3))]
        response = few.get(*parameters)
        found[response.status_code] += 1
        if response.status_code == 400:
            wrong = tuple(f"{name}." for name, _ in parameters)
            assert all(f"{key}.".startswith(wrong) for key in violations(response)), parameters
        else:
            assert response.status_code == 200, parameters
            assert len(response.json()["collection"]) <= 20
    assert min(found[200], found[400]) > 20, found


BODIES = (
    *LEAST.items(),
    (MERCHANT_API, {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [None, "product.search", [{"sku": "x"}]]}),
)


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_bodies_with_random_values(few: Service, path: str, body: Any):
    found: Counter[int] = Counter()
    authorised = AUTHORISED if path != MERCHANT_API else {"Authorization": BASIC}
    with few.stranger() as client:
        for seed in range(100):
            sent = changed(body, Random(seed))
            response = client.post(
                path, content=json.dumps(sent), headers={**authorised, "Content-Type": "application/json"}
            )
            found[response.status_code] += 1
    assert found.keys() <= {200, 201, 400, 422}, found
    assert few.client.get(SHIPMENTS).status_code == 200
