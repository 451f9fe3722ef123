"""The Merchant API (specification 4.7, 5.2, 7.3, 8): login, call, sessions, errors, and inner methods."""

import base64
import string
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from starlette.responses import Response

from tests.sandbox.conftest import Service
from wms_sandbox.app import MERCHANT_API, PRODUCTS, RETAILERS
from wms_sandbox.body import LARGEST
from wms_sandbox.config import SandboxConfig

USERNAME, API_KEY = SandboxConfig.merchant_username, SandboxConfig.merchant_api_key
DAY = 86_400
DENIED = {"code": 2, "message": "Access denied."}
MISSING = {"code": 6, "message": "Required parameter is missing."}
EXPIRED = {"code": -32005, "message": "Session expired. Try to relogin."}


def basic(username: str = USERNAME, api_key: str = API_KEY) -> str:
    return "Basic " + base64.b64encode(f"{username}:{api_key}".encode()).decode()


@dataclass
class Caller:
    """A client of the Merchant API without any credentials of its own."""

    service: Service
    client: httpx.Client
    headers: dict[str, str] = field(default_factory=dict)

    def send(self, **envelope: Any) -> dict[str, Any]:
        response = self.client.post(MERCHANT_API, json=envelope, headers=self.headers)
        assert response.status_code == 200
        return dict(response.json())

    def run(self, method: str, *params: Any) -> dict[str, Any]:
        return self.send(jsonrpc="2.0", id=7, method=method, params=list(params))

    def session(self) -> str:
        return str(self.run("login", USERNAME, API_KEY)["result"])

    def result(self, name: str, *arguments: Any) -> Any:
        """Of a call with Basic authentication."""
        self.headers["Authorization"] = basic()
        answer = self.run("call", None, name, list(arguments))
        assert "error" not in answer, answer
        return answer["result"]

    def error(self, name: str, *arguments: Any) -> int:
        self.headers["Authorization"] = basic()
        return int(self.run("call", None, name, list(arguments))["error"]["code"])


@pytest.fixture(scope="module")
def calling(start: Callable[..., Service]) -> Iterator[Callable[..., Caller]]:
    with ExitStack() as clients:

        def make(**settings: Any) -> Caller:
            service = start(**({"shipments": 60, "families": 40} | settings))
            return Caller(service, clients.enter_context(service.stranger()))

        yield make


@pytest.fixture
def caller(calling: Callable[..., Caller]) -> Caller:
    return calling()


@pytest.fixture(scope="module")
def reader(calling: Callable[..., Caller]) -> Caller:
    """Nobody creates anything in its service."""
    return calling()


def test_login_gives_a_session_of_32_hexadecimal_characters(caller: Caller):
    answer = caller.run("login", USERNAME, API_KEY)
    assert list(answer) == ["jsonrpc", "id", "result"]
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 7)
    assert len(answer["result"]) == 32
    assert set(answer["result"]) <= set(string.hexdigits.lower())
    assert caller.session() != answer["result"]


@pytest.mark.parametrize(
    ("params", "error"),
    [
        (["wrong", API_KEY], DENIED),
        ([USERNAME, "wrong"], DENIED),
        ([USERNAME, 5], DENIED),
        ([USERNAME + "\n", API_KEY], DENIED),
        ([], MISSING),
        ([USERNAME], MISSING),
        ([USERNAME, None], MISSING),
        ([None, API_KEY], MISSING),
        ([USERNAME, ""], MISSING),
        (["", ""], MISSING),
    ],
)
@pytest.mark.parametrize("long", [False, True])
def test_login_is_refused(calling: Callable[..., Caller], params: list[Any], error: dict[str, Any], long: bool):
    caller = calling(shipments=0, families=20, rpc_long_codes=long)
    expected = {"code": -32_000 - error["code"] if long else error["code"], "message": error["message"]}
    assert caller.run("login", *params) == {"jsonrpc": "2.0", "id": 7, "error": expected}
    assert caller.service.sandbox.logins == 0


def test_a_session_serves_many_calls(caller: Caller):
    session = caller.session()
    for _ in range(3):
        assert len(caller.run("call", session, "warehouse.list", [])["result"]) == 6
    assert caller.service.sandbox.logins == 1


@pytest.mark.parametrize("long", [False, True])
def test_a_session_expires_after_a_day(calling: Callable[..., Caller], long: bool):
    caller = calling(rpc_long_codes=long)
    first = caller.session()
    caller.service.sandbox.advance(seconds=DAY - 1)
    second = caller.session()
    assert "result" in caller.run("call", first, "warehouse.list", [])
    caller.service.sandbox.advance(seconds=1)
    assert caller.run("call", first, "warehouse.list", [])["error"] == EXPIRED
    assert "result" in caller.run("call", second, "warehouse.list", [])
    assert caller.service.sandbox.logins == 2


@pytest.mark.parametrize("session", ["", "0" * 32, 5, [], {}, False])
def test_a_session_that_never_was_is_expired(caller: Caller, session: Any):
    caller.headers["Authorization"] = basic()
    assert caller.run("call", session, "warehouse.list", [])["error"] == EXPIRED


