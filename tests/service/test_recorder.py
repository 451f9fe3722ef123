"""A recording: what is written of each exchange, and that nothing of a person, no secret and no host is in it."""

import gzip
import json
from itertools import chain
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from tests.bench import FEWER
from wms_sandbox.app import Sandbox
from wms_sandbox.faults import Disconnect
from wms_sandbox.replay import Replay
from wms_sandbox.transport import InProcess, InProcessReplay
from wms_sync.service.headers import HEADERS
from wms_sync.service.recorder import EnoughPages, Recorder
from wms_sync.service.selection import Selection
from wms_sync.service.shipments import PATH

HOST = "https://wms.geheim-logistik.example"
PLANTED = {
    "secret": "eyJhbGciOi.planted-t0ken.4711",
    "name": "Érika Mustermann-Nguyễn",
    "street": "Heidestraße 17b, Köln",
    "telephone": "+49 221 555-0142",
    "telephone with a slash": "0221/5550142",
    "telephone in digits": "02215550142",
    "telephone as a number": 2215550142,
    "e-mail": "erika.m@geheim-logistik.example",
}


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """A page with every field, those of persons too."""
    params = httpx.QueryParams(
        [("sort", "id"), ("limit", "20"), ("count", "1"), *Selection(include_addresses=True).params]
    )
    with httpx.Client(transport=InProcess(Sandbox(FEWER)), base_url=InProcess.base_url) as client:
        content: dict[str, Any] = client.get(
            PATH, params=params, headers={"Authorization": "Bearer sandbox-token"}
        ).json()
    return content


def planted(value: Any, plant: object) -> Any:
    """The same objects and lists, with this in the place of every other value."""
    if isinstance(value, dict):
        return {key: planted(member, plant) for key, member in value.items()}
    return [planted(element, plant) for element in value] if isinstance(value, list) else plant


def keyed(value: Any, plant: object) -> Any:
    """The same, and in each object one more key, which is this."""
    if isinstance(value, dict):
        return {key: keyed(member, plant) for key, member in value.items()} | {str(plant): {str(plant): [plant]}}
    return [keyed(element, plant) for element in value] if isinstance(value, list) else value


def answering(*answers: httpx.Response) -> httpx.MockTransport:
    """A service with these answers, which come as from a socket."""
    told = (httpx.Response(answer.status_code, headers=answer.headers, stream=answer.stream) for answer in answers)
    return httpx.MockTransport(lambda _: next(told))


def recorded(folder, answers, **asked: Any) -> list[dict[str, Any]]:
    """The exchanges of these requests with these answers."""
    with httpx.Client(transport=Recorder(folder, HOST, transport=answering(*answers)), base_url=HOST) as client:
        for _ in answers:
            client.get(**{"url": PATH, **asked})
            client.cookies.clear()
    return [json.loads(path.read_bytes()) for path in sorted(folder.iterdir())]


@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_what_is_planted_everywhere_is_in_no_byte_of_a_recording(page, tmp_path, plant):
    text = str(plant)
    named = {*HEADERS, "set-cookie", "x-request-id", "location", "via"} - {"content-encoding"}
    links = page | {"next": f"{HOST}{PATH}?name={text}&cursor_start={text}#{text}", "previous": f"/{text}?{text}"}
    error = {"type": text, "message": f"{text} is unknown.", "details": [{"key": text, "message": f"'{text}'?"}]}
    answers = [
        httpx.Response(200, json=planted(page, plant)),
        httpx.Response(200, json=planted(page, {text: plant})),
        httpx.Response(200, json=keyed(page, plant)),
        httpx.Response(200, json=links, headers={name.encode(): text.encode() for name in named}),
        httpx.Response(400, json={"errors": [error], "message": text, "status": text, text: text}),
        httpx.Response(200, json=plant),
        httpx.Response(200, json=[plant, [plant]]),
        httpx.Response(503, html=f"<h1>{text}</h1>"),
        httpx.Response(200, content=b"\xff" + json.dumps(planted(page, plant), ensure_ascii=False).encode()),
    ]
    filters = [("filter", f'tracking_number{{eq:"{text}"}}'), ("cursor_start", text), (text, text), ("sort", text)]
    headers = {"Authorization": f"Bearer {text.encode().hex()}", "X-Who": text.encode().hex()}
    exchanges = recorded(tmp_path / "new", answers, url=f"{PATH}/{text}", params=filters, headers=headers)
    assert len(exchanges) == len(answers)
    # all that a reader of the recording could see, however it is written
    plain = [json.dumps(exchange, ensure_ascii=False) for exchange in exchanges]
    shown = "\n".join([*(path.read_text() for path in (tmp_path / "new").iterdir()), *plain, *map(unquote, plain)])
    assert (text in shown, text.encode().hex() in shown) == (False, False)
    parts = ("t0ken", "Mustermann", "Nguyễn", "Heidestra", "555-0142", "5550142", "erika", "geheim", "planted")
    assert [part for part in parts if part in shown] == [], "a planted text was replaced in part"


