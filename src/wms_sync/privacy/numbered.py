"""Recognise lists that are written as objects: PHP does so where the numbers of a list have gaps, or are ids."""

from __future__ import annotations

from typing import Any


def as_list(value: Any) -> list[Any] | None:  # noqa: ANN401 - any JSON
    """Return a list, also one of objects that is written as an object by number; None for anything else."""
    if isinstance(value, dict) and value and all(_is_numbered(key, element) for key, element in value.items()):
        return list(value.values())
    return value if isinstance(value, list) else None


def _is_numbered(key: str, value: Any) -> bool:  # noqa: ANN401 - any JSON
    """Return whether a member of an object may be one of a list."""
    return isinstance(value, dict) and key.isascii() and key.isdigit()
