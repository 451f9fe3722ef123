"""What somebody has seen, over SQLite and over a real PostgreSQL."""

from __future__ import annotations

from wms_sync.state.acknowledgements import Acknowledgements, fingerprint


def test_an_acknowledgement_ends_with_its_facts(url, request):
    item, other = (f"{name}-{request.node.name}"[:64] for name in ("run", "gap"))
    first, second = fingerprint("failed", 1), fingerprint("failed", 2)
    assert first != second
    with Acknowledgements(url) as acknowledgements:
        acknowledgements.add({item: first, other: first})
        assert {(item, first), (other, first)} <= acknowledgements.all().keys()
        acknowledgements.add({item: second})
        assert (item, first) not in acknowledgements.all()
        acknowledgements.keep([(item, second)])
        assert acknowledgements.all().keys() == {(item, second)}
        acknowledgements.keep([(item, first)])
        assert acknowledgements.all() == {}
