"""Send a create of any kind and interpret its answer (specification 4.1 to 4.3, 2.6).

The answer to a create::

    {"resource": {"type": "Retailer", "id": 901, "warnings": ["..."]}, "meta": {"processing_time": 0.02}}

201, or 200 with JSON, means that the create was done, even if the body is truncated or has no id. A 200 that is not
JSON does not come from the service (a login page, a proxy). An answer with errors instead of the resource contradicts
itself, and so does a 200 with other content instead. All of these leave the create in doubt, as does a 202 without an
id: an accepted create may still be refused. A body with the resource's id counts as JSON whatever its Content-Type,
because PHP's default is HTML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from wms_sync.json_values import identity, shallow
from wms_sync.service.body import ANYTHING, decoded
from wms_sync.service.client import ROOT, GlobalApi, Reply
from wms_sync.service.errors import InDoubt, Problem, Rejected
from wms_sync.service.reasons import as_sentence, without_credentials, words_in

Resource = Mapping[str, Any]

_NOT = r"(?<!not )(?<!n.t )(?<!longer )"
_IN_USE = re.compile(rf"\b(?:already|{_NOT}in use|{_NOT}exists?|taken|duplicate|unique)\b", re.IGNORECASE)
_PLAINLY_IN_USE = re.compile(
    rf"\balready (?:in use|exists?|taken|used|registered)\b|\b(?:is|was|been) (?:already )?taken\b|{_NOT}\bin use\b"
    r"|\bduplicate\b|\b(?:not|be) unique\b",
    re.IGNORECASE,
)
"""A message that names no key must have this wording to mean that a value is in use."""
_QUOTE = r"""['"`‘’“”]"""  # noqa: RUF001 - quotes as people write them
_LEVELS = re.compile(r"[./]")
_CREATED, _ACCEPTED = 201, 202


class Created(Struct, frozen=True):
    """A create that was done; ``id`` is None if the answer lacks it or is incomplete.

    ``shown`` are the fields of the object that the answer has.
    """

    status: int
    id: int | None
    shown: Resource
    warnings: tuple[str, ...]


class _CreateAnswer(Struct):
    resource: dict[str, Any]


_CREATE_ANSWER = msgspec.json.Decoder(_CreateAnswer)


def send_create(api: GlobalApi, endpoint: str, request: Resource, *, attempts: int | None = None) -> Created:
    """Post a request to an endpoint such as ``/v1/shipping/retailers``, with retries. Raise ``ApiError`` if it fails.

    ``attempts`` lowers the retry policy's number of attempts.
    """
    reply = api.post(f"{ROOT}{endpoint}", request, attempts=attempts)
    made = _made(reply)
    id_, warnings = identity(made.get("id")) or None, made.get("warnings")  # PHP turns a missing id into 0
    if id_ is None and not reply.is_json and reply.status != _CREATED:
        raise InDoubt(
            f"The create was answered with {reply.status} and something that is not JSON, so the answer may not be the "
            f"service's. It says: {_said(reply)} If this persists, check WMS_BASE_URL and any proxy in front of the "
            "service."
        )
    if reply.status == _ACCEPTED and id_ is None:
        raise InDoubt(
            "The create was answered with 202 but without an id: it was accepted, and may yet be done or refused. "
            "If this repeats, ask the operator of the service how creates are answered."
        )
    return Created(
        status=reply.status,
        id=id_,
        shown=json.loads(without_credentials(json.dumps(shallow(made), ensure_ascii=False), reply.request)),
        warnings=tuple(without_credentials(str(warning), reply.request) for warning in warnings)
        if isinstance(warnings, list)
        else (),
    )


def already_in_use(refusal: Rejected, key: str, value: str) -> bool:
    """Return whether the service refuses because the value of ``key`` (``name`` or ``code``) is already in use.

    This is inferred, because the specification shows neither the status nor the wording (7.2). A detail must name this
    key, and its reason must be that the value is taken, not, for example, that it is too long. Details are optional
    (7.1): a message without them must state plainly that something is taken, and name the key or its value.
    """
    return any(_is_taken(problem, key, value) for problem in refusal.problems)


def speaks_of_use(refusal: Rejected) -> bool:
    """Return whether the service refuses because any value is already in use."""
    return any(_IN_USE.search(problem.message) for problem in refusal.problems)


def _is_taken(problem: Problem, key: str, value: str) -> bool:
    if problem.key:
        return _LEVELS.split(problem.key)[-1] == key and _IN_USE.search(problem.message) is not None
    names_it = re.search(rf"(?<!\w){re.escape(key)}(?!\w)", problem.message, re.IGNORECASE)
    if names_it is None and not _names_value(problem.message, value):
        return False
    return _PLAINLY_IN_USE.search(problem.message) is not None


def _names_value(sentence: str, value: str) -> bool:
    """Return whether a message contains the value: in quotes, or unquoted if it could not be an ordinary word.

    ``A retailer with this name already exists.`` does not name a retailer whose code is ``A`` or ``this``.
    """
    if re.search(rf"{_QUOTE}{re.escape(value)}{_QUOTE}", sentence, re.IGNORECASE):
        return True
    is_word = value.isalpha() and (len(value) == 1 or not value.isupper())
    return not is_word and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", sentence) is not None


def _made(reply: Reply) -> Resource:
    try:
        return decoded(reply.content or b"", _CREATE_ANSWER).resource
    except (msgspec.DecodeError, UnicodeDecodeError):
        _refuse_denial(reply)
        return {}


def _refuse_denial(reply: Reply) -> None:
    """Raise ``InDoubt`` if a successful answer has errors, or something else, in place of the resource.

    A 201 by itself means that something was created, so only errors contradict it.
    """
    try:
        denial = decoded(reply.content or b"", ANYTHING)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    fields = denial if isinstance(denial, dict) else {}
    if fields.get("errors") or fields.get("error"):
        raise InDoubt(
            f"The create was answered with {reply.status}, which means that it was done, but the answer has errors "
            f"instead of the resource: {_said(reply)}"
        )
    if denial and reply.status not in {_CREATED, _ACCEPTED} and fields.get("resource") is None and "id" not in fields:
        raise InDoubt(
            f"The create was answered with {reply.status}, which can mean that it was done, but the answer has no "
            f"resource: {_said(reply)} If this repeats, ask the operator of the service how creates are answered."
        )


def _said(reply: Reply) -> str:
    return as_sentence(words_in(reply.content or b"", reply.request) or "no readable reason")
