"""The plan of a push: one step per row, made without side effects. The same list is printed and applied.

| step | means | sent |
| --- | --- | --- |
| create | the service may lack the object, or it is sent on request | yes |
| already there | the object was created earlier, or the service shows it | no |
| changed | the object was created earlier with other values; the interface cannot update | no |
| rejected | the row breaks a rule, was refused, or refers to an unusable object | no |
| waits | the id of an object that the row refers to is not known yet | no |
| in doubt | the object may have been created earlier | if the service itself refuses duplicates, or on request |
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from itertools import groupby
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from wms_sync.grammar import minute
from wms_sync.master_data.check import CheckedFile
from wms_sync.master_data.existing import Existing, ExistingObject, made_since, of_entry
from wms_sync.master_data.kind import Kind, Violation
from wms_sync.master_data.records import Record, Reference, Remote, changes, content
from wms_sync.state.ledger import PRESENT, UNSURE, Entry, State, creates_since

WITH_RESEND = " with --resend"
LEFT_OUT = "Left out by --limit: repeat the command without it."
OURS = UNSURE | {State.CREATED}
"""The states of rows whose object, if the service has it, comes from one of our creates."""
SHOWN = 100
"""The maximum number of rows to show for each action or outcome, unless all are requested."""
WRONG_USAGE, NEEDS_A_HAND = 2, 3
"""Exit codes of the command line."""


class RowStatus(StrEnum):
    """What a plan decides on a row, as in the module's docstring, or what a push made of it.

    A row to create becomes ``CREATED``, ``STORED_OTHERWISE`` (the answer shows other values than were sent),
    ``REJECTED`` or ``IN_DOUBT``, or ``UNSENT`` if nothing was created and a later push sends it. It is ``LEFT`` to a
    later push if it is beyond the limit of this one.
    """

    CREATE = "create"
    CREATED = "created"
    STORED_OTHERWISE = "created, stored otherwise"
    ALREADY_THERE = "already there"
    CHANGED = "changed"
    REJECTED = "rejected"
    WAITS = "waits"
    UNSENT = "unsent"
    LEFT = "left"
    IN_DOUBT = "in doubt"


GOOD = frozenset({RowStatus.CREATE, RowStatus.CREATED, RowStatus.ALREADY_THERE, RowStatus.LEFT})
"""What needs no hand."""
THERE = frozenset({RowStatus.CREATED, RowStatus.ALREADY_THERE, RowStatus.STORED_OTHERWISE})
"""What a row is if the service has its object."""


class Step(Struct, frozen=True):
    """The decision on one row of the file, or on its header; in a report, what became of it.

    ``why`` gives the reason and says what to do. ``warnings`` name values that are sent although the service may refuse
    them, and those of the service. ``ids`` are resolved references. ``waits_for`` are the keys of rows of this file
    that get their ids during the push. ``entry`` is the ledger's entry; ``proven`` is the entry that follows from the
    service's data; ``found`` are the objects to use for rows that refer to this key. ``is_by_key_alone``: the only
    evidence is the key, which other merchants may also use. ``is_last_word``: a person has looked for the object in
    doubt, so a refusal settles the doubt. ``exchange`` shows the request and its answer, if the push has a limit.
    """

    line: int
    key: str
    action: RowStatus
    why: str = ""
    sends: bool = False
    record: Record | None = None
    content: str = ""
    ids: Mapping[tuple[str, str], Remote] = field(default_factory=dict)
    waits_for: tuple[str, ...] = ()
    entry: Entry | None = None
    proven: Entry | None = None
    found: tuple[ExistingObject, ...] = ()
    is_by_key_alone: bool = False
    is_last_word: bool = False
    warnings: tuple[str, ...] = ()
    exchange: tuple[str, ...] = ()

    @property
    def explanation(self) -> str:
        """Return the reason and the warnings."""
        return " ".join((self.why, *(f"Warning: {warning}" for warning in self.warnings))).lstrip()

    @property
    def row(self) -> dict[str, Any]:
        """Return the step as a table row: line, key, what, why."""
        return {"line": self.line, "key": self.key, "what": self.action.value, "why": self.explanation}

    @property
    def remote_id(self) -> int | None:
        """Return the id that the ledger has for the row."""
        return self.entry.remote_id if self.entry is not None else None


class Rows(Struct, frozen=True):
    """A file that was planned, or pushed: a step per row, and for a wrong header."""

    checked: CheckedFile
    steps: tuple[Step, ...]

    @property
    def kind(self) -> Kind:
        """Return the kind of the file's records."""
        return self.checked.kind

    @property
    def counts(self) -> dict[RowStatus, int]:
        """Return the number of rows by action."""
        counted = Counter(step.action for step in self.steps)
        return {action: counted[action] for action in RowStatus if counted[action]}

    @property
    def exit_code(self) -> int:
        """Return 0 if every row is or will be in the service, 2 for a wrong header, 3 if anything needs attention."""
        if self.checked.header_is_wrong:
            return WRONG_USAGE
        return 0 if self.counts.keys() <= GOOD else NEEDS_A_HAND

    @property
    def summary(self) -> str:
        """Return one line: ``retailers of new.csv: 2 created, 1 rejected``."""
        counted = ", ".join(f"{count:,} {action}" for action, count in self.counts.items()) or "no rows"
        return f"{self.kind.plural} of {self.checked.file.path.name}: {counted}"

    def rows(self, *actions: RowStatus) -> list[dict[str, Any]]:
        """Return the steps with one of these actions, or all, as table rows in the order of the file."""
        return [
            step.row for step in sorted(self.steps, key=lambda step: step.line) if not actions or step.action in actions
        ]

    def row_lines(self, steps: Iterable[Step], most: int | None) -> Iterator[str]:
        """Yield some of the rows as text, in the order of the file.

        Show at most ``most`` rows of each action, or all if it is None. Show a shared reason only once.
        """
        seen: Counter[RowStatus] = Counter()
        first: dict[str, int] = {}
        for step in sorted(steps, key=lambda step: step.line):
            seen[step.action] += 1
            if most is None or seen[step.action] <= most:
                text, why = f"line {step.line}: {step.action} {step.key}".rstrip(), step.explanation
                at = first.setdefault(why, step.line) if why else step.line
                yield f"{text}: {why if at == step.line else f'as line {at}'}".rstrip(": ")
                yield from (f"  {line}" for line in step.exchange)
        for action, count in seen.items():
            if most is not None and count > most:
                yield f"and {count - most:,} more {action} (--all prints every row)"


