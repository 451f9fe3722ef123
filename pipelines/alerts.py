"""Post failed runs to a webhook. The sensor is defined only if `WMS_ALERT_WEBHOOK_URL` is set.

Dagster stores runs of the command line without a code location. So the sensor monitors all code locations and picks
the jobs and assets of this one. The address may contain a secret: it is never shown, and redirects are not followed.
"""

import logging
from collections.abc import Set as AbstractSet

import dagster as dg
import httpx
from pydantic import SecretStr

from wms_sync.errors import WmsSyncError

ALERT_SECONDS = 10.0
ASSET_JOB = "__ASSET_JOB"
"""Dagster's name for the job of assets that were selected by hand, in any code location."""

logging.getLogger("httpx").setLevel(logging.WARNING)  # at INFO it logs the address of every request


class AlertNotDelivered(WmsSyncError):
    """The webhook did not accept the alert. The tick fails with this message; Dagster continues with the next run."""


def failed_run_alerts(
    url: SecretStr, *, jobs: AbstractSet[str], assets: AbstractSet[dg.AssetKey]
) -> dg.SensorDefinition:
    """Return a sensor that posts `{text, job, run_id, failures: [{step, message}]}` for failed runs of these."""

    @dg.run_failure_sensor(
        name="failed_run_alerts",
        default_status=dg.DefaultSensorStatus.RUNNING,
        monitor_all_code_locations=True,
        description="Posts failed runs to the webhook in WMS_ALERT_WEBHOOK_URL.",
    )
    def failed_run_alerts(context: dg.RunFailureSensorContext) -> None:
        run = context.dagster_run
        if run.job_name in jobs or (run.job_name == ASSET_JOB and (run.asset_selection or set()) <= assets):
            post(url, alert(context))

    return failed_run_alerts


def alert(context: dg.RunFailureSensorContext) -> dict[str, object]:
    """Return the body to post: known errors with their message, others with only the name of their class."""
    failures = [{"step": event.step_key, "message": _message(event)} for event in context.get_step_failure_events()]
    run = context.dagster_run
    text = "; ".join(str(failure["message"]) for failure in failures) or context.failure_event.message
    return {
        "text": f"wms-sync: the job {run.job_name} failed: {text}",
        "job": run.job_name,
        "run_id": run.run_id,
        "failures": failures,
    }


def post(url: SecretStr, body: dict[str, object]) -> None:
    """Post the body. Raise `AlertNotDelivered`, which does not show the address."""
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
