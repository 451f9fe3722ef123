"""The real command line in processes of its own, forked from a server that has imported everything once.

A new process imports for a second what it needs for half of one: DuckDB, pyarrow, pandas. What is forked is as real: it
has its own environment, folder, output and exit code, and dies of the signals that it is sent.
That the installed program starts from nothing is shown where it is called by its path (``test_cli.py``).
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from tempfile import mkdtemp

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "httpcore",
        "pandas",
        "pyarrow.dataset",
        "upath",
        "wms_sync.cli.main",
        "tests.survival.installation",
    ]
)


@dataclass(frozen=True)
class Ended:
    """What became of a command; a negative code is the signal that killed it."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def said(self) -> str:
        """All that it printed."""
        return self.stdout + self.stderr


class Command:
    """One command under way, or a function without arguments; it ends with the block at the latest."""

    def __init__(
        self, command: Sequence[str] | Callable[[], object], environment: Mapping[str, str], folder: Path
    ) -> None:
        kept = Path(mkdtemp(prefix="command-", dir=folder.parent))
        self._stdout, self._stderr = kept / "stdout", kept / "stderr"
        does = command if callable(command) else partial(_type, list(command))
        self._process: ForkServerProcess = PROCESSES.Process(
            target=_run, args=(does, dict(environment), folder, self._stdout, self._stderr), daemon=True
        )
        self._process.start()

    def __enter__(self) -> Command:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._process.is_alive()

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def stderr(self) -> str:
        """What it has said by now."""
        return self._stderr.read_text() if self._stderr.exists() else ""

    def send_signal(self, number: signal.Signals) -> None:
        """As a terminal or a service manager does."""
        os.kill(self.pid, number)

    def join(self, seconds: float) -> None:
        """Wait for its end, at most so long."""
        self._process.join(seconds)

    def ended(self, seconds: float = 120) -> Ended:
        """Wait for its end."""
        self._process.join(seconds)
        assert self._process.exitcode is not None, f"still running after {seconds} s:\n{self.stderr}"
        return Ended(self._process.exitcode, self._stdout.read_text(), self.stderr)


def run(arguments: Sequence[str], environment: Mapping[str, str], folder: Path) -> Ended:
    """A command from its start to its end; ``folder`` is where it is typed."""
    with Command(arguments, environment, folder) as command:
        return command.ended()


def _run(does: Callable[[], object], environment: Mapping[str, str], folder: Path, stdout: Path, stderr: Path) -> None:
    """Give this process its own settings in place of inherited ones, a folder, and files for what it says."""
    for name in [name for name in os.environ if name.startswith(("WMS_", "DAGSTER_"))]:
        del os.environ[name]
    gc.freeze()  # what the server imported stays: the collector need not look through it
    os.environ.update(environment)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # as in a terminal, although nohup may have started the tests
    os.chdir(folder)
    for descriptor, path in ((1, stdout), (2, stderr)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), descriptor)
    does()


def _type(arguments: list[str]) -> None:
    from wms_sync.cli.main import main

    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background
    main(arguments)
