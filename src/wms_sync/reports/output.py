"""Guard the file that ``--to`` names: never write into the data folder or, without ``--force``, over a foreign file.

Every command with this option calls ``refuse_output`` before it writes, and marks its files to recognise them later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path

from sqlalchemy.engine import make_url

from wms_sync.errors import SettingsError
from wms_sync.settings import Settings

FIRST_BYTES = 4096
"""The number of bytes at the beginning of a text file to search for the mark."""


class OutputRefused(SettingsError):
    """The command may not write the file there. Nothing was written."""


def refuse_output(settings: Settings, path: Path, is_ours: Callable[[Path], bool], *, force: bool) -> None:
    """Raise ``OutputRefused`` for a path that leads into the data folder, and for an existing file that is not ours.

    With ``force``, allow any file outside the data folder to be replaced.
    """
    refuse_kept(settings, path)
    if not path.exists() or (force and path.is_file()):
        return
    if not path.is_file():
        raise OutputRefused(f"{path} is not written: it exists and is not a file. Name a different file.")
    if not is_ours(path):
        raise OutputRefused(
            f"{path} is not written: it exists, and it does not look like a file of this command. Nothing was "
            "changed. Name another file, or replace this file with --force."
        )


def refuse_kept(settings: Settings, path: Path) -> None:
    """Raise ``OutputRefused`` for a path that leads into the data folder, or to the state store."""
    there = path.resolve()
    for kept in _kept(settings):
        if there.is_relative_to(kept):
            raise OutputRefused(
                f"{path} is not written: {kept} belongs to wms-sync. Nothing was changed. Name a place elsewhere."
            )


def is_marked(path: Path, mark: str) -> bool:
    """Return whether the beginning of a file contains this mark."""
    with path.open("rb") as file:
        return mark.encode() in file.read(FIRST_BYTES)


def _kept(settings: Settings) -> Iterator[Path]:
    """Yield the resolved paths of files and folders that a command may not write to."""
    layout = settings.layout
    for path in (layout.root, layout.raw, layout.parquet, layout.lake, layout.work, layout.published):
        yield path.resolve()
    url = make_url(settings.database_url)
    if url.get_backend_name() == "sqlite" and url.database:
        yield from (Path(f"{url.database}{end}").resolve() for end in ("", "-wal", "-shm"))


def rendered(template: str, **values: object) -> str:
    """Return the HTML page of a template next to this module, filled with these values, escaped by default."""
    from jinja2 import Environment, StrictUndefined  # only needed here

    text = files(__package__).joinpath(f"{template}.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(text).render(values)
