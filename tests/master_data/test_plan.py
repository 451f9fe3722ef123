"""Plans: what each row would become, made without any side effect, and said in the words that a push uses."""

import json
import re
from datetime import UTC, datetime, timedelta
from unicodedata import normalize

import duckdb
import pytest
from msgspec.structs import replace
from starlette.responses import JSONResponse, Response

from tests.bench import queried
from tests.master_data.conftest import MERCHANT
from wms_sandbox.errors import failed
from wms_sandbox.identities import retailer_code, retailer_id
from wms_sync.master_data.existing import ROWS_PER_PAGE
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import PRODUCTS, RETAILERS
from wms_sync.master_data.plan import RowStatus
from wms_sync.master_data.records import changes, digest
from wms_sync.state.ledger import Entry, State

MOMENT = datetime(2026, 3, 1, 12, tzinfo=UTC)


def entry(desk, key: str, state: State, **values) -> Entry:
    text = json.dumps({"code": key, "name": key}, separators=(",", ":"))
    whole = Entry(
        service=desk.server.base_url,
        kind="retailers",
        key=key,
        state=state,
        body=text,
        body_sha256=digest(text),
        remote_id=None,
        run_id="before",
        attempts=1,
        message=None,
        intended_at=MOMENT,
        settled_at=None,
        seen_at=None,
    )
    return replace(whole, **values)


KNOWN: dict[Kind, dict[State, tuple[RowStatus, bool, bool]]] = {
    # of an entry of the ledger: what a row like it becomes, whether it is sent, and whether with --resend
    RETAILERS: {
        State.CREATED: (RowStatus.ALREADY_THERE, False, True),
        State.EXISTS: (RowStatus.ALREADY_THERE, False, True),
        State.REFUSED: (RowStatus.CREATE, True, True),
        State.UNDONE: (RowStatus.CREATE, True, True),
        State.DOUBT: (RowStatus.IN_DOUBT, True, True),
        State.INTENDED: (RowStatus.IN_DOUBT, True, True),
    },
    PRODUCTS: {
        State.CREATED: (RowStatus.CHANGED, False, False),
        State.DOUBT: (RowStatus.IN_DOUBT, False, True),
        State.INTENDED: (RowStatus.IN_DOUBT, False, True),
    },
}
SAID = {
    RETAILERS: {"created": "Created on 2026-03-01"},
    PRODUCTS: {"created": "The file has other values: ", "doubt": "2026-03-01 12:00 UTC"},
}
"""What some of these rows say."""


@pytest.mark.parametrize("kind", KNOWN, ids=str)
def test_what_the_ledger_says_decides(desk, kind):
    known = {state.value: outcome for state, outcome in KNOWN[kind].items()}
    desk.record(*(entry(desk, state.value, state, kind=str(kind)) for state in KNOWN[kind]))
    path = desk.file(f"{kind.key},name", *(f"{key},{key}" for key in known))
    steps = desk.plan(kind, path).steps
    resent = {step.key: step.sends for step in desk.plan(kind, path, resend=True).steps}
    assert {step.key: (step.action, step.sends, resent[step.key]) for step in steps} == known
    assert [step.key for step in steps if SAID[kind].get(step.key, "") not in step.why] == []


def test_an_id_is_no_key_of_equal_digits(desk):
    """Neither a code in the same file nor a natural key in the same row."""
    path = desk.file("code,name,parent_retailer_id", "101,A,", "b,B,101", "104,C,104")
    assert desk.push(RETAILERS, path).counts == {RowStatus.CREATED: 3}
    assert {made["name"]: made["parent_retailer"] for made in desk.server.sandbox.retailers()} == {
        "A": None,
        "B": {"type": "Retailer", "id": 101},
        "C": {"type": "Retailer", "id": 104},
    }
    assert desk.plan(RETAILERS, path).counts == {RowStatus.ALREADY_THERE: 3}
    lines = (
        "type,sku,name,container_options.associated_product_skus,container_options.allow_for_brand_ids",
        "Product,12,Twelve,,",
        "PackagingContainer,BOX,Box,12|INSERT,12",
        "PackagingInfill,INSERT,Insert,,",
    )
    assert desk.push(PRODUCTS, desk.file(*lines)).counts == {RowStatus.CREATED: 3}
    made = {product["sku"]: product for product in desk.server.sandbox.products()}
    assert made["BOX"]["container_options"] == {
        "associated_products": [
            {"type": "Product", "id": made["12"]["id"]},
            {"type": "PackagingInfill", "id": made["INSERT"]["id"]},
        ],
        "allow_for_brands": [{"type": "Merchant", "id": 12}],
    }


