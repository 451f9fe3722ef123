"""Authorise users of the Merchant API (specification 5.2): HTTP Basic, or a session opened by a login."""

import base64
import hashlib
import hmac

from wms_sandbox.clock import Clock
from wms_sandbox.config import SandboxConfig

LIFETIME = 24 * 3_600_000
"""Lifetime of a session in milliseconds after the login."""


class Sessions:
    """The sessions of one API user. `logins` counts those that succeeded: a client must not log in for every call."""

    def __init__(self, config: SandboxConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._opened: dict[str, int] = {}
        self.logins = 0

    def open(self) -> str:
        """Open a session. Return its ID: 32 hexadecimal characters."""
        self.logins += 1
        session = hashlib.blake2b(f"{self._config.seed}:{self.logins}".encode(), digest_size=16).hexdigest()
        self._opened[session] = self._clock.now()
        return session

    def is_open(self, session: object) -> bool:
        """Return whether the session was opened less than 24 hours ago."""
        opened = self._opened.get(session) if isinstance(session, str) else None
        return opened is not None and self._clock.now() < opened + LIFETIME

    def knows(self, username: object, api_key: object) -> bool:
        """Return whether these are the credentials of the API user."""
        given, expected = f"{username}\n{api_key}", f"{self._config.merchant_username}\n{self._config.merchant_api_key}"
        return hmac.compare_digest(given.encode(), expected.encode())

    def accepts(self, authorization: str) -> bool:
        """Return whether an Authorization header has the credentials, as HTTP Basic."""
        scheme, _, encoded = authorization.partition(" ")
        try:
            username, _, api_key = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError:
            return False
        return scheme.lower() == "basic" and self.knows(username, api_key)
