"""End a run that the system refuses memory, a thread or a file with a message, whatever Python makes of the refusal.

Python waits for a new thread until that thread says that it has started. One that gets no memory to say so ends without
a word, and whoever started it waits for ever: a night that neither ends nor fails. A thread that is there already
watches for this, and ends the process as if it were killed; the next run goes on.
"""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from wms_sync.errors import NoThread, OutOfMemory, TooManyFiles

PATIENCE_SECONDS = 10.0
"""A thread that has not started after as long, or twice as long, never will."""
STDERR = 2
NO_THREAD = "can't start new thread"
"""All that Python says of it."""
TOO_MANY_FILES = os.strerror(errno.EMFILE)


@contextmanager
def refusals_told(patience: float = PATIENCE_SECONDS) -> Iterator[None]:
    """Raise what the system refuses inside the block as ``OutOfMemory``, ``NoThread`` or ``TooManyFiles``.

    Or end the process.
    """
    try:
        with _watched(patience):
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


@contextmanager
def _watched(patience: float) -> Iterator[None]:
    over = threading.Lock()  # to wait for it takes no memory, as an event would
    with over:
        watch = threading.Thread(target=_end_if_none_starts, args=(over, patience), name="watch", daemon=True)
        watch.start()
        yield
    watch.join()


def _end_if_none_starts(over: threading.Lock, patience: float) -> None:
    last_words = f"wms-sync: {OutOfMemory()}\n".encode()
    waited_for: set[threading.Thread] = set()
    while not over.acquire(timeout=patience):
        try:
            starting = {thread for thread in threading.enumerate() if not thread.is_alive()}
            if not starting.isdisjoint(waited_for):
                with suppress(OSError):
                    os.write(STDERR, last_words)
                os._exit(OutOfMemory.exit_code)
            waited_for = starting
        except MemoryError:
            pass  # some is free again later, since nothing goes on
    over.release()
