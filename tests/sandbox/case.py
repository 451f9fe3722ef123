"""A case of the interface: a line of the specification, a request, and the answer that it must give."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from httpx import Response

from tests.deferred import deferred
from tests.sandbox.conftest import AUTHORISED, Service
from wms_sandbox.app import MERCHANT_API, SHIPMENTS

Answer = Callable[[Response, Service], object]
"""Asserts what an answer must be; it also gets the service, to look at what that holds afterwards."""


@dataclass(frozen=True)
class Case:
    """One request. ``section`` is of the specification; ``facts`` are the facts that fill its gaps.

    ``on`` names the fixture of the service: ``service`` has shipments, ``used`` some creates, ``fresh`` nothing.
    """

    section: str
    method: str
    path: str
    answer: Answer
    params: tuple[tuple[str, str], ...] = ()
    body: Any = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    on: str = "service"

    def __str__(self) -> str:
        query = "&".join("=".join(pair) for pair in self.params)
        shown = str(self.body) if isinstance(self.body, bytes) else json.dumps(self.body)
        return f"{self.section} {self.method} {self.path}?{query} {shown}"[:90]

    def prove(self, service: Service) -> None:
        """Send the request and look at the answer. A header of None is left out."""
        content = self.body if isinstance(self.body, bytes | None) else json.dumps(self.body).encode()
        headers = {**AUTHORISED, "Content-Type": "application/json", **self.headers}
        given = {name: value for name, value in headers.items() if value is not None}
        with service.stranger() as client:
            self.answer(
                client.request(self.method, self.path, params=self.params, content=content, headers=given), service
            )


def listing(section: str, query: str, answer: Answer, on: str = "service") -> Case:
    """List shipments; ``query`` is written without percent-encoding, and an ``&`` parts the parameters."""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return Case(section, "GET", SHIPMENTS, answer, tuple((name, value) for name, _, value in pairs), on=on)


def rpc(section: str, method: str, params: Any, answer: Answer, on: str = "service", **envelope: Any) -> Case:
    """A request of the Merchant API, with Basic credentials of the sandbox."""
    return Case(
        section,
        "POST",
        MERCHANT_API,
        answer,
        body={"jsonrpc": "2.0", "id": 1, "method": method, "params": params} | envelope,
        headers={"Authorization": BASIC},
        on=on,
    )


BASIC = "Basic " + base64.b64encode(b"sandbox-merchant:sandbox-api-key").decode()


@deferred
def has_status(response: Response, service: Service, /, status: int, says: str = "", **headers: str) -> None:
    """Only the status, this in the body, and these headers."""
    shown = {name: response.headers.get(name) for name in headers}
    assert (response.status_code, says in response.text, shown) == (status, True, headers), response.text


REFUSALS = {
    400: {"type": "parameters", "message": "The supplied parameters are invalid."},
    422: {"type": "unable_to_process", "message": "There was an error processing the request."},
}


def violations(response: Response, status: int = 400) -> dict[str, str]:
    """Keys and messages of a refusal, after a look at the whole body (7.1)."""
    assert response.status_code == status, response.text
    details = response.json()["errors"][0]["details"]
    assert response.json() == {"errors": [REFUSALS[status] | {"details": details}]}
    return {detail["key"]: detail["message"] for detail in details}


@deferred
def refused(response: Response, service: Service, *keys: str, says: str = "", status: int = 400) -> None:
    """A refusal that names these keys, and says this of each."""
    found = violations(response, status)
    assert set(found) == set(keys)
    assert all(says in message for message in found.values())


@deferred
def fails(response: Response, service: Service, code: int, message: str | None = None, identity: object = 1) -> None:
    """An error of the Merchant API (7.3)."""
    answer = response.json()
    assert (response.status_code, list(answer)) == (200, ["jsonrpc", "id", "error"])
    assert (answer["id"], answer["error"]["code"]) == (identity, code)
    assert message in (None, answer["error"]["message"])


@deferred
def gives(response: Response, service: Service, holds: Callable[[Any], bool], status: int = 200) -> None:
    """A success whose body this is true of."""
    assert response.status_code == status, response.text
    assert holds(response.json()), response.text[:500]


@deferred
def has_ids(response: Response, service: Service, select: Callable[[list[int]], list[int]]) -> None:
    """Of all ids in rising order, these."""
    assert response.status_code == 200, response.text
    assert [shipment["id"] for shipment in response.json()["collection"]] == select(service.ids)


@deferred
def walks(response: Response, service: Service, select: Callable[[list[int]], list[int]]) -> None:
    """By following links to the end, each of these once; a link keeps every parameter (4.6)."""
    asked = parse_qsl(response.request.url.query.decode(), keep_blank_values=True)
    pages = [response.json()]
    while pages[-1]["has_more"]:
        link = urlsplit(pages[-1]["next"])
        cursor = ("cursor_start", str(pages[-1]["meta"]["cursor_start"]))
        assert (link.scheme, link.netloc, link.path, parse_qsl(link.query)) == ("", "", SHIPMENTS, [*asked, cursor])
        pages.append(service.client.get(pages[-1]["next"]).json())
    assert [shipment["id"] for page in pages for shipment in page["collection"]] == select(service.ids)
    assert (pages[-1]["next"], pages[-1]["meta"]["cursor_start"]) == (None, None)
    if len(pages) > 1:
        first = pages[-1]["collection"][0]["id"]
        assert parse_qsl(urlsplit(pages[-1]["previous"]).query) == [*asked, ("cursor_end", str(first))]


@deferred
def is_sorted(response: Response, service: Service, key: Callable[[Any], Any], *, falling: bool) -> None:
    """All shipments, in this order."""
    keys = [key(shipment) for shipment in response.json()["collection"]]
    assert (keys, len(keys)) == (sorted(keys, reverse=falling), len(service.ids))
