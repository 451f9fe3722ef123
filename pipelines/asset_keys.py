"""The keys of all assets: `shipment_pages`, `marts/freshness`; behind the name of the instance where it has one.

Several instances of the service can be code locations of one Dagster, whose history knows an asset by its key alone. So
`WMS_INSTANCE` stands before each key, and the code location must have that name too: it is how runs are told apart.
A process has one instance, and `definitions.build` names it before it makes anything.
"""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg

LOCATION = "dagster/code_location"
"""The tag with which Dagster names the code location of a run that it started; runs of the command line have none."""
INSTANCE = "wms/instance"
"""The tag with which the command line says so."""

_named: list[str] = []


def name_instance(name: str | None) -> None:
    """Put this name before every key from now on; None puts nothing there."""
    _named[:] = [name] if name else []


def asset_key(*path: str) -> dg.AssetKey:
    """Return the key of an asset."""
    return dg.AssetKey([*_named, *path])


def pages() -> dg.AssetKey:
    """Return the key of the partitioned asset."""
    return asset_key("shipment_pages")


def location_tags() -> Mapping[str, str]:
    """Return the tags of runs that Dagster started from this code location; none if the instance has no name."""
    return {LOCATION: _named[0]} if _named else {}


def command_line_tags() -> Mapping[str, str]:
    """Return the tags of runs that the command line starts for this instance; none if it has no name."""
    return {INSTANCE: _named[0]} if _named else {}


def is_of_another(tags: Mapping[str, str]) -> bool:
    """Return whether a run with these tags is another instance's."""
    if not _named:
        return False
    return _named[0] not in (tags.get(LOCATION), tags.get(INSTANCE))
