"""Format master data for the command line: plans, and the columns that files may have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from wms_sync.master_data.columns import Violation, columns_of
from wms_sync.master_data.kinds.kind import Kind
from wms_sync.master_data.plan import SHOWN, Action, Plan, Step

MEANINGS = {
    Action.CREATE: "not in the service as far as is known: a push sends it",
    Action.ALREADY_THERE: "nothing to do",
    Action.CHANGED: "created earlier with other values; the interface cannot update: change it in the service",
    Action.WAITS: "refers to an object whose id is not known yet: push again later",
    Action.IN_DOUBT: "sent earlier, without an answer",
    Action.REJECTED: "breaks a rule: correct it",
}
"""The meaning of each action, in the order of printing: rows that need attention come last, next to the summary."""


def plan_lines(plan: Plan, *, limit: int, most: int | None = SHOWN) -> Iterator[str]:
    """Yield the lines of a plan: the rows by action, then the counts. Print at most ``most`` rows of each action."""
    yield from plan.notes
    violations = {
        line: list(found) for line, found in groupby(plan.checked.violations, lambda violation: violation.line)
    }
    for action, meaning in MEANINGS.items():
        steps = sorted((step for step in plan.steps if step.action is action), key=lambda step: step.line)
        if steps:
            yield f"{action} ({len(steps):,}): {meaning}"
            shown = _first(steps, most)
            for step in shown:
                yield from (
                    f"  line {step.line:<6} {text}" for text in _step_lines(step, violations.get(step.line, ()))
                )
            yield from _more(action, len(steps) - len(shown))
    yield plan.summary
    yield f"Nothing was sent. A push would send {plan.sends:,}."
    if plan.sends > limit:
        yield f"The push would be refused: WMS_PUSH_LIMIT allows {limit:,} at a time."


def column_lines(kind: Kind) -> Iterator[str]:
    """Yield a line for each column of a kind: name, type, rule, whether it is required, and for which item types."""
    columns = columns_of(kind)
    width = max(len(column.name) for column in columns)
    every = max((column.types for column in columns), key=len)
    for column in columns:
        needed = "required" if column.required else "required with its group" if column.with_group else ""
        types = "" if column.types == every else f"only {', '.join(column.types)}"
        facts = "; ".join(fact for fact in (f"{column.type}: {column.rule}", needed, types) if fact)
        yield f"{column.name:<{width}}  {facts}"


def _first(steps: Sequence[Step], most: int | None) -> Sequence[Step]:
    """Return at most ``most`` steps in the order of the file. Prefer steps with a warning."""
    if most is None or len(steps) <= most:
        return steps
    return sorted(sorted(steps, key=lambda step: not step.warnings)[:most], key=lambda step: step.line)


def _more(action: Action, left_out: int) -> Iterator[str]:
    """Yield the number of rows left out, and where to find them."""
    if left_out:
        where = ", and a push writes them to data/rejects" if action is Action.REJECTED else ""
        yield f"  and {left_out:,} more {action} (--all prints every row{where})"


def _step_lines(step: Step, violations: Sequence[Violation]) -> Iterator[str]:
    """Yield the lines of a row: one for each changed field, broken rule or warning, or a single one for the row."""
    if step.action is Action.CHANGED:
        yield from (f"{step.key}  {change}" for change in step.changes)
        return
    for violation in violations:
        value = f" = {violation.value!r}" if violation.value else ""
        where = f"{violation.column}{value}: " if violation.column else ""
        yield f"{where}{violation.rule}"
    if not violations:
        yield from (f"{step.key}  {text}".rstrip() for text in step.explanation or ("",))
