"""The docs name what can be started in Dagster, and nothing else."""

from __future__ import annotations

import re

from pipelines import definitions, tables
from tests.test_conventions import DOCS
from tests.test_docs import DOCS as FOLDER
from tests.test_docs import rows
from wms_sync.catalogue import relations
from wms_sync.settings import Settings


def test_what_can_be_started_is_in_the_docs_and_nothing_else():
    settings = Settings.load(_env_file=None, base_url=None, alert_webhook_url="https://hooks.example.com/x")
    built = definitions.build(settings)
    made = {tables.key(settings, relation).to_user_string() for relation in relations()}
    graph = built.resolve_asset_graph()
    assets = {key.to_user_string() for key in graph.materializable_asset_keys} - made
    jobs = {job.name for job in built.resolve_all_job_defs()}
    sensors, schedules = ({found.name for found in kind or ()} for kind in (built.sensors, built.schedules))
    started = {name for name in assets | jobs | sensors | schedules if not name.startswith("__")}
    assert [name for name in sorted(started) if f"`{name}`" not in DOCS] == []
    described = list(rows(FOLDER / "how-to" / "dagster.md"))
    assert {row[0].strip("`") for head, row in described if head[0] == "sensor"} == sensors
    starts = {name for head, row in described if head[0] == "you start" for name in re.findall(r"`([^`]+)`", row[0])}
    assert starts <= jobs | schedules | {key.to_user_string() for key in graph.get_all_asset_keys()}
