"""Send one create and determine its outcome, for every way in which a request can end; the progress of a push.

If the service itself refuses a second object with the same key (``Kind.is_unique``), a create without an answer is sent
again after a short wait: either it succeeds then, or "already in use" proves that the first attempt succeeded.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from wms_sync.master_data.existing import ExistingObject, MerchantLookup, made_since
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.plan import WITH_RESEND, RowStatus, Step, what_to_do
from wms_sync.master_data.records import Change, as_shown, changes
from wms_sync.service.answers import NO_SUCH_PATH
from wms_sync.service.client import GlobalApi
from wms_sync.service.creates import Created, Resource, already_in_use, send_create, speaks_of_use
from wms_sync.service.errors import ApiError, Busy, InDoubt, NotSent, Rejected, ServiceFailed
from wms_sync.service.reasons import in_words
from wms_sync.state.ledger import PRESENT, UNSURE, State

OF_STATE = {
    State.CREATED: RowStatus.CREATED,
    State.EXISTS: RowStatus.ALREADY_THERE,
    State.REFUSED: RowStatus.REJECTED,
    State.UNDONE: RowStatus.UNSENT,
    State.DOUBT: RowStatus.IN_DOUBT,
    State.UNPROVEN: RowStatus.IN_DOUBT,
}
"""The status of a row that was sent, by the state of its create."""
SENDINGS = 3
"""The maximum number of attempts at a create that gets no answer, if it is safe to send it again."""
BRIEFLY = 2
"""The number of attempts per create once a create has failed after all its retries because the service was too busy."""
PROOF = "sent earlier; the service refuses a second one, so the first one was created"
FOUND = "sent earlier; the service refuses it now, but shows such an object"
STORED = "the service stored other values than were sent"
PASSING = ServiceFailed | NotSent


class PushProgress(Struct, frozen=True):
    """The progress of a push: rows to send, rows done, and rows done by outcome."""

    total: int
    done: int
    counts: Mapping[RowStatus, int]
    seconds: float


Watcher = Callable[[PushProgress], None]


def was_there(kind: Kind, step: Step) -> bool:
    """Return whether the service certainly had the object, and refuses a second one: "in use" is then no new proof."""
    return step.entry is not None and step.entry.state in PRESENT and kind.is_unique


class Sent(Struct, frozen=True):
    """The outcome of one create. ``stops`` is an error that would recur for every further create.

    ``is_busy``: the service was still too busy after all retries. ``shown`` is the body with the values of the answer,
    and ``changes`` are the fields that the service stored otherwise.
    """

    state: State
    remote_id: int | None = None
    message: str | None = None
    warnings: tuple[str, ...] = ()
    stops: ApiError | None = None
    is_busy: bool = False
    shown: dict[str, Any] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()
    request: Resource = field(default_factory=dict)
    answer: Created | Rejected | None = None

    def exchange(self, endpoint: str) -> tuple[str, ...]:
        """Return lines that show the request, its answer, and what the service stored otherwise than it was sent."""
        request, answer = _json(self.request), str(self.answer or self.message)
        if isinstance(self.answer, Created):
            answer = f"{self.answer.status} {_json(self.answer.shown)}"
        otherwise = "; ".join(map(str, self.changes)) or "nothing that the answer shows"
        stored = (f"stored otherwise: {otherwise}",) if self.state is State.CREATED else ()
        return (f"request: POST {endpoint} {request}", f"answer: {answer}", *stored)

    @property
    def is_proof(self) -> bool:
        """Return whether a refusal proves that an earlier create was done."""
        return self.state is State.CREATED and self.message in {PROOF, FOUND}

    @property
    def status(self) -> RowStatus:
        """Return the status of the row."""
        return RowStatus.STORED_OTHERWISE if self.changes else OF_STATE[self.state]


def _json(body: Resource) -> str:
    return json.dumps(body, ensure_ascii=False)


def message_of(kind: Kind, sent: Sent, *, was_there: bool) -> str:
    """Return a sentence on the outcome and on what to do.

    If the object ``was_there``, a further attempt needs ``--resend``, and the sentence says so.
    """
    said = sent.message or ""
    if sent.state in UNSURE:
        return f"{said} {what_to_do(kind, sent.state, was_there=was_there)}"
    if sent.state is State.UNDONE:
        return f"{said} It was not created: push the file again{WITH_RESEND if was_there else ''}."
    if sent.state is State.EXISTS:
        return f"The service already had it: {said}"
    if sent.changes:
        is_another = not kind.is_unique and any(change.field == kind.key for change in sent.changes)
        return f"{said}. Correct it in the service itself, " + (
            f"and leave it in the file as it is: another {kind.key} is another create."
            if is_another
            else "or write the value that it stored into the file."
        )
    return f"Refused by the service: {said}" if sent.state is State.REFUSED else said


class Sender:
    """Sends rows of one kind, from several threads."""

    def __init__(self, kind: Kind, api: GlobalApi, lookup: MerchantLookup | None) -> None:
        self._kind = kind
        self._api = api
        self._lookup = lookup
        self._attempts: int | None = None

    def send(self, step: Step, body: Resource, *, id_needed: bool) -> Sent:
        """Send a row. With ``id_needed``, look up the id if the answer has no id."""
        began = datetime.now(UTC)
        request = {self._kind.wrapped_in: body} if self._kind.wrapped_in else body
        sent = replace(self._send(step, body, request), request=request)
        if id_needed and sent.remote_id is None and sent.state in PRESENT:
            found = self._look_for(step.key)
            if not self._kind.is_unique:
                found = made_since(began, found)
            return replace(sent, remote_id=found[0].id if found else None)
        return sent

    def _look_for(self, key: str) -> Sequence[ExistingObject]:
        return self._lookup.find(self._kind.type, [key]).get(key, ()) if self._lookup else ()

    def _send(self, step: Step, body: Resource, request: Resource) -> Sent:
        is_open = step.entry is not None and step.entry.state in UNSURE
        sendings = 0
        while True:
            sendings += 1
            not_done = State.DOUBT if is_open else State.UNDONE
            try:
                created = send_create(self._api, self._kind.endpoint, request, attempts=self._attempts)
            except InDoubt as error:
                is_open, step = True, replace(step, is_last_word=False)
                doubt = Sent(State.DOUBT, message=str(error))
                if not self._kind.is_unique or sendings == SENDINGS:
                    return doubt
                try:
                    self._api.connection.rest(sendings, error.retry_after)
                except NotSent:  # the push was stopped meanwhile
                    return doubt
            except Rejected as error:
                return replace(self._refused(step, error, is_open=is_open), answer=error)
            except Busy as error:
                self._attempts = BRIEFLY
                return Sent(not_done, message=str(error), is_busy=True)
            except ApiError as error:
                stops = None if isinstance(error, PASSING) else error
                return Sent(not_done, message=str(error), stops=stops)
            else:
                shown = as_shown(body, created.shown)
                found = changes(json.dumps(body), json.dumps(shown))
                message = f"{STORED}: {'; '.join(map(str, found))}" if found else None
                return Sent(
                    State.CREATED,
                    created.id,
                    message,
                    created.warnings,
                    shown=shown,
                    changes=found,
                    answer=created,
                )

    def _refused(self, step: Step, error: Rejected, *, is_open: bool) -> Sent:
        """Return what a refusal means, of a row that is ``is_open`` if an earlier request got no answer."""
        if error.status in NO_SUCH_PATH:
            return Sent(State.DOUBT if is_open else State.UNDONE, message=str(error), stops=error)
        words = in_words(error.problems) if error.problems else str(error)
        proves = is_open and not was_there(self._kind, step)
        if already_in_use(error, self._kind.key, step.key):
            return Sent(State.CREATED, message=PROOF) if proves else Sent(State.EXISTS, message=words)
        # a different key may be in use because of the first attempt, so this refusal does not prove that it failed; nor
        # does a refusal of other content
        entry = step.entry
        is_other = entry is not None and entry.state in UNSURE and entry.body != step.content
        if any(problem.key for problem in error.problems) and not (is_open and (is_other or speaks_of_use(error))):
            return Sent(State.REFUSED, message=words)
        found = self._look_for(step.key) if self._kind.is_unique else ()  # only a unique key is a proof
        if found:
            state, message = (State.CREATED, FOUND) if proves else (State.EXISTS, words)
            return Sent(state, found[0].id, message)
        if is_open and not step.is_last_word:
            return Sent(State.UNPROVEN, message=f"Sent earlier without an answer, and refused now: {words}")
        return Sent(State.REFUSED, message=words)
