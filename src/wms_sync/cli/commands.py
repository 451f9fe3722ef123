"""What all commands share: what they print, how they end, common options, and the settings that name a service.

Lines may contain text from the service or a file, so all text is printed through this module. It also names this
program as the user has to type it: in a clone, in a virtual environment, or on the path. Each command is defined in the
module that does its work; ``main`` lists them all.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click
import msgspec

from wms_sync.errors import WmsSyncError
from wms_sync.interrupts import INTERRUPTED, interruptible
from wms_sync.reports.alerts import send_alerts
from wms_sync.settings import Settings
from wms_sync.state.engine import silent
from wms_sync.storage.durable import unusable

logger = logging.getLogger(__name__)
ALERT_SECONDS = 5.0
"""The maximum time that a command spends on sending alerts; a later command or run sends the remaining alerts."""
FORCE = click.option("--force", is_flag=True, help="Replace any file, whatever wrote it.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for other programs.")
PROGRAM = "wms-sync"
COLOURS = {"error": "red", "warning": "yellow"}
"""The colours of findings, by the label of their lines."""
INDENT = 14
"""The columns of a label."""
AS_THEY_ARE = (date, datetime, Decimal)
"""Types of values that are printed as Python writes them."""
STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}
"""The standard streams, in the order of their descriptors."""

_COMMANDING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that a terminal interprets instead of showing: control characters, and characters that reorder a line."""


class Place(click.Path):
    """A file or folder whose links do not lead in a circle, and whose name is UTF-8."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """Return the path of what was typed."""
        try:
            str(Path(value).resolve()).encode()
        except (RuntimeError, UnicodeEncodeError):
            self.fail(f"{value!a}: the name is not UTF-8, or its links lead in a circle.", param, ctx)
        return super().convert(value, param, ctx)


FILE = Place(path_type=Path)
FOLDER = Place(file_okay=False, path_type=Path)


def exits_with_code(command: Callable[..., int | None]) -> Callable[..., NoReturn]:
    """Report known errors, and files that cannot be used, by a message and an exit code.

    Any other error is a defect and keeps its traceback. Unless interrupted, send the alerts that are due, including
    those of other runs.
    """

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> NoReturn:  # noqa: ANN401 - whatever click passes
        try:
            with interruptible():
                code = command(*args, **kwargs) or 0
        except WmsSyncError as error:
            logger.log(logging.ERROR, str(error))
            code = error.exit_code
        except KeyboardInterrupt:
            logger.log(logging.ERROR, "interrupted; run the command again to continue.")
            sys.exit(INTERRUPTED)
        except Exception as error:
            failure = unusable(error) or silent(error)
            if failure is None:
                _send_due_alerts()
                raise
            logger.log(logging.ERROR, str(failure))
            code = failure.exit_code
        _send_due_alerts()
        sys.exit(code)

    return run


def _send_due_alerts() -> None:
    """Send the alerts that are due, within ``ALERT_SECONDS``: the result of the command is already printed."""
    try:
        settings = Settings.load()
        has_state = settings.state_url is not None or os.access(settings.layout.state, os.F_OK)
    except WmsSyncError:  # a command that needs the settings has reported this error
        return
    if has_state:
        send_alerts(settings, seconds=ALERT_SECONDS)


def settings_for_service() -> Settings:
    """Return settings that name a service."""
    settings = Settings.load()
    settings.require_service()
    return settings


class NotPrinted(WmsSyncError):
    """Standard output cannot be written to, for example because it is a file on a full disk."""

    def __init__(self, error: OSError) -> None:
        super().__init__(
            f"The output of this command could not be written to standard output ({error.strerror}). The command "
            "itself has finished: `wms-sync status` shows its result. Check where the output goes."
        )


def open_closed_streams() -> None:
    """Open each standard stream that is closed on the null device: else a file of the run would get its descriptor."""
    for name, mode in STREAMS.items():
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 - until the end


def say(text: str, *, err: bool = False, colour: str | None = None) -> None:
    """Print text, with each control character escaped as in JSON; in this colour on a terminal.

    Discard text that standard error does not accept, so that a full disk or a closed terminal does not end a run. Raise
    ``NotPrinted`` if standard output does not accept it, unless its reader has closed the pipe.
    """
    try:
        # standard error by name: click would find the terminal behind the bar of progress, and write into the bar
        plain = _COMMANDING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
        click.echo(click.style(plain, fg=colour) if colour else plain, file=sys.stderr if err else None, err=err)
    except OSError as error:
        if err:
            return
        if error.errno == errno.EPIPE:  # click exits without a message
            raise
        with suppress(OSError):
            sys.stdout.close()  # otherwise Python writes again when it exits
        raise NotPrinted(error) from None


def say_lines(lines: Iterable[str]) -> None:
    """Print each as one line. Replace line breaks with spaces, so that text from the service cannot forge a line."""
    for line in lines:
        say(" ".join(line.splitlines()))


def say_labelled(lines: Iterable[str]) -> None:
    """Print each line, which begins with a label. On a terminal, wrap it at its width, and colour findings."""
    columns = shutil.get_terminal_size().columns
    for line in lines:
        label, parts = line.partition(" ")[0], [line]
        if sys.stdout.isatty():
            parts = textwrap.wrap(line, columns, subsequent_indent=" " * INDENT, break_on_hyphens=False)
        for part in parts:
            say(" ".join(part.splitlines()), colour=COLOURS.get(label))


def say_json(value: object) -> None:
    """Print a value of any depth as JSON for other programs."""
    builtins = msgspec.to_builtins(value, builtin_types=AS_THEY_ARE, enc_hook=str)
    say(json.dumps(builtins, indent=2, default=str))


def command(name: str = PROGRAM) -> str:
    """Return what to type for a program of this environment: its name if that is on the path, else its path.

    Under uvx, whose environment is not on the user's path, it begins with `uvx`.
    """
    uv = shutil.which(os.environ.get("UV", ""))  # uv sets it for the processes that it starts
    if uv and Path(sys.prefix).is_relative_to(subprocess.check_output([uv, "cache", "dir"], text=True).strip()):  # noqa: S603 - uv itself
        package = f'"{PROGRAM}[report]"'
        return f"uvx {package}" if name == PROGRAM else f"uvx --from {package} {name}"
    program = Path(sys.executable).with_name(name)
    found = shutil.which(name)
    return name if found and Path(found).absolute() == program.absolute() else shlex.quote(str(shown(program)))


def shown(path: Path) -> Path:
    """Return a path for a message: relative if it is inside the current folder."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
