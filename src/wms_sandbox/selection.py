"""Field selection: `fields` for the shipment, `fields:<path>` for what its references point to (4.5).

A name selects that field, `basic` the fields that are not optional, `all` every field; `all` of an object shows its
references but not what they point to. A path takes effect only where its reference is shown: selecting
`order.items` without `order` includes nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from wms_sandbox.errors import ParameterError
from wms_sandbox.kinds import CONDITIONAL, KINDS, PATHS, Kind

ROOT = ""
_UNSELECTED = {"packages": frozenset(KINDS["ShipmentPackage"].basic)}
_INLINE = {"items": frozenset(("product",)), "packages.packaging": frozenset(("product",))}
"""Packages are inline whether selected or not; an inline shipment item and what a package is packed with always show
their product."""


@dataclass(frozen=True)
class Selection:
    """The fields to show at each selected path; the shipment itself is the empty path."""

    shown: tuple[tuple[str, frozenset[str]], ...]

    @cached_property
    def _by_path(self) -> dict[str, frozenset[str]]:
        return dict(self.shown)

    @cached_property
    def _hash(self) -> int:
        return hash(self.shown)

    def __hash__(self) -> int:
        return self._hash

    def fields(self, path: str) -> frozenset[str] | None:
        """Return the selected fields at a path, or None if the path was not selected."""
        return self._by_path.get(path)

    def reaches(self, path: str) -> bool:
        """Return whether the objects at a path are part of the response."""
        return path in self._reached

    @cached_property
    def _reached(self) -> frozenset[str]:
        return frozenset(path for path in self._by_path if path != ROOT and self._shows(path))

    def _shows(self, path: str) -> bool:
        """Return whether the reference at a path is in the response."""
        parent, _, reference = path.rpartition(".")
        shown = self._by_path.get(parent, _UNSELECTED.get(parent, frozenset()))
        if reference not in shown | _INLINE.get(parent, frozenset()):
            return False
        return parent == ROOT or self._shows(parent)


def read_selection(parameters: Iterable[tuple[str, str]]) -> Selection:
    """Parse the `fields` and `fields:...` parameters of a request; others are ignored."""
    shown: dict[str, frozenset[str]] = {ROOT: resolve(KINDS["Shipment"], ["basic"], "fields")}
    for name, text in parameters:
        if name == "fields":
            shown[ROOT] = resolve(KINDS["Shipment"], text.split(","), name)
        elif name.startswith("fields:"):
            path = name.removeprefix("fields:")
            if path not in PATHS:
                raise ParameterError(name, "Unknown field-selection parameter.")
            shown[path] = resolve(KINDS[PATHS[path]], text.split(","), name)
    _drop_unasked(shown)
    return Selection(tuple(sorted(shown.items())))


def resolve(kind: Kind, names: list[str], parameter: str) -> frozenset[str]:
    """Return the fields that names and groups select. Raises ParameterError for a name that the kind does not offer."""
    unknown = [name for name in names if name not in kind.values]
    if unknown:
        raise ParameterError(parameter, f"Unknown value {unknown[0]!r}. Known: {', '.join(kind.values)}.")
    found: set[str] = set(kind.basic) if kind.always else set()
    groups: Mapping[str, tuple[str, ...]] = {"basic": kind.basic, "all": kind.fields}
    for name in names:
        found.update(groups.get(name) or kind.renamed.get(name) or (name,))
    return frozenset(found - {"type", "id"})


def _drop_unasked(shown: dict[str, frozenset[str]]) -> None:
    if "order" in shown:
        unasked = {name for name in CONDITIONAL if f"order.{name}" not in shown}
        shown["order"] -= unasked
