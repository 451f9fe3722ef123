"""``ops.narrowed_fields``: what the service refuses of field selection, as analysts see it, as of the publishing."""

from __future__ import annotations

from types import SimpleNamespace

import duckdb
import pyarrow as pa

from wms_sync.analytics.database import replace_rows
from wms_sync.extract.asking import refused_now
from wms_sync.settings import Settings

_MOMENT = pa.timestamp("us", tz="UTC")
_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("parameter", "asked", "lost", "said")),
        ("since", _MOMENT),
        ("tried_at", _MOMENT),
    ]
)


def write_narrowed(connection: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """Replace the rows by what is remembered."""
    rows = [SimpleNamespace(**vars(one), lost=loss) for one, loss in refused_now(settings)]
    replace_rows(connection, "narrowed_fields", rows, _SCHEMA)
