"""One asset for each table and mart, without partitions, all loaded by one step.

A table has the current state of all days, not the rows of one day. The step loads every landed window that is not yet
merged, whichever run read it, then checks and publishes the tables. If a blocking check fails, the published tables
stay unchanged and the run fails. An automation condition starts the step after a run that read days or changes without
loading them.

A table is materialised when a load brings new data, and observed when it does not. So 'materialised 2 hours ago', and
Dagster's freshness policy, refer to new data and not to runs.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import dagster as dg

from wms_sync.catalogue import Mart, Relation, Table, relations
from wms_sync.cron import late_after_at_most
from wms_sync.settings import Settings
from wms_sync.shipments.load.checking import CheckResult
from wms_sync.shipments.load.checks import Check, checks
from wms_sync.shipments.load.refresh import RefreshReport

from . import asset_keys, metadata
from .operation import RunResource

LOADS_WHAT_IS_LANDED = (
    "Materialising this asset loads landed windows that are not in the tables yet, for all tables; the job "
    "nightly_sync reads first. `data_as_of` is the time up to which the data is complete."
)
FOLLOWS = "main", "shipments"
"""The table that has the automation condition. The step loads all other tables, too."""
_SOURCE = re.compile(r"\b(?:from|join)\s+(?:(?P<schema>\w+)\.)?(?P<name>\w+)", re.IGNORECASE)


class LoadConfig(dg.Config):
    """The configuration of a load. With `rebuild`, every table is rebuilt, as after an upgrade."""

    rebuild: bool = False


def key(settings: Settings, relation: Relation) -> dg.AssetKey:
    """Return the asset key of a table or mart: schema and name."""
    return asset_keys.asset_key(settings, relation.schema, relation.name)


@cache
def _named() -> dict[str, Relation]:
    """Return the relations by each name that the library uses for them.

    A relation has a slug and a qualified name, such as `pii_order_addresses` and `pii.order_addresses`.
    """
    named = {relation.slug: relation for relation in relations()}
    return named | {f"{relation.schema}.{relation.name}": relation for relation in relations()}


def spec(settings: Settings, relation: Relation) -> dg.AssetSpec:
    """Return the asset of a table or mart, with its comment, columns and sources."""
    return dg.AssetSpec(
        key(settings, relation),
        deps=_sources(settings, relation),
        description=f"{relation.comment} {LOADS_WHAT_IS_LANDED}",
        owners=settings.owners,
        tags=_tags(relation),
        skippable=True,
        freshness_policy=_freshness(settings),
        metadata=metadata.of_relation(relation),
        group_name=relation.schema,
        kinds={"duckdb"},
        automation_condition=_follows() if (relation.schema, relation.name) == FOLLOWS else None,
    )


def check_spec(settings: Settings, check: Check) -> dg.AssetCheckSpec:
    """Return a check of the library as an asset check of its table or mart."""
    return dg.AssetCheckSpec(
        check.name,
        asset=_about(settings, check),
        description=check.description,
        blocking=check.blocking,
    )


def analytics_tables(settings: Settings) -> dg.AssetsDefinition:
    """Return all tables and marts as one step."""

    @dg.multi_asset(
        name="analytics_tables",
        specs=[spec(settings, relation) for relation in relations()],
        check_specs=[check_spec(settings, check) for check in checks()],
        description="Loads landed windows that are not in the tables yet, checks the tables and publishes them.",
    )
    def analytics_tables(
        context: dg.AssetExecutionContext, config: LoadConfig, operation: dg.ResourceParam[RunResource]
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetObservation | dg.AssetCheckResult]:
        with operation.step(context) as run:
            report = run.rebuild() if config.rebuild else run.load()
        for result in report.checks:
            yield dg.AssetCheckResult(**_found(settings, result))
        if not report.published:
            raise dg.Failure(report.refusal, allow_retries=False)
        for relation in relations():
            facts = metadata.of_table(relation.slug, report, run.page)
            if report.is_news:
                yield dg.MaterializeResult(asset_key=key(settings, relation), metadata=facts)
            else:
                yield dg.AssetObservation(asset_key=key(settings, relation), metadata=facts)

    return analytics_tables


def events(
    settings: Settings, report: RefreshReport, page: Path | None
) -> Iterator[dg.AssetCheckEvaluation | dg.AssetMaterialization | dg.AssetObservation]:
    """Yield the events that the step would yield, for a load outside Dagster."""
    for result in report.checks:
        yield dg.AssetCheckEvaluation(**_found(settings, result), blocking=result.check.blocking)
    if report.published:
        event = dg.AssetMaterialization if report.is_news else dg.AssetObservation
        for relation in relations():
            yield event(key(settings, relation), metadata=metadata.of_table(relation.slug, report, page))


def _about(settings: Settings, check: Check) -> dg.AssetKey:
    return key(settings, _named()[check.mart or check.table])


def _found(settings: Settings, result: CheckResult) -> dict[str, Any]:
    severe = result.check.severity == "error"
    return {
        "check_name": result.check.name,
        "asset_key": _about(settings, result.check),
        "passed": result.passed,
        "severity": dg.AssetCheckSeverity.ERROR if severe else dg.AssetCheckSeverity.WARN,
        "description": None if result.finding is None else metadata.markdown(result.finding),
        "metadata": metadata.of_check(result),
    }


def _follows() -> dg.AutomationCondition[Any]:
    """Return the condition that a run has read data without loading it, and that no load is under way.

    A nightly sync may read and load between two ticks of the sensor, so a load counts for every read of the same half
    minute. A separate read just after a load is then loaded after the next read, or by the next sync.
    """
    condition = dg.AutomationCondition
    was_read = condition.any_deps_updated()
    handled = (condition.newly_requested() & ~was_read) | condition.newly_updated()
    waits = condition.in_progress() | condition.any_deps_in_progress()
    return (was_read.since(handled) & ~waits).with_label("a window was read but is not loaded")


@cache
def _freshness(settings: Settings) -> dg.FreshnessPolicy:
    """Return the policy: a table is stale if no load brings new data for longer than the schedule allows."""
    window = late_after_at_most(settings.schedule_cron, settings.schedule_timezone)
    return dg.FreshnessPolicy.time_window(fail_window=window)


def _tags(relation: Relation) -> dict[str, str]:
    """Return the tags of a table or mart: its layer, its root table, and whether its rows are personal data."""
    stored = "tables" if relation.schema in {"main", "pii"} else relation.schema
    layer = "marts" if isinstance(relation, Mart) else stored
    of = {"wms/root": relation.root} if isinstance(relation, Table) and layer == "tables" else {}
    return {"wms/layer": layer, **of, **({"wms/personal": "yes"} if relation.schema == "pii" else {})}


def _sources(settings: Settings, relation: Relation) -> list[dg.AssetKey]:
    """Return the sources: of a table, the raw assets; of a mart, the tables and marts that it selects from."""
    if not isinstance(relation, Mart):
        return [asset_keys.changes(settings), asset_keys.days(settings)]
    names = {f"{found['schema'] or 'main'}.{found['name']}" for found in _SOURCE.finditer(relation.create)}
    return [key(settings, _named()[name]) for name in sorted(names) if name in _named()]
