"""An interrupt is an interrupt also while DuckDB runs a query, which turns it into a ``RuntimeError``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise the interrupt, of Python or of an orchestrator, that ended a query of DuckDB inside the block."""
    try:
        yield
    except RuntimeError as error:
        if error.__cause__ is None or isinstance(error.__cause__, Exception):
            raise
        raise error.__cause__ from None
