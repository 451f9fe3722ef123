"""Location tags (specification 2.1): created, soft-deleted, never changed otherwise."""

import re
from typing import Any

from wms_sandbox.clock import Clock
from wms_sandbox.errors import ParameterError
from wms_sandbox.kinds import Kind, names

KIND = Kind(
    "LocationTag",
    basic=names("name description color sort_order is_deleted"),
    optional=names("created_at updated_at"),
    offered=names("basic all name description color sort_order is_deleted created_at updated_at"),
)
"""Choice for a gap in the specification: without `fields`, all fields not marked optional come."""

_HTML_TAG = re.compile(r"<!--.*?-->|<[A-Za-z/!?][^>]*>", re.DOTALL)


def clean_name(name: str) -> str:
    """Return the name as it is stored: without HTML tags and surrounding whitespace."""
    return _HTML_TAG.sub("", name).strip()


class LocationTags:
    """All tags, oldest first. Names are unique among those that are not deleted."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tags: list[dict[str, Any]] = []
        self._live_names: set[str] = set()

    def all(self) -> list[dict[str, Any]]:
        """Return copies of all tags."""
        return [dict(tag) for tag in self._tags]

    def create(self, body: dict[str, Any]) -> dict[str, Any]:
        """Create a tag from a checked body with a clean name. Raises ParameterError if a live tag has the name."""
        name = body["name"]
        if name in self._live_names:
            raise ParameterError("name", f"The name {name!r} is already in use.")
        moment = self._clock.timestamp()
        tag = {
            "type": "LocationTag",
            "id": len(self._tags) + 1,
            "name": name,
            "description": body.get("description"),
            "color": body["color"],
            "sort_order": int(body.get("sort_order", 1)),
            "is_deleted": False,
            "created_at": moment,
            "updated_at": moment,
        }
        self._tags.append(tag)
        self._live_names.add(name)
        return tag

    def delete(self, identity: int) -> None:
        """Soft-delete a live tag: it stays, and its name is free again."""
        tag = self._tags[identity - 1]
        self._live_names.remove(tag["name"])
        tag["name"] += f" (Deleted ID: {identity})"
        tag["is_deleted"] = True
        tag["updated_at"] = self._clock.timestamp()
