"""The keys of all assets: group and name, such as `raw/shipment_days` and `marts/freshness`.

One Dagster can have a code location for each of several instances of the service. Its catalogue identifies an asset by
its key alone, so `WMS_INSTANCE`, if it is set, is the first part of each key. The code location must have the same name
as the instance, or the name `wms-sync`, because that name identifies its runs.
"""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from wms_sync.settings import LOCATION, Settings

RAW = "raw"
LOCATION_TAG = "dagster/code_location"
"""Dagster's tag for the code location of a run that it launched."""


def asset_key(settings: Settings, group: str, name: str) -> dg.AssetKey:
    """Return the key of an asset: group and name, after the name of the instance if it has one."""
    return dg.AssetKey([*([settings.instance] if settings.instance else []), group, name])


def changes(settings: Settings) -> dg.AssetKey:
    """Return the key of the asset that reads the changes since the sync cursor."""
    return asset_key(settings, RAW, "changed_shipments")


def days(settings: Settings) -> dg.AssetKey:
    """Return the key of the asset whose partitions are days."""
    return asset_key(settings, RAW, "shipment_days")


def location_tags(settings: Settings) -> Mapping[str, str]:
    """Return the tags of runs that Dagster launched from this code location."""
    return {LOCATION_TAG: settings.instance or LOCATION}