CHILD = "code,name,parent_retailer_code"


@pytest.mark.parametrize(
    ("kind", "lines", "action", "says"),
    [
        # a row that names another object by a key, what becomes of it, and which column takes the object's id
        (RETAILERS, (CHILD, "a,A,nobody"), RowStatus.REJECTED, "If you know its id there, use parent_retailer_id."),
        (RETAILERS, (CHILD, "a,A,p"), RowStatus.WAITS, "If you know the id, use parent_retailer_id."),
        (
            PRODUCTS,
            ("type,sku,name,container_options.allow_for_warehouses", "PackagingContainer,a,A,nowhere"),
            RowStatus.REJECTED,
            "If you know its id there, use container_options.allow_for_warehouse_ids.",
        ),
    ],
)
def test_a_plan_says_how_to_name_the_unknown(desk, kind, lines, action, says):
    """And that of a parent that was created, and whose id no answer brought."""
    desk.record(entry(desk, "p", State.CREATED))
    [step] = desk.plan(kind, desk.file(*lines)).steps
    assert (step.action, step.sends, step.why.endswith(says)) == (action, False, True), step.why


SHOWN = {State.DOUBT: State.CREATED, State.REFUSED: State.EXISTS, State.EXISTS: State.EXISTS}
"""What the ledger knows of a retailer, and what it knows once shipments have shown that retailer."""


def test_what_shipments_have_shown_is_known(desk, shown):
    """It is not compared with what was not created from here; and an archived parent is refused before it is sent."""
    [(archived,)] = queried(desk.sync_has_shown(shown), "select min(code) from retailers where status = 'archived'")
    codes = [retailer_code(number) for number in range(len(SHOWN))]
    desk.record(*(entry(desk, code, state) for code, state in zip(codes, SHOWN, strict=True)))
    desk.record(entry(desk, "b", State.DOUBT))
    rows = [f"a,A,{codes[0]}", f"c,C,{archived}", f"{codes[0]},{codes[0]},"]
    plan = desk.plan(RETAILERS, desk.file(CHILD, *rows, *(f"{code},Another," for code in codes[1:])))
    assert plan.counts == {RowStatus.CREATE: 1, RowStatus.ALREADY_THERE: 3, RowStatus.REJECTED: 1}
    assert "archived" in plan.rows()[1]["why"]
    assert desk.entries()[codes[0]].state is State.DOUBT, "a plan writes nothing"
    desk.push(RETAILERS, plan.checked.file.path)
    known = {key: (entry.state, entry.remote_id) for key, entry in desk.entries().items() if key != "a"}
    there = {retailer_code(number): (state, retailer_id(number)) for number, state in enumerate(SHOWN.values())}
    assert known == there | {"b": (State.DOUBT, None)}
    assert [made["parent_retailer"] for made in desk.server.sandbox.retailers()] == [
        {"type": "Retailer", "id": retailer_id(0)}
    ]


def test_which_product_a_sku_names(desk, shown):
    """Of two merchants neither; else the one that was created from here or stands in the same file."""
    made(desk, shown, {"OURS": [MOMENT, MOMENT]})
    header = "type,sku,name,container_options.associated_product_skus"
    [step] = desk.plan(PRODUCTS, desk.file(header, "PackagingContainer,BOX,Box,OURS")).steps
    assert step.action is RowStatus.REJECTED
    assert re.search("has several.* of merchant m.* of merchant m", step.why)
    desk.record(entry(desk, "OURS", State.CREATED, kind="products", remote_id=77, body='{"type":"PackagingInfill"}'))
    for lines in (), (",OURS,Ours,",):
        *_, step = desk.plan(PRODUCTS, desk.file(header, "PackagingContainer,BOX,Box,OURS", *lines)).steps
        assert step.ids == {("Product", "OURS"): {"type": "PackagingInfill", "id": 77}}


