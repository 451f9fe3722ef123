"""What tests of alerts begin with: an installation whose runs are only recorded."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.deferred import deferred
from tests.receiver import Receiver
from wms_sync.reports.alerts import deliver
from wms_sync.settings import Settings
from wms_sync.state.reported import Outbox, Waiting
from wms_sync.state.run_records import Outcome, RunRecord, RunRecords

HOUR = timedelta(hours=1)
REFUSED = "The service refused the token (401). Renew WMS_API_TOKEN."
WRONG: tuple[Outcome, str, str] = ("failed", REFUSED, "Unauthorized")


class Installation:
    """Settings, and runs that are recorded as they would record themselves."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.now = datetime.now(UTC)
        self._runs = 0

    def run(
        self,
        outcome: Outcome,
        error: str | None = None,
        kind: str | None = None,
        *,
        purpose: str = "sync",
        source: str = "command line",
        began: timedelta | None = None,
        counts: dict[str, int] | None = None,
        due: timedelta | None = None,
    ) -> str:
        """A run from its start, so long after now, to its end or, if it waits, to its next attempt; its id."""
        self._runs += 1
        run_id = f"run-{self._runs}"
        at = self.now + (timedelta(seconds=self._runs) if began is None else began)
        record = RunRecord(
            run_id,
            purpose,
            source,
            at,
            None if outcome in {"running", "waiting"} else at,
            outcome,
            error,
            kind,
            counts=counts or {},
            due_at=None if due is None else self.now + due,
        )
        with RunRecords.opened(self.settings.database_url) as records:
            records.save(record)
        return run_id

    def tell(self, later: timedelta = timedelta()) -> None:
        """As a command does at its end, or the daemon; ``later`` than now."""
        deliver(self.settings, self.now + later)

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """What no receiver has taken yet."""
        with Outbox.opened(self.settings.database_url) as outbox:
            return outbox.waiting()


@pytest.fixture
def install(tmp_path: Path) -> Callable[..., Installation]:
    return lambda **channels: Installation(
        Settings.load(_env_file=None, base_url="https://acme.example.com", data_dir=tmp_path / "data", **channels)
    )


@pytest.fixture
def hooked(install: Callable[..., Installation], receiver: Receiver) -> Installation:
    """One whose alerts the receiver takes as JSON."""
    return install(alert_webhook_url=receiver.url)


Change = Callable[[Installation], object]
Story = list[tuple[Change, float | None, str]]
"""What happens, after how many hours alerts are sent if they are, and which come then, in any order."""


ran = deferred(Installation.run)


def nothing(_: Installation) -> None: ...


def play(story: Story, house: Installation, receiver: Receiver) -> None:
    for change, hours, alerts in story:
        before = len(receiver.taken)
        change(house)
        if hours is not None:
            house.tell(hours * HOUR)
        assert sorted(receiver.heard[before:]) == sorted(alerts.split())
