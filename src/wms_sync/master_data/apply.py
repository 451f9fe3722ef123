"""Apply a plan: send creates in parallel, parents before children, each intent on disk before its request.

A row waits for its parents' ids, and is not sent if a parent gets no id. One thread orders, records and counts;
``max_parallel_requests`` other threads only send. Intents and outcomes share transactions of the ledger, so that 10,000
rows do not wait for the disk 20,000 times. After a kill, at most the intents written ahead are in doubt: few for
products, whose doubts a person must settle, and more for kinds with unique keys.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from time import monotonic

from msgspec.structs import replace

from wms_sync.errors import WmsSyncError
from wms_sync.master_data.create import (
    THERE,
    Applied,
    Prior,
    PushProgress,
    Result,
    Sender,
    Sent,
    Watcher,
    message_of,
)
from wms_sync.master_data.errors import ServiceIsBusy, ServiceKeepsFailing, ServiceRepeatsIds
from wms_sync.master_data.existing import MerchantLookup
from wms_sync.master_data.plan import Plan, RowStatus, Step
from wms_sync.master_data.records import Ids, body, digest, stored
from wms_sync.service.client import GlobalApi
from wms_sync.service.creates import Creates
from wms_sync.state.ledger import PRESENT, UNSURE, Entry, PushLedger, State

AHEAD_UNIQUE = 64
"""The number of intents written ahead for kinds with unique keys, whose doubts settle themselves. For other kinds it is
twice the number of parallel requests."""
GIVE_UP_AFTER = 8
"""Stop after this many consecutive creates failed or got no answer after all retries: the service is at fault."""
GIVE_UP_IN_DOUBT = 3
"""Stop after this many consecutive creates without an answer, for kinds where a person must settle each doubt."""
GIVE_UP_BUSY = 3
"""Stop after the service was too busy for this many consecutive creates. After the first, creates are retried less."""
RECORD_SECONDS = 0.5
"""The maximum time until a known outcome is on disk."""
POLL_SECONDS = 0.1
NOT_SENT = "not sent: the push ended first"
NOT_DONE = frozenset({State.UNDONE, State.DOUBT})


class ReadyRows:
    """A queue of the rows that a plan sends. ``results`` has the finished rows, ``counts`` counts their outcomes."""

    def __init__(self, plan: Plan) -> None:
        self.steps = {step.key: step for step in plan.steps if step.sends}
        self.results: dict[str, Result] = {}
        self.counts: Counter[RowStatus] = Counter()
        self._kind = plan.kind
        self._missing = {key: len(step.waits_for) for key, step in self.steps.items()}
        self._children: dict[str, list[str]] = {}
        for key, step in self.steps.items():
            for parent in step.waits_for:
                self._children.setdefault(parent, []).append(key)
        self._ready = deque(key for key, missing in self._missing.items() if not missing)

    @property
    def is_empty(self) -> bool:
        """Return whether no row is ready to be sent."""
        return not self._ready

    def take(self, most: int) -> Sequence[Step]:
        """Take at most ``most`` rows, parents first."""
        return [self.steps[self._ready.popleft()] for _ in range(min(len(self._ready), most))]

    def has_children(self, step: Step) -> bool:
        """Return whether other rows need this row's id."""
        return step.key in self._children

    def ids(self, step: Step) -> Ids:
        """Return the ids for a row's references: those that the plan knows, and those of parents just created."""
        made = {
            (self._kind.type, parent): {"type": self._type(parent), "id": self.results[parent].remote_id}
            for parent in step.waits_for
        }
        return {**step.ids, **made}

    def conclude(self, result: Result) -> None:
        """Record a row's result. Its children become ready; without its id, they and their children are not sent."""
        concluded = [result]
        while concluded:
            parent = concluded.pop()
            self.results[parent.key] = parent
            self.counts[parent.outcome] += 1
            for child in self._children.get(parent.key, ()):
                self._missing[child] -= 1
                if child in self.results:
                    continue
                if parent.outcome not in THERE or parent.remote_id is None:
                    concluded.append(self._orphan(self.steps[child], parent))
                elif self._missing[child] == 0:
                    self._ready.append(child)

    def _type(self, key: str) -> str:
        """Return the service's type of a row. Each product names its own type."""
        record = self.steps[key].record
        return str(record.body.get("type", self._kind.type)) if record else self._kind.type

    def _ids_column(self, child: Step, parent: str) -> str:
        """Return the column that can refer to the parent by its id."""
        references = child.record.references if child.record else ()
        return next(
            reference.ids
            for reference in references
            if reference.ids and reference.kind == self._kind.type and parent in reference.keys
        )

    def _orphan(self, child: Step, parent: Result) -> Result:
        named = f"Refers to {self._kind.singular} {parent.key} on line {parent.line}"
        if parent.outcome in THERE:
            why = (
                f"{named}, which the service has with an unknown id. Push again when a sync has read it, or set "
                "WMS_MERCHANT_USERNAME and WMS_MERCHANT_API_KEY, so that a push can look it up. If you know the id, "
                f"use {self._ids_column(child, parent.key)}."
            )
            return Result(child.line, child.key, RowStatus.WAITS, message=why)
        outcome = RowStatus.REJECTED if parent.outcome is RowStatus.REJECTED else RowStatus.WAITS
        does = "waits too" if parent.outcome is RowStatus.WAITS else f"is {parent.outcome}"
        return Result(child.line, child.key, outcome, message=f"{named}, which {does}.")


