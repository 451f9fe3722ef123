"""Compile a family for a selection: which object goes where (specification 2.4 and 2.5), as templates.

The shipment with its packages is inline. Its items, packing solution and galleries, and its order with the objects that
belong to the order, go to `included`. References to shared objects are collected, so that the page adds each object
once.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from wms_sandbox.families import Family, ShipmentPart, make_family
from wms_sandbox.family_packages import PackagePart
from wms_sandbox.heads import Head
from wms_sandbox.identities import reference
from wms_sandbox.kinds import KINDS, PATHS
from wms_sandbox.order_belongings import ADDED_HISTORY
from wms_sandbox.selection import ROOT, Selection
from wms_sandbox.templates import Template, compile_json

Thing = dict[str, Any]
Included = tuple[tuple[str, Template], ...]
References = frozenset[tuple[str, str, int]]
"""References to shared objects: path, kind, id."""

_KEPT = 4000
"""Shared by all sandboxes with the same seed, since compiling costs as much as serving a small sandbox."""

_UNSELECTED_PACKAGES = frozenset(KINDS["ShipmentPackage"].basic)
_UNSELECTED_PACKAGE_ITEMS = frozenset(KINDS["ShipmentPackageItem"].basic)
_SHARED_BY_SHIPMENT = ("warehouse", "retailer", "retailer_ship_to_location", "mark_for_location")
_SHARED_BY_PACKAGE = ("container", "infill")
_SHARED_BY_ORDER = ("brand", "merchant", "tpb_group", "retailer", "retailer_ship_to_location", "mark_for_location")
_OWNED_BY_ORDER = (
    "items",
    "shipping_address",
    "original_address",
    "address_candidates",
    "status_history",
    "instructions",
)


@dataclass(frozen=True)
class Compiled:
    """The result; `body` is the shipment, or the order if an order was compiled."""

    body: Template
    included: Included
    shared: References


def pick(thing: Thing, fields: frozenset[str]) -> Thing:
    """Return the object with only its type, its id and the given fields, in its own order."""
    return {name: value for name, value in thing.items() if name in fields or name in ("type", "id")}


def _write(family: Family, things: list[Thing]) -> Template:
    if family.leaves_out_nulls:
        things = [{name: value for name, value in thing.items() if value is not None} for thing in things]
    return compile_json(things, writes_ascii=family.writes_ascii)


@lru_cache(_KEPT)
def compiled_shipment(seed: int, head: Head, part: int, shown: int, selection: Selection) -> Compiled:
    """Compile a shipment of a family, with its first `shown` packages."""
    family = make_family(seed, head)
    return _compile_shipment(family, family.shipments[part], selection, shown)


@lru_cache(_KEPT)
def compiled_order(seed: int, head: Head, added: int, selection: Selection) -> Compiled:
    """Compile the order of a family with `added` more history entries; empty if the selection does not include it."""
    return _compile_order(make_family(seed, head), selection, added)


def _compile_shipment(family: Family, part: ShipmentPart, selection: Selection, shown: int) -> Compiled:
    shipment = dict(part.shipment)
    packages = part.packages(shown)
    shipment["packages"] = [_package(package.package, selection) for package in packages]
    fields = selection.fields(ROOT) or frozenset()
    shared = set(_shared(shipment, "", _SHARED_BY_SHIPMENT, selection))
    shared.update(_products(part.items, "items", selection))
    for package in packages:
        shared.update(_shared(package.package, "packages.", _SHARED_BY_PACKAGE, selection))
        shared.update(_products(package.package["packaging"], "packages.packaging", selection))
    return Compiled(
        _write(family, [pick(shipment, fields)]),
        _included(_around(part, packages), selection, family),
        frozenset(shared),
    )


def _compile_order(family: Family, selection: Selection, added: int) -> Compiled:
    part = family.order
    order = dict(part.order)
    history = part.owned["status_history"]
    entries = len(history) - ADDED_HISTORY + added
    owned = part.owned | {"status_history": history[:entries]}
    order["status_history"] = [reference(entry["type"], entry["id"]) for entry in owned["status_history"]]
    shared = set(_shared(order, "order.", _SHARED_BY_ORDER, selection))
    shared.update(_products(part.items, "order.items", selection))
    groups = ((f"order.{name}", owned[name]) for name in _OWNED_BY_ORDER if order.get(name))
    return Compiled(
        _write(family, [pick(order, selection.fields("order") or frozenset())]),
        _included(groups, selection, family),
        frozenset(shared),
    )


def _package(package: Thing, selection: Selection) -> Thing:
    shown = pick(package, selection.fields("packages") or _UNSELECTED_PACKAGES)
    if "items" in shown:
        fields = selection.fields("packages.items") or _UNSELECTED_PACKAGE_ITEMS
        shown["items"] = [pick(item, fields) for item in shown["items"]]
    return shown


def _around(part: ShipmentPart, packages: list[PackagePart]) -> Iterator[tuple[str, list[Thing]]]:
    yield "items", part.items
    if part.packing_solution:
        yield "packing_solution", [part.packing_solution]
    if part.gallery:
        yield "gallery", [part.gallery.gallery]
        yield "gallery.items", part.gallery.items
    for package in packages:
        if package.gallery:
            yield "packages.gallery", [package.gallery.gallery]
            yield "packages.gallery.items", package.gallery.items


def _included(groups: Iterable[tuple[str, list[Thing]]], selection: Selection, family: Family) -> Included:
    by_kind: dict[str, list[Thing]] = {}
    for path, things in groups:
        fields = selection.fields(path)
        if fields is not None and things and selection.reaches(path):
            by_kind.setdefault(PATHS[path], []).extend(pick(thing, fields) for thing in things)
    return tuple((kind, _write(family, things)) for kind, things in by_kind.items())


def _shared(thing: Thing, prefix: str, names: Iterable[str], selection: Selection) -> Iterator[tuple[str, str, int]]:
    for name in names:
        target = thing.get(name)
        if target and selection.reaches(prefix + name):
            yield prefix + name, target["type"], target["id"]


def _products(items: list[Thing], path: str, selection: Selection) -> Iterator[tuple[str, str, int]]:
    """Yield the product references of objects at a path."""
    if selection.reaches(f"{path}.product"):
        for item in items:
            if item.get("product"):
                yield f"{path}.product", item["product"]["type"], item["product"]["id"]
