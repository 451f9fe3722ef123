"""End a run that the system refuses memory or a thread with a message, whatever Python makes of the refusal.

Python waits for a new thread until that thread says that it has started. One that gets no memory to say so ends without
a word, and whoever started it would wait for ever: a night that neither ends nor fails. So the process ends at once,
as if it were killed, and the next run goes on.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from wms_sync.errors import NoThread, OutOfMemory

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

NO_THREAD = "can't start new thread"
"""All that Python says of it."""


@contextmanager
def refusals_told() -> Iterator[None]:
    """Raise ``OutOfMemory`` or ``NoThread`` for what the system refuses inside the block, or end the process."""
    before, last_words = sys.unraisablehook, f"wms-sync: {OutOfMemory()}\n".encode()

    def end_instead_of_waiting(told: UnraisableHookArgs) -> None:
        of_thread = isinstance(getattr(told.object, "__self__", None), threading.Thread)
        if of_thread and issubclass(told.exc_type, MemoryError):
            os.write(sys.stderr.fileno(), last_words)
            os._exit(OutOfMemory.exit_code)
        before(told)

    sys.unraisablehook = end_instead_of_waiting
    try:
        yield
    except MemoryError as error:
        raise OutOfMemory from error
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        raise OutOfMemory from error
    except RuntimeError as error:
        if str(error) != NO_THREAD:
            raise
        raise NoThread from error
    finally:
        sys.unraisablehook = before
