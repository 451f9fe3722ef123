"""Turn errors of the library into failures of a step.

Only the API client retries; Dagster does not run a failed step again by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import dagster as dg

from wms_sync.errors import WmsSyncError


@contextmanager
def step_failures() -> Iterator[None]:
    """End the step with the message of a known error; the error itself is the failure's `__cause__`."""
    try:
        yield
    except WmsSyncError as error:
        raise dg.Failure(description=str(error), allow_retries=False) from error
