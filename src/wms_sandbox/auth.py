"""Check the bearer token of the Global API (specification 5.1): the word Bearer, one space, then the token."""

import hmac

from starlette.requests import Request


def is_authorized(request: Request, token: str) -> bool:
    """Return whether the request carries the token, compared in constant time."""
    given = request.headers.get("authorization", "").encode("latin-1")
    return hmac.compare_digest(given, f"Bearer {token}".encode())
