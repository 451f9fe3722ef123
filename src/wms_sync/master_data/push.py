"""Plan a CSV file, push it, and report the outcome of each row.

``plan_file`` sends nothing. ``push_file`` holds the lock on its kind while it plans and applies the plan, so that no
other push comes between the plan and its creates.

The state store has the state of the file from the plan to the end of the push. Status, doctor and sensor list the files
whose last push left rows unsent or waiting. Rejected rows are written unchanged, with their reasons in an extra column.
Once its rows are corrected, the file of rejected rows can be pushed: the extra column is ignored. It is the first
column, so that a row with too many cells keeps them in their columns. A byte-order mark keeps Excel from reading the
file as Windows-1252.
"""

from __future__ import annotations

import csv
import glob
import io
import itertools
import logging
import os
import shlex
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic

import httpx
from msgspec.structs import replace

from wms_sync.errors import MasterDataError, WmsSyncError
from wms_sync.grammar import agreed, count_of, minute
from wms_sync.layout import Layout
from wms_sync.master_data.apply import Push
from wms_sync.master_data.check import CheckedFile, check
from wms_sync.master_data.create import Watcher
from wms_sync.master_data.csv_file import UnreadableFile, canonical, digest_of, read_csv
from wms_sync.master_data.existing import MerchantLookup, read_existing
from wms_sync.master_data.kind import REASONS, Kind
from wms_sync.master_data.kinds import NAMES
from wms_sync.master_data.plan import GOOD, SHOWN, Plan, Rows, RowStatus, Step, make_plan
from wms_sync.service.answers import RetryPolicy
from wms_sync.service.client import GlobalApi
from wms_sync.service.merchant import MerchantApi
from wms_sync.settings import Settings
from wms_sync.state.holder import Holder
from wms_sync.state.ledger import PushedFile, PushFiles, State
from wms_sync.state.lock import lock_of
from wms_sync.state.store import StateStore
from wms_sync.storage.durable import make_private, write_whole
from wms_sync.targets.target import target_of

logger = logging.getLogger(__name__)
LOOKUP = RetryPolicy(attempts=4, total_seconds=60)
"""The retries of calls to the Merchant API. If they fail, the push continues without it."""
GONE_IS_REPORTED_FOR = timedelta(days=7)
"""How long a removed file is still reported: whoever removed it may not know of its unsent rows."""
LONGEST_STEM = 80


class TooManyCreates(MasterDataError):
    """The plan has more creates than ``WMS_PUSH_LIMIT``. The message shows how to allow them."""

    exit_code = 2


class PushReport(Rows, frozen=True):
    """What a push made of each row of its ``plan``. ``stopped`` is the error that ended the push early.

    ``rejects`` is the file of rows to correct; None if there are no such rows.
    """

    plan: Plan
    stopped: WmsSyncError | None = None
    interrupted: bool = False
    requests: int = 0
    seconds: float = 0.0
    rejects: Path | None = None

    @property
    def exit_code(self) -> int:
        """Return the exit code of the error that stopped the push, or that of the rows."""
        return super().exit_code if self.stopped is None else self.stopped.exit_code

    @property
    def left(self) -> list[Step]:
        """Return the rows that the limit of this push left to a later one."""
        return [step for step in self.steps if step.action is RowStatus.LEFT]

    @property
    def unsettled(self) -> list[Step]:
        """Return the rows that the service did not accept, but that a later push sends or settles without help."""
        return [step for step in self.steps if step.action is RowStatus.UNSENT or self._settles_by_itself(step)]

    def _settles_by_itself(self, step: Step) -> bool:
        is_open = step.entry is not None and step.entry.state is not State.UNPROVEN
        return step.action is RowStatus.IN_DOUBT and self.kind.is_unique and is_open

    def lines(self, *, most: int | None = SHOWN) -> Iterator[str]:
        """Yield the report as text: rows that need attention or have warnings, what to do, and the summary."""
        needy = [step for step in self.steps if step.action not in GOOD or step.warnings or step.exchange]
        yield from self.row_lines(needy, most)
        by_key_alone = sorted(step.line for step in self.steps if step.is_by_key_alone)
        if by_key_alone:
            some = ", ".join(map(str, by_key_alone[:10])) + (" ..." if len(by_key_alone) > 10 else "")
            yield (
                f"{count_of(len(by_key_alone), 'row counts', 'rows count')} as already there only because the service "
                f"has the {self.kind.key} (line {some}), which may belong to another merchant: a plan (--dry-run) "
                f"shows the merchant. Push rows whose {self.kind.key} belongs to another merchant in a separate "
                "file with --resend."
            )
        if self.left:
            yield f"{count_of(len(self.left), 'row is', 'rows are')} left: repeat the command without --limit."
        if self.rejects is not None:
            yield f"Correct the rejected rows in {self.rejects} and push that file."
        if self.stopped is not None:
            yield f"The push stopped: {self.stopped}"
        if self.interrupted:
            yield "The push was interrupted: repeat it to send the rest."
        yield self.summary


