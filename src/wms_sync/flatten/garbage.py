"""Python's collector of cycles, put off while a page is decoded.

A page is 100,000 short-lived objects without cycles; looking for some costs a tenth of the step.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """For the whole process, until the first of those that put it off is done."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
