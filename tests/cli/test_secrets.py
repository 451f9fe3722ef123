"""No secret in anything that a command says or leaves behind, also where a service repeats what it was sent."""

from __future__ import annotations

import json
import logging
import traceback
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pipelines.home import HOME_VARIABLE, prepare_home
from tests.conftest import IMPATIENT
from tests.unpacked import in_tables
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.server import SandboxServer
from wms_sync.cli.main import main
from wms_sync.service.client import GlobalApi
from wms_sync.service.creates import Creates
from wms_sync.service.errors import ApiError
from wms_sync.service.merchant import MerchantApi
from wms_sync.service.shipments import ShipmentListing
from wms_sync.settings import Settings

TOKEN, KEY, HOOK = "planted/t0ken+4711==", "planted/k3y+4712", "planted/h00k-4714"
SLASHED = (TOKEN, KEY, HOOK, b64encode(f"somebody:{KEY}".encode()).decode())
FORMS = [form for secret in SLASHED for form in (secret, secret.replace("/", "\\/"), json.dumps(secret)[1:-1])]
"""A secret as it is, and as PHP writes it into JSON."""
FEW_DAYS_AGO = datetime.now(UTC).date() - timedelta(days=3)
COMMANDS = (
    ["--help"],
    ["doctor"],
    ["sync"],
    ["alert", "test"],
    ["push", "location-tags", "tags.csv", "--dry-run"],
    ["push", "location-tags", "tags.csv"],
    ["push", "retailers", "retailers.csv", "--resend"],
    ["merchant", "call", "retailer.list"],
    ["merchant", "call", "no.such"],
    ["status"],
    ["status", "--json"],
    ["explain", "shipment", "100001"],
    ["forget", "4711", "--yes", "--unseen"],
)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxServer]:
    """A folder with a `.env` that holds every secret, and a service that knows them."""
    config = SandboxConfig(
        shipments=20, days=2, token=TOKEN, merchant_username="somebody", merchant_api_key=KEY, families=20
    )
    with SandboxServer(Sandbox(config)) as server:
        tmp_path.joinpath(".env").write_text(
            f"WMS_BASE_URL={server.base_url}\nWMS_API_TOKEN={TOKEN}\nWMS_MERCHANT_USERNAME=somebody\n"
            f"WMS_MERCHANT_API_KEY={KEY}\nWMS_ALERT_WEBHOOK_URL=http://127.0.0.1:1/{HOOK}\nWMS_START_DATE={FEW_DAYS_AGO}\n"
            f"WMS_ALERT_URLS=json://127.0.0.1:1/{HOOK}\nWMS_HEARTBEAT_URL=http://127.0.0.1:1/{HOOK}\n"
        )
        tmp_path.joinpath("tags.csv").write_text("name,color\nfragile,red1\nwrong,no-colour\n")
        tmp_path.joinpath("retailers.csv").write_text("code,name\nNEW,New\n")
        monkeypatch.chdir(tmp_path)
        yield server


def said(command: list[str]) -> str:
    done = CliRunner().invoke(main, command)
    return f"{command} {done.exit_code}\n{done.output}\n{done.exception!r}"


