"""What audits proved missing, over SQLite and over a real PostgreSQL."""

from datetime import UTC, datetime, timedelta

import pytest

from wms_sync.state.audits import Audit, Audits, MissingShipment
from wms_sync.state.store import StateStore

MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def audits(store: StateStore) -> Audits:
    return store.audits


def audit(window_id: str, read_at: datetime = MOMENT) -> Audit:
    return Audit(window_id, "run", read_at, 0, 2**63 - 1, MOMENT, 9, 2**40, 9)


def test_a_missing_shipment_returns_and_goes_again(audits):
    audits.begin(audit("a"), [MissingShipment(2**40, "a", MOMENT), MissingShipment(7, "a", MOMENT)])
    assert set(audits.missing()) == {7, 2**40}
    audits.mark_returned({7: MOMENT + DAY})
    assert audits.missing() == {2**40: MissingShipment(2**40, "a", MOMENT)}
    audits.begin(audit("b", MOMENT + 2 * DAY), [MissingShipment(7, "b", MOMENT + 2 * DAY)])
    audits.mark_returned({2**40: MOMENT + 3 * DAY})
    assert audits.missing() == {7: MissingShipment(7, "b", MOMENT + 2 * DAY)}
    assert audits.all_missing() == (
        MissingShipment(7, "a", MOMENT, MOMENT + DAY),
        MissingShipment(2**40, "a", MOMENT, MOMENT + 3 * DAY),
        MissingShipment(7, "b", MOMENT + 2 * DAY),
    )


def test_an_audit_dated_ahead_does_not_stay_newest(audits):
    audits.begin(audit("a", MOMENT + 40 * DAY))
    audits.begin(audit("b", MOMENT + DAY))
    assert [(found.window_id, found.read_at) for found in audits.all()] == [("a", MOMENT), ("b", MOMENT + DAY)]
