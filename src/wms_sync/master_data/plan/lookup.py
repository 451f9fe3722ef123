"""Asking the Merchant API for single things by natural key (specification 4.7; methods from the vendor's pages).

It sees what the API user's merchant sees, so what it does not find is not proven to be absent. The shapes of results
are not in the specification: a list, or an object with ``results``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from wms_sync.grammar import count_of
from wms_sync.json_values import identity
from wms_sync.master_data.kinds.kind import MerchantMethod
from wms_sync.master_data.kinds.table import KINDS
from wms_sync.master_data.plan.existing import Found
from wms_sync.service.errors import AccessDenied, ApiError, CallFailed, ProtocolError, SessionExpired
from wms_sync.service.merchant import MerchantApi

KEYS_PER_CALL = 100
ROWS_PER_PAGE = 100
MOST_PAGES = 100
"""Far more than a hundred keys need: without a limit, a service that ignores filter and page would be asked forever."""
KEYS_WITHOUT_PAGES = 10
"""Few enough to fit on one page, whatever the service's page size."""
METHOD_NOT_FOUND = -32601

Row = Mapping[str, Any]

METHODS = {kind.type: kind.merchant_method for kind in KINDS if kind.merchant_method is not None}


class MerchantLookup:
    """Finds things of the kinds that have a ``merchant_method``; other kinds it knows nothing of.

    It is optional: where it cannot be asked, or answers in a shape that is not understood, it finds nothing, says why
    in ``failures`` (by type) and asks for that type no more.
    """

    def __init__(self, api: MerchantApi) -> None:
        self.failures: dict[str, str] = {}
        self._api = api
        self._takes_pages = True

    def find(self, type_: str, keys: Iterable[str]) -> Mapping[str, tuple[Found, ...]]:
        """Return all matches by key; one sku may have several."""
        method = METHODS.get(type_)
        if method is None or type_ in self.failures:
            return {}
        found: dict[str, tuple[Found, ...]] = {}
        try:
            for part in _parts(keys, KEYS_PER_CALL):
                for row in self._rows(method, part):
                    key = row.get(method.key)
                    if key in part:
                        one = Found(
                            _id(row, method),
                            _type(row, method) or type_,
                            row.get("status"),
                            created_at=_created_at(row),
                        )
                        found[key] = (*found.get(key, ()), one)
        except ApiError as error:
            self.failures[type_] = str(error)
        return found

    def _rows(self, method: MerchantMethod, keys: list[str]) -> list[Row]:
        """Fetch rows page by page, or, if the service refuses paging parameters, for a few keys at a time."""
        if self._takes_pages:
            try:
                return self._pages(method, keys)
            except CallFailed as error:
                if isinstance(error, AccessDenied | SessionExpired) or error.code == METHOD_NOT_FOUND:
                    raise
                self._takes_pages = False
        parts = _parts(keys, KEYS_WITHOUT_PAGES)
        return [row for part in parts for row in _listed(method, self._api.call(method.name, [_filter(method, part)]))]

    def _pages(self, method: MerchantMethod, keys: list[str]) -> list[Row]:
        """Page after page, until one has nothing new or, where every key was found, is not full.

        A page may be shorter than asked for, and a service that minds no ``page`` shows the same one again.
        """
        rows: list[Row] = []
        for page in range(1, MOST_PAGES + 1):
            options = {"limit": ROWS_PER_PAGE, "page": page}
            shown = _listed(method, self._api.call(method.name, [_filter(method, keys), options]))
            new = [row for row in shown if row not in rows]
            rows += new
            is_last = len(shown) < ROWS_PER_PAGE and {row.get(method.key) for row in rows} >= set(keys)
            if is_last or not new:
                return rows
        raise ProtocolError(
            f"The Merchant API answered {method.name} for {count_of(len(keys), 'key')} with "
            f"more than {MOST_PAGES} pages."
        )


def _parts(keys: Iterable[str], size: int) -> Iterator[list[str]]:
    wanted = iter(keys)
    while part := list(islice(wanted, size)):
        yield part


def _filter(method: MerchantMethod, keys: list[str]) -> dict[str, object]:
    return {method.key: {"in": keys}}


def _listed(method: MerchantMethod, result: object) -> list[Row]:
    """The rows of a result: a list, under ``results``, or by their ids.

    Raises ``ProtocolError`` for another shape, which must not be taken for "there is none".
    """
    listed = result.get("results", list(result.values())) if isinstance(result, dict) else result
    rows = [] if listed is None else listed
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ProtocolError(f"The Merchant API answered {method.name} in a shape that is not understood.")
    if rows and not any(method.key in row for row in rows):
        raise ProtocolError(f"The Merchant API answered {method.name} with rows that have no {method.key}.")
    return rows


def _id(row: Mapping[str, Any], method: MerchantMethod) -> int | None:
    ids = (identity(row[name]) for name in method.ids if name in row)
    return next((id_ for id_ in ids if id_), None)  # nothing has id 0


def _type(row: Mapping[str, Any], method: MerchantMethod) -> str | None:
    shown = row.get("type")
    return shown if isinstance(shown, str) and shown.startswith(method.types) else None


def _created_at(row: Mapping[str, Any]) -> datetime | None:
    try:
        moment = datetime.fromisoformat(row.get("created_at"))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
