"""Say in our own words what the system refuses a run: memory, a thread or a file."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from wms_sync.errors import NoThread, OutOfMemory, TooManyFiles

NO_THREAD = "can't start new thread"
"""All that Python says of it."""
TOO_MANY_FILES = os.strerror(errno.EMFILE)


@contextmanager
def refusals_told() -> Iterator[None]:
    """Raise what the system refuses inside the block as ``OutOfMemory``, ``NoThread`` or ``TooManyFiles``."""
    try:
        yield
    except MemoryError as error:
        raise OutOfMemory from error
    except OSError as error:
        if TOO_MANY_FILES in str(error):
            raise TooManyFiles from error
        if error.errno != errno.ENOMEM:
            raise
        raise OutOfMemory from error
    except RuntimeError as error:
        if str(error) != NO_THREAD:
            raise
        raise NoThread from error
