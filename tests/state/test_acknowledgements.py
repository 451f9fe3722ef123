"""What somebody has seen, over SQLite and over a real PostgreSQL."""

from __future__ import annotations

from wms_sync.state.acknowledgements import Acknowledgements, fingerprint


def test_an_acknowledgement_ends_with_its_facts(url):
    first, second = fingerprint("failed", 1), fingerprint("failed", 2)
    with Acknowledgements(url) as acknowledgements:
        acknowledgements.add({"run": first, "gap": first})
        acknowledgements.add({"run": second})
        assert acknowledgements.all().keys() == {("run", second), ("gap", first)}
        acknowledgements.keep([("run", first), ("gap", first)])
        assert acknowledgements.all().keys() == {("gap", first)}
