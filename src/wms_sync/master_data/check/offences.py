"""Offences against rules, and the records that valid rows become."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Offence(Struct, frozen=True):
    """A cell or a row that breaks a rule; ``rule`` is a sentence that says what is wrong and what to do.

    ``column`` is named as the file writes it; ``value`` is the cell as it was written.
    """

    line: int
    column: str | None
    value: str
    rule: str


class Reference(Struct, frozen=True):
    """Another object that a record names, to be resolved before sending.

    ``column`` is the column of the file that names it, as written; ``path`` is its dotted place in the body, where its
    parent is there already; ``kind`` is the service's word for it; ``keys`` are natural keys, or ids where ``by_id``;
    ``ids`` is the column that takes ids in place of natural keys.
    """

    path: str
    column: str
    kind: str
    keys: tuple[str, ...]
    many: bool
    by_id: bool = False
    ids: str = ""


class Record(Struct, frozen=True):
    """A row that keeps every rule that can be checked without the service; ``body`` lacks only its references.

    ``is_raw`` where a part of the body was said in ``resource_json``, which nothing has checked.
    """

    line: int
    key: str
    body: dict[str, Any]
    references: tuple[Reference, ...]
    is_raw: bool = False
