"""`python -m wms_sandbox`: one line when it is ready, and a clean end."""

import signal
import subprocess
import sys

import httpx
import pytest

from wms_sandbox.__main__ import main
from wms_sandbox.server import listen


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serves_until_it_is_told_to_stop(number: signal.Signals):
    command = [
        sys.executable,
        "-m",
        "wms_sandbox",
        "--port",
        "0",
        "--shipments",
        "50",
        "--seed",
        "3",
        "--token",
        "t",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        name, address, word, token = process.stdout.readline().split()
        assert (name, word, token) == ("sandbox:", "token", "t")
        response = httpx.get(
            f"{address}/api/global/v1/shipping/shipments",
            params={"count": "1", "limit": "5"},
            headers={"Authorization": "Bearer t"},
        )
        assert response.json()["meta"]["count"] == 50
        process.send_signal(number)
        assert process.wait(timeout=10) in (0, -number)
        assert process.stdout.read() == ""
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("wrong", "why"), [({}, "in use"), ({"--port": "99999"}, "0-65535"), ({"--shipments": "-5"}, ">= 0")]
)
def test_what_it_cannot_serve_is_wrong_usage(wrong, why, capfd):
    with listen(0) as taken:
        options = {"--port": str(taken.getsockname()[1]), **wrong}
        with pytest.raises(SystemExit, match="2"):
            main([word for option in options.items() for word in option])
    assert why in capfd.readouterr().err