def made(desk, shown, skus: dict[str, list[datetime]]) -> None:
    """Let the published file show products of these skus, made at these moments."""
    moments = [(sku, moment) for sku, all_ in skus.items() for moment in all_]
    with duckdb.connect(desk.sync_has_shown(shown)) as connection:
        ids = connection.execute("select id from products where type = 'Product' limit ?", [len(moments)]).fetchall()
        for (id_,), (sku, moment) in zip(ids, moments, strict=True):
            connection.execute("update products set sku = ?, created_at = ? where id = ?", [sku, moment, id_])


PROVEN: dict[str, tuple[tuple[int, ...], bool]] = {
    # a sku: on which days after the create was sent the products of this sku were made, and whether that is proof
    "BEFORE": ((-1,), False),
    "BOTH": ((-1, 1), True),
    "TWICE": ((1, 2), False),
    "AFTER": ((1,), True),
    "MUCH LATER": ((100_000,), False),
}


def test_a_doubt_is_proven_by_one_product_since(desk, shown):
    """The only one that was made since it was sent."""
    made(desk, shown, {sku: [MOMENT + timedelta(days=day) for day in days] for sku, (days, _) in PROVEN.items()})
    bodies = {sku: json.dumps({"name": "Ours", "sku": sku, "type": "Product"}) for sku in PROVEN}
    desk.record(*(entry(desk, sku, State.DOUBT, kind="products", body=body) for sku, body in bodies.items()))
    path = desk.file("sku,name", *(f"{sku},Ours" for sku in PROVEN))
    plan = desk.plan(PRODUCTS, path)
    proven = {sku for sku, (_, is_proof) in PROVEN.items() if is_proof}
    assert {step.key for step in plan.steps if step.proven is not None} == proven
    counts = {RowStatus.ALREADY_THERE: len(proven), RowStatus.IN_DOUBT: len(PROVEN) - len(proven)}
    assert (plan.counts, plan.sends) == (counts, 0)
    assert {step.key for step in plan.steps if "but this may be another one" not in step.why} == proven
    assert {step.key for step in desk.plan(PRODUCTS, path, resend=True).steps if not step.sends} == proven


def test_a_product_known_by_its_sku_is_told(desk, shown):
    made(desk, shown, {"100": [MOMENT]})
    path = desk.file("sku,name", "100,Ours")
    report = desk.push(PRODUCTS, path)
    assert report.counts == {RowStatus.ALREADY_THERE: 1}
    assert "1 row counts as already there only because the service has the sku (line 2)" in "\n".join(report.lines())
    assert "of merchant m" in report.rows()[0]["why"]
    desk.record(entry(desk, "Q", State.DOUBT, kind="products"))
    assert [
        step.key
        for step in desk.plan(PRODUCTS, desk.file("sku,name", "100,Ours", "Q,Q", name="both.csv"), resend=True).steps
        if step.sends
    ] == ["Q"]
    desk.answers(*[failed(503)] * 4)
    assert "push the file again with --resend" in desk.push(PRODUCTS, path, resend=True).rows()[0]["why"]
    assert "1 row is left: repeat the command without --limit." in [
        *desk.push(PRODUCTS, path, resend=True, limit=0).lines()
    ]
    for outcome in (RowStatus.CREATED, RowStatus.ALREADY_THERE):
        assert desk.push(PRODUCTS, path, resend=True).counts == {outcome: 1}
    for column, merchant in (("merchant_id", "13"), ("merchant_code", "m13")):
        third = desk.file(f"sku,name,{column}", f"100,Ours,{merchant}", name="third.csv")
        [step] = desk.plan(PRODUCTS, third, resend=True).steps
        assert (step.action, step.sends) == (RowStatus.CHANGED, False)
        assert "for another merchant, in the service itself" in step.why


