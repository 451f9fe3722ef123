"""Applying a plan: creates sent side by side, parents before children, each intent on disk before its request.

One thread orders, records and counts; ``max_parallel_requests`` others only send. Intents and outcomes share the
ledger's transactions, so that 10,000 rows do not wait for the disk 20,000 times. A kill leaves in doubt at most what
was intended ahead: few products, whose doubt a person must settle, and more of what the service itself keeps unique.
"""

from __future__ import annotations

import queue
import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from time import monotonic
from typing import Any

from wms_sync.api.client import GlobalApi
from wms_sync.api.creates import Creates
from wms_sync.errors import WmsSyncError
from wms_sync.master_data.content import body, digest
from wms_sync.master_data.errors import ServiceKeepsFailing
from wms_sync.master_data.known import Lookup
from wms_sync.master_data.plan import UNIQUE, Action, Plan, Step
from wms_sync.master_data.sending import Sender, Sent, told
from wms_sync.state.ledger import THERE, UNSURE, Entry, PushLedger, State

AHEAD_UNIQUE = 64
"""Creates intended at a time where a doubt settles itself; of products only twice as many as are sent side by side."""
GIVE_UP_AFTER = 8
"""Creates in a row that were not done or not answered, each after all retries: it is the service, not the rows."""
RECORD_SECONDS = 0.5
"""Longest that an outcome is known and not on disk."""
POLL_SECONDS = 0.1
NOT_SENT = "not sent: the push ended before"


class Outcome(StrEnum):
    """What became of a row."""

    CREATED = "created"
    ALREADY_THERE = "already there"
    CHANGED = "changed"
    REJECTED = "rejected"
    WAITS = "waits"
    UNSENT = "unsent"
    IN_DOUBT = "in doubt"


OF_ACTION = {
    Action.CREATE: Outcome.UNSENT,
    Action.ALREADY_THERE: Outcome.ALREADY_THERE,
    Action.CHANGED: Outcome.CHANGED,
    Action.REJECTED: Outcome.REJECTED,
    Action.WAITS: Outcome.WAITS,
    Action.IN_DOUBT: Outcome.IN_DOUBT,
}
"""Of a row that was not sent."""
OF_STATE = {
    State.CREATED: Outcome.CREATED,
    State.EXISTS: Outcome.ALREADY_THERE,
    State.REFUSED: Outcome.REJECTED,
    State.UNDONE: Outcome.UNSENT,
    State.DOUBT: Outcome.IN_DOUBT,
}
"""Of a row that was sent."""
GOOD = frozenset({Outcome.CREATED, Outcome.ALREADY_THERE})
NOT_DONE = frozenset({State.UNDONE, State.DOUBT})


@dataclass(frozen=True)
class Result:
    """What became of one row; ``message`` says why and what to do, ``warnings`` are the service's."""

    line: int
    key: str
    outcome: Outcome
    remote_id: int | None = None
    message: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def row(self) -> dict[str, Any]:
        """The result as a row to show."""
        warned = " ".join(f"Warning: {one}" for one in self.warnings)
        why = f"{self.message} {warned}".strip()
        return {"line": self.line, "key": self.key, "outcome": self.outcome.value, "id": self.remote_id, "why": why}


@dataclass(frozen=True)
class PushProgress:
    """How far a push is; ``remaining_seconds`` is an estimate, None at the start."""

    total: int
    done: int
    counts: dict[Outcome, int]
    seconds: float

    @property
    def remaining_seconds(self) -> float | None:
        """By the pace so far."""
        return (self.total - self.done) * self.seconds / self.done if self.done else None


Watcher = Callable[[PushProgress], None]


@dataclass(frozen=True)
class Applied:
    """What applying a plan did, a result for each of its steps; ``stopped`` is the error that ended it early."""

    results: tuple[Result, ...]
    stopped: WmsSyncError | None
    interrupted: bool
    requests: int
    seconds: float