def plan_file(
    settings: Settings,
    store: StateStore,
    kind: Kind,
    path: Path,
    *,
    resend: bool = False,
    as_written: bool = False,
    limit: int | None = None,
    transport: httpx.BaseTransport | None = None,
) -> Plan:
    """Return the plan that ``push_file`` would apply now. Send nothing, and do not wait for a lock.

    ``as_written``: create rows with suspicious cells too. ``limit`` is the most creates to send.
    """
    _refuse_odd_name(path)
    with _lookup(settings, None, transport) as lookup:
        return _plan(settings, store, kind, path, lookup, resend=resend, as_written=as_written, limit=limit)


def push_file(
    settings: Settings,
    store: StateStore,
    kind: Kind,
    path: Path,
    *,
    run_id: str,
    resend: bool = False,
    as_written: bool = False,
    limit: int | None = None,
    again: bool = False,
    planned: Callable[[Plan], object] | None = None,
    watcher: Watcher | None = None,
    stop: threading.Event | None = None,
    policy: RetryPolicy | None = None,
    transport: httpx.BaseTransport | None = None,
) -> PushReport:
    """Create the rows of the file that are not known to be in the service. ``store`` has the lease for the kind.

    ``planned`` is called with the plan before the first create, and may raise an error to prevent sending. ``stop``
    ends the push after the requests under way. Use ``again`` for a file whose rows were handled earlier: refused rows
    that have not changed are then neither sent nor written to the rejects again. Requests go through ``transport``, if
    there is one, instead of a socket. ``as_written`` and ``limit`` are those of ``plan_file``. Raise
    ``UnreadableFile``, ``TooManyCreates``, ``SettingsError`` or ``StateError``; errors of creates and of the Merchant
    API are in the report.
    """
    _refuse_odd_name(path)
    with (
        _lookup(settings, policy, transport) as lookup,
        GlobalApi.from_settings(settings, policy=policy, allowed=store.lease.check, transport=transport) as api,
    ):
        before = store.pushed_files.of_kind(api.base_url, kind.name).get(str(path.absolute()))
        now = datetime.now(UTC)
        file = PushedFile(api.base_url, kind.name, str(path.absolute()), "", run_id, 0, 0, None, now)
        if before is not None and again:  # what was corrected in the file of rejected rows stays so
            file = replace(file, rejected=before.rejected, corrected=before.corrected, rejects=before.rejects)
        try:
            plan = _plan(
                settings, store, kind, path, lookup, resend=resend, as_written=as_written, limit=limit, again=again
            )
        except UnreadableFile:  # the sensor ignores the file until its content changes
            store.pushed_files.record(
                replace(before or file, sha256=digest_of(path), run_id=run_id, ended_at=datetime.now(UTC))
            )
            raise
        if planned is not None:
            planned(plan)
        for line in (*plan.notes, plan.summary):
            logger.info(line)
        unsent, waits = plan.sends + plan.counts.get(RowStatus.LEFT, 0), plan.counts.get(RowStatus.WAITS, 0)
        file = replace(file, sha256=plan.checked.file.sha256, unsent=unsent, waits=waits)
        store.pushed_files.mark_corrected(file)
        store.pushed_files.record(file)
        if plan.sends > settings.push_limit:
            too_many = TooManyCreates(
                f"The push would create {plan.sends:,} {plan.kind.plural}, but WMS_PUSH_LIMIT allows "
                f"{settings.push_limit:,} at a time. No row was sent, because a create cannot be undone. Check the "
                f"plan (--dry-run); if it is right, push with WMS_PUSH_LIMIT={plan.sends}."
            )
            store.pushed_files.record(replace(file, reason=str(too_many), ended_at=datetime.now(UTC)))
            raise too_many
        began = monotonic()
        push = Push(
            plan,
            api,
            store.ledger,
            run_id=run_id,
            parallel=settings.max_parallel_requests,
            lookup=lookup,
            stop=stop,
            watcher=watcher,
        )
        steps = push.apply()
        reasons = {
            step.line: step.why for step in steps if step.action is RowStatus.REJECTED and (step.sends or not again)
        }
        report = PushReport(
            plan.checked,
            steps,
            plan,
            push.stopped,
            push.interrupted,
            api.connection.requests,
            monotonic() - began,
            write_rejects(settings.layout, plan.checked, run_id, reasons),
        )
        later, waits = [*report.unsettled, *report.left], report.counts.get(RowStatus.WAITS, 0)
        rejected = report.counts.get(RowStatus.REJECTED, 0)
        has_all = rejected == len(reasons.keys() & plan.checked.file.cells.keys())
        kept = file.rejects if rejected == file.rejected else None
        store.pushed_files.record(
            replace(
                file,
                unsent=len(later),
                waits=waits,
                reason=str(report.stopped or "") or next((step.why for step in later), None),
                ended_at=datetime.now(UTC),
                rejected=rejected,
                rejects=report.rejects.name if report.rejects is not None and has_all else kept,
            )
        )
    return report