def test_basic_credentials_go_with_a_null_session(caller: Caller):
    caller.headers["Authorization"] = basic()
    assert "result" in caller.run("call", None, "warehouse.list", [])
    assert caller.service.sandbox.logins == 0


@pytest.mark.parametrize(
    "authorization",
    [None, "", "Basic", "Basic ???", "Basic é", "Basic /w==", basic("x"), basic(api_key="x"), "Bearer a-token"],
)
def test_a_null_session_without_credentials_is_denied(reader: Caller, authorization: str | None):
    headers = [] if authorization is None else [(b"Authorization", authorization.encode())]
    envelope = {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [None, "warehouse.list", []]}
    assert reader.client.post(MERCHANT_API, json=envelope, headers=headers).json()["error"] == DENIED


def test_the_bearer_token_of_the_global_api_is_not_asked_for(reader: Caller):
    assert reader.client.get(MERCHANT_API).status_code == 405
    assert reader.client.get(MERCHANT_API).headers["allow"] == "POST"


@pytest.mark.parametrize("version", [2.0, 2, "2.0"])
def test_both_writings_of_the_version_are_taken(reader: Caller, version: Any):
    assert reader.send(jsonrpc=version, id="a", method="login", params=[])["id"] == "a"


def test_the_answer_may_be_written_otherwise(calling: Callable[..., Caller]):
    caller = calling(rpc_number_version=True, rpc_null_error=True)
    answer = caller.run("login", USERNAME, API_KEY)
    assert (answer["jsonrpc"], answer["error"]) == (2.0, None)
    assert isinstance(answer["jsonrpc"], float)
    assert "result" not in caller.run("login")


@pytest.mark.parametrize(
    ("change", "code", "identity"),
    [
        ({"method": "logout"}, -32601, 1),
        ({"method": ""}, -32601, 1),
        ({"method": 5}, -32600, None),
        ({"jsonrpc": "1.0"}, -32600, None),
        ({"jsonrpc": None}, -32600, None),
        ({"id": None}, -32600, None),
        ({"id": True}, -32600, None),
        ({"id": [1]}, -32600, None),
        ({"method": "call", "params": []}, -32602, 1),
        ({"method": "call", "params": [None, "warehouse.list"]}, -32602, 1),
        ({"method": "call", "params": [None, 5, []]}, -32602, 1),
        ({"method": "call", "params": [None, "warehouse.list", {}]}, -32602, 1),
        ({"method": "call", "params": [None, "warehouse.list", [], 1]}, -32602, 1),
        ({"method": "call", "params": [None, "warehouse.burn", []]}, -32601, 1),
        ({"params": {"username": "x"}}, -32602, None),
        ({"params": None}, -32602, None),
    ],
    ids=str,
)
def test_what_is_no_request(reader: Caller, change: dict[str, Any], code: int, identity: Any):
    reader.headers["Authorization"] = basic()
    answer = reader.send(**({"jsonrpc": "2.0", "id": 1, "method": "login", "params": []} | change))
    assert (answer["error"]["code"], answer["id"]) == (code, identity)
    assert list(answer["error"]) == ["code", "message"]


@pytest.mark.parametrize(("content", "code"), [(b"{", -32700), (b"", -32700), (b"\xff", -32700), (b"[]", -32600)])
def test_what_is_no_json(reader: Caller, content: bytes, code: int):
    response = reader.client.post(MERCHANT_API, content=content)
    assert response.status_code == 200
    assert (response.json()["error"]["code"], response.json()["id"]) == (code, None)


def test_large_bodies_are_refused(reader: Caller):
    assert reader.client.post(MERCHANT_API, content=b" " * (LARGEST + 1)).status_code == 413


@pytest.mark.parametrize("status", [409, 429])
def test_limits_come_by_intercept(caller: Caller, status: int):
    caller.service.sandbox.intercept = lambda request: Response(status_code=status, headers={"Retry-After": "1"})
    assert caller.client.post(MERCHANT_API, json={}).status_code == status


def test_products_are_found_by_filters(reader: Caller):
    everything = reader.result("product.search")
    assert len(everything) == 400 + 5 * 30
    skus = [product["sku"] for product in everything[:3]]
    for filters in ({"sku": skus[0]}, {"sku": {"eq": skus[0]}}, {"product_id": everything[0]["product_id"]}):
        assert [each["sku"] for each in reader.result("product.search", filters)] == [skus[0]]
    assert {each["sku"] for each in reader.result("product.search", {"sku": {"in": skus}})} == set(skus)
    assert len(reader.result("product.search", {"sku": {"nin": skus}})) == len(everything) - 3
    assert reader.result("product.search", {"sku": "none such"}) == []
    assert len(reader.result("product.search", {"type": {"neq": "Product"}})) == 5 * 30
    ids = sorted(product["product_id"] for product in everything)
    between = {"product_id": {"gteq": ids[10], "lt": ids[20]}}
    assert sorted(each["product_id"] for each in reader.result("product.search", between)) == ids[10:20]
    between = {"product_id": {"gt": ids[10], "lteq": ids[20]}}
    assert sorted(each["product_id"] for each in reader.result("product.search", between)) == ids[11:21]
    assert all(each["sku"].startswith("SKU-") for each in reader.result("product.search", {"sku": {"starts": "SKU-"}}))


