"""The assets of master data, one per kind: CSV files are planned, and pushed by the job of their kind.

Only that job sends rows: those of the plans that a person approves by fingerprint or, without approvals, all rows if
`WMS_PUSH_ENABLED` is on. Materialising an asset, alone or with others, only plans. A plan and a push are both
materialisations of the asset; their metadata `pushed` distinguishes them. A run handles the files in its configuration
or, if there are none, all files of its kind in `WMS_MASTER_DATA_DIR`; a push leaves out those that are still arriving.
Rows that need attention fail checks, not the run. These problems fail the run, so that an alert is sent: rows that the
service did not accept, a file that cannot be handled, and an approved plan that has changed. The other files are still
handled, unless the push was stopped. Two pushes of one kind do not run at the same time: the library makes the second
one wait.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import dagster as dg
from pydantic import Field

from wms_sync.errors import MasterDataError, WmsSyncError
from wms_sync.interrupts import Stopping
from wms_sync.logs import PlainLines, logging_to, push_line
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import files_of, folder_of, is_arriving
from wms_sync.master_data.plan import Plan
from wms_sync.master_data.push import PushReport
from wms_sync.runs import Handled, failures_of, plan_push, purpose_of, pushing
from wms_sync.settings import Settings

from . import asset_keys, metadata
from .jobs import push_name
from .operation import RunResource

GROUP = "master_data"
REJECTED, DOUBTFUL, CHANGED = "no_row_is_rejected", "no_row_is_in_doubt", "no_row_has_changed"
CHECKS = {
    REJECTED: (
        dg.AssetCheckSeverity.ERROR,
        ("rejected",),
        "{count} [row is|rows are] rejected",
        "Every row of the files follows the rules and refers to existing objects. Correct the rows in data/rejects.",
    ),
    DOUBTFUL: (
        dg.AssetCheckSeverity.WARN,
        ("in doubt", "waits", "unsent"),
        "{count} [row is|rows are] in doubt, waiting or unsent",
        "The outcome of every row is known. If it is not, push the file again; see `wms-sync status`.",
    ),
    CHANGED: (
        dg.AssetCheckSeverity.WARN,
        ("changed", "created, stored otherwise"),
        "{count} [row differs|rows differ] from what was created from [it|them]",
        "No row differs from what was created from it. The interface cannot update: make the change in the service.",
    ),
}
"""The checks by name: severity, the actions and outcomes of rows that fail the check, the finding, the description."""

Event = dg.AssetMaterialization | dg.AssetCheckEvaluation


class _OnlyPlanned(Exception):
    """The plan of a file is not approved, so no row was sent."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        super().__init__()


class GivenFile(dg.Config):
    """One file. With `sha256`, the file is handled only if it still has this content.

    `again`: the file's rows were handled earlier, so refused rows are not sent again unless they have changed.
    """

    path: str
    sha256: str | None = None
    again: bool = False


class PushConfig(dg.Config):
    """The configuration of a run.

    `files` are handled in this order; an empty list means all files in the folder. `resend` sends rows in doubt again.
    `approve` has the fingerprints of plans that an earlier run showed: only these plans are sent.
    """

    files: list[GivenFile] = Field(default_factory=list)
    resend: bool = False
    approve: list[str] = Field(default_factory=list)


def key(settings: Settings, kind: Kind) -> dg.AssetKey:
    """Return the asset key of a kind: `master_data/retailers`."""
    return asset_keys.asset_key(settings, GROUP, kind.slug)


def run_config(
    settings: Settings, kind: Kind, files: Sequence[GivenFile], *, resend: bool = False, approve: Sequence[str] = ()
) -> dict[str, object]:
    """Return the run configuration that handles these files."""
    config = PushConfig(files=list(files), resend=resend, approve=list(approve)).model_dump(exclude_none=True)
    return {"ops": {key(settings, kind).to_python_identifier(): {"config": config}}}


def master_data(settings: Settings, kind: Kind) -> dg.AssetsDefinition:
    """Return the asset of a kind, with its checks."""

    asset = dg.AssetSpec(
        key(settings, kind),
        group_name=GROUP,
        kinds={"csv"},
        owners=settings.owners,
        tags={"wms/layer": GROUP},
        description=_description(settings, kind),
    )

    @dg.multi_asset(
        name=asset.key.to_python_identifier(),
        specs=[asset],
        check_specs=[
            dg.AssetCheckSpec(name, asset=asset.key, description=text) for name, (_, _, _, text) in CHECKS.items()
        ],
        can_subset=True,  # a check can be executed alone, which plans the files again
    )
    def master_data(
        context: dg.AssetExecutionContext, config: PushConfig, operation: dg.ResourceParam[RunResource]
    ) -> Iterator[Event]:
        handled: list[Handled] = []
        failures = _recorded(context, config, operation, kind, handled)
        yield from events(settings, kind, handled, config)
        if failures:
            text = "\n".join(str(failure) for failure in failures)
            raise dg.Failure(text, allow_retries=False) from failures[0]

    return master_data


def _recorded(
    context: dg.AssetExecutionContext, config: PushConfig, operation: RunResource, kind: Kind, handled: list[Handled]
) -> list[WmsSyncError]:
    """Handle the files, and record the run if it sends rows. Return the errors."""
    is_allowed = operation.settings.push_enabled or bool(config.approve)
    if context.job_name != push_name(kind) or not is_allowed:
        return _handle(context, config, operation, kind, handled)
    failures: list[WmsSyncError] = []
    try:
        with (
            logging_to(context.log),
            operation.recording(purpose_of(kind), context) as recording,
            pushing(operation.settings, recording, kind, handled, failures) as push,
        ):
            failures += _handle(context, config, operation, kind, handled, push)
    except WmsSyncError as error:  # before the run had its lock
        failures.append(error)
    return failures


