"""Asking the Merchant API for single retailers and products (specification 4.7; methods from the vendor's pages).

It sees what the API user's merchant sees, so what it does not find is not proven to be absent. The shapes of results
are not in the specification: a list, or an object with ``results``; ids as ``retailer_id``, ``product_id`` or ``id``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count, islice
from typing import Any

from wms_sync.api.merchant import MerchantApi
from wms_sync.master_data.known import Found

KEYS_PER_CALL = 100
ROWS_PER_PAGE = 100


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

    def find(self, type_: str, keys: Iterable[str]) -> Mapping[str, tuple[Found, ...]]:
        """All that are there, by key: of one sku there may be several."""
        method = METHODS.get(type_)
        if method is None:
            return {}
        wanted = iter(keys)
        found: dict[str, tuple[Found, ...]] = {}
        while part := list(islice(wanted, KEYS_PER_CALL)):
            for row in self._rows(method, part):
                key = row.get(method.key)
                if key in part:
                    one = Found(_id(row, method), _type(row, type_), row.get("status"), created_at=_created_at(row))
                    found[key] = (*found.get(key, ()), one)
        return found

    def _rows(self, method: _Method, keys: list[str]) -> list[Mapping[str, Any]]:
        """Page after page, until one is not full or, from a service that minds no ``page``, has nothing new."""
        rows: list[Mapping[str, Any]] = []
        for page in count(1):
            options = {"limit": ROWS_PER_PAGE, "page": page}
            result = self._api.call(method.name, [{method.key: {"in": keys}}, options])
            listed = result.get("results") if isinstance(result, dict) else result
            shown = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
            new = [row for row in shown if row not in rows]
            rows += new
            if len(shown) < ROWS_PER_PAGE or not new:
                break
        return rows


def _id(row: Mapping[str, Any], method: _Method) -> int | None:
    ids = (row[name] for name in method.ids if name in row)
    return next((int(value) for value in ids if str(value).isdecimal()), None)


def _type(row: Mapping[str, Any], type_: str) -> str:
    shown = row.get("type")
    return shown if isinstance(shown, str) and shown.startswith(("Packaging", "Product")) else type_


def _created_at(row: Mapping[str, Any]) -> datetime | None:
    try:
        moment = datetime.fromisoformat(row.get("created_at"))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
