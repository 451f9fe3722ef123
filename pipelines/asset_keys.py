"""The keys of all assets: the name of the group and the asset's own, such as `raw/shipment_days` and `marts/freshness`.

Several instances of the service can be code locations of one Dagster, whose catalogue knows an asset by its key alone.
So `WMS_INSTANCE` stands before each key, and the code location must have that name too: it is how runs are told apart.
"""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

from wms_sync.settings import Settings

RAW = "raw"
LOCATION = "dagster/code_location"
"""The tag with which Dagster names the code location of a run that it launched."""


def asset_key(settings: Settings, group: str, name: str) -> dg.AssetKey:
    """Return the key of an asset."""
    return dg.AssetKey([*([settings.instance] if settings.instance else []), group, name])


def changes(settings: Settings) -> dg.AssetKey:
    """Return the key of what changed since the sync cursor."""
    return asset_key(settings, RAW, "changed_shipments")


def days(settings: Settings) -> dg.AssetKey:
    """Return the key of the days, which are its partitions."""
    return asset_key(settings, RAW, "shipment_days")


def location_tags(settings: Settings) -> Mapping[str, str]:
    """Return the tags of runs that Dagster launched from this code location; none if the instance has no name."""
    return {LOCATION: settings.instance} if settings.instance else {}
