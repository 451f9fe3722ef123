"""The cases of the Merchant API (4.7, 5.2, 7.3): logins, calls, sessions, and its inner methods (facts)."""

from collections.abc import Callable
from typing import Any

from tests.sandbox.case import BASIC, Case, fails, gives, has_status, rpc
from tests.sandbox.create_cases import CREATED_PRODUCT
from wms_sandbox.app import MERCHANT_API

USERNAME, API_KEY = "sandbox-merchant", "sandbox-api-key"
DENIED, MISSING, EXPIRED = 2, 6, -32005
MESSAGES = {
    DENIED: "Access denied.",
    MISSING: "Required parameter is missing.",
    EXPIRED: "Session expired. Try to relogin.",
}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "call", "params": [None, "warehouse.list", []]}


def login(code: int, *params: Any) -> Case:
    return rpc("5.2", "login", list(params), fails(code, MESSAGES[code]))


def call(method: str, holds: Callable[[Any], bool], *arguments: Any, on: str = "service") -> Case:
    """A call whose result this is true of."""
    return rpc("4.7", "call", [None, method, list(arguments)], gives(lambda answer: holds(answer["result"])), on)


def wrong_call(method: str, code: int, *arguments: Any) -> Case:
    return rpc("facts", "call", [None, method, list(arguments)], fails(code))


def is_session(answer: Any) -> bool:
    return len(answer["result"]) == 32 and int(answer["result"], 16) >= 0


NO_SESSIONS: tuple[Any, ...] = ("", "0" * 32, 5, [], {}, False)
CASES = [
    rpc("4.7", "login", [USERNAME, API_KEY], gives(is_session)),
    *(rpc("facts", "login", [USERNAME, API_KEY], gives(is_session), jsonrpc=version) for version in (2.0, 2, "2.0")),
    login(DENIED, "wrong", API_KEY),
    login(DENIED, USERNAME, "wrong"),
    login(DENIED, USERNAME, 5),
    login(DENIED, f"{USERNAME}\n", API_KEY),
    login(MISSING),
    login(MISSING, USERNAME),
    login(MISSING, USERNAME, None),
    login(MISSING, None, API_KEY),
    login(MISSING, USERNAME, ""),
    login(MISSING, "", ""),
    *(
        rpc("5.2", "call", [session, "warehouse.list", []], fails(EXPIRED, MESSAGES[EXPIRED]))
        for session in NO_SESSIONS
    ),
    *(
        Case("5.2", "POST", MERCHANT_API, fails(DENIED, MESSAGES[DENIED]), body=LIST, headers={"Authorization": token})
        for token in (None, "", "Basic", "Basic ???", "Basic /w==", BASIC[:-4], "Bearer a-token")
    ),
    Case("4.7", "GET", MERCHANT_API, has_status(405, allow="POST"), headers={"Authorization": None}),
    *(
        rpc("4.7", **({"method": "login", "params": []} | change), answer=fails(code, identity=identity))
        for change, code, identity in (
            ({"method": "logout"}, -32601, 1),
            ({"method": ""}, -32601, 1),
            ({"method": 5}, -32600, None),
            ({"jsonrpc": "1.0"}, -32600, None),
            ({"jsonrpc": None}, -32600, None),
            ({"id": None}, -32600, None),
            ({"id": [1]}, -32600, None),
            ({"method": "call", "params": []}, -32602, 1),
            ({"method": "call", "params": [None, "warehouse.list"]}, -32602, 1),
            ({"method": "call", "params": [None, 5, []]}, -32602, 1),
            ({"method": "call", "params": [None, "warehouse.list", {}]}, -32602, 1),
            ({"method": "call", "params": [None, "warehouse.list", [], 1]}, -32602, 1),
            ({"method": "call", "params": [None, "warehouse.burn", []]}, -32601, 1),
            ({"params": {"username": "x"}}, -32600, None),
            ({"params": None}, -32600, None),
        )
    ),
    *(
        Case("4.7", "POST", MERCHANT_API, fails(code, identity=None), body=content)
        for content, code in ((b"{", -32700), (b"", -32700), (b"\xff", -32700), (b"[]", -32600))
    ),
    call("product.search", lambda found: len(found) == 400 + 5 * 30),
    call("product.search", lambda found: found == [], {"sku": "none such"}),
    call("product.search", lambda found: [each["sku"] for each in found] == ["SKU-00000-S"], {"sku": "SKU-00000-S"}),
    call("product.search", lambda found: len(found) == 1, {"sku": {"in": ["SKU-00000-S", "x"]}}),
    call("product.search", lambda found: len(found) == 50, None, {"limit": 100, "page": 6}),
    call("product.search", bool, []),
    wrong_call("product.search", -32602, ["sku"]),
    wrong_call("product.search", 108, {"colour": "red"}),
    wrong_call("product.search", 108, {"sku": {"like": "x"}}),
    wrong_call("product.search", 108, {"sku": {"in": 5}}),
    wrong_call("product.search", -32602, None, {"limit": "5"}),
    wrong_call("product.search", -32602, None, {"order": "sku"}),
    wrong_call("product.search", -32602, None, None, "sku"),
    call("product.info", lambda found: found["sku"] == "SKU-00000-S", "SKU-00000-S"),
    wrong_call("product.info", 101, "none such"),
    wrong_call("product.info", -32602),
    call(
        "retailer.list",
        lambda found: list(found) == ["results", "totalCount", "numPages"] and len(found["results"]) == 100,
    ),
    call("retailer.list", lambda found: {each["status"] for each in found["results"]} == {"active"}),
    call("retailer.list", lambda found: 0 < found["totalCount"] < 100, {"status": "archived"}),
    call("retailer.list", lambda found: len(found["results"]) == found["totalCount"] - 200 > 0, None, {"page": 3}),
    call("retailer.list", lambda found: found["numPages"] == 3),
    call("warehouse.list", lambda found: [list(each) for each in found] == [["warehouse_id", "name", "is_active"]] * 6),
    call(
        "product.search",
        lambda found: [{"type": each["type"], "id": each["product_id"]} for each in found] == [CREATED_PRODUCT],
        {"sku": "SKU-1"},
        on="used",
    ),
    call(
        "retailer.list",
        lambda found: [each["code"] for each in found["results"]] == ["ACME"],
        {"code": {"in": ["OLD", "ACME"]}},
        on="used",
    ),
]
