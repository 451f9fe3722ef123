"""Hold garbage collection back, and spare DuckDB a database that nobody asks for, before anything heavy is imported.

To look for garbage among imported objects takes 0.05 s each time, three times with Dagster, and finds none. At its end
Python looks again, through all that is left, and frees it piece by piece: the system frees it anyway.

DuckDB's client opens a database in memory while it is imported, to name the types of the DB API in a module of its own,
and closes it at the end. That takes 0.04 s, and nothing here compares types with those names.

Pydantic looks through the metadata of every installed package for plugins when the first model is made, which none of
the models here is for.
"""

import atexit
import gc
import os
import sys
from types import ModuleType

NEVER_WHILE_IMPORTING = 1_000_000
SELDOM = 100_000
TYPES_OF_DB_API = "duckdb._dbapi_type_object"
PLUGINS_OF_PYDANTIC = "PYDANTIC_DISABLE_PLUGINS"


class _Nameless(ModuleType):
    """A module whose every name is None."""

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


def imported() -> None:
    """Look for garbage again, now and then, among what is made from now on."""
    gc.freeze()
    gc.set_threshold(SELDOM)


gc.set_threshold(NEVER_WHILE_IMPORTING)
atexit.register(gc.freeze)  # the first that is registered runs last
sys.modules.setdefault(TYPES_OF_DB_API, _Nameless(TYPES_OF_DB_API))
os.environ.setdefault(PLUGINS_OF_PYDANTIC, "__all__")
