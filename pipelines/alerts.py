"""The webhook that hears of failed runs. Defined only when `WMS_ALERT_WEBHOOK_URL` is set.

Runs of the command line are stored as those of no code location, so the sensor monitors all of them, and keeps to the
jobs and assets of this one. The address may hold a secret: it is never shown, and a redirect is not followed.
"""

import logging
from collections.abc import Set as AbstractSet

import dagster as dg
import httpx
from pydantic import SecretStr

from wms_sync.errors import WmsSyncError

ALERT_SECONDS = 10.0
ASSET_JOB = "__ASSET_JOB"
"""What Dagster calls the job of assets that were chosen by hand, whoever's they are."""

logging.getLogger("httpx").setLevel(logging.WARNING)  # it tells the address of every request


class AlertNotDelivered(WmsSyncError):
    """The webhook did not take the alert: the tick fails and says so, and Dagster goes on to the next run."""


def failed_run_alerts(
    url: SecretStr, *, jobs: AbstractSet[str], assets: AbstractSet[dg.AssetKey]
) -> dg.SensorDefinition:
    """Posts `{text, job, run_id, failures: [{step, message}]}` for every failed run of these jobs or assets."""

    @dg.run_failure_sensor(
        name="failed_run_alerts",
        default_status=dg.DefaultSensorStatus.RUNNING,
        monitor_all_code_locations=True,
        description="Tells the webhook in WMS_ALERT_WEBHOOK_URL of a failed run.",
    )
    def failed_run_alerts(context: dg.RunFailureSensorContext) -> None:
        run = context.dagster_run
        if run.job_name in jobs or (run.job_name == ASSET_JOB and (run.asset_selection or set()) <= assets):
            post(url, alert(context))

    return failed_run_alerts


def alert(context: dg.RunFailureSensorContext) -> dict[str, object]:
    """What is posted; known errors with their message, others with their kind only."""
    failures = [{"step": event.step_key, "message": _message(event)} for event in context.get_step_failure_events()]
    run = context.dagster_run
    told = "; ".join(str(failure["message"]) for failure in failures) or context.failure_event.message
    return {
        "text": f"wms-sync: the job {run.job_name} failed: {told}",
        "job": run.job_name,
        "run_id": run.run_id,
        "failures": failures,
    }


def post(url: SecretStr, body: dict[str, object]) -> None:
    """Send it; raises `AlertNotDelivered` without the address."""
    try:
        answer = httpx.post(url.get_secret_value(), json=body, timeout=ALERT_SECONDS, follow_redirects=False)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise AlertNotDelivered(
            f"The webhook of WMS_ALERT_WEBHOOK_URL could not be reached ({type(error).__name__})."
        ) from None
    if not answer.is_success:
        raise AlertNotDelivered(f"The webhook of WMS_ALERT_WEBHOOK_URL answered {answer.status_code}.")


def _message(event: dg.DagsterEvent) -> str:
    failure = event.step_failure_data
    if failure.user_failure_data is not None and failure.user_failure_data.description:
        return failure.user_failure_data.description
    error = failure.error.cause or failure.error if failure.error is not None else None
    return f"{error.cls_name if error is not None else 'an error'}; the run's log has the details"
