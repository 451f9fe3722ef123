"""One asset for each table and mart, without partitions, all loaded by one step.

A table has the current state of all days, not the rows of one day. The step loads every landed window that is not yet
merged, whichever run read it, then checks and publishes the tables. If a blocking check fails, the published tables
stay unchanged and the run fails. The step reports what it loaded and checked as events, so one check can be executed
alone, and a table or check that was not selected shows its result too.

A table is materialised when a load brings new data, and observed when it does not. So 'materialised 2 hours ago', and
Dagster's freshness policy, refer to new data and not to runs.
"""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg

from wms_sync.catalogue import Mart, Relation, Table, relations
from wms_sync.cron import late_after_at_most
from wms_sync.settings import Settings
from wms_sync.shipments.load.checks import Check, checks
from wms_sync.shipments.load.refresh import RefreshReport

from . import asset_keys, coverage, metadata
from .operation import RunResource

LOADS_WHAT_WAS_READ = (
    "Materialising this asset loads what was read and is not in the tables, for all tables; the job nightly_sync reads "
    "first. `data_as_of` is the time up to which the data is complete."
)
LOADING = "analytics_tables"
"""The step that loads all tables, whichever of them are selected."""
Event = dg.AssetMaterialization | dg.AssetObservation | dg.AssetCheckEvaluation


class LoadConfig(dg.Config):
    """The configuration of a load. With `rebuild`, every table is rebuilt, as after an upgrade."""

    rebuild: bool = False


def key(settings: Settings, relation: Relation) -> dg.AssetKey:
    """Return the asset key of a table or mart: schema and name."""
    return asset_keys.asset_key(settings, relation.schema, relation.name)


def _spec(settings: Settings, relation: Relation, freshness: dg.FreshnessPolicy) -> dg.AssetSpec:
    """Return the asset of a table or mart, with its comment, columns and sources."""
    return dg.AssetSpec(
        key(settings, relation),
        deps=_sources(settings, relation),
        description=f"{relation.comment} {LOADS_WHAT_WAS_READ}",
        owners=settings.owners,
        tags=_tags(relation),
        freshness_policy=freshness,
        metadata=metadata.of_relation(settings, relation),
        # with views in groups of tables, Dagster's lineage would be too wide to show how each group is
        group_name="marts" if isinstance(relation, Mart) else relation.schema,
        kinds={"duckdb"},
    )


def analytics_tables(settings: Settings) -> dg.AssetsDefinition:
    """Return all tables and marts as one step."""
    late_after = late_after_at_most(settings.schedule_cron, settings.schedule_timezone)
    freshness = dg.FreshnessPolicy.time_window(fail_window=late_after)

    @dg.multi_asset(
        name=LOADING,
        specs=[_spec(settings, relation, freshness) for relation in relations()],
        check_specs=[
            dg.AssetCheckSpec(
                check.name, asset=_about(settings, check), description=check.description, blocking=check.blocking
            )
            for check in checks()
        ],
        can_subset=True,
        description="Loads what was read and is not in the tables, checks the tables and publishes them.",
    )
    def analytics_tables(
        context: dg.AssetExecutionContext, config: LoadConfig, operation: dg.ResourceParam[RunResource]
    ) -> Iterator[Event]:
        with operation.step(context) as run:
            report = run.rebuild() if config.rebuild else run.load()
            yield from events(settings, report, run.page)  # before the summary, which is the last line of the log
            yield from coverage.evaluations(settings)
        if not report.published:
            raise dg.Failure(report.refusal, allow_retries=False)

    return analytics_tables


def events(settings: Settings, report: RefreshReport, page: Path | None) -> Iterator[Event]:
    """Yield the events of a load: of all tables, marts and checks, whichever of them were selected."""
    for result in report.checks:
        check, finding = result.check, result.finding
        yield dg.AssetCheckEvaluation(
            check_name=check.name,
            asset_key=_about(settings, check),
            passed=result.passed,
            severity=dg.AssetCheckSeverity.ERROR if check.severity == "error" else dg.AssetCheckSeverity.WARN,
            description=None if finding is None else metadata.markdown(finding),
            metadata={
                "offending_rows": result.offending,
                **({"sample": metadata.sample_table(result.sample)} if result.sample else {}),
            },
            blocking=check.blocking,
        )
    if report.published:
        event = dg.AssetMaterialization if report.windows else dg.AssetObservation
        for relation in relations():
            yield event(key(settings, relation), metadata=metadata.of_table(relation.slug, report, page))


def _about(settings: Settings, check: Check) -> dg.AssetKey:
    name = check.mart or check.table
    return key(
        settings, next(relation for relation in relations() if name in {relation.slug, ".".join(relation.place)})
    )


def _tags(relation: Relation) -> dict[str, str]:
    """Return the tags of a table or mart: its layer, its root table, and whether its rows are personal data."""
    stored = "tables" if relation.schema in {"main", "pii"} else relation.schema
    layer = "marts" if isinstance(relation, Mart) else stored
    of = {"wms/root": relation.root} if isinstance(relation, Table) and layer == "tables" else {}
    return {"wms/layer": layer, **of, **({"wms/personal": "yes"} if relation.schema == "pii" else {})}


def _sources(settings: Settings, relation: Relation) -> list[dg.AssetKey]:
    """Return the sources: of a table, the changes; of a mart, the tables and marts that it selects from.

    Days that are read again are no source: Dagster would warn before the first night that they are missing.
    """
    if not isinstance(relation, Mart):
        return [asset_keys.changes(settings)]
    return [key(settings, source) for source in relations() if source.place in relation.reads]
