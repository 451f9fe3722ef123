"""One desk from which files are planned and pushed to a sandbox, with the ledger beside it."""

import itertools
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import Response

from tests.bench import CONFIG, FEWER, IMPATIENT, empty_state, settings_in, store_at
from tests.master_data.files import write
from tests.running import run_sync
from tests.services import Service, transport_to
from wms_sandbox.app import Sandbox
from wms_sandbox.transport import InProcess
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.plan import Plan
from wms_sync.master_data.push import PushReport, unfinished
from wms_sync.recording import Recording
from wms_sync.runs import plan_push, purpose_of, pushing
from wms_sync.settings import Settings
from wms_sync.state.ledger import Entry, PushedFile, PushLedger
from wms_sync.state.store import StateStore

MERCHANT = {"merchant_username": "sandbox-merchant", "merchant_api_key": SecretStr("sandbox-api-key")}


def pushed(settings: Settings, kind: Kind, path: Path, *, run_id: str, **options: Any) -> PushReport:
    """What a run with this id pushes; rows that the service does not accept make no error of it."""
    with pushing(settings, Recording(settings, run_id, purpose_of(kind), "test"), kind, [], []) as send:
        return send(path, **options)


@dataclass
class Desk:
    """Settings, a folder of files, and one way to do each thing."""

    server: Service
    settings: Settings
    folder: Path
    _runs: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def sync_has_shown(self, shown: Path) -> Path:
        """As if this desk had synced: only the published file is read."""
        return Path(shutil.copyfile(shown, self.settings.layout.published))

    def file(self, *lines: str, name: str = "given.csv") -> Path:
        return write(self.folder / name, *lines)

    def plan(self, kind: Kind, path: Path, **options: Any) -> Plan:
        return plan_push(self.settings, kind, path, transport=transport_to(self.server), **options)

    def push(self, kind: Kind, path: Path, **options: Any) -> PushReport:
        usual: dict[str, Any] = {
            "run_id": f"run{next(self._runs)}",
            "policy": IMPATIENT,
            "transport": transport_to(self.server),
        }
        return pushed(self.settings, kind, path, **usual | options)

    def entries(self) -> dict[str, Entry]:
        """The ledger, by key."""
        with PushLedger.opened(self.settings.database_url) as ledger:
            return {entry.key: entry for entry in ledger.all()}

    def unfinished(self) -> tuple[PushedFile, ...]:
        with StateStore.opened(self.settings.database_url) as store:
            return unfinished(self.settings, store.pushed_files)

    def record(self, *entries: Entry) -> None:
        with store_at(self.settings.database_url, self.settings.data_dir) as store:
            store.ledger.record(entries)

    def answer(self, answers: Mapping[str, Response]) -> None:
        """Let the sandbox answer creates that mention one of these keys with something else."""

        async def intercept(request: Request) -> Response | None:
            body = await request.body()
            return next((answer for key, answer in answers.items() if f'"{key}"'.encode() in body), None)

        self.server.sandbox.intercept = intercept

    def answers(self, *instead: Response | None) -> None:
        """Let the sandbox answer the next creates with these, one after the other; None is its own answer."""
        left = [*instead]
        self.server.sandbox.intercept = lambda request: left.pop(0) if left and "v1" in request.url.path else None

    def set(self, **settings: Any) -> None:
        """Change settings from here on."""
        self.settings = self.settings.model_copy(update=settings)

    @property
    def creates(self) -> list[int]:
        """The status of each POST of a create so far."""
        return [request.status for request in self.server.sandbox.requests if "v1" in request.path]


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published file after a sync of a sandbox like the one of each desk."""
    within = InProcess(Sandbox(FEWER))
    settings = settings_in(tmp_path_factory.mktemp("shown"), within, page_size=1000)
    run_sync(settings, within)
    return settings.layout.published


@pytest.fixture
def sandbox(in_process: InProcess) -> InProcess:
    """One whose clock is this machine's: only what was made since a product was sent proves that it was."""
    in_process.sandbox = Sandbox(replace(CONFIG, now=datetime.now(UTC)))
    return in_process


@pytest.fixture
def settings_for(settings_for: Callable[..., Settings]) -> Callable[..., Settings]:
    return partial(
        settings_for, start_date=(datetime.now(UTC).date() - timedelta(days=30)), clock_tolerance_seconds=86_400
    )


@pytest.fixture
def desk(sandbox: Service, settings_for: Callable[..., Settings], tmp_path: Path) -> Desk:
    desk = Desk(sandbox, settings_for(sandbox), tmp_path)
    empty_state(desk.settings)
    return desk
