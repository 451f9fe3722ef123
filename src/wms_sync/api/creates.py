"""A create of whatever kind, and what its answer means (specification 4.1 to 4.3, 2.6).

A create as answered::

    {"resource": {"type": "Retailer", "id": 901, "warnings": ["..."]}, "meta": {"processing_time": 0.02}}

201 or 200 with JSON means done, even if the body breaks off or has no id. A 200 that is not JSON is no answer of the
service (a login page, a proxy), and one that has errors where the resource should be says two things: in doubt.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from wms_sync.api.client import ROOT, GlobalApi, Reply
from wms_sync.api.errors import InDoubt, Problem, Rejected
from wms_sync.api.statuses import in_words, problems_in
from wms_sync.api.withheld import without_credentials

Resource = Mapping[str, Any]

BRIEFLY = 2
"""How often a create is sent to a service that was too busy for an earlier one, after all its retries."""

_IN_USE = re.compile(r"\b(?:already|in use|(?<!not )exists?|taken|duplicate|unique)\b", re.IGNORECASE)
_PLAINLY_IN_USE = re.compile(
    r"\balready (?:in use|exists?|taken|used|registered)\b|\b(?:is|was|been) (?:already )?taken\b|(?<!not )\bin use\b"
    r"|\bduplicate\b|\b(?:not|be) unique\b",
    re.IGNORECASE,
)
"""What a sentence that names no offending key must say of itself."""
_QUOTE = r"""['"`‘’“”]"""  # noqa: RUF001 - quotes as people write them
_LEVELS = re.compile(r"[./]")
_CREATED = 201
_BEYOND = 2**63
_LONGEST_ID = 19


@dataclass(frozen=True)
class Created:
    """What was made; ``id`` is None where the service did it and its answer did not arrive whole."""

    id: int | None
    type: str | None
    warnings: tuple[str, ...]


class _Made(msgspec.Struct):
    id: Any = None
    type: Any = None
    warnings: Any = None


class _Envelope(msgspec.Struct):
    resource: _Made


class _Denial(msgspec.Struct):
    errors: Any = None
    error: Any = None


class Creates:
    """Creates over one client; a call is one create with its retries. Raises a leaf of ``ApiError``."""

    def __init__(self, api: GlobalApi) -> None:
        self._api = api
        self._attempts: int | None = None

    def be_brief(self) -> None:
        """From here on ask a busy service again hardly ever: it was too busy for a create after all its retries."""
        self._attempts = BRIEFLY

    def create(self, endpoint: str, body: Resource, *, wrapped_in: str | None = None) -> Created:
        """Post a body to an endpoint such as ``/v1/shipping/retailers``, bare or under the field ``wrapped_in``."""
        sent = {wrapped_in: body} if wrapped_in else body
        return _created(self._api.post(f"{ROOT}{endpoint}", sent, attempts=self._attempts))

    def rest(self, attempt: int, asked: float | None) -> None:
        """Wait before one in doubt is sent again."""
        self._api.rest(attempt, asked)


def already_in_use(refusal: Rejected, key: str, value: str) -> bool:
    """Whether the service refuses because ``key`` (``name`` or ``code``) has a value that is taken.

    Inferred, and in this place only: the specification shows neither the status nor the words (7.2). The offending key
    must be the one named, and the reason speak of being taken and not, say, of a length. Details are optional (7.1): a
    sentence without them must say plainly that something is taken, and name the key or its value.
    """
    return any(_is_taken(problem, key, value) for problem in refusal.problems)


def speaks_of_use(refusal: Rejected) -> bool:
    """Whether the service refuses because something is taken, whatever that is."""
    return any(_IN_USE.search(problem.message) for problem in refusal.problems)


def _is_taken(problem: Problem, key: str, value: str) -> bool:
    if problem.key:
        return _LEVELS.split(problem.key)[-1] == key and _IN_USE.search(problem.message) is not None
    names_it = re.search(rf"(?<!\w){re.escape(key)}(?!\w)", problem.message, re.IGNORECASE)
    if names_it is None and not _names_value(problem.message, value):
        return False
    return _PLAINLY_IN_USE.search(problem.message) is not None


def _names_value(sentence: str, value: str) -> bool:
    """Whether a sentence speaks of a value: in quotes, or as it is written where it could be no word of a sentence.

    ``A retailer with this name already exists.`` says nothing of a retailer whose code is ``A`` or ``this``.
    """
    if re.search(rf"{_QUOTE}{re.escape(value)}{_QUOTE}", sentence, re.IGNORECASE):
        return True
    is_word = value.isalpha() and (len(value) == 1 or not value.isupper())
    return not is_word and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", sentence) is not None


def _created(reply: Reply) -> Created:
    if not reply.is_json and reply.status != _CREATED:
        raise InDoubt(
            f"The create was answered {reply.status} with something that is not JSON, so the answer may not be the "
            "service's. Look at WMS_BASE_URL."
        )
    try:
        made = msgspec.json.decode(reply.content or b"", type=_Envelope).resource
    except (msgspec.DecodeError, UnicodeDecodeError):
        _refuse_denial(reply)
        return Created(None, None, ())
    return Created(
        id=identity(made.id),
        type=made.type if isinstance(made.type, str) else None,
        warnings=tuple(without_credentials(_in_words(one), reply.request) for one in made.warnings)
        if isinstance(made.warnings, list)
        else (),
    )


def _refuse_denial(reply: Reply) -> None:
    """Raises ``InDoubt`` for a success that has errors and no resource."""
    try:
        denial = msgspec.json.decode(reply.content or b"", type=_Denial)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    if denial.errors or denial.error:
        said = in_words(problems_in(reply.content or b"", reply.request)) or "no reason that can be read."
        raise InDoubt(
            f"The create was answered {reply.status}, which means done, with errors in place of what was made: {said}"
        )


def identity(given: object) -> int | None:
    """An id, also one that is written as text; None for what is none or no ledger can hold."""
    if isinstance(given, str) and given.isascii() and given.isdecimal() and len(given) <= _LONGEST_ID:
        given = int(given)
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < _BEYOND else None


def _in_words(warning: object) -> str:
    """A warning is a sentence, or an object with a ``message``: its shape is not specified."""
    if isinstance(warning, dict) and "message" in warning:
        return str(warning["message"])
    return str(warning)
