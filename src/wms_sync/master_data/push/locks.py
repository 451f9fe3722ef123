"""The locks on pushing a kind: their names, and who holds them."""

from __future__ import annotations

from wms_sync.settings import Settings
from wms_sync.state.lock import Holder, lock_of


def push_lock(kind: str) -> str:
    """Return the name of the lock on pushing the kind of this name."""
    return f"push-{kind}"


def pusher(settings: Settings, kind: str) -> Holder | None:
    """Return who is pushing the kind of this name now."""
    return lock_of(settings.database_url, settings.layout).holder(what=push_lock(kind))
