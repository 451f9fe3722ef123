"""Each kind of master data is one value, and what stands outside of it agrees with it."""

from __future__ import annotations

import pytest

from tests.conftest import queried
from wms_sync import sql_files
from wms_sync.master_data.columns import columns_of
from wms_sync.master_data.kinds import IN_SHIPMENTS, KINDS, NAMES, SAMPLES, kind_named


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_kind_has_body_sample_and_key(kind):
    assert kind_named(kind.name) is kind
    assert kind.body(kind.type) is kind.bodies[kind.type]
    assert {name: body.__name__ for name, body in kind.bodies.items()} == {name: name for name in kind.bodies}
    assert [one.types for one in columns_of(kind) if one.required and one.name == kind.key] == [tuple(kind.bodies)]
    assert (SAMPLES / f"{kind}.csv").exists()


def test_every_sample_is_of_a_kind():
    assert sorted(path.stem for path in SAMPLES.iterdir()) == sorted(NAMES)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.query], ids=str)
def test_the_query_of_a_kind_agrees_with_it(kind, shown):
    query = f"select distinct kind, is_unique from ({sql_files.read(kind.query)})"
    assert queried(shown, query) == [(kind.name, kind.is_unique)]


def test_only_kinds_with_a_query_are_in_shipments():
    assert IN_SHIPMENTS == ("retailers", "products")
