"""The fields of the types in ``sql/types``, with the text of their types, read without DuckDB."""

from __future__ import annotations

import re
from functools import cache

from wms_sync import sql_files

_TYPE = re.compile(r'^create type "?(?P<name>\w+)"? as struct\(\n(?P<body>.*?)^\);', re.MULTILINE | re.DOTALL)
_FIELD = re.compile(r'^    "?(?P<name>\w+)"? (?P<type>.+?),?$', re.MULTILINE)


@cache
def fields_of(name: str) -> dict[str, str]:
    """Return the fields of a type with their types: ``fields_of("shipment")["order"]`` is ``reference``."""
    return _all()[name]


@cache
def fields_of_kind(kind: str) -> frozenset[str]:
    """Return the fields of a kind by the service's name for it, such as ``Order``; empty for an unknown kind."""
    if kind == "Shipment":  # ``included`` has it as JSON only
        return frozenset(fields_of("shipment"))
    name = fields_of("included").get(kind, "")
    return frozenset(fields_of(name.removesuffix("[]").strip('"'))) if name else frozenset()


@cache
def _all() -> dict[str, dict[str, str]]:
    texts = [f"{sql_files.read(path)};" for path in sql_files.listed("types")]
    return {
        found["name"]: {field["name"]: field["type"] for field in _FIELD.finditer(found["body"])}
        for text in texts
        for found in _TYPE.finditer(text)
    }
