"""Which rows of a plan can be sent now. A row waits for its parents' ids, and is not sent if a parent gets none."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence

from wms_sync.master_data.plan.content import Ids
from wms_sync.master_data.plan.steps import Plan, Step
from wms_sync.master_data.push.outcomes import GOOD, Outcome, Result


class ReadyRows:
    """A queue of the rows that a plan sends; ``results`` are those that are done, ``counts`` their outcomes."""

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
        """Whether no row can be sent until another one is done."""
        return not self._ready

    def take(self, most: int) -> Sequence[Step]:
        """Take the next rows, parents first."""
        return [self.steps[self._ready.popleft()] for _ in range(min(len(self._ready), most))]

    def has_children(self, step: Step) -> bool:
        """Whether other rows need this row's id."""
        return step.key in self._children

    def ids(self, step: Step) -> Ids:
        """Return the ids for a row's references: those known before, and those of parents that this push created."""
        made = {
            (self._kind.type, parent): {"type": self._type(parent), "id": self.results[parent].remote_id}
            for parent in step.waits_for
        }
        return {**step.ids, **made}

    def conclude(self, result: Result) -> None:
        """Record a row's result. Its children become ready, or are given up together with their own children."""
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
        """Return the service's type of a row; products name their own."""
        record = self.steps[key].record
        return str(record.body.get("type", self._kind.type)) if record else self._kind.type

    def _ids_column(self, child: Step, parent: str) -> str:
        """Return the column that could name the parent by its id."""
        references = child.record.references if child.record else ()
        return next(
            reference.ids
            for reference in references
            if reference.ids and reference.kind == self._kind.type and parent in reference.keys
        )

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
        does = "waits itself" if parent.outcome is Outcome.WAITS else f"is {parent.outcome}"
        return Result(child.line, child.key, outcome, message=f"{named}, which {does}.")
