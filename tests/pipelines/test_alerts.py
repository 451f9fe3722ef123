import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import dagster as dg
import pytest
from pydantic import SecretStr

from pipelines import definitions, jobs
from pipelines.alerts import AlertNotDelivered, alert, failed_run_alerts
from pipelines.instance import HOME_VARIABLE, prepare_home
from pipelines.running import run_sync
from wms_sync.api.errors import Unauthorized


class Webhook(HTTPServer):
    """Takes what is posted; `status` is what it answers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/hooks/a-secret"
        self.taken: list[dict[str, object]] = []
        self.status = 204


class _Handler(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        self.server.taken.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(self.server.status)
        self.send_header("location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with Webhook() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def failed(make_settings, instance):
    """A run that a wrong token ended."""
    built = definitions.build(make_settings(api_token="wrong-token"))
    result = built.resolve_job_def(jobs.SYNC_NOW).execute_in_process(
        instance=instance,
        raise_on_error=False,
    )
    event = next(event for event in result.all_events if event.event_type == dg.DagsterEventType.RUN_FAILURE)
    return dg.build_run_status_sensor_context(
        sensor_name="failed_run_alerts",
        dagster_instance=instance,
        dagster_run=result.dagster_run,
        dagster_event=event,
    ).for_run_failure()


def alerts(url):
    return failed_run_alerts(SecretStr(url), jobs={"sync_now"}, assets=set())


def test_the_webhook_hears_which_job_failed_and_why(webhook, failed):
    alerts(webhook.url)(failed)
    [told] = webhook.taken
    assert told["job"] == "sync_now"
    assert told["run_id"] == failed.dagster_run.run_id
    assert "refused the token" in str(told["text"])
    assert "wrong-token" not in json.dumps(told)
    assert [failure["step"] for failure in told["failures"]] == ["read_pages"]


def test_it_hears_of_runs_of_the_command_line_and_of_no_other_project(webhook, make_settings, tmp_path, monkeypatch):
    monkeypatch.setenv(HOME_VARIABLE, str(prepare_home(tmp_path / "home")))
    built = definitions.build(make_settings(alert_webhook_url=webhook.url, api_token="wrong-token"))
    sensor, cursor = built.resolve_sensor_def("failed_run_alerts"), None

    @dg.op
    def breaks() -> None:
        raise ValueError

    @dg.job
    def of_another_project() -> None:
        breaks()

    with dg.DagsterInstance.get() as instance:
        for attempt in range(2):
            # as the daemon asks, for a code location: runs of the command line belong to none
            context = dg.build_sensor_context(instance, cursor, repository_name="__repository__", definitions=built)
            cursor = sensor.evaluate_tick(context).cursor
            if attempt == 0:
                of_another_project.execute_in_process(instance=instance, raise_on_error=False)
                with pytest.raises(Unauthorized):
                    run_sync(make_settings(api_token="wrong-token"))
    assert [told["job"] for told in webhook.taken] == ["sync_now"]


@pytest.mark.parametrize("status", [302, 500])
def test_a_webhook_that_does_not_take_it_is_an_error_without_the_address(webhook, failed, status):
    webhook.status = status
    with pytest.raises(AlertNotDelivered, match=str(status)) as refused:
        alerts(webhook.url)(failed)
    assert "a-secret" not in str(refused.value)


def test_a_webhook_that_is_not_there_is_an_error_without_the_address(failed):
    with pytest.raises(AlertNotDelivered, match="could not be reached") as refused:
        alerts("http://127.0.0.1:1/a-secret")(failed)
    assert "a-secret" not in str(refused.value)


def test_an_error_that_nobody_foresaw_is_told_by_its_kind_only(failed, instance):
    @dg.op
    def breaks() -> None:
        raise ValueError("with something private in it")

    @dg.job
    def unforeseen() -> None:
        breaks()

    result = unforeseen.execute_in_process(instance=instance, raise_on_error=False)
    event = next(event for event in result.all_events if event.event_type == dg.DagsterEventType.RUN_FAILURE)
    context = dg.build_run_status_sensor_context(
        sensor_name="x", dagster_instance=instance, dagster_run=result.dagster_run, dagster_event=event
    ).for_run_failure()
    assert "private" not in json.dumps(alert(context))
    assert "ValueError" in json.dumps(alert(context))