def leaves(value: Any, key: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        return list(chain.from_iterable(leaves(member, name) for name, member in value.items()))
    if isinstance(value, list):
        return list(chain.from_iterable(leaves(element, key) for element in value))
    return [(key, value)]


def test_a_page_keeps_its_form(page, tmp_path):
    """Keys, times, codes, numbers, and the order of ids; a text has one stand-in, of its length."""
    shown = recorded(tmp_path / "new", [httpx.Response(200, json=page)])[0]["body"]
    before, after = leaves(page), leaves(shown)
    assert [type(value) for _, value in before] == [type(value) for _, value in after]
    known = [(was, now) for was, now in zip(before, after, strict=True) if was[0] == now[0]]
    kept = {key for (key, was), (_, now) in known if was == now and was}
    assert {"created_at", "status", "type", "unit", "quantity", "currency"} <= kept
    replaced = {
        (was, now)
        for (key, was), (_, now) in known
        if now and key in {"sku", "name", "order_ref", "telephone", "email"}  # under custom fields they are ""
    }
    assert len({was for was, _ in replaced}) == len({now for _, now in replaced}) == len(replaced) > 50
    assert [(was, now) for was, now in replaced if len(was) != len(now)] == []
    [moved] = {now["id"] - was["id"] for was, now in zip(page["collection"], shown["collection"], strict=True)}
    cursor = shown["meta"]["cursor_start"]
    assert cursor - page["meta"]["cursor_start"] == moved != 0
    assert shown["next"].endswith(f"cursor_start={cursor}")


def test_a_request_and_its_answers_fit_after_the_replacement(tmp_path):
    body = {"collection": [{"type": "Shipment", "id": 100_234, "unique_id": "S-0815"}], "has_more": False}
    filters = ("id{gt:100233,lt:100235}", "unique_id:S-0815", "id{in:[100234,7]}", "updated_at{null:true}")
    (exchange,) = recorded(
        tmp_path / "new",
        [httpx.Response(200, json=body)],
        params=[*(("filter", each) for each in filters), ("limit", "1000")],
    )
    (shipment,) = exchange["body"]["collection"]
    assert exchange["request"] == (
        f"GET {PATH}?filter=id{{gt:{shipment['id'] - 1},lt:{shipment['id'] + 1}}}"
        f"&filter=unique_id:{shipment['unique_id']}&filter=id{{in:[{shipment['id']},7]}}&filter=updated_at{{null:true}}&limit=1000"
    )


def test_what_is_not_json_survives_as_its_type_and_length(tmp_path):
    packed = gzip.compress(b"{")
    headers = {"retry-after": "7", "date": "Fri, 27 Nov 2026 08:00:00 GMT"}
    answers = [
        httpx.Response(503, html="<h1>Down</h1>", headers=headers),
        httpx.Response(200, content=packed, headers={"Content-Encoding": "br"}),
        httpx.Response(204),
    ]
    exchanges = recorded(tmp_path / "new", answers)
    assert exchanges[0]["headers"] == headers | {"content-type": "text/html; charset=utf-8"}
    assert [(each["status"], each["length"]) for each in exchanges] == [(503, 13), (200, len(packed)), (204, 0)]


def test_a_request_without_an_answer_is_recorded_and_replayed_as_such(tmp_path):
    sandbox, folder = Sandbox(FEWER), tmp_path / "new"
    sandbox.intercept = lambda _: Disconnect()
    for transport in (
        lambda: Recorder(folder, HOST, transport=InProcess(sandbox)),
        lambda: InProcessReplay(Replay(folder)),
    ):
        with httpx.Client(transport=transport()) as client, pytest.raises(httpx.RemoteProtocolError):
            client.get(f"{HOST}{PATH}?sort=id")


def test_after_enough_pages_none_is_requested(tmp_path):
    recorder = Recorder(tmp_path / "new", HOST, 1, answering(*[httpx.Response(200, json={})] * 3))
    with httpx.Client(transport=recorder, base_url=HOST) as client:
        for query in ("sort=id&limit=1", "sort=id&fields=status", "sort=-id&fields=status"):
            client.get(f"{PATH}?{query}")
        with pytest.raises(EnoughPages):
            client.get(f"{PATH}?sort=id&fields=status&cursor_start=7")
    assert recorder.exchanges == len(list((tmp_path / "new").iterdir())) == 3


def test_equal_requests_get_their_answers_in_turn_then_the_last_one(tmp_path, capsys):
    """In whatever order their parameters come, which have the names that were recorded."""
    first, _ = recorded(
        tmp_path / "new", [httpx.Response(status, json={}) for status in (429, 200)], params={"b": "1", "a": "2"}
    )
    parameters = first["request"].partition("?")[2].split("&")
    queries = [*["&".join(reversed(parameters))] * 3, "sort=-id"]
    with httpx.Client(transport=InProcessReplay(replay := Replay(tmp_path / "new")), base_url=HOST) as client:
        replies = [client.get(f"{PATH}?{query}") for query in queries]
    assert [reply.status_code for reply in replies] == [429, 200, 200, 410]
    [unknown] = replay.unanswered
    assert unknown == f"GET {PATH}?sort=-id"
    assert unknown in replies[-1].json()["errors"][0]["message"]
    assert "no answer is recorded to GET" in capsys.readouterr().out
