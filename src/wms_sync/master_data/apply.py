"""Apply a plan: send creates in parallel, parents before children, each intent on disk before its request.

A row waits for its parents' ids, and is not sent if a parent gets no id. One thread orders, records and counts;
``max_parallel_requests`` other threads only send. Intents and outcomes share transactions of the ledger, so that 10,000
rows do not wait for the disk 20,000 times. After a kill, at most the intents written ahead are in doubt: few for
products, whose doubts a person must settle, and more for kinds with unique keys.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from graphlib import TopologicalSorter
from time import monotonic

from msgspec.structs import replace

from wms_sync.errors import MasterDataError, WmsSyncError
from wms_sync.grammar import count_of
from wms_sync.master_data.create import (
    PushProgress,
    Sender,
    Sent,
    Watcher,
    message_of,
    was_there,
)
from wms_sync.master_data.existing import ExistingObject, MerchantLookup
from wms_sync.master_data.plan import THERE, Plan, RowStatus, Step, without_parent
from wms_sync.master_data.records import Ids, body, digest, stored
from wms_sync.service.client import GlobalApi
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


class PushStopped(MasterDataError):
    """Further creates would end like the last ones. It is safe to push the unsent rows again."""


class ReadyRows:
    """A queue of the rows that a plan sends.

    ``results`` has what became of them, ``counts`` counts the outcomes, and ``parents`` are rows whose id others need.
    """

    def __init__(self, plan: Plan) -> None:
        self.steps = {step.key: step for step in plan.steps if step.sends}
        self.results: dict[str, Step] = {}
        self.counts: Counter[RowStatus] = Counter()
        self._kind = plan.kind
        self.parents = {parent for step in self.steps.values() for parent in step.waits_for}
        self._sorter = TopologicalSorter({key: step.waits_for for key, step in self.steps.items()})
        self._sorter.prepare()
        self._ready: deque[Step] = deque()

    @property
    def are_left(self) -> bool:
        """Return whether rows are left to be sent, or are under way."""
        return self._sorter.is_active()

    def take(self, most: int) -> Sequence[Step]:
        """Take at most ``most`` rows, parents first. Rows whose parents got no id, and their children, are not sent."""
        while keys := self._sorter.get_ready():
            for step in map(self.steps.__getitem__, keys):
                lost = [
                    parent
                    for parent in map(self.results.__getitem__, step.waits_for)
                    if parent.action not in THERE or parent.remote_id is None
                ]
                if lost:
                    self.conclude(self._orphan(step, lost[0]))
                else:
                    self._ready.append(step)
        return [self._ready.popleft() for _ in range(min(len(self._ready), most))]

    def ids(self, step: Step) -> Ids:
        """Return the ids for a row's references: those that the plan knows, and those of parents just created."""
        made = {
            (self._kind.type, parent): {"type": self._type(parent), "id": self.results[parent].remote_id}
            for parent in step.waits_for
        }
        return {**step.ids, **made}

    def conclude(self, result: Step) -> None:
        """Record what became of a row. Its children may then be ready."""
        self.results[result.key] = result
        self.counts[result.action] += 1
        self._sorter.done(result.key)

    def _type(self, key: str) -> str:
        """Return the service's type of a row. Each product names its own type."""
        record = self.steps[key].record
        return str(record.body.get("type", self._kind.type)) if record else self._kind.type

    def _orphan(self, child: Step, parent: Step) -> Step:
        """Return a row whose parent got no id, as it becomes."""
        references = child.record.references if child.record is not None else ()
        reference = next(
            reference
            for reference in references
            if reference.kind == self._kind.type and not reference.by_id and parent.key in reference.keys
        )
        found = (ExistingObject(None, self._kind.type),) if parent.action in THERE else ()
        return without_parent(child, reference, parent.key, found, parent) or child


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
        self._sender = Sender(plan.kind, api, lookup)
        self._rows = ReadyRows(plan)
        self._ahead = AHEAD_UNIQUE if plan.kind.is_unique else 2 * parallel
        self._intents: dict[str, Entry] = {}
        self._begun: set[str] = set()
        """The rows whose sending has begun, also if the pool failed to return the future of one."""
        self._running: dict[Future[Sent], Step] = {}
        self._by_id = {step.entry.remote_id: step.entry for step in plan.steps if step.entry is not None}
        self._unrecorded: list[Entry] = []
        self._recorded_at = monotonic()
        self._failures = 0
        self._in_doubt = 0
        self._busy = 0
        self.stopped: WmsSyncError | None = None
        self._halted = False
        self._started = monotonic()

    def apply(self) -> tuple[Step, ...]:
        """Send the plan's creates, and return what became of its rows, in the order of the plan.

        Stop early after an error that would fail every row, which is then ``stopped``, or when ``stop`` is set.
        """
        self._ledger.record([step.proven for step in self._plan.steps if step.proven is not None])
        with ThreadPoolExecutor(self._parallel, "create") as pool:
            try:
                while self._running or (self._rows.are_left and not self._halted):
                    self._top_up(pool)
                    self._take_in()
            except BaseException:  # including an interrupt: finish and record the requests under way
                self._halt()
                pool.shutdown()
                self._take_in()
                unsent = (intent for key, intent in self._intents.items() if key not in self._begun)
                self._unrecorded += map(self._withdrawn, unsent)
                raise
            finally:
                self._ledger.record(self._unrecorded)
        return tuple(self._result(step) for step in self._plan.steps)

    @property
    def interrupted(self) -> bool:
        """Return whether the push ended early, but not because of an error."""
        return self._halted and self.stopped is None

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
            self._running[pool.submit(self._send, step)] = step

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
        if prior is not None and was_there(self._plan.kind, step):
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
        self._begun.add(step.key)
        assert step.record is not None  # noqa: S101 - only records are sent
        whole = body(step.record, self._rows.ids(step))
        return self._sender.send(step, whole, id_needed=step.key in self._rows.parents)

    # --- taking answers in ---

    def _take_in(self) -> None:
        """Wait for an answer, then handle all answers that have arrived."""
        wait(self._running, POLL_SECONDS, FIRST_COMPLETED)
        for future in [future for future in self._running if future.done()]:
            self._settle(self._running.pop(future), future)

    def _settle(self, step: Step, future: Future[Sent]) -> None:
        key, intent = step.key, self._intents.pop(step.key)
        if future.cancelled():
            self._unrecorded.append(self._withdrawn(intent))
            return
        sent = self._without_repeated_id(key, future.result())
        entry = self._outcome(step, intent, sent)
        self._unrecorded.append(entry)
        self._by_id[entry.remote_id] = entry
        message = message_of(self._plan.kind, sent, was_there=bool(step.found))
        exchange = () if self._plan.limit is None else sent.exchange(self._plan.kind.endpoint)
        self._rows.conclude(
            replace(
                step,
                action=sent.status,
                why=message,
                warnings=(*step.warnings, *sent.warnings),
                entry=entry,
                exchange=exchange,
            )
        )
        self.stopped = self.stopped or (None if self._halted else self._reason_to_stop(sent))
        if self.stopped is not None and not self._halted:
            self._halt()
        self._report_progress()

    def _without_repeated_id(self, key: str, sent: Sent) -> Sent:
        """If two rows got the same id, remove it from both and stop the push: it is unknown whose id it is."""
        other = self._by_id.get(sent.remote_id)
        if sent.remote_id is None or other is None or other.key == key:
            return sent
        self._unrecorded.append(replace(other, remote_id=None))
        self.stopped = self.stopped or PushStopped(
            f"The service answered the creates of {other.key} and {key} with the same id {sent.remote_id}, so the push "
            "stopped. Both count as created, with unknown ids. Report it to the service, check the objects created "
            f"below {other.key} meanwhile, and push again when a sync has read their ids."
        )
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
            return PushStopped(
                f"The service was too busy for the last {count_of(self._busy, 'create')}, after all retries, so the "
                "push stopped. Push again later; a lower WMS_MAX_PARALLEL_REQUESTS reduces the load. The last answer: "
                f"{sent.message}"
            )
        most = GIVE_UP_AFTER if self._plan.kind.is_unique else GIVE_UP_IN_DOUBT
        if self._failures >= GIVE_UP_AFTER or self._in_doubt >= most:
            return PushStopped(
                f"The last {count_of(self._failures, 'create')} failed or got no answer, each after all retries, so "
                "the push stopped. Push again when the service has recovered. The last answer: "
                f"{sent.message}"
            )
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
        for future in self._running:
            future.cancel()

    def _withdrawn(self, intent: Entry) -> Entry:
        """Return the ledger's entry for an unsent intent. It must replace the intent, because that may be published."""
        prior = self._rows.steps[intent.key].entry
        if prior is not None and (prior.state in UNSURE or intent.state in PRESENT):
            return replace(prior, attempts=intent.attempts)
        return replace(intent, state=State.UNDONE, message=NOT_SENT)

    def _result(self, step: Step) -> Step:
        if step.key in self._rows.results and step.sends:
            return self._rows.results[step.key]
        if step.action is RowStatus.CREATE:
            return replace(step, action=RowStatus.UNSENT, why=NOT_SENT)
        return replace(step, entry=step.proven or step.entry)
