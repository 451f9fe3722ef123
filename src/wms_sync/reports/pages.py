"""Render the HTML pages, which stand alone: no network, no JavaScript."""

from __future__ import annotations

from importlib.resources import files


def rendered(template: str, **values: object) -> str:
    """Return the page that a template beside this module makes of these values; every text in it is escaped."""
    from jinja2 import Environment, StrictUndefined  # only needed here

    text = files(__package__).joinpath(f"{template}.html.j2").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(text).render(values)
