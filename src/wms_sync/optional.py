"""Do without modules that libraries import where they are installed, and that nothing here needs.

DuckDB's client imports pandas for the first value that is bound to a statement, to see whether it is one of pandas'
(0.3 s and 60 MiB); httpx imports rich and pygments for its own command line. A night needs none of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

PANDAS = "pandas"


@contextmanager
def without(*names: str) -> Iterator[None]:
    """Let imports of these modules fail inside the block, as where they are not installed; what is imported stays."""
    hidden = [name for name in names if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # as Python documents it
    try:
        yield
    finally:
        for name in hidden:
            _show(name)


def imported(name: str) -> ModuleType:
    """Import a module that is needed after all, also inside a block that does without it."""
    _show(name)
    return import_module(name)


def _show(name: str) -> None:
    if name in sys.modules and sys.modules[name] is None:
        del sys.modules[name]