class Plan(Rows, frozen=True):
    """The steps of a push of a file, in the order of sending, parents before children.

    ``unasked`` are the reasons why the Merchant API could not be called. Rows that need it wait. ``limit`` is the most
    creates that the plan may send, if a person has set one.
    """

    service: str
    unasked: tuple[str, ...] = ()
    limit: int | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on the file, and on the Merchant API if it could not be called."""
        text = "Warning: the Merchant API could not be called, so rows that need it wait; all others are handled."
        return (*self.checked.notes, *(f"{text} {reason}" for reason in self.unasked))

    @property
    def sends(self) -> int:
        """Return the number of creates to send."""
        return sum(step.sends for step in self.steps)

    @property
    def fingerprint(self) -> str:
        """Return sixteen hex digits that identify the plan: they change with its actions, its file or the service."""
        does = [
            (
                step.line,
                step.key,
                step.action,
                step.sends,
                step.content,
                sorted(map(str, step.ids.items())),
                step.waits_for,
            )
            for step in self.steps
        ]
        text = json.dumps([self.service, str(self.kind), self.checked.file.sha256, does])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def lines(self, *, push_limit: int, most: int | None = SHOWN) -> Iterator[str]:
        """Yield the plan as text: notes, rows, the summary, and how many creates a push would send."""
        yield from self.notes
        yield from self.row_lines(self.steps, most)
        yield self.summary
        yield f"Nothing was sent. A push would send {self.sends:,}."
        if self.sends > push_limit:
            yield f"The push would be refused: WMS_PUSH_LIMIT allows {push_limit:,} at a time."


def make_plan(
    checked: CheckedFile, existing: Existing, *, resend: bool = False, again: bool = False, limit: int | None = None
) -> Plan:
    """Decide what to do with each row.

    With ``resend``, a person accepts the risk of sending again rows that the service may have. With ``again``, do not
    send refused rows again unless they have changed. Only the first ``limit`` creates are sent; the other rows are left
    to a later push. Parents come first, so no row is sent without those that it refers to. A row in doubt stays so.
    """
    rejected = [Step(line, "", RowStatus.REJECTED, why) for line, why in _in_words(checked.violations).items()]
    planner = _Planner(checked, existing, resend=resend, again=again)
    steps = (*rejected, *map(planner.decide, checked.records))
    if limit is not None:
        left = {step.key for step in [step for step in steps if step.sends][limit:]}
        steps = tuple(_left(step) if step.sends and step.key in left else step for step in steps)
    return Plan(checked, steps, existing.service, tuple(dict.fromkeys(existing.unasked.values())), limit)


def _left(step: Step) -> Step:
    action = RowStatus.LEFT if step.action is RowStatus.CREATE else step.action
    return replace(step, action=action, sends=False, why=LEFT_OUT, warnings=())


def _in_words(violations: Iterable[Violation]) -> dict[int, str]:
    return {
        line: " ".join(map(str, of_line)) for line, of_line in groupby(violations, lambda violation: violation.line)
    }


class _Planner:
    """Decides records in the order of sending, because the decision on a child depends on the one on its parent."""

    def __init__(self, checked: CheckedFile, existing: Existing, *, resend: bool, again: bool) -> None:
        self._kind = checked.kind
        self._warnings = _in_words(checked.warnings)
        self._suspicions = _in_words(checked.suspicions)
        self._existing = existing
        self._resend = resend
        self._again = again
        # not if a row is in doubt: then --resend is meant for that row, not for the rows that are already there
        self._resend_by_key_alone = resend and not any(entry.state in UNSURE for entry in existing.entries.values())
        self._decided: dict[str, Step] = {}

    def decide(self, record: Record) -> Step:
        """Return the step for a record. Call this for its parents first."""
        step = self._resolved(self._step(record))
        if step.sends and (warning := self._warnings.get(record.line)):
            step = replace(step, warnings=(warning,))
        if step.sends and step.action is RowStatus.CREATE and (why := self._suspicions.get(record.line)):
            why = f"{why} If it is meant so, push with --as-written."
            step = replace(step, action=RowStatus.REJECTED, why=why, sends=False, warnings=())
        self._decided[record.key] = step
        return step

    def _step(self, record: Record) -> Step:
        entry = self._existing.entries.get(record.key)
        shown = self._existing.found(self._kind.type, record.key)
        proof = shown if self._kind.is_unique else _ours(entry, shown)
        remembered = (of_entry(entry, self._kind.type),) if entry is not None and entry.state in PRESENT else ()
        step = Step(
            record.line,
            record.key,
            RowStatus.CREATE,
            record=record,
            content=content(record),
            entry=entry,
            found=proof or remembered,
        )
        if proof:
            return self._there(replace(step, proven=_proven(entry, proof[0])), _among(proof))
        if entry is None or entry.state not in OURS:
            if shown:
                return self._by_key_alone(replace(step, found=shown), _among(shown))
            if self._again and entry is not None and entry.state is State.REFUSED and entry.body == step.content:
                why = f"Refused by the service on {entry.settled_at or entry.intended_at:%Y-%m-%d}: {entry.message}"
                return replace(step, action=RowStatus.REJECTED, why=why)
            if entry is None or entry.state is not State.EXISTS:
                return self._perhaps_created_since_the_backup(replace(step, sends=True))
        if entry.state in UNSURE:
            return self._in_doubt(step, entry, shown)
        if self._resend if self._kind.is_unique else self._resend_by_key_alone and entry.state is State.EXISTS:
            return replace(step, sends=True, why=f"{_remembered(entry)}, and sent again as requested.")
        return self._there(step, _remembered(entry))

    def _perhaps_created_since_the_backup(self, step: Step) -> Step:
        """Mark a row as in doubt if a restored ledger may lack its create, unless the service refuses duplicates."""
        lacking = self._existing.lacking
        known_since = lacking is None or (step.entry is not None and step.entry.intended_at > lacking.observed_at)
        if lacking is None or known_since or self._kind.is_unique:
            return step
        why = f"The ledger was restored, and may lack {creates_since(lacking.value)}"
        if self._resend:
            return replace(step, why=f"{why}. Sent anyway, as requested.")
        return replace(
            step,
            action=RowStatus.IN_DOUBT,
            sends=False,
            why=(
                f"{why}. Look for the {self._kind.key} in the service, or push again after a sync or with the Merchant "
                "API set up (WMS_MERCHANT_USERNAME), which may find it. If it is not there, push with --resend. If no "
                "create is missing, run `wms-sync restore --creates-are-known`."
            ),
        )

    def _by_key_alone(self, step: Step, where: str) -> Step:
        if self._resend_by_key_alone:
            return replace(step, sends=True, why=f"{where}. Sent anyway, as requested.")
        why = (
            f"{where}. Its fields were not compared. If it belongs to another merchant, push this row in a separate "
            "file with --resend."
        )
        return replace(step, action=RowStatus.ALREADY_THERE, why=why, is_by_key_alone=True)

    def _there(self, step: Step, where: str) -> Step:
        if step.entry is None or step.entry.state not in OURS:
            return replace(step, action=RowStatus.ALREADY_THERE, why=f"{where}. Its fields were not compared.")
        changed = changes(step.entry.body, step.content)
        if not changed:
            return replace(step, action=RowStatus.ALREADY_THERE, why=f"{where}.")
        text, kind = "; ".join(map(str, changed)), self._kind
        why = f"{where}. The file has other values: {text}. " + (
            f"The ledger has one {kind.singular} per {kind.key}: create a second one, for another merchant, in the "
            "service itself, or correct the merchant there."
            if any(change.field.partition(".")[0] == "merchant" for change in changed)
            else "The interface cannot update: change it in the service itself."
        )
        return replace(step, action=RowStatus.CHANGED, why=why)

    def _in_doubt(self, step: Step, entry: Entry, shown: Sequence[ExistingObject]) -> Step:
        sent = f"Sent on {minute(entry.intended_at)} without an answer"
        if shown:
            sent += f" ({_among(shown)}, but this may be another one)"
        if self._kind.is_unique:
            second = f"second {self._kind.singular} of this {self._kind.key}"
            why = f"{sent}. It is sent again: the service refuses a {second}."
            if entry.state is State.UNPROVEN and not self._resend:
                why = f"{sent}, and sent again without success. {what_to_do(self._kind, entry.state)}"
            return replace(step, action=RowStatus.IN_DOUBT, why=why, sends=True, is_last_word=self._resend)
        if self._resend:
            why = f"{sent}, and sent again as requested: check that the service does not have it twice."
            return replace(step, action=RowStatus.IN_DOUBT, why=why, sends=True)
        return replace(step, action=RowStatus.IN_DOUBT, why=f"{sent}. {what_to_do(self._kind)}")

    def _resolved(self, step: Step) -> Step:
        """Resolve the natural keys that a row refers to. Do not send a row with an unresolved reference.

        A row waits for those that this push itself creates.
        """
        if not step.sends or step.record is None:
            return step
        ids: dict[tuple[str, str], Remote] = {}
        waits_for: list[str] = []
        for reference in step.record.references:
            for key in () if reference.by_id else reference.keys:
                parent = self._decided.get(key) if reference.kind == self._kind.type else None
                if parent is not None and parent.sends:
                    waits_for.append(key)
                    continue
                found = parent.found if parent is not None else self._existing.found(reference.kind, key)
                if parent is None and not found and reference.kind in self._existing.unasked:
                    why = f"Refers to {reference.kind} {key} ({reference.column}), but the Merchant API could not be "
                    why += f"called to look it up. Push again when it can be, or use {reference.ids}."
                    return replace(step, action=RowStatus.WAITS, why=why, sends=False)
                if unusable := without_parent(step, reference, key, found, parent):
                    return replace(unusable, sends=False)
                ids[reference.kind, key] = {"type": found[0].type, "id": found[0].id}
        return replace(step, ids=ids, waits_for=tuple(dict.fromkeys(waits_for)))


def what_to_do(kind: Kind, state: State = State.DOUBT, *, was_there: bool = False) -> str:
    """Return a sentence on how to settle a create without an answer."""
    if kind.is_unique and state is State.UNPROVEN:
        look = f"Look for the {kind.key} in the service, then push with --resend: a refusal then settles it."
        if kind.query or kind.merchant_method:  # which may show the object
            look = f"A sync or the Merchant API (WMS_MERCHANT_USERNAME) settles it if it shows the object. {look}"
        return (
            f"A refusal does not say whether the first request created it, so pushing again does not settle it. {look}"
        )
    if kind.is_unique:
        return (
            f"Push the file again{WITH_RESEND if was_there else ''}: the service refuses a second "
            f"{kind.singular} of this {kind.key}, which settles it."
        )
    return (
        f"The service may have it. Look for the {kind.key} in the service, or push again after a sync or with the "
        "Merchant API set up (WMS_MERCHANT_USERNAME), which may find it. Only if it is not there, push with --resend."
    )


def without_parent(
    step: Step, reference: Reference, key: str, found: Sequence[ExistingObject], parent: Step | None
) -> Step | None:
    """Return a row that refers to ``key`` as it becomes if the objects ``found`` are unusable; None if one is usable.

    ``parent`` is the row of this key in the same file.
    """
    what = f"Refers to {reference.kind} {key} ({reference.column}), "
    action = RowStatus.REJECTED
    if parent is not None and not found:
        action = action if parent.action is action else RowStatus.WAITS
        is_so = {RowStatus.WAITS: "waits too", RowStatus.REJECTED: "is rejected too"}
        why = f"{what}on line {parent.line}, which {is_so.get(parent.action, f'is {parent.action}')}."
    elif not found:
        why = (
            f"{what}which is neither in the file nor known to be in the service. Correct it, or create it first. "
            "`wms-sync sync` and the Merchant API (WMS_MERCHANT_USERNAME) find objects of the service. If you know its "
            f"id there, use {reference.ids}."
        )
    elif len(found) > 1:
        why = f"{what}but the service has several: {', '.join(map(str, found))}. Use {reference.ids}."
    elif found[0].status == "archived":
        why = f"{what}which is archived. Use one that is active."
    elif found[0].id is None:
        action = RowStatus.WAITS
        why = (
            f"{what}whose id is unknown: the answer to its create was lost. Push again when a sync has read it, or set "
            "WMS_MERCHANT_USERNAME and WMS_MERCHANT_API_KEY, so that a push can look it up. If you know the id, use "
            f"{reference.ids}."
        )
    else:
        return None
    return replace(step, action=action, why=why)


def _ours(entry: Entry | None, shown: Sequence[ExistingObject]) -> tuple[ExistingObject, ...]:
    """Return the service's object for a product, if an earlier push certainly created the object.

    The sku alone is no proof: another merchant may use the same sku, or the object may be older.
    """
    if entry is None or entry.state not in OURS:
        return ()
    if entry.remote_id is None:
        return made_since(entry.intended_at, shown)
    return tuple(thing for thing in shown if thing.id == entry.remote_id)


def _proven(entry: Entry | None, shown: ExistingObject) -> Entry | None:
    """Return the ledger's entry updated by the object that the service shows; None if there is no entry to update."""
    if entry is None or (entry.state in PRESENT and (entry.remote_id or shown.id is None)):
        return None
    return replace(
        entry,
        state=State.CREATED if entry.state in OURS else State.EXISTS,
        remote_id=entry.remote_id or shown.id,
        message="found in the service",
        settled_at=datetime.now(UTC),
    )


def _among(shown: Sequence[ExistingObject]) -> str:
    return f"The service has it: {', '.join(map(str, shown))}"


def _remembered(entry: Entry) -> str:
    how = "Created" if entry.state is State.CREATED else "The service had it"
    where = f" with id {entry.remote_id}" if entry.remote_id else ""
    return f"{how} on {entry.settled_at or entry.intended_at:%Y-%m-%d}{where}"
