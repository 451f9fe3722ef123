"""The list of forgotten orders: lost or damaged in one place it comes back from the other, in both the run says so."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench import Bench, logged
from wms_sync.targets.errors import ForgottenOrdersLostError
from wms_sync.upkeep.forget import forget

ORDERS = {4711, 4712, 2**62}

DAMAGE: dict[str, Callable[[Path], object]] = {
    "deleted": lambda file: file.unlink(),
    "emptied": lambda file: file.write_bytes(b""),
    "cut short": lambda file: file.write_bytes(file.read_bytes()[:-3]),
    "not UTF-8": lambda file: file.write_bytes(file.read_bytes() + b"\xff"),
    "no list": lambda file: file.write_bytes(b'{"orders": [4711]}'),
    "a list of other things": lambda file: file.write_bytes(b'[4711, "4712"]'),
    "beyond 64 bits": lambda file: file.write_bytes(b"[9223372036854775808]"),
}


@pytest.fixture
def installed(bench: Bench, sandbox) -> Bench:
    """A window is in the tables, and the orders are forgotten."""
    bench.first_sync(sandbox)
    forget(bench.run, ORDERS)
    return bench


def listed(bench: Bench) -> set[int]:
    return set(json.loads(bench.layout.forgotten_orders.read_bytes()))


def recovered(bench: Bench) -> list[str]:
    with logged() as said:
        bench.recover()
    return said


def test_where_nothing_was_read_nothing_is_lost(bench):
    """The file is there from the first run on."""
    for _ in range(2):
        recovered(bench)
        assert listed(bench) == set()
        bench.layout.forgotten_orders.unlink()
        bench.lose_the_state_store()


def test_the_list_comes_back_from_the_copy_that_is_left(installed):
    file = installed.layout.forgotten_orders
    for damage, harm in DAMAGE.items():
        harm(file)
        [line] = recovered(installed)
        assert str(file) in line, damage
        assert listed(installed) == installed.store.forgotten() == ORDERS, damage
    file.write_text("[4711, 5]")
    assert any(f"in the state store and {file}" in line for line in recovered(installed)), "an old copy is completed"
    assert listed(installed) == installed.store.forgotten() == ORDERS | {5}
    installed.lose_the_state_store()
    file.write_text(json.dumps([*ORDERS, 5, 6]))
    assert any("in the state store: completed" in line for line in recovered(installed)), "of after the snapshot"
    assert listed(installed) == installed.store.forgotten() == ORDERS | {5, 6}
    assert installed.store.windows()


@pytest.mark.parametrize("damage", ["deleted", "cut short"])
def test_nothing_is_read_while_both_are_lost(installed, damage):
    """Not by the next run either, which must not take the state store of this one for the true one."""
    DAMAGE[damage](installed.layout.forgotten_orders)
    installed.lose_the_state_store()
    for _ in range(2):
        with pytest.raises(ForgottenOrdersLostError, match=r"forgotten-orders\.json is .*JSON list"):
            recovered(installed)