def kept(folder: Path) -> dict[str, bytes]:
    """Every file but the one that the secrets come from, unpacked."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".env"]
    return {str(path): path.read_bytes() + (in_tables(path) if path.suffix == ".duckdb" else b"") for path in files}


def assert_secret(text: str, folder: Path) -> None:
    assert [form for form in FORMS if form in text] == []
    assert [(name, form) for name, content in kept(folder).items() for form in FORMS if form.encode() in content] == []


@pytest.mark.usefixtures("house")
def test_no_command_shows_or_keeps_a_secret(tmp_path, monkeypatch, capfd, caplog):
    monkeypatch.setenv(HOME_VARIABLE, str(prepare_home(tmp_path / "dagster")))
    caplog.set_level(logging.DEBUG)
    text = "\n".join(said(command) for command in COMMANDS)
    captured = capfd.readouterr()
    assert "the token is accepted" in text, "the secrets were used"
    assert "the Merchant API accepts somebody" in text
    assert_secret("\n".join([text, captured.out, captured.err, caplog.text]), tmp_path)
    names = {Path(name).name for name in kept(tmp_path)}
    assert {"index.db", "runs.db", "analytics.duckdb", "state.db", "manifest.json"} <= names


def assert_withheld(*texts: object) -> None:
    assert [form for form in FORMS for text in texts if form in str(text)] == []


async def repeating(request: Request) -> JSONResponse:
    """What a careless service says: all it was sent."""
    sent = (await request.body()).decode()
    pair = b64decode(request.headers.get("authorization", "").partition(" ")[2] + "==")
    heard = f"{dict(request.headers)} {sent} {pair!r}"
    details = [{"key": heard, "message": heard}]
    return JSONResponse(
        {
            "errors": [{"type": heard, "message": heard}, {"type": "validation", "message": "", "details": details}],
            "resource": {"id": 1, "type": "LocationTag", "warnings": [heard, {"message": heard}]},
            "jsonrpc": "2.0",
            "error": {"code": 2, "message": heard},
        }
    )


@dataclass
class Careless:
    """A sandbox that repeats, with a status."""

    server: SandboxServer
    status: int

    async def __call__(self, request: Request) -> Response:
        """As PHP writes it."""
        answer = bytes((await repeating(request)).body).decode().replace("/", "\\/")
        return Response(answer, self.status, media_type="application/json", headers={"Location": f"/{TOKEN}"})


@pytest.fixture
def careless(house: SandboxServer) -> Iterator[Careless]:
    made = Careless(house, 200)
    house.sandbox.intercept = made
    yield made
    house.sandbox.intercept = None


@pytest.mark.parametrize("status", [200, 201, 302, 400, 401, 404, 409, 422, 500])
def test_a_service_that_repeats_requests_shows_no_secret(careless, caplog, status):
    caplog.set_level(logging.INFO)
    careless.status = status
    settings = Settings.load()
    told: list[object] = []

    def attempt(call: Callable[[], object]) -> None:
        try:
            told.append(call())
        except ApiError as error:
            told.extend([error, vars(error), "".join(traceback.format_exception(error))])

    with GlobalApi.from_settings(settings, policy=IMPATIENT) as api:
        attempt(lambda: Creates(api).create("/v1/inventory/location-tags", {"name": "fragile", "color": "red1"}))
        attempt(lambda: ShipmentListing(api, page_size=10, include_addresses=False).count(None, settings.start))
    for login in ("basic", "session"):
        by = settings.model_copy(update={"merchant_login": login})
        with MerchantApi.from_settings(by, policy=IMPATIENT) as merchant:
            attempt(lambda: merchant.call("retailer.list"))
            attempt(lambda: merchant.call("retailer.change"))
    assert len(told) >= 6
    assert status not in {200, 400, 422} or "(withheld)" in str(told)
    assert_withheld(*told, caplog.text)


def test_a_session_of_the_merchant_api_is_withheld(house):
    session = []

    async def repeat(request: Request) -> Response | None:
        sent = json.loads(await request.body())
        if sent["method"] == "login":
            return None
        session.append(sent["params"][0])
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": f"no: {sent}"}})

    house.sandbox.intercept = repeat
    settings = Settings.load(merchant_login="session")
    with MerchantApi.from_settings(settings) as merchant, pytest.raises(ApiError) as refused:
        merchant.call("retailer.list")
    assert session[0]
    assert session[0] not in str(refused.value)
    assert "(withheld)" in str(refused.value)


def test_what_a_careless_service_says_keeps_no_secret(careless, tmp_path, capfd):
    careless.status = 422
    text = said(["push", "location-tags", "tags.csv"])
    careless.status = 201
    tmp_path.joinpath("tags.csv").write_text("name,color\nheavy,red1\n")
    text += said(["push", "location-tags", "tags.csv"])
    careless.server.sandbox.intercept = None
    text += said(["sync"]) + said(["status", "--json"])
    assert text.count("(withheld)") >= 2
    assert [path for path in kept(tmp_path) if "rejects" in path]
    captured = capfd.readouterr()
    assert_secret("\n".join([text, captured.out, captured.err]), tmp_path)


@pytest.mark.parametrize("token", ["planted\a-t0ken", "planted\x1b-t0ken", "planted\x7f-t0ken", "planted-t0ken\r\n"])
def test_a_token_that_is_no_header_is_refused(house, monkeypatch, token):
    """httpx says of a header with a control character what it is."""
    monkeypatch.setenv("WMS_API_TOKEN", token)
    failed = CliRunner().invoke(main, ["sync"])
    assert failed.exit_code == 2
    assert "WMS_API_TOKEN" in failed.output
    assert "t0ken" not in failed.output


REACHED = "WMS_BASE_URL=http://127.0.0.1:1\nWMS_API_TOKEN=planted-t0ken\nWMS_STATE_URL="
ODD = {
    "a line that is none": b'WMS_API_TOKEN planted-t0ken\n"planted-t0ken\n',
    "a quote without its end": b"WMS_API_TOKEN='planted-t0ken\nWMS_PAGE_SIZE=5\n",
    "a wrong value": b"WMS_PAGE_SIZE=planted-t0ken\nWMS_STATE_URL=planted-t0ken\n",
    "a secret in the wrong place": b"WMS_BASE_URL=https://me:planted-t0ken@example.com\nWMS_START_DATE=planted-t0ken\n",
    "not UTF-8": b"WMS_API_TOKEN=planted-t0ken\xff\n",
    **{
        url: f"{REACHED}{url.replace('SECRET', 'planted-t0ken')}\n".encode()
        for url in (
            "postgresql+psycopg://wms:SECRET@127.0.0.1:1/none?connect_timeout=1",
            "postgresql+psycopg://wms:a@SECRET@127.0.0.1:1/none",
            "postgresql+psycopg://wms:SECRET",
            "postgresql+psycopg://wms:SECRET@127.0.0.1:port/none",
            "postgresql+psycopg://wms@127.0.0.1:1/none?passwort=SECRET",
            "nonsense://wms:SECRET@host/none",
            "nonsense:SECRET",
        )
    },
}


@pytest.mark.parametrize("odd", ODD)
def test_a_wrong_env_file_is_not_shown(tmp_path, monkeypatch, caplog, odd):
    tmp_path.joinpath(".env").write_bytes(ODD[odd])
    monkeypatch.chdir(tmp_path)
    failed = CliRunner().invoke(main, ["sync"])
    assert isinstance(failed.exception, SystemExit)
    assert "WMS_" in failed.output or "The state store does not answer" in failed.output, failed.output
    examined = CliRunner().invoke(main, ["doctor"])
    assert "t0ken" not in failed.output + examined.output + caplog.text
    assert not [path for path, content in kept(tmp_path).items() if b"t0ken" in content]
