"""The kinds of master data: retailers (specification 2.2 and 4.2), products, location tags (2.1 and 4.1).

The specification does not say which fields of a retailer are required; here the fields that identify a retailer are
required. Commands and reports show the kinds in the order of ``KINDS``. The name of a file in the folder of master data
begins with its kind and ends with ``.csv``, in any case: ``retailers.csv``, ``Products 2026-03.csv``,
``location_tags-new.csv``. The same is true of a file of rejected rows, so it can be put into the folder unchanged.
Subfolders are not read.
"""

from __future__ import annotations

from pathlib import Path

from wms_sync.errors import SettingsError
from wms_sync.master_data.fields import (
    FAMILIES,
    INT32,
    PALETTE,
    code,
    listed,
    one_of,
    refers,
    shipping_method,
    tag_name,
    text,
    whole,
    without_html,
)
from wms_sync.master_data.json_columns import retailer_fields
from wms_sync.master_data.kind import Fields, Kind, MerchantMethod
from wms_sync.master_data.products import PRODUCTS
from wms_sync.settings import Settings

_RETAILER: Fields = {
    "type": one_of(("Retailer",)),
    "code": code(64),
    "name": text(255),
    "status": one_of(("active", "archived")),
    "fulfillment_model": one_of(("wholesale", "drop_ship", "mixed")),
    **refers(
        "parent_retailer",
        "Retailer",
        key="parent_retailer_code",
        ids="parent_retailer_id",
        by="code of a retailer that is not archived",
    ),
    "legal_name": text(255),
    "dba": text(255),
    "default_duties_payor": one_of(("shipper", "recipient", "third_party")),
    "default_shipping_method": shipping_method(255),
    "allowed_shipping_methods": listed(text()),
    "routing_guide_notes": text(65535),
    "custom_fields": retailer_fields(),
}
"""The fields of a retailer (sections 2.2 and 4.2)."""

RETAILERS = Kind(
    name="retailers",
    type="Retailer",
    key="code",
    required=frozenset({"code", "name"}),
    is_unique=True,
    endpoint="/v1/shipping/retailers",
    bodies={"Retailer": _RETAILER},
    read_only=frozenset({"id", "created_at", "updated_at"}),
    inactive="archived",
    query="shown/retailers.sql",
    merchant_method=MerchantMethod("retailer.list", "code", ("retailer_id", "id")),
)

_LOCATION_TAG: Fields = {
    "name": tag_name(230),
    "description": text(255),
    "color": one_of(PALETTE, f"{', '.join(FAMILIES)}, each with a shade from 1 to 5, such as black1"),
    "sort_order": whole(INT32),
}
"""The fields of a location tag (section 4.1)."""

LOCATION_TAGS = Kind(
    name="location-tags",
    type="LocationTag",
    key="name",
    required=frozenset({"name", "color"}),
    is_unique=True,
    endpoint="/v1/inventory/location-tags",
    bodies={"LocationTag": _LOCATION_TAG},
    read_only=frozenset({"id", "type", "is_deleted", "created_at", "updated_at"}),
    as_stored=without_html,
)

KINDS = (LOCATION_TAGS, RETAILERS, PRODUCTS)
NAMES = tuple(kind.name for kind in KINDS)
IN_SHIPMENTS = tuple(kind.name for kind in KINDS if kind.query is not None)
"""The names of the kinds that shipments refer to."""
SAMPLES = Path(__file__).with_name("samples")
"""A folder with one sample file per kind. Each has every column; references are to objects of the sandbox."""
_BY_NAME = {kind.name: kind for kind in KINDS}


def kind_named(name: str) -> Kind:
    """Return the kind with this name, as in commands and the ledger. Raise ``KeyError`` if there is none."""
    return _BY_NAME[name]


def folder_of(settings: Settings) -> Path:
    """Return the folder of master data. Raise ``SettingsError`` if it is not set or is not a folder."""
    folder = settings.master_data_dir
    if folder is None:
        raise SettingsError(
            "WMS_MASTER_DATA_DIR is not set, so there are no files to read. Set it to the folder of your CSV files, "
            "or push one file with `wms-sync push`."
        )
    if not folder.is_dir():
        raise SettingsError(
            f"WMS_MASTER_DATA_DIR is {folder}, which is not a folder. Create it, or correct the setting."
        )
    return folder


def files_of(folder: Path, kind: Kind) -> tuple[Path, ...]:
    """Return the files of this kind in the order of pushing, which is by name."""
    try:
        return tuple(sorted(path for path in folder.iterdir() if kind_of(path) is kind and path.is_file()))
    except OSError as error:
        raise SettingsError(
            f"WMS_MASTER_DATA_DIR is {folder}, which cannot be read ({error.strerror}). Check its permissions."
        ) from None


def kind_of(path: Path) -> Kind | None:
    """Return the kind of a file whose name begins with it and ends with ``.csv``; otherwise None."""
    name = path.name.casefold().replace("_", "-")
    named = [kind for kind in KINDS if name.startswith(kind.name) and name.endswith(".csv")]
    return max(named, key=lambda kind: len(kind.name), default=None)
