"""Read variables from the environment and ``.env``, and find misspelt ones.

In ``.env`` every unknown name with the prefix counts as misspelt. In the environment only a name close to that of a
setting does, because other programs may have variables with the same prefix.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from io import StringIO
from pathlib import Path

from wms_sync.errors import SettingsError

NEAR = 0.85
"""The minimum similarity, from 0 to 1, at which a name counts as a misspelt setting: about one letter missing, added,
changed or swapped."""
SIMILAR = 0.7
"""The minimum similarity at which a setting is suggested in place of a wrong name."""


def values_in(env_file: Path | None, prefix: str) -> dict[str, str | None]:
    """Return the variables of the file, unchanged; none if there is no file.

    Raise ``SettingsError`` for a file that cannot be read, and for a line with the prefix that cannot be parsed:
    without that line the run would use the environment or a default, and so perhaps a different data folder.
    """
    if env_file is None or not (env_file.is_file() or env_file.is_fifo()):
        return {}
    from dotenv import dotenv_values  # only needed if there is a file
    from dotenv.parser import parse_stream

    try:
        text = env_file.read_text(encoding="utf-8")  # only once: a pipe is empty afterwards
    except UnicodeDecodeError:  # the error contains the whole file, so it is not chained
        raise SettingsError(f"The file {env_file} is not UTF-8: save the WMS_ settings in it as UTF-8.") from None
    except OSError as error:
        raise SettingsError(
            f"The file {env_file} in {Path.cwd()} cannot be read ({error.strerror}). Give the current user the right "
            "to read it, or start wms-sync in another folder."
        ) from None
    lines = parse_stream(StringIO(text))
    if wrong := [line.original.line for line in lines if line.error and prefix in line.original.string.upper()]:
        named = ", ".join(map(str, wrong))
        raise SettingsError(
            f"The file {env_file} cannot be parsed at line {named}. Write WMS_NAME=value, one per line; quotes around "
            "a value must be closed."
        )
    return dict(dotenv_values(stream=StringIO(text)))


def given(prefix: str, in_file: Mapping[str, str | None]) -> dict[str, str]:
    """Return the values of the variables with this prefix, by name without the prefix.

    The environment wins over the file.

    Ignore the case of names, and ignore empty values.
    """
    both = [(name.lower(), value) for source in (in_file, os.environ) for name, value in source.items()]
    start = prefix.lower()
    return {name.removeprefix(start): value for name, value in both if value and name.startswith(start)}


def misspelt(known: Collection[str], prefix: str, from_file: Collection[str]) -> tuple[str, ...]:
    """Return a sentence for each misspelt variable of the environment, and for each misspelt name in ``from_file``."""
    in_file = set(_unknown(from_file, known, prefix))
    in_environment = {name for name in _unknown(os.environ, known, prefix) if _nearest(name, known, NEAR)}
    return (
        *(_sentence(name, known, ".env") for name in sorted(in_file)),
        *(_sentence(name, known, "the environment") for name in sorted(in_environment - in_file)),
    )


def leave_to_env_file(prefix: str, env_file: Path) -> None:
    """Delete from this process's environment the variables with this prefix that have the same value in the file.

    Dagster copies ``.env`` into the environment of its processes when they start, and the environment wins over the
    file: without this, a run would not see later changes of the file.
    """
    for name, value in values_in(env_file, prefix).items():
        if name.upper().startswith(prefix) and os.environ.get(name) == value:
            del os.environ[name]


def _unknown(names: Iterable[str], known: Collection[str], prefix: str) -> Iterator[str]:
    return (name for name in names if name.upper().startswith(prefix) and name.upper() not in known)


def _sentence(name: str, known: Collection[str], where: str) -> str:
    nearest = _nearest(name, known, SIMILAR)
    return f"{name} (in {where}) is not a setting." + (f" Did you mean {nearest}?" if nearest else "")


def _nearest(name: str, known: Collection[str], likeness: float) -> str | None:
    return next(iter(get_close_matches(name.upper(), sorted(known), n=1, cutoff=likeness)), None)
