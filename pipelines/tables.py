"""The unpartitioned assets: one a table and one a mart, all made by one step.

A table holds the present state of all days, not the rows of one, so it has no partitions. The step loads every window
that is landed and not yet merged, whoever landed it, checks, and publishes; a blocking check that fails keeps the
published file as it was and fails the run.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import dagster as dg

from pipelines import metadata
from pipelines.days import PAGES
from pipelines.failures import explained
from pipelines.operation import Operation
from wms_sync.analytics.checks import Check, CheckResult, checks
from wms_sync.catalogue import Mart, Relation, marts, ops_tables, tables
from wms_sync.load.refresh import RefreshReport, refresh

LOADS = "Loads every landed window, checks the tables and publishes analytics.duckdb."
Logged = dg.AssetCheckEvaluation | dg.AssetMaterialization
_SOURCE = re.compile(r"\b(?:from|join)\s+(?:(?P<schema>\w+)\.)?(?P<name>\w+)", re.IGNORECASE)


def key(relation: Relation) -> dg.AssetKey:
    """`shipments`, or schema and name outside `main`."""
    return dg.AssetKey([relation.name] if relation.schema == "main" else [relation.schema, relation.name])


@cache
def relations() -> tuple[Relation, ...]:
    """Everything the published file holds: tables, the load's own tables, marts."""
    return (*tables(), *ops_tables(), *marts())


@cache
def _keys() -> dict[str, dg.AssetKey]:
    """Asset keys by the names that the library uses: `orders`, `pii.order_addresses`, `pii_order_addresses`."""
    named = {relation.slug: key(relation) for relation in relations()}
    return named | {f"{relation.schema}.{relation.name}": key(relation) for relation in relations()}


def spec(relation: Relation) -> dg.AssetSpec:
    """The asset of a table or mart: comment, columns, what it is made of."""
    return dg.AssetSpec(
        key(relation),
        deps=_sources(relation) if isinstance(relation, Mart) else [PAGES],
        description=relation.comment,
        metadata=metadata.of_relation(relation),
        group_name="tables" if relation.schema == "main" else relation.schema,
        kinds={"duckdb"},
    )


def check_spec(check: Check) -> dg.AssetCheckSpec:
    """A query of `sql/checks` as an asset check of its table."""
    return dg.AssetCheckSpec(
        check.name, asset=_keys()[check.table], description=check.description, blocking=check.blocking
    )


def analytics_tables() -> dg.AssetsDefinition:
    """All tables and marts as one step, for runs without pages."""

    @dg.multi_asset(
        name="analytics_tables",
        specs=[spec(relation) for relation in relations()],
        check_specs=[check_spec(check) for check in checks()],
        backfill_policy=dg.BackfillPolicy.single_run(),
        description=LOADS,
    )
    def analytics_tables(
        context: dg.AssetExecutionContext, operation: dg.ResourceParam[Operation]
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        report = refreshed(context, operation)
        for outcome in report.checks:
            yield dg.AssetCheckResult(**_found(outcome))
        _refuse_unpublished(report)
        for relation in relations():
            yield dg.MaterializeResult(asset_key=key(relation), metadata=metadata.of_table(relation.slug, report))

    return analytics_tables


def logged(report: RefreshReport) -> Iterator[Logged]:
    """What an op logs of a refresh or rebuild: every check, and the tables when they were published."""
    for outcome in report.checks:
        yield dg.AssetCheckEvaluation(**_found(outcome), blocking=outcome.check.blocking)
    _refuse_unpublished(report)
    for relation in relations():
        yield dg.AssetMaterialization(key(relation), metadata=metadata.of_table(relation.slug, report))


def refreshed(context: dg.OpExecutionContext | dg.AssetExecutionContext, operation: Operation) -> RefreshReport:
    """One refresh of the library, as the only writer."""
    with explained(), operation.writing("loading the tables", context.log, context.run.run_id) as store:
        report = refresh(operation.settings, store, run_id=context.run.run_id, say=operation.say(context.log))
    operation.refreshed = report
    return report


def _found(outcome: CheckResult) -> dict[str, Any]:
    severe = outcome.check.severity == "error"
    return {
        "check_name": outcome.check.name,
        "asset_key": _keys()[outcome.check.table],
        "passed": outcome.passed,
        "severity": dg.AssetCheckSeverity.ERROR if severe else dg.AssetCheckSeverity.WARN,
        "metadata": metadata.of_outcome(outcome),
    }


def _refuse_unpublished(report: RefreshReport) -> None:
    if not report.published:
        raise refusal(report)


def refusal(report: RefreshReport) -> dg.Failure:
    """The failure of a step whose blocking checks kept the published file."""
    lines = [
        f"- {outcome.check.name}: {outcome.offending} rows offend. {outcome.check.description}"
        for outcome in report.refused_by
    ]
    return dg.Failure(
        "Nothing was published: analytics.duckdb is as it was before. Blocking checks failed:\n" + "\n".join(lines),
        allow_retries=False,
    )


def _sources(mart: Mart) -> list[dg.AssetKey]:
    """The tables and marts that a mart selects from; names of its own stages are none of these."""
    names = {f"{found['schema'] or 'main'}.{found['name']}" for found in _SOURCE.finditer(mart.create)}
    return [_keys()[name] for name in sorted(names) if name in _keys()]
