"""``wms-sync explain shipment``: where a shipment's rows came from, for a person or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from wms_sync.reports.explain import explain, explanation_lines
from wms_sync.settings import Settings
from wms_sync.state.store import StateStore


def explain_shipment(settings: Settings, name: str, *, as_json: bool) -> None:
    """Print the explanation of one shipment, by id or unique_id."""
    with StateStore(settings.database_url) as store:
        found = explain(settings, store, name)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2, default=str))
        return
    for line in explanation_lines(found):
        click.echo(line)
