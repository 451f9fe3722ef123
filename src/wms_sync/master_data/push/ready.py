"""Which rows of a plan can be sent now: a row waits for the ids of its parents, and is not sent when one has none."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from wms_sync.master_data.plan.content import Ids
from wms_sync.master_data.plan.steps import Plan, Step
from wms_sync.master_data.push.outcomes import GOOD, Outcome, Result


class Lineup:
    """The rows that a plan sends; ``results`` are those that are done, ``counts`` how many by outcome."""

    def __init__(self, plan: Plan) -> None:
        self.steps = {step.key: step for step in plan.steps if step.sends}
        self.results: dict[str, Result] = {}
        self.counts: Counter[Outcome] = Counter()
        self._kind = plan.kind
        self._missing = {key: len(step.waits_for) for key, step in self.steps.items()}
        self._children: dict[str, list[str]] = {}
        for key, step in self.steps.items():
            for parent in step.waits_for:
                self._children.setdefault(parent, []).append(key)
        self._ready = deque(key for key, missing in self._missing.items() if not missing)

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be sent before something else is done."""
        return not self._ready

    def take(self, most: int) -> Sequence[Step]:
        """The next rows, parents among them first."""
        return [self.steps[self._ready.popleft()] for _ in range(min(len(self._ready), most))]

    def has_children(self, step: Step) -> bool:
        """Whether other rows need its id."""
        return step.key in self._children

    def ids(self, step: Step) -> Ids:
        """Every reference of a row that can be sent: those known before, and the parents that came with this push."""
        made = {
            (self._kind.type, parent): {"type": self._type(parent), "id": self.results[parent].remote_id}
            for parent in step.waits_for
        }
        return {**step.ids, **made}

    def conclude(self, result: Result) -> None:
        """A row is done: its children are ready, or will not be sent, nor theirs."""
        concluded = [result]
        while concluded:
            parent = concluded.pop()
            self.results[parent.key] = parent
            self.counts[parent.outcome] += 1
            for child in self._children.get(parent.key, ()):
                self._missing[child] -= 1
                if child in self.results:
                    continue
                if parent.outcome not in GOOD or parent.remote_id is None:
                    concluded.append(self._orphan(self.steps[child], parent))
                elif self._missing[child] == 0:
                    self._ready.append(child)

    def _type(self, key: str) -> str:
        """The service's word for a row's kind; products say their own."""
        record = self.steps[key].record
        return str(record.body.get("type", self._kind.type)) if record else self._kind.type

    def _ids_column(self, child: Step, parent: str) -> str:
        """The column that would name a parent by its id."""
        references = child.record.references if child.record else ()
        return next(one.ids for one in references if one.ids and one.kind == self._kind.type and parent in one.keys)

    def _orphan(self, child: Step, parent: Result) -> Result:
        named = f"Names {self._kind.one} {parent.key} on line {parent.line}"
        if parent.outcome in GOOD:
            why = (
                f"{named}, which the service has with an id that is not known. Push again when a sync has shown it, or "
                "set WMS_MERCHANT_USERNAME and WMS_MERCHANT_API_KEY, so that it can be asked for. If you know the id, "
                f"use {self._ids_column(child, parent.key)}."
            )
            return Result(child.line, child.key, Outcome.WAITS, message=why)
        outcome = Outcome.REJECTED if parent.outcome is Outcome.REJECTED else Outcome.WAITS
        return Result(child.line, child.key, outcome, message=f"{named}, which is {parent.outcome}.")
