"""What is made is its owner's alone, and no secret is in any of it, whatever fails."""

from __future__ import annotations

import logging
import os
import stat
import traceback
from base64 import b64encode
from collections.abc import Callable, Iterator

import pytest
from pydantic import SecretStr
from starlette.responses import JSONResponse

from tests.cli.conftest import LATE_START
from tests.conftest import opened_store
from tests.running import run_push, run_rebuild, run_sync
from wms_sync.cli.forget import forget_orders
from wms_sync.master_data.kinds.table import LOCATION_TAGS
from wms_sync.reports.alerts.channels import Webhook
from wms_sync.reports.doctor import examine
from wms_sync.service.merchant import MerchantApi
from wms_sync.settings import Settings

SECRETS = {
    "token": "planted-t0ken-4711",
    "merchant key": "planted-k3y-4712",
    "password": "planted-p4ssword-4713",
    "webhook": "planted-h00k-4714",
}
TAGS = "name,color\nfragile,red1\nwrong,no-colour\n"


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("service_of_today")
def test_files_and_folders_are_their_owners_alone(make_settings, tmp_path):
    settings = make_settings(start_date=LATE_START)
    file = tmp_path / "tags.csv"
    file.write_text(TAGS)
    run_sync(settings)
    run_push(settings, LOCATION_TAGS, file)
    layout = settings.layout
    layout.root.chmod(0o2750)
    [shut_out] = [one.text for one in examine(settings) if one.name == "published" and one.severity == "warning"]
    assert f"which may read {layout.root}, cannot read {layout.published}." in shut_out
    run_rebuild(settings)
    assert {one.severity for one in examine(settings) if one.name == "published"} == {"note"}
    assert stat.S_IMODE(layout.published.stat().st_mode) == 0o440, "the folder is set up for a group of analysts"
    layout.root.chmod(0o700)
    forget_orders(settings, ["1"], yes=True, dry_run=False, unseen=True)
    made = [layout.root, *layout.root.rglob("*")]
    names = {path.name for path in made}
    assert {"state.db", "analytics.duckdb", "rejects", "manifest.json", "work"} <= names
    opened = {str(path.relative_to(tmp_path)) for path in made if path.stat().st_mode & 0o077}
    assert opened == set()


def test_the_log_of_an_open_state_store_is_its_owners_alone(settings):
    store = opened_store(settings)
    store.remember_forgotten([1])
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in settings.data_dir.iterdir()}
    store.close()
    assert modes == {"state.db": 0o600, "state.db-wal": 0o600, "state.db-shm": 0o600, "work": 0o700}


class Told:
    """Everything that was said of failures: errors with their tracebacks."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def fails(self, attempt: Callable[[], object]) -> None:
        with pytest.raises(Exception) as failed:  # noqa: PT011 - whatever it is, it may show nothing
            attempt()
        self.texts.append("".join(traceback.format_exception(failed.value)))


STATE_URLS = (
    "postgresql+psycopg://wms:{}@127.0.0.1:1/none?connect_timeout=1",
    "postgresql+psycopg://wms:a@{}@127.0.0.1:1/none",
    "postgresql+psycopg://wms:{}",
    "postgresql+psycopg://wms:{}@127.0.0.1:port/none",
    "postgresql+psycopg://wms@127.0.0.1:1/none?passwort={}",
    "nonsense://wms:{}@host/none",
    "nonsense:{}",
)


def test_no_secret_is_shown_or_kept_whatever_fails(make_settings, service, tmp_path, capfd, caplog):
    caplog.set_level(logging.DEBUG)
    told = Told()
    token, key, password, hook = SECRETS.values()
    wrong_token = make_settings(
        api_token=token,
        merchant_username="somebody",
        merchant_api_key=key,
        alert_webhook_url=f"http://127.0.0.1:1/{hook}",
    )
    told.fails(lambda: run_sync(wrong_token))
    with MerchantApi.from_settings(wrong_token) as merchant_api:
        told.fails(lambda: merchant_api.call("retailer.list"))
    told.fails(lambda: Webhook(SecretStr(f"http://127.0.0.1:1/{hook}")).send({}))
    told.fails(lambda: Webhook(SecretStr(f"{service.base_url}/{hook}")).send({}))
    told.fails(lambda: Webhook(SecretStr(f"htp//{hook}")).send({}))
    for url in STATE_URLS:
        told.fails(lambda url=url: run_sync(make_settings(state_url=url.format(password))))  # type: ignore[misc]
    unreachable = make_settings(
        base_url="http://127.0.0.1:1", api_token=token, state_url=STATE_URLS[0].format(password)
    )
    told.texts += [finding.text for finding in examine(unreachable)]
    service.sandbox.intercept = lambda request: JSONResponse(
        {"errors": [{"type": "application", "message": f"{request.headers['authorization']} may not do this"}]}, 422
    )
    try:
        told.fails(lambda: run_sync(make_settings(api_token=token)))
    finally:
        service.sandbox.intercept = None
    told.fails(lambda: Settings.load(_env_file=None, api_token=token, base_url=f"http://{password}@example.com"))

    output = capfd.readouterr()
    shown = "\n".join([*told.texts, output.out, output.err, caplog.text, *map(str, caplog.records)])
    assert "WMS_API_TOKEN" in shown
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    basic = b64encode(f"somebody:{key}".encode()).decode()
    for name, secret in {**SECRETS, "basic": basic}.items():
        assert secret not in shown, name
        assert not [path for path in kept if secret.encode() in path.read_bytes()], name
