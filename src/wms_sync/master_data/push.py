"""Plan a CSV file, push it, and report the outcome of each row.

``plan_file`` sends nothing. ``push_file`` holds the lock on its kind while it plans and applies the plan, so that no
other push comes between the plan and its creates.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct

from wms_sync.grammar import count_of
from wms_sync.master_data.apply import Push
from wms_sync.master_data.check import check
from wms_sync.master_data.create import GOOD, Applied, Outcome, Result, Watcher
from wms_sync.master_data.csv_file import read_csv
from wms_sync.master_data.errors import TooManyCreates, UnreadableFile
from wms_sync.master_data.existing import Lookup, MerchantLookup, read_existing
from wms_sync.master_data.kinds.kind import Kind
from wms_sync.master_data.plan import NEEDS_A_HAND, SHOWN, WRONG_USAGE, Plan, make_plan
from wms_sync.master_data.pushed_files import FileState, push_lock, write_rejects
from wms_sync.service.client import GlobalApi
from wms_sync.service.merchant import MerchantApi
from wms_sync.service.retrying import RetryPolicy
from wms_sync.settings import Settings
from wms_sync.shipments.load.mirrors import published_push_ledger, restore_push_ledger
from wms_sync.state.ledger import CreatesJournal, JournaledLedger, PushFiles, PushLedger
from wms_sync.state.lock import Held
from wms_sync.state.store import StateStore
from wms_sync.state.turns import Turn, taking_turn
from wms_sync.targets.target import target_of
from wms_sync.upkeep.recovery import ledger_lacks, refuse_another_service

logger = logging.getLogger(__name__)
LOOKUP = RetryPolicy(attempts=4, total_seconds=60)
"""The retries of calls to the Merchant API. If they fail, the push continues without it."""


class PushReport(Struct, frozen=True):
    """The results of a push, row by row. ``rejects`` is the file of rows to correct; None if there are no such rows."""

    plan: Plan
    applied: Applied
    rejects: Path | None

    @property
    def counts(self) -> dict[Outcome, int]:
        """Return the number of rows by outcome."""
        outcomes = [result.outcome for result in self.applied.results]
        return {outcome: outcomes.count(outcome) for outcome in Outcome if outcome in outcomes}

    @property
    def exit_code(self) -> int:
        """Return 0 if every row is in the service, 3 if some rows need attention, 2 if the header is wrong.

        A push that stopped early has the exit code of its error.
        """
        if self.applied.stopped is not None:
            return self.applied.stopped.exit_code
        if self.plan.checked.header_is_wrong:
            return WRONG_USAGE
        return 0 if self.counts.keys() <= GOOD and not self.plan.unasked else NEEDS_A_HAND

    @property
    def unsettled(self) -> tuple[Result, ...]:
        """Return the rows that the service did not accept, but that a later push sends or settles without help."""
        return tuple(
            result for result in self.applied.results if result.outcome is Outcome.UNSENT or result.settles_by_itself
        )

    @property
    def summary(self) -> str:
        """Return one line: ``retailers of new.csv: 2 created, 1 rejected``."""
        counted = ", ".join(f"{count:,} {outcome}" for outcome, count in self.counts.items()) or "no rows"
        return f"{self.plan.kind.many} of {self.plan.checked.file.path.name}: {counted}"

    def rows(self, *outcomes: Outcome) -> list[dict[str, Any]]:
        """Return the results with one of these outcomes, or all results, as table rows in the order of the file."""
        shown = [result for result in self.applied.results if not outcomes or result.outcome in outcomes]
        return [result.row for result in sorted(shown, key=lambda result: result.line)]

    def lines(self, *, most: int | None = SHOWN) -> Iterator[str]:
        """Yield the report as text: rows that need attention or have warnings, what to do, and the summary.

        Show at most ``most`` rows of each outcome, or all if it is None. Show a reason that rows share only once.
        """
        seen: Counter[Outcome] = Counter()
        first: dict[str, int] = {}
        warned = {step.line: step.warnings for step in self.plan.steps}
        for result in sorted(self.applied.results, key=lambda result: result.line):
            ours = " ".join(f"Warning: {text}" for text in warned.get(result.line, ()))
            if result.outcome not in GOOD or result.warnings or ours:
                seen[result.outcome] += 1
                if most is None or seen[result.outcome] <= most:
                    text = f"line {result.line}: {result.outcome} {result.key}".rstrip()
                    why = f"{result.row['why']} {ours}".rstrip()
                    yield f"{text}: {f'as line {first[why]}' if why in first else why}".rstrip()
                    if why:
                        first.setdefault(why, result.line)
        for outcome, count in seen.items():
            if most is not None and count > most:
                yield f"and {count - most:,} more {outcome} (--all prints every row)"
        by_key_alone = sorted(step.line for step in self.plan.steps if step.is_by_key_alone)
        if by_key_alone:
            some = ", ".join(map(str, by_key_alone[:10])) + (" ..." if len(by_key_alone) > 10 else "")
            yield (
                f"{count_of(len(by_key_alone), 'row counts', 'rows count')} as already there only because the service "
                f"has the {self.plan.kind.key} (line {some}), which may belong to another merchant: a plan (--dry-run) "
                f"shows the merchant. Push rows whose {self.plan.kind.key} belongs to another merchant in a separate "
                "file with --resend."
            )
        if self.rejects is not None:
            yield f"Correct the rejected rows in {self.rejects} and push that file."
        if self.applied.stopped is not None:
            yield f"The push stopped: {self.applied.stopped}"
        if self.applied.interrupted:
            yield "The push was interrupted: push the file again to send the rest."
        yield self.summary


def plan_file(
    settings: Settings,
    kind: Kind,
    path: Path,
    *,
    resend: bool = False,
    transport: httpx.BaseTransport | None = None,
) -> Plan:
    """Return the plan that ``push_file`` would apply now. Send nothing, and do not wait for a lock.

    Restore lost entries of the ledger first.
    """
    _refuse_odd_name(path)
    with PushLedger(settings.database_url) as ledger, _lookup(settings, None, transport) as lookup:
        return _plan(settings, ledger, kind, path, lookup, resend=resend)


def push_file(
    settings: Settings,
    kind: Kind,
    path: Path,
    *,
    run_id: str,
    resend: bool = False,
    again: bool = False,
    planned: Callable[[Plan], object] | None = None,
    watcher: Watcher | None = None,
    stop: threading.Event | None = None,
    policy: RetryPolicy | None = None,
    transport: httpx.BaseTransport | None = None,
    held: Held | None = None,
) -> PushReport:
    """Create the rows of the file that are not known to be in the service.

    ``planned`` is called with the plan before the first create, and may raise an error to prevent sending. ``stop``
    ends the push after the requests under way. Use ``again`` for a file whose rows were handled earlier: refused rows
    that have not changed are then neither sent nor written to the rejects again. Requests go through ``transport``, if
    there is one, instead of a socket. ``held`` is the lock on the kind, if the caller has it. Raise ``UnreadableFile``,
    ``TooManyCreates``, ``SettingsError`` or ``StateError``; errors of creates and of the Merchant API are in the
    report.
    """
    _refuse_odd_name(path)
    url, layout = settings.database_url, settings.layout
    with (
        taking_turn(url, layout, f"push {kind.slug}", what=push_lock(kind.name), run_id=run_id, held=held) as turn,
        _ledger(settings, kind, turn) as ledger,
        PushFiles(url, turn) as files,
        _lookup(settings, policy, transport) as lookup,
        GlobalApi.from_settings(settings, policy=policy, allowed=turn.epoch.check, transport=transport) as api,
    ):
        state = FileState(files, api.base_url, kind.name, path, run_id)
        try:
            plan = _plan(settings, ledger, kind, path, lookup, resend=resend, again=again)
        except UnreadableFile:
            state.unreadable()
            raise
        if planned is not None:
            planned(plan)
        for line in (*plan.notes, plan.summary):
            logger.info(line)
        state.planned(plan)
        try:
            _refuse_too_many(settings, plan)
        except TooManyCreates as error:
            state.refused(error)
            raise
        if isinstance(ledger, JournaledLedger):
            ledger.journal.begin(published_push_ledger(target_of(settings)))
        push = Push(
            plan,
            api,
            ledger,
            run_id=run_id,
            parallel=settings.max_parallel_requests,
            lookup=lookup,
            stop=stop,
            watcher=watcher,
        )
        applied = push.apply()
        shown = {step.line for step in plan.steps if step.sends or not again}
        reasons = {line: reason for line, reason in _reasons(applied.results).items() if line in shown}
        report = PushReport(plan, applied, write_rejects(layout, plan.checked, run_id, reasons))
        state.ended(applied, report.unsettled)
    return report


def _plan(
    settings: Settings,
    ledger: PushLedger,
    kind: Kind,
    path: Path,
    lookup: Lookup | None,
    *,
    resend: bool,
    again: bool = False,
) -> Plan:
    service = settings.require_base_url()
    with StateStore(settings.database_url) as store:
        refuse_another_service(settings, store)  # tables of a different service have other objects and ids
        lacking = None if kind.is_unique else ledger_lacks(settings, store)
    target = target_of(settings)
    restore_push_ledger(target, CreatesJournal(settings.layout.creates), ledger)
    checked = check(read_csv(path), kind)
    existing = read_existing(checked, service=service, ledger=ledger, target=target, lookup=lookup, lacking=lacking)
    return make_plan(checked, existing, resend=resend, again=again)


def _ledger(settings: Settings, kind: Kind, turn: Turn) -> PushLedger:
    """Open the ledger; if the service accepts duplicates of the kind, open the ledger that also writes the journal."""
    url = settings.database_url
    return PushLedger(url, turn) if kind.is_unique else JournaledLedger(url, turn, CreatesJournal(turn.layout.creates))


@contextmanager
def _lookup(
    settings: Settings, policy: RetryPolicy | None, transport: httpx.BaseTransport | None
) -> Iterator[Lookup | None]:
    """Open the lookup in the Merchant API if its credentials are set; otherwise yield None."""
    if not settings.has_merchant:
        yield None
        return
    with MerchantApi.from_settings(settings, policy=policy or LOOKUP, transport=transport) as api:
        yield MerchantLookup(api)


def _refuse_odd_name(path: Path) -> None:
    """Refuse a file whose name is not UTF-8, because the state of a push is stored under that name."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise UnreadableFile(path, "its name is not UTF-8; it may come from another system. Rename it.") from None


def _refuse_too_many(settings: Settings, plan: Plan) -> None:
    if plan.sends > settings.push_limit:
        raise TooManyCreates(
            f"The push would create {plan.sends:,} {plan.kind.many}, but WMS_PUSH_LIMIT allows {settings.push_limit:,} "
            "at a time. No row was sent, because a create cannot be undone. Check the plan (--dry-run); if it is "
            f"right, push with WMS_PUSH_LIMIT={plan.sends}."
        )


def _reasons(results: tuple[Result, ...]) -> dict[int, str]:
    return {result.line: result.message for result in results if result.outcome is Outcome.REJECTED}