class Push:
    """One push of one plan over one client; the client is closed for further requests when the push is stopped.

    The plan must have been made while this process holds the lock on pushing its kind. ``watcher`` is told from the
    calling thread after each row.
    """

    def __init__(
        self,
        plan: Plan,
        api: GlobalApi,
        ledger: PushLedger,
        *,
        run_id: str,
        parallel: int,
        lookup: Lookup | None = None,
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
        self._ahead = AHEAD_UNIQUE if plan.kind in UNIQUE else 2 * parallel
        self._steps = {step.key: step for step in plan.steps if step.sends}
        self._children: dict[str, list[str]] = {}
        self._missing: dict[str, int] = {}
        self._ready: deque[str] = deque()
        self._running: set[str] = set()
        self._answers: queue.SimpleQueue[tuple[str, Future[Sent]]] = queue.SimpleQueue()
        self._counts: Counter[Outcome] = Counter()
        self._unrecorded: list[Entry] = []
        self._recorded_at = monotonic()
        self._results: dict[str, Result] = {}
        self._intended: dict[str, Entry] = {}
        self._settled: set[str] = set()
        self._ids: dict[str, int] = {}
        self._futures: deque[Future[Sent]] = deque(maxlen=2 * self._ahead)
        self._failures = 0
        self._stopped: WmsSyncError | None = None
        self._halted = False
        self._started = monotonic()

    def apply(self) -> Applied:
        """Send what the plan sends. Stops at once for what every row would meet, and when it is told to."""
        self._ledger.record([step.proven for step in self._plan.steps if step.proven is not None])
        self._line_up()
        with ThreadPoolExecutor(self._parallel, "create") as pool:
            try:
                while (self._ready and not self._halted) or self._running:
                    self._intend(pool)
                    self._take_in()
            except BaseException:  # also an interrupt, wherever it strikes: what is under way is finished and recorded
                self._halt()
                pool.shutdown()
                self._take_in()
                self._unrecorded += [self._withdrawn(key) for key in self._intended.keys() - self._settled]
                raise
            finally:
                self._ledger.record(self._unrecorded)
        return Applied(
            results=tuple(self._result(step) for step in self._plan.steps),
            stopped=self._stopped,
            interrupted=self._stop.is_set(),
            requests=self._api.requests,
            seconds=monotonic() - self._started,
        )

    def _line_up(self) -> None:
        for key, step in self._steps.items():
            self._missing[key] = len(step.waits_for)
            for parent in step.waits_for:
                self._children.setdefault(parent, []).append(key)
            if not step.waits_for:
                self._ready.append(key)

    # --- sending ---

    def _intend(self, pool: ThreadPoolExecutor) -> None:
        """Top up what is under way; the intents are on disk, with what is known by now, before anything is sent."""
        if self._stop.is_set():
            self._halt()
        low = len(self._running) <= self._ahead // 2
        due = monotonic() - self._recorded_at > RECORD_SECONDS
        batch: list[str] = []
        if low and not self._halted:
            batch = [self._ready.popleft() for _ in range(min(len(self._ready), self._ahead - len(self._running)))]
        if not batch and not (due and self._unrecorded):
            return
        intents = [self._intent(self._steps[key]) for key in batch]
        self._ledger.record([*self._unrecorded, *intents])
        self._unrecorded.clear()
        self._recorded_at = monotonic()
        for key in batch:
            self._running.add(key)
            self._futures.append(pool.submit(self._send, self._steps[key]))
            self._futures[-1].add_done_callback(partial(self._answered, key))

    def _intent(self, step: Step) -> Entry:
        prior, now = step.entry, datetime.now(UTC)
        unsure = prior is not None and prior.state in UNSURE
        entry = Entry(
            service=self._plan.service,
            kind=self._plan.kind.value,
            key=step.key,
            state=State.INTENDED,
            body=step.content,
            body_sha256=digest(step.content),
            remote_id=None,
            run_id=self._run_id,
            attempts=prior.attempts + 1 if prior else 1,
            message=None,
            intended_at=prior.intended_at if prior and unsure else now,
            settled_at=None,
            seen_at=None,
        )
        self._intended[step.key] = entry
        return entry

    def _send(self, step: Step) -> Sent:
        """Runs in a sending thread."""
        assert step.record is not None  # noqa: S101 - only records are sent
        made = {
            (self._plan.kind.type, parent): {"type": self._type(parent), "id": self._ids[parent]}
            for parent in step.waits_for
        }
        return self._sender.send(
            step.key,
            body(step.record, {**step.ids, **made}),
            in_doubt=step.entry is not None and step.entry.state in UNSURE,
            id_needed=step.key in self._children,
        )

    def _answered(self, key: str, future: Future[Sent]) -> None:
        self._answers.put((key, future))

    def _type(self, key: str) -> str:
        record = self._steps[key].record
        return str(record.body.get("type", self._plan.kind.type)) if record else self._plan.kind.type

    # --- taking answers in ---

    def _take_in(self) -> None:
        """Wait for an answer, then take in all that are there."""
        try:
            self._settle(*self._answers.get(timeout=POLL_SECONDS))
            while True:
                self._settle(*self._answers.get_nowait())
        except queue.Empty:
            pass

    def _settle(self, key: str, future: Future[Sent]) -> None:
        self._running.discard(key)
        self._settled.add(key)
        step = self._steps[key]
        if future.cancelled():
            self._unrecorded.append(self._withdrawn(key))
            return
        sent = future.result()
        self._unrecorded.append(self._outcome(step, sent))
        message = told(self._plan.kind, sent)
        self._conclude(Result(step.line, key, OF_STATE[sent.state], sent.remote_id, message, sent.warnings))
        self._failures = self._failures + 1 if sent.state in NOT_DONE else 0
        if not self._halted and (sent.stops is not None or self._failures >= GIVE_UP_AFTER):
            self._stopped = sent.stops or ServiceKeepsFailing(self._failures, sent.message)
            self._halt()

    def _outcome(self, step: Step, sent: Sent) -> Entry:
        """The ledger's row after an answer.

        What was there before keeps its row when nothing new was made of it; of what was in doubt before and is proven
        now, the earlier body is the one that the service has.
        """
        now, intended, prior = datetime.now(UTC), self._intended[step.key], step.entry
        if prior is not None and prior.state in THERE and sent.state in {State.EXISTS, State.REFUSED, State.UNDONE}:
            return replace(prior, message=sent.message)
        entry = replace(intended, state=sent.state, remote_id=sent.remote_id, message=sent.message, settled_at=now)
        if prior is not None and prior.state in UNSURE and sent.state is State.CREATED and sent.message is not None:
            return replace(entry, body=prior.body, body_sha256=prior.body_sha256)
        return entry

    def _conclude(self, result: Result) -> None:
        """A row is done: its children are ready, or cannot be sent, nor can theirs."""
        concluded = [result]
        while concluded:
            parent = concluded.pop()
            self._results[parent.key] = parent
            self._counts[parent.outcome] += 1
            if parent.remote_id is not None:
                self._ids[parent.key] = parent.remote_id
            for child in self._children.get(parent.key, ()):
                self._missing[child] -= 1
                if child in self._results:
                    continue
                if parent.outcome not in GOOD or parent.remote_id is None:
                    concluded.append(self._orphan(self._steps[child], parent))
                elif self._missing[child] == 0:
                    self._ready.append(child)
        if self._watcher is not None:
            done, seconds = len(self._results), monotonic() - self._started
            self._watcher(PushProgress(len(self._steps), done, dict(self._counts), seconds))

    def _orphan(self, child: Step, parent: Result) -> Result:
        named = f"{self._plan.kind.one} {parent.key} on line {parent.line}"
        if parent.outcome in GOOD:
            why = (
                f"Names {named}, which is in the service; the answer with its id was lost. Push again when a sync has "
                "shown it, or set WMS_MERCHANT_USERNAME and WMS_MERCHANT_API_KEY, so that it can be asked for."
            )
            return Result(child.line, child.key, Outcome.WAITS, message=why)
        outcome = Outcome.REJECTED if parent.outcome is Outcome.REJECTED else Outcome.WAITS
        return Result(child.line, child.key, outcome, message=f"Names {named}, which is {parent.outcome}.")

    # --- stopping ---

    def _withdrawn(self, key: str) -> Entry:
        """The ledger's row of an intent that was not sent after all."""
        return self._steps[key].entry or replace(self._intended[key], state=State.UNDONE, message=NOT_SENT)

    def _halt(self) -> None:
        """Start nothing more: sleepers wake, what has not begun is taken back, the rest is waited for."""
        self._halted = True
        self._api.throttle.close()
        for future in self._futures:
            future.cancel()

    def _result(self, step: Step) -> Result:
        if step.key in self._results and step.sends:
            return self._results[step.key]
        entry = step.proven or step.entry
        message = NOT_SENT if step.action is Action.CREATE else step.why
        return Result(step.line, step.key, OF_ACTION[step.action], entry.remote_id if entry else None, message)