def _handle(
    context: dg.AssetExecutionContext,
    config: PushConfig,
    operation: RunResource,
    kind: Kind,
    handled: list[Handled],
    push: Callable[..., PushReport] | None = None,
) -> list[WmsSyncError]:
    """Handle the files in order, append the results to `handled`, and return the errors.

    Continue with the next file after an error, unless the error stops the push.
    """
    failures: list[WmsSyncError] = []
    try:
        for file in config.files or _all_files(context, operation.settings, kind, sends=push is not None):
            try:
                done = _handle_file(context, operation, kind, file, config, push)
            except _OnlyPlanned as shown:
                done = shown.plan
            except MasterDataError as error:
                failures.append(error)
                continue
            handled.append(done)
            context.log.info(done.summary)
            failures += failures_of(done)
            if isinstance(done, PushReport) and (done.stopped or done.interrupted):
                break
    except WmsSyncError as error:
        failures.append(error)
    sent = {done.plan.fingerprint for done in handled if isinstance(done, PushReport)}
    if not failures and (unmet := [fingerprint for fingerprint in config.approve if fingerprint not in sent]):
        text = (
            f"No file has the approved plan {', '.join(unmet)}, or this is not the job {push_name(kind)}: the plan was "
            "not sent. This run shows the current plans. Look at them, and approve the right ones."
        )
        failures.append(MasterDataError(text))
    return failures


def _all_files(
    context: dg.AssetExecutionContext, settings: Settings, kind: Kind, *, sends: bool
) -> Sequence[GivenFile]:
    """Return all files of the kind; if the run `sends`, without those whose upload may not have ended."""
    folder = folder_of(settings)
    files = files_of(folder, kind)
    if not files:
        context.log.info(f"{folder} has no file whose name begins with {kind} and ends with .csv")
    arriving = [path for path in files if sends and is_arriving(path)]
    for path in arriving:
        context.log.warning(f"{path} is left out: its upload may not have ended. The sensor takes it once it has.")
    return [GivenFile(path=str(path)) for path in files if path not in arriving]


def _handle_file(
    context: dg.AssetExecutionContext,
    operation: RunResource,
    kind: Kind,
    file: GivenFile,
    config: PushConfig,
    push: Callable[..., PushReport] | None,
) -> Handled:
    path, folder = Path(file.path), folder_of(operation.settings)
    if path.absolute().parent != folder.absolute():
        raise MasterDataError(f"{path} is not in WMS_MASTER_DATA_DIR ({folder}): put it there, or use `wms-sync push`.")
    if push is None:
        plan = plan_push(operation.settings, kind, path, resend=config.resend)
        _refuse_another(plan, file)
        return plan

    def planned(plan: Plan) -> None:
        _refuse_another(plan, file)
        if config.approve and plan.fingerprint not in config.approve:
            raise _OnlyPlanned(plan)
        stopping.listen()

    with Stopping() as stopping:
        return push(
            path,
            resend=config.resend,
            again=file.again,
            planned=planned,
            watcher=PlainLines(context.log.info, push_line),
            transport=operation.transport,
            stop=stopping.asked,
        )


def _refuse_another(plan: Plan, file: GivenFile) -> None:
    if file.sha256 not in {None, plan.checked.file.sha256}:
        raise MasterDataError(
            f"{file.path} has changed since the sensor noticed it, so no row was sent. The sensor starts another run "
            "for the new content."
        )


def events(
    settings: Settings, kind: Kind, handled: Sequence[Handled], config: PushConfig | None = None
) -> Iterator[Event]:
    """Yield the events of handled files. With the `config` of a run, they show how its plans are approved."""
    for name, (severity, words, wrong, _) in CHECKS.items():
        rows = metadata.rows_of(handled, words)
        finding = metadata.finding(wrong, rows)
        yield dg.AssetCheckEvaluation(
            check_name=name,
            asset_key=key(settings, kind),
            passed=finding is None,
            severity=severity,
            description=None if finding is None else metadata.markdown(finding),
            metadata={"rows": len(rows), **({"sample": metadata.rows_table(rows)} if rows else {})},
        )
    plans = [done.fingerprint for done in handled if isinstance(done, Plan) and done.sends]
    approval = (
        run_config(settings, kind, config.files, resend=config.resend, approve=plans) if config and plans else None
    )
    yield dg.AssetMaterialization(key(settings, kind), metadata=metadata.of_handled(handled, push_name(kind), approval))


def _description(settings: Settings, kind: Kind) -> str:
    if settings.master_data_dir is None:
        where = "**Nothing is configured:** set WMS_MASTER_DATA_DIR to the folder of your CSV files."
    else:
        where = f"Files in WMS_MASTER_DATA_DIR whose name begins with `{kind}` and ends with `.csv`."
    sends = (
        f"Materialising this asset only plans. The job {push_name(kind)} and the sensor master_data_files create the "
        "rows that are not known to be in the service: WMS_PUSH_ENABLED is on."
        if settings.push_enabled
        else "WMS_PUSH_ENABLED is off: files are checked and planned, and only approved plans are sent. To send a "
        f"plan, launch the job {push_name(kind)} with the configuration that the plan shows under `approve`."
    )
    return f"{kind.plural.capitalize()} from CSV files. {where} {sends}"
