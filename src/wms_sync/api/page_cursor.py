"""The page cursor of a listing (specification 4.6): all that is taken from what the service says of its next page.

``next`` comes as an absolute URL, perhaps of another scheme or host behind a proxy, as a path with or without its root,
or as a query. None of it becomes an address: the next page is asked for at our own, with ``cursor_start``, an integer
(4.4). Where ``next`` has none, ``meta.cursor_start`` counts.
"""

from __future__ import annotations

import re

from wms_sync.whole_numbers import whole

_CURSOR_START = re.compile(r"(?:^|[?&;])cursor_start=([0-9]{1,19})(?![^&#\s])")
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//(?:[^/?#@]*@)?([a-z0-9.-]{1,253})(?![^:/?#])", re.IGNORECASE)


def page_cursor(stated: object) -> int | None:
    """The cursor in a ``next`` of whatever shape, or in a ``meta.cursor_start``; None where there is none."""
    if not isinstance(stated, str):
        return _usable(whole(stated))
    found = _CURSOR_START.findall(stated)
    return _usable(whole(found[-1] if found else stated))


def named_host(stated: object) -> str | None:
    """The host of a ``next`` that is an absolute URL, in lower case; None for any other."""
    found = _HOST.match(stated) if isinstance(stated, str) else None
    return found[1].lower() if found else None


def _usable(cursor: int | None) -> int | None:
    return cursor if cursor is not None and cursor >= 0 else None
