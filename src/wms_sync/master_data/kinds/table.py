"""The kinds of master data, in the order in which commands and reports list them, and the files of each.

The name of a file in the folder of master data says its kind: ``retailers.csv``, ``Products 2026-03.csv``,
``location_tags-new.csv``. The word of the kind comes first, ``.csv`` last, in any case. A file of rejected rows is
named so too, and can be put back as it is. Folders inside are not read.
"""

from __future__ import annotations

from pathlib import Path

from wms_sync.errors import SettingsError
from wms_sync.master_data.kinds.kind import Kind
from wms_sync.master_data.kinds.location_tags import LOCATION_TAGS
from wms_sync.master_data.kinds.products import PRODUCTS
from wms_sync.master_data.kinds.retailers import RETAILERS
from wms_sync.settings import Settings

KINDS = (LOCATION_TAGS, RETAILERS, PRODUCTS)
NAMES = tuple(kind.name for kind in KINDS)
IN_SHIPMENTS = tuple(kind.name for kind in KINDS if kind.query is not None)
"""The names of the kinds that shipments show."""
SAMPLES = Path(__file__).with_name("samples")
"""A folder with one file per kind, with every column; references are to things of the sandbox."""
_BY_NAME = {kind.name: kind for kind in KINDS}


def kind_named(name: str) -> Kind:
    """Return the kind with this name, as commands and the ledger use it; raise ``KeyError`` if there is none."""
    return _BY_NAME[name]


def folder_of(settings: Settings) -> Path:
    """Return the folder; raise ``SettingsError`` if it is not set or is no folder."""
    folder = settings.master_data_dir
    if folder is None:
        raise SettingsError(
            "WMS_MASTER_DATA_DIR is not set, so there are no files to read. Set it to the folder of your CSV files, "
            "or push one file with `wms-sync push`."
        )
    if not folder.is_dir():
        raise SettingsError(f"WMS_MASTER_DATA_DIR is {folder}, which is no folder. Make it, or correct the setting.")
    return folder


def files_of(folder: Path, kind: Kind) -> tuple[Path, ...]:
    """Return the files of this kind by name, which is the order in which they are pushed."""
    try:
        return tuple(sorted(path for path in folder.iterdir() if kind_of(path) is kind and path.is_file()))
    except OSError as error:
        raise SettingsError(
            f"WMS_MASTER_DATA_DIR is {folder}, which cannot be read ({error.strerror}). Check who may read it."
        ) from None


def kind_of(path: Path) -> Kind | None:
    """Return the kind that a file's name says; None if it says none."""
    name = path.name.casefold().replace("_", "-")
    named = [kind for kind in KINDS if name.startswith(kind.name) and name.endswith(".csv")]
    return max(named, key=lambda kind: len(kind.name), default=None)