def test_a_key_is_the_same_however_its_accents_are_encoded(desk, shown):
    """Also one that the service has from elsewhere."""
    made(desk, shown, {"Cafe\u0301": [MOMENT]})
    rows = ("sku,name", "Caf\u00e9,Coffee", "Th\u00e9,Tea")
    assert desk.push(PRODUCTS, desk.file(*rows)).counts == {RowStatus.ALREADY_THERE: 1, RowStatus.CREATED: 1}
    for form in ("NFC", "NFD"):
        plan = desk.plan(PRODUCTS, desk.file(*(normalize(form, row) for row in rows)))
        assert plan.counts == {RowStatus.ALREADY_THERE: 2}


def rpc(**answer: object) -> Response:
    """An answer of the Merchant API."""
    return JSONResponse({"jsonrpc": "2.0", "id": 1, **answer})


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Response("", 401), "WMS_MERCHANT_API_KEY"),
        (Response("", 403), "WMS_MERCHANT_API_KEY"),
        (Response("<html>", 404), "answered 404"),
        (Response("<html>", 503), "answered 503"),
        (Response("<html>"), "not the JSON-RPC answer"),
        (rpc(error={"code": 2, "message": "Access denied."}), "Access denied."),
        (rpc(error={"code": -32601, "message": "Method not found."}), "Method not found."),
        (rpc(error={"code": 108, "message": "Invalid filters given."}), "Invalid filters given."),
        (rpc(result="none"), "an unknown shape"),
        (rpc(result=[["a", 1]]), "an unknown shape"),
        (rpc(result=[{"retailerCode": "a"}]), "rows that have no code"),
    ],
)
def test_a_silent_merchant_api_holds_dependent_rows_up(desk, answer, told):
    desk.set(**MERCHANT)
    desk.server.sandbox.intercept = lambda request: answer if request.url.path == "/api/jsonrpc" else None
    path = desk.file(CHILD, f"a,A,{retailer_code(0)}", "b,B,", "c,C,b")
    report = desk.push(RETAILERS, path)
    expected = [RowStatus.WAITS, RowStatus.CREATED, RowStatus.CREATED]
    assert ([row["what"] for row in report.rows()], report.exit_code) == (expected, 3)
    [note] = [note for note in report.plan.notes if note.startswith("Warning: the Merchant API could not be called")]
    assert told in note
    desk.record(entry(desk, "d", State.DOUBT))
    alone = desk.push(RETAILERS, desk.file("code,name", "d,D", name="alone.csv"))
    assert (bool(alone.plan.unasked), alone.exit_code) == (True, 0), "every row was created"
    desk.server.sandbox.intercept = None
    assert desk.push(RETAILERS, path).exit_code == 0


def rpc_page(*rows: tuple[object, str]) -> Response:
    return rpc(result=[{"id": id_, "code": code} for id_, code in rows])


FULL = [(1000 + number, f"other{number}") for number in range(ROWS_PER_PAGE - 2)]
PAGES: dict[str, tuple[list[Response], dict[RowStatus, int], dict[str, int | None], str]] = {
    # the ids and codes on each page of the Merchant API, what becomes of p1, which is in doubt, and two children, the
    # id of p1 that is proven, and what is said
    "shorter pages": (
        [rpc_page((71, "p1")), rpc_page((72, "p2"))],
        {RowStatus.CREATE: 2, RowStatus.ALREADY_THERE: 1},
        {"p1": 71},
        "",
    ),
    "two of a code, behind a full page": (
        [rpc_page((71, "p1"), (72, "p2"), *FULL), rpc_page((73, "p1"))],
        {RowStatus.CREATE: 1, RowStatus.ALREADY_THERE: 1, RowStatus.REJECTED: 1},
        {"p1": 71},
        "",
    ),
    "no end": (
        [rpc_page((1, f"other{page}")) for page in range(1000)],
        {RowStatus.CREATE: 1, RowStatus.WAITS: 1, RowStatus.IN_DOUBT: 1},
        {},
        "more than 100 pages",
    ),
    **{
        f"an impossible id: {type(id_).__name__} {str(id_)[:9]}": (
            [rpc_page((id_, "p1"))] * 1000,
            {RowStatus.ALREADY_THERE: 1, RowStatus.REJECTED: 1, RowStatus.WAITS: 1},
            {"p1": None},
            "",
        )
        for id_ in (2**70, "9" * 5000, -1, True)
    },
}


