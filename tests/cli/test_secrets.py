"""No secret in anything that a command says or leaves behind, also where a service repeats what it was sent."""

import json
import logging
import traceback
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from starlette.requests import Request
from starlette.responses import Response

from tests.bench import IMPATIENT
from tests.unpacked import in_tables
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.server import SandboxServer
from wms_sync.cli.main import main
from wms_sync.service.errors import ApiError
from wms_sync.service.merchant import MerchantApi
from wms_sync.settings import Settings
from wms_sync_pipelines.home import HOME_VARIABLE, prepare_home

TOKEN, KEY, HOOK = "planted/t0ken+4711==", "planted/k3y+4712", "planted/h00k-4714"
ENCODED: tuple[Callable[[str], str], ...] = (
    str,
    lambda secret: secret.replace("/", "\\/"),  # as PHP writes it into JSON
    lambda secret: quote(secret, safe=""),
    lambda secret: b64encode(secret.encode()).decode(),
    lambda secret: secret.encode().hex(),
    str.upper,
)
FORMS = [
    encode(secret)
    for secret in (TOKEN, KEY, HOOK, b64encode(f"somebody:{KEY}".encode()).decode())
    for encode in ENCODED
]
FEW_DAYS_AGO = datetime.now(UTC).date() - timedelta(days=3)
COMMANDS = (
    ["--help"],
    ["probe"],
    ["sync"],
    ["doctor", "--alert"],
    ["push", "location-tags", "tags.csv", "--dry-run"],
    ["push", "location-tags", "tags.csv"],
    ["push", "retailers", "retailers.csv", "--resend"],
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
    done = CliRunner().invoke(main, ["--log-level", "debug", *command])
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
    used = ("the token is accepted", "the Merchant API accepts somebody")
    assert [words for words in used if words not in text] == [], "the secrets were used"
    assert_secret("\n".join([text, *capfd.readouterr(), caplog.text]), tmp_path)
    assert {Path(name).name for name in kept(tmp_path)} >= {
        "index.db",
        "runs.db",
        "analytics.duckdb",
        "state.db",
        "creates.jsonl",
    }


@dataclass
class Careless:
    """A service that says all it was sent, as PHP writes it."""

    status: int

    async def __call__(self, request: Request) -> Response | None:
        sent = (await request.body()).decode()
        authorization = request.headers.get("authorization", "")
        pair = b64decode(authorization.partition(" ")[2] + "==")
        heard = f"{sent} {pair!r} {dict(request.headers)}"
        heard = " ".join([*(encode(authorization) for encode in ENCODED), *(encode(sent) for encode in ENCODED), heard])
        answer = {
            "errors": [
                {"type": heard, "message": heard},
                {"type": "validation", "message": "", "details": [{"key": heard, "message": heard}]},
            ],
            "resource": {"id": 1, "type": "LocationTag", "warnings": [heard, {"message": heard}]},
            "jsonrpc": "2.0",
            "error": {"code": 2, "message": heard},
        }
        text = json.dumps(answer).replace("/", "\\/")
        return Response(text, self.status, media_type="application/json", headers={"Location": f"/{TOKEN}"})


@pytest.mark.parametrize("status", [200, 302, 401, 404, 422, 500])
def test_a_merchant_api_that_repeats_requests_shows_no_secret(house, caplog, status):
    caplog.set_level(logging.INFO)
    house.sandbox.intercept = Careless(status)
    refused = pytest.raises(ApiError)
    with MerchantApi.from_settings(Settings.load(), policy=IMPATIENT) as merchant, refused as error:
        merchant.call("retailer.change")
    text = "".join([*traceback.format_exception(error.value), str(vars(error.value)), caplog.text])
    assert ([form for form in FORMS if form in text], status != 200 or "(withheld)" in text) == ([], True)


def test_what_a_careless_service_says_keeps_no_secret(house, tmp_path, capfd):
    text = ""
    for status, tag in ((422, "fragile"), (201, "heavy")):
        house.sandbox.intercept = Careless(status)
        tmp_path.joinpath("tags.csv").write_text(f"name,color\n{tag},red1\n")
        text += said(["push", "location-tags", "tags.csv"])
    house.sandbox.intercept = None
    text += said(["sync"]) + said(["status", "--json"])
    assert text.count("(withheld)") >= 2
    assert [path for path in kept(tmp_path) if "rejects" in path]
    assert_secret("\n".join([text, *capfd.readouterr()]), tmp_path)


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


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_a_wrong_env_file_is_not_shown(tmp_path, monkeypatch, caplog, odd):
    tmp_path.joinpath(".env").write_bytes(odd)
    monkeypatch.chdir(tmp_path)
    failed, examined = (CliRunner().invoke(main, [command]) for command in ("sync", "doctor"))
    assert isinstance(failed.exception, SystemExit)
    assert "WMS_" in failed.output or "The state store does not answer" in failed.output, failed.output
    assert "t0ken" not in failed.output + examined.output + caplog.text
    assert not [path for path, content in kept(tmp_path).items() if b"t0ken" in content]