def test_products_are_paged_sorted_and_cut(reader: Caller):
    options = {"sort_field": "sku", "limit": 100}
    pages = [reader.result("product.search", None, options | {"page": page}, ["sku"]) for page in range(1, 8)]
    assert [len(page) for page in pages] == [100, 100, 100, 100, 100, 50, 0]
    skus = [product["sku"] for page in pages for product in page]
    assert skus == sorted(set(skus))
    assert {tuple(product) for page in pages for product in page} == {("sku",)}
    falling = reader.result("product.search", {}, {"sort_field": "vendor_sku", "sort_dir": "desc"})
    values = [product["vendor_sku"] or "" for product in falling]
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([{"colour": "red"}], 108),
        ([{"sku": {"like": "x"}}], 108),
        ([{"product_id": {"gt": "x"}}], 108),
        ([{"sku": {"in": 5}}], 108),
        ([None, {"sort_field": "colour"}], 108),
        ([None, {"sort_field": []}], 108),
        ([[]], 0),
        ([["sku"]], -32602),
        ([None, {"limit": 0}], -32602),
        ([None, {"limit": "5"}], -32602),
        ([None, {"page": True, "limit": 5}], -32602),
        ([None, {"order": "sku"}], -32602),
        ([None, None, "sku"], -32602),
        ([None, None, [[]]], -32602),
        ([None, None, None, 1], -32602),
    ],
    ids=str,
)
def test_searches_are_checked(reader: Caller, arguments: list[Any], code: int):
    if code:
        assert reader.error("product.search", *arguments) == code
    else:
        assert reader.result("product.search", *arguments)


def test_one_product(reader: Caller):
    sku = reader.result("product.search", None, {"limit": 1})[0]["sku"]
    assert reader.result("product.info", sku)["sku"] == sku
    assert reader.error("product.info", "none such") == 101
    assert reader.error("product.info") == reader.error("product.info", 5) == -32602


def test_retailers_come_in_pages_without_archived_ones(reader: Caller):
    first = reader.result("retailer.list")
    assert list(first) == ["results", "totalCount", "numPages"]
    assert len(first["results"]) == 100
    assert first["numPages"] == 3
    pages = [reader.result("retailer.list", None, {"page": page})["results"] for page in (1, 2, 3)]
    retailers = [retailer for page in pages for retailer in page]
    assert len({retailer["retailer_id"] for retailer in retailers}) == len(retailers) == first["totalCount"] < 300
    assert {retailer["status"] for retailer in retailers} == {"active"}
    archived = reader.result("retailer.list", {"status": "archived"})
    assert first["totalCount"] + archived["totalCount"] == 300


def test_what_was_created_is_found(caller: Caller):
    for body in ({"code": "OLD", "name": "Old", "status": "archived"}, {"code": "NEW", "name": "New"}):
        caller.service.post(RETAILERS, body).raise_for_status()
    resource = {"type": "PackagingSupplies", "sku": "NEW-1", "name": "Tape"}
    created = caller.service.post(PRODUCTS, {"resource": resource}).json()["resource"]
    (product,) = caller.result("product.search", {"sku": "NEW-1"})
    assert (product["product_id"], product["type"]) == (created["id"], "PackagingSupplies")
    codes = {"code": {"in": ["OLD", "NEW"]}}
    assert [each["code"] for each in caller.result("retailer.list", codes)["results"]] == ["NEW"]
    with_archived = codes | {"status": {"in": ["active", "archived"]}}
    assert [each["code"] for each in caller.result("retailer.list", with_archived)["results"]] == ["OLD", "NEW"]


def test_warehouses_and_stores(reader: Caller):
    warehouses = reader.result("warehouse.list")
    assert [list(each) for each in warehouses] == [["warehouse_id", "name", "is_active"]] * 6
    assert {each["is_active"] for each in warehouses} == {0, 1}
    stores = reader.result("store.list")
    assert len({each["store_id"] for each in stores}) == len(stores) == 60
    assert len({each["code"] for each in stores}) == 60


def test_one_shipment(reader: Caller):
    listed = reader.service.listing(("limit", "1"))["collection"][0]
    shipment = reader.result("shipment.info", listed["unique_id"])
    assert (shipment["id"], shipment["status"]) == (listed["id"], listed["status"])
    assert [each["id"] for each in shipment["items"]] == [each["id"] for each in listed["items"]]
    assert all("quantity" in each for each in shipment["items"])
    assert reader.error("shipment.info", "none such") == 101
    assert reader.error("shipment.info", listed["id"]) == -32602
