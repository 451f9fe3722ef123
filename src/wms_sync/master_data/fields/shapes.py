"""Cells and groups of cells that several kinds have in their bodies.

A group such as ``Money`` is complete or absent.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict
from typing_extensions import TypedDict

from wms_sync.master_data.fields.rules import (
    flag,
    flag_or_text,
    letters,
    listed,
    measure,
    number,
    text,
    whole,
)
from wms_sync.whole_numbers import INT64

Text = Annotated[str, text()]
Text255 = Annotated[str, text(255)]
Texts = Annotated[list[str], listed(text())]
Flag = Annotated[bool, flag()]
FlagOrText = Annotated[bool | str, flag_or_text()]
Integer = Annotated[int, whole(INT64)]
Number = Annotated[float, number()]
Measure = Annotated[float, measure()]
Currency = Annotated[str, letters(3, "USD", "currency code")]
Country = Annotated[str, letters(2, "US", "country code")]

CLOSED = ConfigDict(extra="forbid")
"""For the outermost body: a cell that has no place there is an offence."""


class Money(TypedDict):
    """``{amount, currency}``."""

    amount: Number
    currency: Currency


class Weight(TypedDict):
    """A weight or volume as a request has it: without its unit."""

    value: Measure


class Quantity(TypedDict):
    """A measure with its unit, among the packaging options."""

    value: Measure
    unit: Text


class Dimensions(TypedDict):
    """Three lengths as a request has them: without their unit."""

    length: Measure
    width: Measure
    height: Measure
