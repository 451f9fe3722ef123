"""The unpartitioned assets: one a table and one a mart, all made by one step.

A table holds the present state of all days, not the rows of one, so it has no partitions. The step loads every window
that is landed and not yet merged, whoever landed it, checks, and publishes; a blocking check that fails keeps the
published file as it was and fails the run.
"""

import re
from collections.abc import Iterator
from functools import cache

import dagster as dg

from pipelines import metadata
from pipelines.failures import explained
from pipelines.operation import Operation
from pipelines.shipment_pages import KEY as PAGES
from wms_sync.analytics.checks import Check, CheckOutcome, checks
from wms_sync.analytics.refresh import RefreshReport, refresh
from wms_sync.catalogue import Mart, Relation, marts, ops_tables, tables

STEP = "load_tables"
_SOURCE = re.compile(r"\b(?:from|join)\s+(?:main\.)?(?P<name>\w+)", re.IGNORECASE)


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
    """All tables and marts as one step."""

    @dg.multi_asset(
        name=STEP,
        specs=[spec(relation) for relation in relations()],
        check_specs=[check_spec(check) for check in checks()],
        backfill_policy=dg.BackfillPolicy.single_run(),
        description="Loads every landed window, checks the tables and publishes analytics.duckdb.",
    )
    def analytics_tables(
        context: dg.AssetExecutionContext, operation: dg.ResourceParam[Operation]
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
        with explained(), operation.writing("loading the tables", context.log) as store:
            report = refresh(operation.settings, store, run_id=context.run_id, say=operation.say(context.log))
        operation.refreshed = report
        yield from materialised(report)

    return analytics_tables


def materialised(report: RefreshReport) -> Iterator[dg.MaterializeResult[None] | dg.AssetCheckResult]:
    """The outcome of each check, and the tables when they were published; fails when they were not."""
    yield from (check_result(outcome) for outcome in report.checks)
    if not report.published:
        raise refusal(report)
    for relation in relations():
        yield dg.MaterializeResult(asset_key=key(relation), metadata=metadata.of_table(relation.slug, report))


def check_result(outcome: CheckOutcome) -> dg.AssetCheckResult:
    """What a check found, with the first offending rows."""
    severe = outcome.check.severity == "error"
    return dg.AssetCheckResult(
        check_name=outcome.check.name,
        asset_key=_keys()[outcome.check.table],
        passed=outcome.passed,
        severity=dg.AssetCheckSeverity.ERROR if severe else dg.AssetCheckSeverity.WARN,
        metadata=metadata.of_outcome(outcome),
    )


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
    """The tables that a mart selects from."""
    names = sorted({found["name"] for found in _SOURCE.finditer(mart.create)})
    return [_keys()[f"main.{name}"] for name in names if f"main.{name}" in _keys()]
