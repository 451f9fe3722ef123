"""Errors of the library as failures of a step.

Retrying is decided in the API client alone; a step that failed is not run again by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from wms_sync.errors import WmsSyncError


@contextmanager
def explained() -> Iterator[None]:
    """Known errors end the step with their message; the error itself stays the failure's `__cause__`."""
    try:
        yield
    except WmsSyncError as error:
        raise dg.Failure(description=str(error), allow_retries=False) from error