@pytest.mark.parametrize(("listed", "counts", "proven", "says"), PAGES.values(), ids=PAGES)
def test_what_pages_of_the_merchant_api_prove(desk, listed, counts, proven, says):
    """An id that cannot be is as unknown as none."""
    desk.set(**MERCHANT)
    desk.record(entry(desk, "p1", State.DOUBT))
    pages = iter((*listed, *[rpc_page()] * 9))
    desk.server.sandbox.intercept = lambda request: next(pages) if request.url.path == "/api/jsonrpc" else None
    plan = desk.plan(RETAILERS, desk.file(CHILD, "p1,p1,", "a,A,p1", "b,B,p2"))
    assert plan.counts == counts
    assert {step.key: step.proven.remote_id for step in plan.steps if step.proven is not None} == proven
    assert says in "".join(plan.unasked)


def test_a_doubtful_row_is_sent_with_a_warning(desk):
    option, box = "container_options.manage_stock", "PackagingContainer"
    rows = (f"{box},a,A,some,", f"{box},b,B,,", f"{box},c,C,some,", f"{box},d,D,,12")
    path = desk.file(f"type,sku,name,{option},merchant_id", *rows)
    plan = desk.plan(PRODUCTS, path)
    assert (plan.counts, plan.exit_code) == ({RowStatus.CREATE: 4}, 0)
    warning = f"Warning: {option} = 'some': Is neither true nor false"
    assert plan.rows()[0]["why"].startswith(warning)
    first, second, third, fourth, *_ = plan.lines(push_limit=10)
    assert first.startswith(f"line 2: create a: {warning}")
    assert (second, third) == ("line 3: create b", "line 4: create c: as line 2")
    assert fourth.startswith("line 5: create d: Warning: merchant_id = '12': Undocumented in requests")

    report = desk.push(PRODUCTS, path)
    first, second, *_ = report.lines()
    assert (report.exit_code, warning in first, second) == (0, True, "line 4: created c: as line 2"), first
    assert {step.warnings for step in desk.plan(PRODUCTS, path).steps} == {()}, "nothing of them is sent any more"


def fields(*codes: str) -> dict[str, list[dict[str, object]]]:
    """Custom fields of a product, in the order of their columns; a ledger may have them so."""
    return {"custom_fields": [{"code": code, "value": 1} for code in codes]}


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": 2}, ["a: 1 -> 2"]),
        ({"a": {"b": "x"}}, {"a": {"b": "y"}}, ['a.b: "x" -> "y"']),
        ({"k": 1}, {"k": 1, "a": "x"}, ['a: nothing -> "x"']),
        ({"a": [1, 2]}, {"a": [2, 1]}, ["a: [1, 2] -> [2, 1]"]),
        ({"k": 1, "a": {"b": 1}}, {"k": 1}, ["a.b: 1 -> nothing"]),
        ({"a": True}, {"a": False}, ["a: true -> false"]),
        ({"a": 1}, {"a": True}, ["a: 1 -> true"]),
        ({"a": "Cafe\u0301"}, {"a": "Caf\u00e9"}, []),
        ({"a": "x"}, {"a": None}, ['a: "x" -> null']),
        ({"k": 1}, {"k": 1, "a": None}, ["a: nothing -> null"]),
        (fields("b", "a"), fields("a", "b"), []),
        (fields("b"), fields("a"), ["custom_fields.a.value: nothing -> 1", "custom_fields.b.value: 1 -> nothing"]),
    ],
)
def test_changes_name_the_field_and_both_values(old, new, shown):
    texts = (json.dumps(body, ensure_ascii=False) for body in (old, new))
    assert [str(change) for change in changes(*texts)] == shown
