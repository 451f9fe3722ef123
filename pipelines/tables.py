"""The unpartitioned assets: one per table and mart, all made by one step.

A table holds the present state of all days, not the rows of one, so it has no partitions. The step loads every window
that is landed and not yet merged, by whichever run, then checks and publishes the tables. If a blocking check fails,
the published file stays as it was and the run fails.

A table is materialised when a load brought something, and observed when it did not: so 'materialised 2 hours ago', and
Dagster's freshness policy with it, speak of data and not of a click.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import dagster as dg

from pipelines import metadata
from pipelines.asset_keys import asset_key, pages
from pipelines.event_batch import log_shown
from pipelines.operation import Operation
from wms_sync.analytics.asking import CheckResult
from wms_sync.analytics.checks import Check, checks
from wms_sync.catalogue import Mart, Relation, Table, relations
from wms_sync.cron import late_after_at_most
from wms_sync.load.refresh import RefreshReport
from wms_sync.runs import operation as library
from wms_sync.settings import Settings

LOADS = "Loads every landed window, checks the tables and publishes analytics.duckdb."
LOADS_WHAT_IS_LANDED = (
    "Materialising it loads what is landed, for all tables, and reads nothing: the job sync_now and the schedule "
    "nightly read what is new, the job backfill reads days again. `data_as_of` says how far the data reaches."
)
STEP = "analytics_tables"
_SOURCE = re.compile(r"\b(?:from|join)\s+(?:(?P<schema>\w+)\.)?(?P<name>\w+)", re.IGNORECASE)


def key(relation: Relation) -> dg.AssetKey:
    """Return the asset key: the name in schema `main` (`shipments`), else schema and name."""
    return asset_key(*([relation.name] if relation.schema == "main" else [relation.schema, relation.name]))


@cache
def _named() -> dict[str, Relation]:
    """Return the relations by the library's names: `orders`, `pii.order_addresses`, `pii_order_addresses`."""
    named = {relation.slug: relation for relation in relations()}
    return named | {f"{relation.schema}.{relation.name}": relation for relation in relations()}


def spec(settings: Settings, relation: Relation) -> dg.AssetSpec:
    """Return the asset of a table or mart, with its comment, columns and sources."""
    return dg.AssetSpec(
        key(relation),
        deps=_sources(relation) if isinstance(relation, Mart) else [pages()],
        description=f"{relation.comment} {LOADS_WHAT_IS_LANDED}",
        owners=settings.owners,
        tags=_tags(relation),
        skippable=True,
        freshness_policy=_freshness(settings),
        metadata=metadata.of_relation(relation),
        group_name="tables" if relation.schema == "main" else relation.schema,
        kinds={"duckdb"},
    )


def check_spec(check: Check) -> dg.AssetCheckSpec:
    """Return a check of the library as an asset check of its table."""
    return dg.AssetCheckSpec(
        check.name, asset=key(_named()[check.table]), description=check.description, blocking=check.blocking
    )


def analytics_tables(settings: Settings) -> dg.AssetsDefinition:
    """Return all tables and marts as one step, for runs that read no pages."""

    @dg.multi_asset(
        name=STEP,
        specs=[spec(settings, relation) for relation in relations()],
        check_specs=[check_spec(check) for check in checks()],
        backfill_policy=dg.BackfillPolicy.single_run(),
        description=LOADS,
    )
    def analytics_tables(
        context: dg.AssetExecutionContext, operation: dg.ResourceParam[Operation]
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetObservation | dg.AssetCheckResult]:
        with operation.step(context, "load") as run:
            run.load()
        if (report := run.refreshed) is None:
            return
        for result in report.checks:
            yield dg.AssetCheckResult(**_found(result))
        if not report.published:
            raise refusal(report)
        for relation in relations():
            facts = metadata.of_table(relation.slug, report, run.page)
            if report.is_news:
                yield dg.MaterializeResult(asset_key=key(relation), metadata=facts)
            else:
                yield dg.AssetObservation(asset_key=key(relation), metadata=facts)

    return analytics_tables


def show(context: dg.OpExecutionContext, run: library.Operation, more: Sequence[dg.AssetCheckEvaluation] = ()) -> None:
    """Log what an op shows of a load: every check, the tables if they were published, and then ``more``.

    A mere read has nothing to show. Raise ``Failure`` if nothing was published.
    """
    if (report := run.refreshed) is None:
        return
    checked = [dg.AssetCheckEvaluation(**_found(one), blocking=one.check.blocking) for one in report.checks]
    if not report.published:
        log_shown(context, checked)
        raise refusal(report)
    event = dg.AssetMaterialization if report.is_news else dg.AssetObservation
    made = (event(key(one), metadata=metadata.of_table(one.slug, report, run.page)) for one in relations())
    log_shown(context, [*checked, *made, *more])


def _found(result: CheckResult) -> dict[str, Any]:
    severe = result.check.severity == "error"
    return {
        "check_name": result.check.name,
        "asset_key": key(_named()[result.check.table]),
        "passed": result.passed,
        "severity": dg.AssetCheckSeverity.ERROR if severe else dg.AssetCheckSeverity.WARN,
        "description": None if result.finding is None else metadata.markdown(result.finding),
        "metadata": metadata.of_check(result),
    }


def refusal(report: RefreshReport) -> dg.Failure:
    """Return the failure of a step whose blocking checks prevented publishing."""
    return dg.Failure(report.refusal, allow_retries=False)


@cache
def _freshness(settings: Settings) -> dg.FreshnessPolicy:
    """Return the policy that a load brings something as often as the schedule promises."""
    window = late_after_at_most(settings.schedule_cron, settings.schedule_timezone)
    return dg.FreshnessPolicy.time_window(fail_window=window)


def _tags(relation: Relation) -> dict[str, str]:
    """Return the layer, what the rows are parts of, and whether they are personal."""
    stored = "tables" if relation.schema in {"main", "pii"} else relation.schema
    layer = "marts" if isinstance(relation, Mart) else stored
    of = {"wms/root": relation.root} if isinstance(relation, Table) and layer == "tables" else {}
    return {"wms/layer": layer, **of, **({"wms/personal": "yes"} if relation.schema == "pii" else {})}


def _sources(mart: Mart) -> list[dg.AssetKey]:
    """Return the tables and marts that a mart selects from, without its own stages."""
    names = {f"{found['schema'] or 'main'}.{found['name']}" for found in _SOURCE.finditer(mart.create)}
    return [key(_named()[name]) for name in sorted(names) if name in _named()]
