"""Extract the page cursor of a listing (specification 4.6), the only part of ``next`` that is used.

``next`` is an absolute URL, perhaps with another scheme or host behind a proxy, or a path with or without its root, or
a query. It is never used as an address: the next page is requested from the configured base URL with ``cursor_start``,
an integer (4.4). If ``next`` has no cursor, ``meta.cursor_start`` is used.
"""

from __future__ import annotations

import re

from wms_sync.whole_numbers import identity

_CURSOR_START = re.compile(r"(?:^|[?&;])cursor_start=([0-9]{1,19})(?![^&#\s])")
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//(?:[^/?#@]*@)?([a-z0-9.-]{1,253})(?![^:/?#])", re.IGNORECASE)


def page_cursor(stated: object) -> int | None:
    """Return the cursor in a ``next`` of any form, or in a ``meta.cursor_start``; None if there is none."""
    if not isinstance(stated, str):
        return identity(stated)
    found = _CURSOR_START.findall(stated)
    return identity(found[-1] if found else stated)


def named_host(stated: object) -> str | None:
    """Return the host of ``next`` in lower case if it is an absolute URL; else None."""
    found = _HOST.match(stated) if isinstance(stated, str) else None
    return found[1].lower() if found else None
