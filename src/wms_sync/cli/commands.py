"""What all commands share: how they end, the options that several have, and the settings of those that need a service.

Each command is defined in the module that does its work; ``main`` lists them all.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn

import click

from wms_sync.errors import WmsSyncError
from wms_sync.interrupts import INTERRUPTED, interruptible
from wms_sync.reports.alerts import send_alerts
from wms_sync.settings import Settings
from wms_sync.state.engine import silent
from wms_sync.storage.durable import unusable

logger = logging.getLogger(__name__)
ALERT_SECONDS = 5.0
"""The maximum time that a command spends on sending alerts; a later command or run sends the remaining alerts."""
FILE = click.Path(path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
FORCE = click.option("--force", is_flag=True, help="Replace any file, whatever wrote it.")
AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON for other programs.")


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
    except WmsSyncError:  # a command that needs the settings has reported this error
        return
    if settings.state_url is not None or os.access(settings.layout.state, os.F_OK):
        sys.stdout.flush()
        send_alerts(settings, seconds=ALERT_SECONDS)


def settings_for_service() -> Settings:
    """Return settings that name a service."""
    settings = Settings.load()
    settings.require_service()
    return settings
