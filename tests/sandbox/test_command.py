"""`python -m wms_sync.sandbox`: one line when it is ready, and a clean end."""

import signal
import subprocess
import sys

import httpx
import pytest


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serves_until_it_is_told_to_stop(number: signal.Signals):
    command = [
        sys.executable,
        "-m",
        "wms_sync.sandbox",
        "--port",
        "0",
        "--shipments",
        "50",
        "--seed",
        "3",
        "--token",
        "t",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
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