class Push:
    """One push of one plan over one client. Stopping the push closes the client for further requests.

    Make the plan while holding the lock on pushing its kind: the ledger checks the lock with each intent, the client
    before each request. A request that is suspended after this check does no harm: its intent was on disk before
    another push took over the lock, so the plan of that push has the row in doubt. ``watcher`` is called after each
    row, in the calling thread.
    """

    def __init__(
        self,
        plan: Plan,
        api: GlobalApi,
        ledger: PushLedger,
        *,
        run_id: str,
        parallel: int,
        lookup: MerchantLookup | None = None,
        stop: threading.Event | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self._plan = plan
        self._api = api
        self._ledger = ledger
        self._run_id = run_id
        self._parallel = parallel
        self._stop = stop or threading.Event()
        self._watcher = watcher
        self._sender = Sender(plan.kind, Creates(api), lookup)
        self._rows = ReadyRows(plan)
        self._ahead = AHEAD_UNIQUE if plan.kind.is_unique else 2 * parallel
        self._intents: dict[str, Entry] = {}
        self._running: set[str] = set()
        self._by_id = {step.entry.remote_id: step.entry for step in plan.steps if step.entry is not None}
        self._newest: deque[Future[Sent]] = deque(maxlen=2 * self._ahead)
        self._answers: queue.SimpleQueue[tuple[str, Future[Sent]]] = queue.SimpleQueue()
        self._unrecorded: list[Entry] = []
        self._recorded_at = monotonic()
        self._failures = 0
        self._in_doubt = 0
        self._busy = 0
        self._stopped: WmsSyncError | None = None
        self._halted = False
        self._started = monotonic()

    def apply(self) -> Applied:
        """Send the plan's creates. Stop early after an error that would fail every row, or when ``stop`` is set."""
        self._ledger.record([step.proven for step in self._plan.steps if step.proven is not None])
        with ThreadPoolExecutor(self._parallel, "create") as pool:
            try:
                while self._running or not (self._rows.is_empty or self._halted):
                    self._top_up(pool)
                    self._take_in()
            except BaseException:  # including an interrupt: finish and record the requests under way
                self._halt()
                pool.shutdown()
                self._take_in()
                self._unrecorded += map(self._withdrawn, self._intents.values())
                raise
            finally:
                self._ledger.record(self._unrecorded)
        return Applied(
            results=tuple(self._result(step) for step in self._plan.steps),
            stopped=self._stopped,
            interrupted=self._halted and self._stopped is None,
            requests=self._api.connection.requests,
            seconds=monotonic() - self._started,
        )

    # --- sending ---

    def _top_up(self, pool: ThreadPoolExecutor) -> None:
        """Give the sending threads more rows. First write their intents, together with the outcomes known so far."""
        if self._stop.is_set():
            self._halt()
        is_low = len(self._running) <= self._ahead // 2
        batch = self._rows.take(self._ahead - len(self._running)) if is_low and not self._halted else ()
        is_due = monotonic() - self._recorded_at > RECORD_SECONDS
        if batch or (is_due and self._unrecorded):
            self._intend(batch)
        for step in batch:
            self._running.add(step.key)
            self._newest.append(pool.submit(self._send, step))
            self._newest[-1].add_done_callback(partial(self._answered, step.key))

    def _intend(self, batch: Sequence[Step]) -> None:
        intents = {step.key: self._intent(step) for step in batch}
        self._intents |= intents
        self._ledger.record([*self._unrecorded, *intents.values()])
        self._unrecorded.clear()
        self._recorded_at = monotonic()

    def _intent(self, step: Step) -> Entry:
        """Return the ledger's entry for a row that is about to be sent.

        If the service already had the object, and its kind has unique keys, keep the earlier entry: only a new create
        may replace it.
        """
        prior, now = step.entry, datetime.now(UTC)
        if prior is not None and self._was_there(step):
            return replace(prior, run_id=self._run_id, attempts=prior.attempts + 1, intended_at=now)
        return Entry(
            service=self._plan.service,
            kind=self._plan.kind.name,
            key=step.key,
            state=State.INTENDED,
            body=step.content,
            body_sha256=digest(step.content),
            remote_id=None,
            run_id=self._run_id,
            attempts=prior.attempts + 1 if prior else 1,
            message=None,
            intended_at=prior.intended_at if prior and prior.state in UNSURE else now,
            settled_at=None,
            seen_at=None,
        )

    def _send(self, step: Step) -> Sent:
        """Send one row, in a sending thread."""
        assert step.record is not None  # noqa: S101 - only records are sent
        return self._sender.send(
            step.key,
            body(step.record, self._rows.ids(step)),
            Prior(
                in_doubt=step.entry is not None and step.entry.state in UNSURE,
                was_there=self._was_there(step),
                is_last_word=step.is_last_word,
            ),
            id_needed=self._rows.has_children(step),
        )

    def _was_there(self, step: Step) -> bool:
        """Return whether the service already had the object, and would refuse a second one."""
        return step.entry is not None and step.entry.state in PRESENT and self._plan.kind.is_unique

    def _answered(self, key: str, future: Future[Sent]) -> None:
        self._answers.put((key, future))

    # --- taking answers in ---

    def _take_in(self) -> None:
        """Wait for an answer, then handle all answers that have arrived."""
        try:
            self._settle(*self._answers.get(timeout=POLL_SECONDS))
            while True:
                self._settle(*self._answers.get_nowait())
        except queue.Empty:
            pass

    def _settle(self, key: str, future: Future[Sent]) -> None:
        self._running.discard(key)
        step, intent = self._rows.steps[key], self._intents.pop(key)
        if future.cancelled():
            self._unrecorded.append(self._withdrawn(intent))
            return
        sent = self._without_repeated_id(key, future.result())
        entry = self._outcome(step, intent, sent)
        self._unrecorded.append(entry)
        self._by_id[entry.remote_id] = entry
        message = message_of(self._plan.kind, sent, was_there=intent.state in PRESENT)
        again = self._settles_by_itself(sent.state)
        exchange = () if self._plan.limit is None else sent.exchange(self._plan.kind.endpoint)
        self._rows.conclude(
            Result(step.line, key, sent.status, entry.remote_id, message, sent.warnings, again, exchange)
        )
        self._stopped = self._stopped or (None if self._halted else self._reason_to_stop(sent))
        if self._stopped is not None and not self._halted:
            self._halt()
        self._report_progress()

    def _without_repeated_id(self, key: str, sent: Sent) -> Sent:
        """If two rows got the same id, remove it from both and stop the push: it is unknown whose id it is."""
        other = self._by_id.get(sent.remote_id)
        if sent.remote_id is None or other is None or other.key == key:
            return sent
        self._unrecorded.append(replace(other, remote_id=None))
        self._stopped = self._stopped or ServiceRepeatsIds(sent.remote_id, other.key, key)
        self._halt()
        return replace(sent, remote_id=None)

    def _reason_to_stop(self, sent: Sent) -> WmsSyncError | None:
        """Return an error that would probably recur for every further create; None if there is none."""
        self._failures = self._failures + 1 if sent.state in NOT_DONE else 0
        self._in_doubt = self._in_doubt + 1 if sent.state is State.DOUBT else 0
        self._busy = self._busy + 1 if sent.is_busy else 0
        if sent.stops is not None:
            return sent.stops
        if self._busy >= GIVE_UP_BUSY:
            return ServiceIsBusy(self._busy, sent.message)
        most = GIVE_UP_AFTER if self._plan.kind.is_unique else GIVE_UP_IN_DOUBT
        if self._failures >= GIVE_UP_AFTER or self._in_doubt >= most:
            return ServiceKeepsFailing(self._failures, sent.message)
        return None

    def _outcome(self, step: Step, intent: Entry, sent: Sent) -> Entry:
        """Return the ledger's entry after an answer.

        If the answer proves that an earlier request created the object, keep the body of that request. If the service
        stored other values than were sent, keep these: the next plan compares the file with them.
        """
        if intent.state in PRESENT and sent.state is not State.CREATED:
            return replace(intent, remote_id=intent.remote_id or sent.remote_id, message=sent.message)
        known = step.entry if step.entry is not None and step.entry.state in UNSURE and sent.is_proof else None
        content = known.body if known else step.content
        if sent.changes and step.record is not None:
            content = stored(step.record, sent.shown, sent.changes)
        return replace(
            intent,
            state=sent.state,
            body=content,
            body_sha256=digest(content),
            remote_id=sent.remote_id,
            message=sent.message,
            settled_at=None if sent.state in UNSURE else datetime.now(UTC),
            seen_at=None,
        )

    def _report_progress(self) -> None:
        if self._watcher is not None:
            seconds, counts = monotonic() - self._started, dict(self._rows.counts)
            self._watcher(PushProgress(len(self._rows.steps), len(self._rows.results), counts, seconds))

    # --- stopping ---

    def _halt(self) -> None:
        """Prevent further requests: wake sleeping threads, cancel creates that have not begun, let others finish."""
        self._halted = True
        self._api.connection.throttle.close()
        for future in self._newest:  # all older creates have begun
            future.cancel()

    def _withdrawn(self, intent: Entry) -> Entry:
        """Return the ledger's entry for an unsent intent. It must replace the intent, because that may be published."""
        prior = self._rows.steps[intent.key].entry
        if prior is not None and (prior.state in UNSURE or intent.state in PRESENT):
            return replace(prior, attempts=intent.attempts)
        return replace(intent, state=State.UNDONE, message=NOT_SENT)

    def _result(self, step: Step) -> Result:
        if step.sends and step.key in self._rows.results:
            return self._rows.results[step.key]
        entry = step.proven or step.entry
        status, message = step.action, step.why
        if status is RowStatus.CREATE:
            status, message = RowStatus.UNSENT, NOT_SENT
        again = entry is not None and status is RowStatus.IN_DOUBT and self._settles_by_itself(entry.state)
        id_ = entry.remote_id if entry else None
        return Result(step.line, step.key, status, id_, message, settles_by_itself=again)

    def _settles_by_itself(self, state: State) -> bool:
        return state in {State.DOUBT, State.INTENDED} and self._plan.kind.is_unique
