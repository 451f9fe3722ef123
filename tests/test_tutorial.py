"""The tutorial as a test: its blocks run in order in an empty folder, and print what the page shows.

The sandbox runs beside the others until the end, on a free port. The UI is left to ``pipelines/test_dagster_dev.py``.
What follows a block as ``text`` must be in its output, line by line; numbers, moments and paths may differ.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.test_docs import DOCS, tokens

SANDBOX, UI = "wms-sync sandbox", "wms-sync ui"
"""Blocks that serve until they are stopped."""
PORT = "8808"
"""Of the sandbox, as the page names it."""
MAY_FIND = {0, 3}
"""Exit codes of a block: done, or done with findings."""
VARIES = re.compile(r"\S*\d\S*")
SECONDS = 120

pytestmark = pytest.mark.proof


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


def missing(shown: list[str], output: str) -> list[str]:
    """Return the lines of the page that the output lacks."""
    return [line for line in shown if not pattern(line).search(output)]


class Reader:
    """A folder, an environment and the port of the sandbox."""

    def __init__(self, folder: Path, servers: ExitStack) -> None:
        self._folder, self._servers = folder, servers
        self._port = PORT
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("WMS_", "DAGSTER_"))}
        self._environment = {**kept, "PATH": f"{Path(sys.executable).parent}:{kept['PATH']}"}

    def run(self, language: str, text: str, shown: list[str]) -> None:
        text = text.replace(PORT, self._port)
        if text.strip() == SANDBOX:
            self._servers.enter_context(self._sandbox(shown))
        elif text.strip() != UI:
            output = self._run([sys.executable, "-c", text] if language == "python" else ["bash", "-ec", text])
            assert missing(shown, output) == [], output
            if "\ncd " in text:
                self._folder /= text.split("\ncd ")[1].strip()

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(
            command, cwd=self._folder, env=self._environment, capture_output=True, text=True, timeout=SECONDS
        )
        assert done.returncode in MAY_FIND, f"{command[-1]}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    @contextmanager
    def _sandbox(self, shown: list[str]) -> Iterator[None]:
        """Run it on a free port inside the block, which begins when it has printed these lines."""
        log = self._folder / "sandbox.log"
        command = [*SANDBOX.split(), "--port", "0"]
        with (
            log.open("wb") as output,
            subprocess.Popen(command, cwd=self._folder, env=self._environment, stdout=output, stderr=output) as process,
        ):
            try:
                deadline = time.monotonic() + SECONDS
                while missing(shown, log.read_text()):
                    assert process.poll() is None, log.read_text()
                    assert time.monotonic() < deadline, log.read_text()
                    time.sleep(0.1)
                _, self._port = log.read_text().split()[1].rsplit(":", 1)
                yield
            finally:
                process.kill()


def test_the_tutorial_prints_what_it_shows(tmp_path):
    assert len(list(steps())) > 10
    with ExitStack() as servers:
        reader = Reader(tmp_path, servers)
        for language, text, shown in steps():
            reader.run(language, text, shown)
    assert (tmp_path / "tutorial" / "data" / "report.html").exists()