def _plan(
    settings: Settings,
    store: StateStore,
    kind: Kind,
    path: Path,
    lookup: MerchantLookup | None,
    *,
    resend: bool,
    as_written: bool,
    limit: int | None,
    again: bool = False,
) -> Plan:
    checked = check(read_csv(path), kind, as_written=as_written)
    existing = read_existing(
        checked, service=settings.require_base_url(), store=store, target=target_of(settings), lookup=lookup
    )
    return make_plan(checked, existing, resend=resend, again=again, limit=limit)


@contextmanager
def _lookup(
    settings: Settings, policy: RetryPolicy | None, transport: httpx.BaseTransport | None
) -> Iterator[MerchantLookup | None]:
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


def push_lock(kind: str) -> str:
    """Return the name of the lock on pushing the kind with this name."""
    return f"push-{kind}"


PUSH_LOCKS = tuple(map(push_lock, NAMES))
"""The names of the locks on all pushes, in the order in which they are taken together."""


def pusher(settings: Settings, kind: str) -> Holder | None:
    """Return the run that holds the push lock of this kind; None if nobody is pushing the kind."""
    return lock_of(settings.database_url, settings.layout).holder(what=push_lock(kind))


def unfinished(settings: Settings, files: PushFiles) -> tuple[PushedFile, ...]:
    """Return the files that have unsent, waiting or rejected rows and are not being pushed.

    Leave out files that are gone and whose push began more than ``GONE_IS_REPORTED_FOR`` ago.
    """
    idle = {kind for kind in NAMES if pusher(settings, kind) is None}
    reported_since = datetime.now(UTC) - GONE_IS_REPORTED_FOR
    return tuple(
        file
        for file in files.unfinished()
        if file.kind in idle and (os.path.exists(file.path) or file.began_at >= reported_since)  # noqa: PTH110 - no error
    )


