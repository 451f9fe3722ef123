"""Asking the Merchant API for single retailers and products (specification 4.7; methods from the vendor's pages).

It sees what the API user's merchant sees, so what it does not find is not proven to be absent. The shapes of results
are not in the specification: a list, or an object with ``results``; ids as ``retailer_id``, ``product_id`` or ``id``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from wms_sync.api.merchant import MerchantApi
from wms_sync.master_data.known import Found

KEYS_PER_CALL = 100


@dataclass(frozen=True)
class _Method:
    name: str
    key: str
    ids: tuple[str, ...]


METHODS = {
    "Retailer": _Method("retailer.list", "code", ("retailer_id", "id")),
    "Product": _Method("product.search", "sku", ("product_id", "id")),
}


class MerchantLookup:
    """Finds retailers by code and products by sku; other kinds it knows nothing of."""

    def __init__(self, api: MerchantApi) -> None:
        self._api = api

    def find(self, type_: str, keys: Iterable[str]) -> Mapping[str, Found]:
        """Those that are there, by key."""
        method = METHODS.get(type_)
        if method is None:
            return {}
        wanted = iter(keys)
        found: dict[str, Found] = {}
        while part := list(islice(wanted, KEYS_PER_CALL)):
            result = self._api.call(method.name, [{method.key: {"in": part}}, {"limit": len(part)}])
            found |= {key: one for key, one in _read(result, method, type_) if key in part}
        return found


def _read(result: Any, method: _Method, type_: str) -> Iterator[tuple[str, Found]]:  # noqa: ANN401
    rows = result.get("results", ()) if isinstance(result, dict) else result
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get(method.key), str):
            yield row[method.key], Found(_id(row, method), _type(row, type_), row.get("status"))


def _id(row: Mapping[str, Any], method: _Method) -> int | None:
    ids = (row[name] for name in method.ids if name in row)
    return next((int(value) for value in ids if str(value).isdecimal()), None)


def _type(row: Mapping[str, Any], type_: str) -> str:
    shown = row.get("type")
    return shown if isinstance(shown, str) and shown.startswith(("Packaging", "Product")) else type_
