"""The tutorial as a test: its blocks run in order in an empty folder, and print what the page shows.

A block of shell that starts the sandbox or the UI runs beside the others until the end, on a free port. What follows a
block as ``text`` must be in its output, line by line; numbers, moments and paths may differ.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.test_docs import DOCS, tokens

SERVERS = {"wms-sync sandbox": 8808, "wms-sync ui": 3000}
"""Blocks that serve until they are stopped, and the port that the page names."""
MAY_FIND = {0, 3}
"""Exit codes of a block: done, or done with findings."""
VARIES = re.compile(r"\S*\d\S*")
SECONDS = 120

pytestmark = pytest.mark.proof


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def pattern(line: str) -> re.Pattern[str]:
    """A line of the page; each word with a digit stands for any."""
    words = [r"\S+" if VARIES.fullmatch(word) else re.escape(word) for word in line.split()]
    return re.compile(r"[ \t]+".join(words))


def steps() -> Iterator[tuple[str, str, list[str]]]:
    """Each block that runs, with its language and the lines that it must print."""
    fences = [token for token in tokens(DOCS / "tutorial.md") if token.type == "fence"]
    for place, fence in enumerate(fences):
        if fence.info in {"sh", "python"}:
            after = fences[place + 1] if fences[place + 1 :] else None
            shown = after.content.splitlines() if after is not None and after.info == "text" else []
            yield fence.info, fence.content, shown


class Reader:
    """A folder, an environment and the ports of the servers that run beside."""

    def __init__(self, folder: Path, servers: ExitStack) -> None:
        self._folder, self._servers = folder, servers
        self._ports = {str(port): str(free_port()) for port in SERVERS.values()}
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("WMS_", "DAGSTER_"))}
        self._environment = {**kept, "PATH": f"{Path(sys.executable).parent}:{kept['PATH']}"}

    def run(self, language: str, text: str, shown: list[str]) -> None:
        for named, used in self._ports.items():
            text = text.replace(named, used)
        if (server := text.strip()) in SERVERS:
            output = self._servers.enter_context(self._serving(server))
        else:
            output = self._run([sys.executable, "-c", text] if language == "python" else ["bash", "-ec", text])
            if "\ncd " in text:
                self._folder /= text.split("\ncd ")[1].strip()
        missing = [line for line in shown if not pattern(line).search(output)]
        assert missing == [], output

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(
            command, cwd=self._folder, env=self._environment, capture_output=True, text=True, timeout=SECONDS
        )
        assert done.returncode in MAY_FIND, f"{command[-1]}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    @contextmanager
    def _serving(self, server: str) -> Iterator[str]:
        """Run it until the end, and yield what it printed until it answered."""
        port = self._ports[str(SERVERS[server])]
        log = self._folder / f"{server.split()[1]}.log"
        with (
            log.open("wb") as output,
            subprocess.Popen(
                [*server.split(), "--port", port],
                cwd=self._folder, env=self._environment, stdout=output, stderr=output,
            ) as process,
        ):  # fmt: skip
            try:
                self._wait(f"http://127.0.0.1:{port}/", process)
                yield log.read_text()
            finally:
                process.send_signal(signal.SIGTERM)

    @staticmethod
    def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
        for _ in range(SECONDS * 5):
            try:
                httpx.get(address)
            except httpx.TransportError:
                assert process.poll() is None
                time.sleep(0.2)
            else:
                return
        raise AssertionError(address)


def test_the_blocks_of_the_tutorial_run_in_order_and_print_what_it_shows(tmp_path):
    assert len(list(steps())) > 10
    with ExitStack() as servers:
        reader = Reader(tmp_path, servers)
        for language, text, shown in steps():
            reader.run(language, text, shown)
    assert (tmp_path / "tutorial" / "data" / "report.html").exists()
