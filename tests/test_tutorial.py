"""Pages that are typed, as tests: the tutorial's blocks run in order in an empty folder, and print what the page shows.

The sandbox runs beside the others until the end, on a free port. The UI is left to ``pipelines/test_dagster_ui.py``.
What follows a block as ``text`` must be in its output, line by line; numbers, moments and paths may differ.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import zip_longest
from pathlib import Path

import pytest

from tests.test_docs import DOCS, blocks, tokens

SANDBOX, UI = "wms-sync sandbox", "wms-sync ui"
"""Blocks that serve until they are stopped."""
PORT = "8808"
"""Of the sandbox, as the page names it."""
SECONDS = 120
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("WMS_", "DAGSTER_"))} | {
    "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"
}
"""That of a user who has wms-sync on the ``PATH`` and has set nothing."""
pytestmark = pytest.mark.proof


def steps() -> Iterator[tuple[str, str, list[str]]]:
    """Each block that runs, with its language and the lines that it must print."""
    fences = [token for token in tokens(DOCS / "tutorial.md") if token.type == "fence"]
    for fence, after in zip_longest(fences, fences[1:]):
        if fence.info in {"sh", "python"}:
            yield fence.info, fence.content, after.content.splitlines() if after and after.info == "text" else []


def missing(shown: list[str], output: str) -> list[str]:
    """Return the lines of the page that the output lacks; each word with a digit stands for any."""
    words = {line: [r"\S+" if re.search(r"\d", word) else re.escape(word) for word in line.split()] for line in shown}
    return [line for line, parts in words.items() if not re.search(r"[ \t]+".join(parts), output)]


def test_the_tutorial_prints_what_it_shows(tmp_path):
    folder, port = tmp_path, PORT
    with ExitStack() as servers:
        for language, text, shown in steps():
            if text.strip() == SANDBOX:
                served = subprocess.Popen(
                    [*SANDBOX.split(), "--port", "0"], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True
                )
                servers.enter_context(served)
                servers.callback(served.kill)
                assert served.stdout is not None
                line = served.stdout.readline()
                assert missing(shown, line) == []
                port = line.split()[1].rpartition(":")[2]
            elif text.strip() != UI:
                program = [sys.executable, "-c"] if language == "python" else ["bash", "-ec"]
                done = subprocess.run(
                    [*program, text.replace(PORT, port)],
                    cwd=folder,
                    env=ENVIRONMENT,
                    capture_output=True,
                    text=True,
                    timeout=SECONDS,
                    check=False,
                )
                said = done.stdout + done.stderr
                needs_a_hand = "wms-sync push" in text or "--check" in text  # a row is wrong, and there are warnings
                assert done.returncode == (3 if needs_a_hand else 0), f"{text}\n{said}"
                assert missing(shown, said) == [], said
                if "\ncd " in text:
                    folder /= text.split("\ncd ")[1].strip()
    assert (tmp_path / "tutorial" / "data" / "report.html").exists()


def test_wms_sync_is_a_second_code_location_of_a_dagster(tmp_path):
    """The workspace of the page is valid, with a location of a user's own and this installation in its place."""
    page = DOCS / "how-to" / "your-dagster.md"
    (workspace,) = blocks(page, "yaml")
    (validate,) = (block for block in blocks(page, "sh") if "validate" in block)
    project = tmp_path / "your_project"
    project.mkdir()
    (project / "__init__.py").touch()
    (project / "definitions.py").write_text("import dagster as dg\n\ndefs = dg.Definitions()\n")
    (tmp_path / "workspace.yaml").write_text(workspace.replace("/opt/wms-sync/.venv/bin/python", sys.executable))
    done = subprocess.run(
        ["bash", "-ec", validate],
        cwd=tmp_path,
        env={**ENVIRONMENT, "DAGSTER_HOME": str(tmp_path), "WMS_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"successful for .* (\S+)\.", done.stdout)) == {
        "wms-sync",
        "your_project.definitions",
    }
    assert list((tmp_path / "data").glob("*")) == []


def test_completion_offers_commands():
    """What the line of the page has a shell ask for, at `wms-sync back` and a tab."""
    asked = {"_WMS_SYNC_COMPLETE": "bash_complete", "COMP_WORDS": "wms-sync back", "COMP_CWORD": "1"}
    offered = subprocess.check_output(["wms-sync"], env={**ENVIRONMENT, **asked}, text=True)
    assert {"backfill", "backup"} == {line.partition(",")[2] for line in offered.splitlines()}
