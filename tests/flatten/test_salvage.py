"""What DuckDB cannot read is found and taken out, and nothing else: here of pages that nobody has repaired."""

import json

import pytest

from wms_sync.flatten.salvage import salvage

from .test_mutations import Fixture

SOUND = {"id": 1, "unique_id": "kept", "packed_at": "2026-01-01T00:00:00Z", "items": [{"id": 5, "sku": "a"}]}


@pytest.fixture(scope="module")
def reads(tmp_path_factory):
    reader = Fixture(tmp_path_factory.mktemp("salvage")).reader
    return lambda page: reader._reads(json.dumps(page).encode())


def test_a_value_costs_its_own_cell(reads):
    odd = SOUND | {"id": 2, "packed_at": "noon", "items": [{"id": 6, "sku": "b", "quantity": "many"}, {"id": 7}]}
    page = {"collection": [SOUND, odd, SOUND | {"id": 3}], "included": {"Order": [{"id": 9, "created_at": "noon"}]}}

    misfits, removed = salvage(page, reads)

    assert removed == 0
    assert [(found.object, found.object_id, found.path) for found in misfits] == [
        ("Shipment", 2, "$.collection[1].packed_at"),
        ("Shipment", 2, "$.collection[1].items[0].quantity"),
        ("Order", 9, "$.included.Order[0].created_at"),
    ]
    mended = odd | {"packed_at": None, "items": [{"id": 6, "sku": "b", "quantity": None}, {"id": 7}]}
    assert page["collection"] == [SOUND, mended, SOUND | {"id": 3}]
    assert reads(page)


def test_a_record_without_a_readable_id_goes_whole_and_alone(reads):
    page = {"collection": [SOUND, SOUND | {"id": "x"}]}

    misfits, removed = salvage(page, reads)

    assert (removed, [found.path for found in misfits]) == (1, ["$.collection[1]"])
    assert page["collection"] == [SOUND]
