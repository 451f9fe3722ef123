"""Find misspelt settings: a variable that nothing reads, and that looks as if somebody meant a setting by it.

In ``.env`` that is every unknown name with the prefix, because the file is ours. In the environment it is only a name
that is near that of a setting, because other programs may have variables with the same prefix.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path

NEAR = 0.85
"""How alike two names are, from 0 to 1: one letter left out, added, exchanged or swapped is above it."""
SIMILAR = 0.7
"""What is worth to be suggested for a name that is wrong anyway."""


def misspelt(known: Collection[str], prefix: str, env_file: Path | None) -> tuple[str, ...]:
    """Return a sentence for each misspelt variable of the environment and of the file, which need not exist."""
    in_file = set(_unknown(_names_in(env_file), known, prefix)) if env_file is not None else set()
    in_environment = {name for name in _unknown(os.environ, known, prefix) if _nearest(name, known, NEAR)}
    return (
        *(_sentence(name, known, ".env") for name in sorted(in_file)),
        *(_sentence(name, known, "the environment") for name in sorted(in_environment - in_file)),
    )


def leave_to_env_file(prefix: str, env_file: Path) -> None:
    """Delete the variables from this process's environment that the file gives the same value.

    Dagster puts a copy of ``.env`` into the environment of its processes when they start, and the environment wins over
    the file: without this, a run would not see what was changed in the file since.
    """
    for name, value in _values_in(env_file).items():
        if name.upper().startswith(prefix) and os.environ.get(name) == value:
            del os.environ[name]


def _unknown(names: Iterable[str], known: Collection[str], prefix: str) -> Iterator[str]:
    return (name for name in names if name.upper().startswith(prefix) and name.upper() not in known)


def _sentence(name: str, known: Collection[str], where: str) -> str:
    nearest = _nearest(name, known, SIMILAR)
    return f"{name} (in {where}) is no setting." + (f" Did you mean {nearest}?" if nearest else "")


def _nearest(name: str, known: Collection[str], likeness: float) -> str | None:
    return next(iter(get_close_matches(name.upper(), sorted(known), n=1, cutoff=likeness)), None)


def _names_in(env_file: Path) -> Iterable[str]:
    return _values_in(env_file)


def _values_in(env_file: Path) -> dict[str, str | None]:
    from dotenv import dotenv_values  # pydantic-settings reads the file with it too

    return dict(dotenv_values(env_file, encoding="utf-8")) if env_file.is_file() else {}
