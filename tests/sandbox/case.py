"""A case of the interface: a line of the specification, a request, and the answer that it must give."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from tests.sandbox.conftest import AUTHORISED, Service
from wms_sandbox.app import MERCHANT_API, SHIPMENTS

Answer = Callable[[httpx.Response, Service], object]
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
            answer = client.request(self.method, self.path, params=self.params, content=content, headers=given)
        self.answer(answer, service)


def listing(section: str, query: str, answer: Answer, on: str = "service") -> Case:
    """List shipments; ``query`` is written without percent-encoding, and an ``&`` parts the parameters."""
    pairs = (pair.partition("=") for pair in query.split("&"))
    return Case(section, "GET", SHIPMENTS, answer, tuple((name, value) for name, _, value in pairs), on=on)


def rpc(section: str, method: str, params: Any, answer: Answer, on: str = "service", **envelope: Any) -> Case:
    """A request of the Merchant API, with Basic credentials of the sandbox."""
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params} | envelope
    return Case(section, "POST", MERCHANT_API, answer, body=body, headers={"Authorization": BASIC}, on=on)


BASIC = "Basic " + base64.b64encode(b"sandbox-merchant:sandbox-api-key").decode()


def has_status(status: int, **headers: str) -> Answer:
    """Only the status, and these headers."""

    def look(response: httpx.Response, _: Service) -> None:
        assert response.status_code == status, response.text
        assert {name: response.headers.get(name) for name in headers} == headers

    return look


def violations(response: httpx.Response, status: int = 400, kind: str = "parameters") -> dict[str, str]:
    """Keys and messages of a refusal, after a look at the whole body (7.1)."""
    message = {
        "parameters": "The supplied parameters are invalid.",
        "unable_to_process": "There was an error processing the request.",
    }[kind]
    assert response.status_code == status, response.text
    body = response.json()
    [error] = body["errors"]
    assert (list(body), list(error)) == (["errors"], ["type", "message", "details"])
    assert (error["type"], error["message"]) == (kind, message)
    assert all(list(detail) == ["key", "message"] and detail["message"] for detail in error["details"])
    return {detail["key"]: detail["message"] for detail in error["details"]}


def refused(*keys: str) -> Answer:
    """A 400 that names these keys."""

    def look(response: httpx.Response, _: Service) -> None:
        assert set(violations(response)) == set(keys)

    return look


def conflicts(*keys: str, says: str = "") -> Answer:
    """A 422 that names these keys, with what it says of each; nothing is created."""

    def look(response: httpx.Response, service: Service) -> None:
        found = violations(response, 422, "unable_to_process")
        assert set(found) == set(keys)
        assert all(says in message for message in found.values())

    return look


def fails(code: int, message: str | None = None, identity: object = 1) -> Answer:
    """An error of the Merchant API (7.3)."""

    def look(response: httpx.Response, _: Service) -> None:
        answer = response.json()
        assert (response.status_code, list(answer)) == (200, ["jsonrpc", "id", "error"])
        assert (answer["id"], answer["error"]["code"]) == (identity, code)
        assert message in (None, answer["error"]["message"])

    return look


def gives(holds: Callable[[Any], bool]) -> Answer:
    """A success whose body this is true of."""

    def look(response: httpx.Response, _: Service) -> None:
        assert response.status_code == 200, response.text
        assert holds(response.json()), response.text[:500]

    return look


def has_ids(select: Callable[[list[int]], list[int]]) -> Answer:
    """Of all ids in rising order, these."""

    def look(response: httpx.Response, service: Service) -> None:
        assert response.status_code == 200, response.text
        assert [shipment["id"] for shipment in response.json()["collection"]] == select(service.ids)

    return look


def counts(select: Callable[[list[int]], list[int]]) -> Answer:
    """As many as these, whatever the page holds."""

    def look(response: httpx.Response, service: Service) -> None:
        assert response.json()["meta"]["count"] == len(select(service.ids))

    return look


def walks(select: Callable[[list[int]], list[int]]) -> Answer:
    """By following links to the end and back, each of these once; a link keeps every parameter (4.6)."""

    def look(response: httpx.Response, service: Service) -> None:
        asked = parse_qsl(response.request.url.query.decode(), keep_blank_values=True)
        pages = [response.json()]
        while pages[-1]["has_more"]:
            link = urlsplit(pages[-1]["next"])
            cursor = ("cursor_start", str(pages[-1]["meta"]["cursor_start"]))
            assert (link.scheme, link.netloc, link.path, parse_qsl(link.query)) == ("", "", SHIPMENTS, [*asked, cursor])
            pages.append(service.client.get(pages[-1]["next"]).json())
        assert [shipment["id"] for page in pages for shipment in page["collection"]] == select(service.ids)
        assert len({len(page["collection"]) for page in pages[:-1]}) <= 1
        assert (pages[-1]["next"], pages[-1]["meta"]["cursor_start"]) == (None, None)
        back = [pages[-1]]
        while back[-1]["previous"]:
            first = back[-1]["collection"][0]["id"]
            assert parse_qsl(urlsplit(back[-1]["previous"]).query) == [*asked, ("cursor_end", str(first))]
            back.append(service.client.get(back[-1]["previous"]).json())
            assert back[-1]["has_more"] is (back[-1]["previous"] is not None)
        found = [shipment["id"] for page in reversed(back) for shipment in page["collection"]]
        assert found == select(service.ids)

    return look


def is_sorted(key: Callable[[Any], Any], *, falling: bool) -> Answer:
    """All shipments, in this order."""

    def look(response: httpx.Response, service: Service) -> None:
        keys = [key(shipment) for shipment in response.json()["collection"]]
        assert keys == sorted(keys, reverse=falling)
        assert len(keys) == len(service.ids)

    return look
