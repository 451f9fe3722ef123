# mypy: disable-error-code="import-not-found"
"""target-duckdb 0.8.0 with the mend that its main branch has and no release yet (its pull request 58).

As released it takes the first record of each batch for the header of a CSV file and loses it. That is left out of the
comparison: COPY is told that there is no header, as the mend does.
"""

from __future__ import annotations

from typing import Any

import duckdb
import target_duckdb

_connect = duckdb.connect


class _Mended:
    """A connection that is told so."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def execute(self, statement: str, *more: Any) -> Any:  # noqa: ANN401 - handed on as they are
        """Run a statement."""
        if statement.startswith("COPY "):
            statement = statement.replace(" WITH (", " WITH (header false, ", 1)
        return self._connection.execute(statement, *more)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the connection has
        return getattr(self._connection, name)


def _connected(*arguments: Any, **named: Any) -> _Mended:  # noqa: ANN401 - handed on as they are
    return _Mended(_connect(*arguments, **named))


if __name__ == "__main__":
    duckdb.connect = _connected  # type: ignore[assignment]
    target_duckdb.main()
