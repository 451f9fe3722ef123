"""What the checks find in the published tables: at the last load, or now, asked of whole tables. It writes nothing."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from wms_sync.settings import Settings
from wms_sync.shipments.load.checking import NO_ROWS, CheckResult, Sample, ask_whole_tables
from wms_sync.state.engine import refuse_older
from wms_sync.targets.database import records
from wms_sync.targets.errors import NothingCheckedError
from wms_sync.targets.target import target_of


class Found(Struct, frozen=True):
    """What one check found; ``sample`` has the first offending rows, none if they are not kept.

    ``finding`` says what is wrong, with a few values; None if nothing is.
    """

    name: str
    severity: str
    finding: str | None
    offending: int
    sample: Sample = NO_ROWS


def found_last(settings: Settings) -> Sequence[Found]:
    """Return what the load that published the file found. Raise ``NothingCheckedError``."""
    _refuse_unpublished(settings)
    with target_of(settings).published() as connection:
        rows = records(connection.execute("select name, severity, finding, offending from ops.checks order by name"))
    return [Found(**row) for row in rows]


def found_in_whole_tables(settings: Settings) -> Sequence[Found]:
    """Ask every check of the whole published tables. Raise ``NothingCheckedError``."""
    _refuse_unpublished(settings)
    with target_of(settings).published(memory_limit=settings.memory_limit) as connection:
        return [_found(result) for result in ask_whole_tables(connection)]


def _found(result: CheckResult) -> Found:
    check = result.check
    return Found(check.name, check.severity, result.finding, result.offending, result.sample)


def _refuse_unpublished(settings: Settings) -> None:
    refuse_older(settings.database_url)
    if not target_of(settings).is_published:
        raise NothingCheckedError("Nothing can be checked: nothing is published yet. Run `wms-sync sync` first.")
