"""dbt, which has an environment of its own: its dependencies are not those of wms-sync."""

from __future__ import annotations

import os

import pytest


def dbt_where_installed() -> str:
    """The program; its test is skipped where there is none."""
    if "DBT" not in os.environ:
        pytest.skip("dbt has an environment of its own: `make dbt` makes it and runs this")
    return os.environ["DBT"]
