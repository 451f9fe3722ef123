r"""Extract the reasons from the body of a refusal or a failure, as clean text for people.

The service's own form (specification 7.1)::

    {"errors": [{"type": "parameters", "message": "...", "details": [{"key": "name", "message": "is too long"}]}]}

Other services, and proxies in front of them, use other forms: problem+json, ``{"message", "parameters"}``,
``{"errors": {"sku": ["is taken"]}}``, text, HTML. Belongs here: finding the reasons and cleaning them. Keep out: the
consequence of an answer (``statuses``).

A service may repeat the request in a message, so the credentials of the request are removed. They are searched for
after decoding, because JSON may escape a secret (PHP writes ``/`` as ``\/``).
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import httpx
import msgspec

from wms_sync.json_values import shallow
from wms_sync.service.body import decoded
from wms_sync.service.errors import Problem

if TYPE_CHECKING:
    import httpx


LONGEST = 300
"""The maximum number of characters shown of a body that is not in the service's own form."""
_MOST_READ = 64 * 1024
_MOST_REASONS = 20
_SENTENCES = ("title", "message", "msg", "detail", "description", "error_description", "reason")
_GROUPS = ("errors", "error", "messages", "details", "detail", "violations", "invalid-params")
_NAMES = ("key", "field", "name", "pointer")
_PLACEHOLDER = re.compile(r"%(\w+)")

_MARKUP = re.compile(r"</[a-z]|<(?:!doctype|html|br|p)\b", re.IGNORECASE)
_UNSHOWN = re.compile(r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<title\b[^<>]*>(.*?)(?:</title\s*>|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"</?[a-z!?][^>]*(?:>|\Z)", re.IGNORECASE)


class _Detail(msgspec.Struct):
    key: str = ""
    message: str = ""


class _Error(msgspec.Struct):
    type: str = ""
    message: str = ""
    details: list[_Detail] | None = None


class _OwnBody(msgspec.Struct):
    errors: list[_Error]


def problems_in(content: bytes, request: httpx.Request) -> tuple[Problem, ...]:
    """Return the reasons in a JSON body, cleaned; only those in the service's own form have a ``type``."""
    found = _own(content) or tuple(islice(_foreign(_json(content)), _MOST_REASONS))
    return tuple(
        Problem(
            clean(problem.type, request), clean(problem.key, request), clean(problem.message, request), problem.code
        )
        for problem in found
    )


def are_own(problems: tuple[Problem, ...]) -> bool:
    """Return whether the reasons have the service's own form, which no proxy in front of it would send."""
    return bool(problems) and all(problem.type for problem in problems)


def in_words(problems: tuple[Problem, ...]) -> str:
    """Return the reasons as one line; at most ``LONGEST`` characters if the form is not the service's."""
    said = "; ".join(f"{problem.key}: {problem.message}" if problem.key else problem.message for problem in problems)
    return said if are_own(problems) else _shortened(said)


def words_in(content: bytes, request: httpx.Request) -> str:
    """Return the readable text of an error body in any form; empty if there is none."""
    if said := in_words(problems_in(content, request)):
        return said
    body = _json(content)
    said = _text(content) if body is msgspec.UNSET else "; ".join(islice(_values(body), _MOST_REASONS))
    return in_one_line(said, request)


def words_in_page(content: bytes, request: httpx.Request) -> str:
    """Return the readable text of a body that is not a page.

    Unknown keys appear without their values, which may be personal.
    """
    body = _json(content)
    if body is msgspec.UNSET:
        return in_one_line(_text(content), request)
    if not isinstance(body, dict):
        return ""
    if said := in_words(problems_in(content, request)):
        return said
    status = body.get("status")
    said = f"status: {status}" if isinstance(status, str) else f"JSON with the keys {', '.join(body) or '(none)'}"
    return in_one_line(said, request)


def clean(text: str, request: httpx.Request) -> str:
    """Return the text as one line without markup, control characters and the credentials of the request."""
    plain = _without_markup(text) if _MARKUP.search(text) else text
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in plain).split())
    return without_credentials(line, request)


def in_one_line(text: str, request: httpx.Request) -> str:
    """Return the text cleaned (``clean``), and shortened to ``LONGEST`` characters."""
    return _shortened(clean(text, request))


