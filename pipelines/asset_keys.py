"""The keys of all assets: group and name, such as `raw/shipment_days` and `marts/freshness`.

Several instances of the service can be code locations of one Dagster, whose catalogue identifies an asset by its key
alone. So `WMS_INSTANCE` is the first part of each key. The code location must have the same name, because it identifies
the runs of an instance.
"""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from wms_sync.settings import Settings

RAW = "raw"
LOCATION = "dagster/code_location"
"""Dagster's tag for the code location of a run that it launched."""


def asset_key(settings: Settings, group: str, name: str) -> dg.AssetKey:
    """Return the key of an asset."""
    return dg.AssetKey([*([settings.instance] if settings.instance else []), group, name])


def changes(settings: Settings) -> dg.AssetKey:
    """Return the key of the asset of changes since the sync cursor."""
    return asset_key(settings, RAW, "changed_shipments")


def days(settings: Settings) -> dg.AssetKey:
    """Return the key of the asset whose partitions are days."""
    return asset_key(settings, RAW, "shipment_days")


def location_tags(settings: Settings) -> Mapping[str, str]:
    """Return the tags of runs that Dagster launched from this code location; none if the instance has no name."""
    return {LOCATION: settings.instance} if settings.instance else {}
