"""The services of the recordings in this folder that no real service made, each a sandbox, by the recording's name.

``python -m tests.recordings.services NAME`` records one again, after its folder was deleted.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.bench import NOW, settings_in
from tests.test_deviations import BILLING_GROUP, REFUSED
from wms_sandbox.app import Sandbox
from wms_sandbox.config import SandboxConfig
from wms_sandbox.errors import failed
from wms_sandbox.transport import InProcess
from wms_sync.cli.record import make_recording

HERE = Path(__file__).parent
PAGES = 20
FEW = SandboxConfig(shipments=2, seed=64, days=20, families=20, now=NOW)


def odd() -> Sandbox:
    """Ten odd habits at once, each of which a sync names or takes as it is meant."""
    sandbox = Sandbox(replace(FEW, odd_values=True, unasked_telephones=True))  # 1: who asked for telephones?
    sandbox.status_of_empty_list = 404  # 2
    busy = [failed(429, Retry_After="0")]  # 3: too many requests, once

    def intercept(request: Request) -> Response | None:
        asked = request.query_params
        if BILLING_GROUP in asked or int(asked.get("limit", 1)) > 1:
            return JSONResponse(REFUSED, 400)  # 4: a name, and 5: a limit that the specification allows
        return busy.pop() if busy and "cursor_start" in asked else None

    def rewrite(page: dict[str, Any]) -> dict[str, Any]:
        page["next"] = page["next"] and f"https://wms.internal:8443{page['next']}"  # 6
        page["has_more"] = int(page["has_more"])  # 7
        for shipment in page["collection"]:
            shipment |= {"loading_dock": {"gate": "B 12", "keeper": "Grace Nguyễn"}}  # 8: a key that nobody knows
            shipment["item_weight"] = {"value": "heavy", "unit": "lb"}  # 9: a word for a number
        return page

    sandbox.intercept, sandbox.rewrite = intercept, rewrite
    sandbox.redate = lambda date: None  # 10: only the client's clock says how far to read
    return sandbox


SERVICES: dict[str, Callable[[], Sandbox]] = {"sandbox": lambda: Sandbox(FEW), "ten-odd-habits": odd}


def main(name: str) -> None:
    service = InProcess(SERVICES[name]())
    with TemporaryDirectory() as folder:
        settings = settings_in(Path(folder), service, page_size=1 if name == "sandbox" else 2)
        make_recording(settings, HERE / name, PAGES, service)


if __name__ == "__main__":
    main(sys.argv[1])