def as_sentence(said: str) -> str:
    """Return the text with a full stop, so that another sentence can follow."""
    return said if said.endswith((".", "!", "?", "…")) else f"{said}."


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _own(content: bytes) -> tuple[Problem, ...]:
    """Return the reasons of a body in the service's own form, one for each offending key; empty for other forms."""
    try:
        errors = decoded(content, _OwnBody).errors
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ()
    if not all(error.type for error in errors):
        return ()
    return tuple(
        Problem(error.type, detail.key, detail.message or ("" if detail.key else error.message))
        for error in errors
        for detail in error.details or [_Detail()]
    )


def _foreign(said: object, key: str = "", *, inside: bool = False) -> Iterator[Problem]:
    """Yield the sentences of a body that has a different form, each with the key that it concerns.

    ``inside`` a group of errors, an object without its own sentence maps keys to sentences: ``{"sku": ["is taken"]}``.
    """
    if isinstance(said, str):
        yield Problem("", key, said)
    elif isinstance(said, list):
        for entry in said:
            yield from _foreign(entry, key, inside=inside)
    elif isinstance(said, dict):
        sentence = ": ".join(said[name] for name in _SENTENCES if isinstance(said.get(name), str) and said[name])
        if inside and sentence:
            key = _below(key, next((said[name] for name in _NAMES if isinstance(said.get(name), str)), ""))
        if sentence:
            code = said.get("code")
            yield Problem("", key, _filled(sentence, said.get("parameters")), code if isinstance(code, int) else None)
        for name, value in said.items():
            if name in _GROUPS and not (name in _SENTENCES and isinstance(value, str)):
                yield from _foreign(value, key, inside=True)
            elif inside and not sentence:
                yield from _foreign(value, _below(key, name), inside=True)


def _below(key: str, name: str) -> str:
    return f"{key}.{name}" if key and name else key or name


def _filled(sentence: str, parameters: object) -> str:
    """Fill in the parameters of a sentence, ``%name`` or ``%1``; append unused parameters in brackets."""
    if isinstance(parameters, list):
        parameters = {str(number): value for number, value in enumerate(parameters, 1)}
    if not isinstance(parameters, Mapping):
        return sentence
    named = set(_PLACEHOLDER.findall(sentence))
    filled = _PLACEHOLDER.sub(lambda found: str(parameters.get(found[1], found[0])), sentence)
    others = "; ".join(_values({name: value for name, value in parameters.items() if name not in named}))
    return f"{filled} ({others})" if others else filled


def _values(body: object, key: str = "") -> Iterator[str]:
    """Yield each value of a JSON body with the path to it."""
    if isinstance(body, dict):
        for name, value in body.items():
            yield from _values(value, _below(key, name))
    elif isinstance(body, list):
        for value in body:
            yield from _values(value, key)
    elif body not in {None, ""}:
        yield f"{key}: {body}" if key else str(body)


def _json(content: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON of a body; ``UNSET`` if it is not JSON."""
    try:
        return shallow(decoded(content, object))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.UNSET


def _text(content: bytes) -> str:
    """Return the text of a body that is not JSON, up to the first brace: data after it may be personal."""
    text = content[:_MOST_READ].decode("utf-8-sig", errors="replace")
    shown = _without_markup(text) if _MARKUP.search(text) else text
    return shown.partition("{")[0].rstrip(" [")


def _without_markup(text: str) -> str:
    """Return the title and the text of HTML."""
    shown = _UNSHOWN.sub(" ", text[:_MOST_READ])
    title = " ".join(_bare(" ".join(_TITLE.findall(shown))).split())
    rest = " ".join(_bare(_TITLE.sub(" ", shown)).split())
    return rest if rest.startswith(title) else f"{title}: {rest}" if rest else title


def _bare(text: str) -> str:
    return html.unescape(_TAG.sub(" ", text))


class _JsonRpc(msgspec.Struct):
    method: str
    params: list[object]


def without_credentials(text: str, request: httpx.Request) -> str:
    """Return the text with every secret of the request replaced by ``(withheld)``."""
    for secret in sorted(filter(None, set(_secrets(request))), key=len, reverse=True):
        text = text.replace(secret, "(withheld)")
    return text


def _secrets(request: httpx.Request) -> Iterator[str]:
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    yield sent
    if scheme == "Basic":
        yield from _of_pair(sent)
    try:
        called = msgspec.json.decode(request.content, type=_JsonRpc)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    # in the Merchant API, the key is the second parameter of login, and the session the first parameter of call
    yield from (
        str(secret) for secret in (called.params[1:2] if called.method == "login" else called.params[:1]) if secret
    )


def _of_pair(sent: str) -> Iterator[str]:
    try:
        pair = base64.b64decode(sent).decode()
    except (binascii.Error, UnicodeDecodeError):
        return
    yield pair
    yield pair.partition(":")[2]
