r"""Extract the reasons from the body of a refusal or a failure, as clean text for people.

The service's own form (specification 7.1)::

    {"errors": [{"type": "parameters", "message": "...", "details": [{"key": "name", "message": "is too long"}]}]}

Of any other body (of a proxy, text, HTML), only the readable text is shown. Belongs here: finding the reasons and
cleaning them. Keep out: the consequence of an answer (``answers``).

A service may repeat the request in a message, so the credentials of the request are removed, however they are encoded.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from wms_sync.json_values import shallow
from wms_sync.service.body import ANYTHING, decoded
from wms_sync.service.errors import Problem

if TYPE_CHECKING:
    import httpx

WITHHELD = "(withheld)"
_MOST_ESCAPED = 3
_NUMBERED = re.compile(r"\\+(?:u([0-9a-f]{4})|x([0-9a-f]{2}))", re.IGNORECASE)
_ESCAPED = re.compile(r"\\+([\\/\"'])")
_URL_SAFE = str.maketrans("+/", "-_")
LONGEST = 300
"""The maximum number of characters shown of a body that is not in the service's own form."""
_MOST_READ = 64 * 1024
_MOST_VALUES = 20

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


_OWN_BODY = msgspec.json.Decoder(_OwnBody)


def problems_in(content: bytes, request: httpx.Request) -> tuple[Problem, ...]:
    """Return the reasons of a body in the service's own form, cleaned, one for each offending key.

    Return none for any other form, which may come from a proxy in front of the service.
    """
    try:
        errors = decoded(content, _OWN_BODY).errors
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ()
    if not all(error.type for error in errors):
        return ()
    return tuple(
        Problem(
            type=clean(error.type, request),
            key=clean(detail.key, request),
            message=clean(detail.message or ("" if detail.key else error.message), request),
        )
        for error in errors
        for detail in error.details or [_Detail()]
    )


def in_words(problems: tuple[Problem, ...]) -> str:
    """Return the reasons as one line."""
    return "; ".join(f"{problem.key}: {problem.message}" if problem.key else problem.message for problem in problems)


def words_in(content: bytes, request: httpx.Request) -> str:
    """Return the readable text of an error body in any form; empty if there is none."""
    if said := in_words(problems_in(content, request)):
        return said
    body = _json(content)
    said = _text(content) if body is msgspec.UNSET else "; ".join(islice(_values(body), _MOST_VALUES))
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
    said = next((f"{name}: {body[name]}" for name in ("message", "status") if isinstance(body.get(name), str)), "")
    return in_one_line(said or f"JSON with the keys {', '.join(body) or '(none)'}", request)


def clean(text: str, request: httpx.Request) -> str:
    """Return the text as one line without markup, control characters or the request's credentials."""
    plain = without_credentials(_without_markup(text) if _MARKUP.search(text) else text, request)
    return " ".join("".join(letter if letter.isprintable() else " " for letter in plain).split())


def in_one_line(text: str, request: httpx.Request) -> str:
    """Return the text cleaned (``clean``), and shortened to ``LONGEST`` characters."""
    plain = clean(text, request)
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


def as_sentence(said: str) -> str:
    """Return the text with a full stop, so that another sentence can follow."""
    return said if said.endswith((".", "!", "?", "…")) else f"{said}."


def _values(body: object, key: str = "") -> Iterator[str]:
    """Yield each value of a JSON body with the path to it."""
    if isinstance(body, dict):
        for name, value in body.items():
            yield from _values(value, f"{key}.{name}" if key else name)
    elif isinstance(body, list):
        for value in body:
            yield from _values(value, key)
    elif body not in {None, ""}:
        yield f"{key}: {body}" if key else str(body)


def _json(content: bytes) -> Any:  # noqa: ANN401 - any JSON
    """Return the JSON of a body; ``UNSET`` if it is not JSON."""
    try:
        return shallow(decoded(content, ANYTHING))
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


def without_credentials(text: str, request: httpx.Request) -> str:
    """Return the text with every secret of the request replaced by ``(withheld)``, as ``without_secrets`` does."""
    return without_secrets(text, frozenset(filter(None, _secrets(request))))


def without_secrets(text: str, secrets: frozenset[str]) -> str:
    """Return the text with each secret replaced by ``(withheld)``, in upper or lower case, in hex or in base64.

    If a secret is percent-encoded, or escaped as in JSON or HTML, even twice, return the decoded text without it.
    """
    if not secrets:
        return text
    found = _in_any_form(secrets)
    shown = plain = found.sub(WITHHELD, text)
    for _ in range(_MOST_ESCAPED):
        plain = found.sub(WITHHELD, _unescaped(plain))
    return plain if plain.count(WITHHELD) > shown.count(WITHHELD) else shown


@lru_cache
def _in_any_form(secrets: frozenset[str]) -> re.Pattern[str]:
    forms = secrets.union(*map(_forms, secrets))
    return re.compile("|".join(map(re.escape, sorted(filter(None, forms), key=len, reverse=True))), re.IGNORECASE)


def _forms(secret: str) -> Iterator[str]:
    content = secret.encode()
    yield from (_unescaped(secret), content.hex())
    for before in range(3):  # other bytes may precede the secret; some characters of base64 depend on it alone
        encoded = base64.b64encode(bytes(before) + content).decode()
        alone = encoded[-(-before * 8 // 6) : (before + len(content)) * 8 // 6]
        yield from (alone, alone.translate(_URL_SAFE))


def _unescaped(text: str) -> str:
    return html.unescape(unquote(_ESCAPED.sub(r"\1", _NUMBERED.sub(r"&#x\1\2;", text))))


def _secrets(request: httpx.Request) -> Iterator[str]:
    scheme, _, sent = request.headers.get("authorization", "").partition(" ")
    yield sent
    if scheme == "Basic":
        pair = base64.b64decode(sent).decode()
        yield pair
        yield pair.partition(":")[2]