def needs(settings: Settings, file: PushedFile) -> str:
    """Return sentences that say which rows of a file are open, why, and what happens next or has to be done."""
    path = Path(file.path)
    sentences = [f"{path.name}, pushed on {minute(file.began_at)}: {_open(file)}."]
    if file.reason and file.unsent:
        sentences.append(file.reason)
    if file.to_correct:
        where = path if file.rejects is None else settings.layout.rejects / file.rejects
        sentences.append(f"Correct the rejected rows in {where}, and push that file.")
    return " ".join([*sentences, *(_next(settings, file, path) if file.unsent or file.waits else ())])


def _open(file: PushedFile) -> str:
    unsent = count_of(file.unsent, *(("row was", "rows were") if file.ended_at else ("row",)))
    unsent += " not sent or not settled" if file.ended_at else " to send"
    waits = (
        f"{count_of(file.waits, 'waits', 'wait')} for objects that {agreed(file.waits, 'it refers', 'they refer')} to"
    )
    rejected = f"{count_of(file.to_correct, 'row was', 'rows were')} rejected"
    counted = ((unsent, file.unsent), (waits, file.waits), (rejected, file.to_correct))
    return ", ".join(text for text, count in counted if count)


def _next(settings: Settings, file: PushedFile, path: Path) -> Iterator[str]:
    if not file.ended_at:
        yield "That push was killed."
    by_hand = f"wms-sync push {file.kind} {shlex.quote(file.path)}"
    if not os.path.exists(path):  # noqa: PTH110 - no error
        yield f"The file is gone: put it back, and run `{by_hand}`."
    elif file.unsent > settings.push_limit:
        yield (
            "Check the plan; if it is right, raise WMS_PUSH_LIMIT, or set it for one run: "
            f"`WMS_PUSH_LIMIT={file.unsent} {by_hand}`."
        )
    elif settings.push_enabled and path.parent == settings.master_data_dir:
        yield "Dagster's sensor master_data_files pushes it again."
    else:
        yield f"Run `{by_hand}` again{'' if file.unsent else ' after a sync'}."


def write_rejects(layout: Layout, checked: CheckedFile, run_id: str, reasons: Mapping[int, str]) -> Path | None:
    """Write the rows with ``reasons`` (by line) to a file and return its path; None if no row could be corrected there.

    If the file of an earlier push, or the pushed file itself, has the same rows with the same reasons, return its path
    and do not write another file.
    """
    file = checked.file
    lines = [line for line in sorted(reasons) if line in file.cells]
    if not lines or checked.header_is_wrong:
        return None
    earlier = next((at for at, name in enumerate(file.header) if canonical(name) == REASONS), None)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=file.delimiter)
    writer.writerow([REASONS, *_without(file.header, earlier)])
    writer.writerows([reasons[line], *_without(file.cells[line], earlier)] for line in lines)
    content, folder = text.getvalue().encode("utf-8-sig"), make_private(layout.rejects)
    stem = f"{checked.kind}-{file.path.stem[:LONGEST_STEM]}"
    # match a run's id by its length: a stem may be the beginning of another stem
    earlier_files = sorted(folder.glob(f"{glob.escape(stem)}-{'?' * len(run_id)}.csv"))
    pushed = [file.path] if file.path.absolute().parent == folder.absolute() else []
    for known in (*pushed, *earlier_files):
        if known.stat().st_size == len(content) and known.read_bytes() == content:
            return known
    # files of one run may begin with the same stem
    numbered = (folder / f"{stem}-{run_id}{f'-{number}' if number else ''}.csv" for number in itertools.count())
    path = next(path for path in numbered if not path.exists())
    write_whole(path, content)
    return path


def _without(cells: tuple[str, ...], position: int | None) -> list[str]:
    """Return the cells without the one at ``position``, which has the reasons of an earlier push of the same rows."""
    return [cell for at, cell in enumerate(cells) if at != position]
