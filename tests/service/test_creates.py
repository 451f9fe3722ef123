"""Creates against the sandbox on a socket: what counts as done, as refused, as not done and as in doubt."""

from __future__ import annotations

import json
import socket

import pytest
from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.conftest import IMPATIENT
from tests.service.test_client import answer_first
from wms_sandbox.errors import failed
from wms_sandbox.faults import IN_ITS_PLACE, AnswerLost, Disconnect, ProxyAnswer, Truncated, in_its_place
from wms_sync.master_data.kinds.kind import Kind
from wms_sync.master_data.kinds.products import PRODUCTS
from wms_sync.master_data.kinds.table import LOCATION_TAGS, RETAILERS
from wms_sync.service.client import ROOT, GlobalApi
from wms_sync.service.creates import Created, Creates, Resource, already_in_use
from wms_sync.service.errors import (
    ApiError,
    Busy,
    InDoubt,
    NotSent,
    Problem,
    RedirectRefused,
    Rejected,
    ServiceFailed,
    Unauthorized,
)

TAG = {"name": "Fragile", "color": "red1"}


@pytest.fixture
def api(sandbox):
    with GlobalApi(sandbox.base_url, SecretStr("sandbox-token"), policy=IMPATIENT, transport=sandbox) as client:
        yield client


class CreatesOfEachKind:
    """The creates of a push, by kind."""

    def __init__(self, api: GlobalApi) -> None:
        self._creates = Creates(api)

    def location_tag(self, body: Resource) -> Created:
        return self._create(LOCATION_TAGS, body)

    def retailer(self, body: Resource) -> Created:
        return self._create(RETAILERS, body)

    def product(self, body: Resource) -> Created:
        return self._create(PRODUCTS, body)

    def _create(self, kind: Kind, body: Resource) -> Created:
        return self._creates.create(kind.endpoint, body, wrapped_in=kind.wrapped_in)


@pytest.fixture
def creates(api):
    return CreatesOfEachKind(api)


def statuses(sandbox) -> list[int]:
    return [request.status for request in sandbox.sandbox.requests]


def test_a_location_tag_arrives_as_it_was_sent(sandbox, creates):
    created = creates.location_tag({**TAG, "description": "Glas ✓", "sort_order": -5})
    [tag] = sandbox.sandbox.location_tags()
    assert created == Created(tag["id"], "LocationTag", ())
    assert (tag["name"], tag["color"], tag["description"], tag["sort_order"]) == ("Fragile", "red1", "Glas ✓", -5)


def test_a_retailer_is_sent_bare_and_a_product_wrapped(sandbox, creates):
    retailer = creates.retailer({"code": "acme", "name": "ACME"})
    product = creates.product({"type": "PackagingInfill", "sku": "AIR", "name": "Air pillows"})
    assert (retailer.type, product.type) == ("Retailer", "PackagingInfill")
    assert [one["id"] for one in sandbox.sandbox.retailers()] == [retailer.id]
    assert [one["id"] for one in sandbox.sandbox.products()] == [product.id]


def test_warnings_of_the_service_are_kept(creates):
    creates.product({"type": "Product", "sku": "A", "name": "A"})
    assert "A" in creates.product({"type": "Product", "sku": "A", "name": "A"}).warnings[0]


@pytest.mark.parametrize(
    ("warnings", "told"),
    [(["one", {"message": "two"}, {"odd": 3}], ("one", "two", "{'odd': 3}")), ("text", ()), (None, ())],
)
def test_warnings_come_in_any_shape(sandbox, creates, warnings, told):
    resource = {"type": "LocationTag", "id": 5, "warnings": warnings}
    answer_first(sandbox, 1, lambda: JSONResponse({"resource": resource}))
    assert creates.location_tag(TAG) == Created(5, "LocationTag", told)


@pytest.mark.parametrize("status", [200, 201])
def test_200_and_201_mean_done(sandbox, creates, status):
    answer_first(sandbox, 1, lambda: JSONResponse({"resource": {"type": "LocationTag", "id": 5}}, status))
    assert creates.location_tag(TAG).id == 5


@pytest.mark.parametrize(
    ("given", "id_"),
    [
        ("901", 901),
        ("0901", 901),
        ("９", None),
        ("-1", None),
        (0, None),
        ("9" * 5000, None),
        (2**63, None),
        (2**63 - 1, 2**63 - 1),
    ],
)
def test_an_id_counts_also_as_text(sandbox, creates, given, id_):
    answer_first(sandbox, 1, lambda: JSONResponse({"resource": {"type": "LocationTag", "id": given}}, 201))
    assert creates.location_tag(TAG).id == id_


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"resource": {}}', b'{"resource": {"id": "x"}}', b"\xff"])
@pytest.mark.parametrize("status", [200, 201])
def test_a_success_that_names_no_id_is_done_all_the_same(sandbox, creates, body, status):
    answer_first(sandbox, 1, lambda: Response(body, status, media_type="application/json"))
    assert creates.location_tag(TAG).id is None
    assert statuses(sandbox) == [status]


DEEP = b"[" * 3000 + b"]" * 3000


@pytest.mark.parametrize(
    "body",
    [
        b'\xef\xbb\xbf{"resource": {"id": 5}}',
        b'{"resource": {"id": 5, "warnings": %s}}' % DEEP,
        b'{"a": %s, "resource": {"id": 5}}' % DEEP,
    ],
)
def test_an_id_is_read_behind_a_byte_order_mark_and_beside_what_is_nested_deep(sandbox, creates, body):
    answer_first(sandbox, 1, lambda: Response(body, 201, media_type="application/json"))
    assert creates.location_tag(TAG).id == 5


@pytest.mark.parametrize("trace", [b"0", DEEP])
def test_a_reason_is_read_behind_a_byte_order_mark_and_beside_what_is_nested_deep(sandbox, creates, trace):
    body = b'\xef\xbb\xbf{"errors": [{"type": "application", "message": "No room."}], "trace": %s}' % trace
    answer_first(sandbox, 1, lambda: Response(body, 422, media_type="application/json"))
    with pytest.raises(Rejected, match=r"No room\."):
        creates.location_tag(TAG)


@pytest.mark.parametrize("status", [200, 201])
@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"errors": [{"type": "unable_to_process", "message": "No room."}]}, "No room."),
        ({"resource": None, "errors": ["odd"]}, "odd"),
        ({"error": {"code": 6}}, "error.code: 6"),
        ({"errors": [[]]}, "no readable reason"),
    ],
)
def test_a_success_that_has_errors_in_place_of_a_resource_is_in_doubt(sandbox, creates, body, told, status):
    answer_first(sandbox, 1, lambda: JSONResponse(body, status))
    with pytest.raises(InDoubt, match=told):
        creates.location_tag(TAG)
    assert len(statuses(sandbox)) == 1


def test_a_success_that_breaks_off_is_done_and_not_sent_again(sandbox, creates):
    answer_first(sandbox, 1, lambda: Truncated(b'{"resource": {"id": 1}}', 201, media_type="application/json"))
    assert creates.location_tag(TAG).id is None
    assert len(sandbox.sandbox.requests) == 1


@pytest.mark.parametrize("media_type", ["text/html", "application/json"])
def test_a_page_in_place_of_an_answer_is_in_doubt(sandbox, creates, media_type):
    """A page that was called JSON counted as a create that was done."""
    answer_first(sandbox, 1, lambda: Response("<html>please log in</html>", 200, media_type=media_type))
    with pytest.raises(InDoubt, match=r"It says: please log in\..*WMS_BASE_URL"):
        creates.location_tag(TAG)
    assert statuses(sandbox) == [200]


@pytest.mark.parametrize("name", IN_ITS_PLACE)
@pytest.mark.parametrize("done", [True, False])
def test_a_create_that_something_else_answers_is_in_doubt_and_sent_once(sandbox, creates, name, done):
    """A 403 of a firewall counted as a wrong token, so that nothing had been done."""
    answer_first(sandbox, 1, lambda: in_its_place(name, done=done))
    with pytest.raises(InDoubt, match=r"maintenance|Blocked"):
        creates.product({"type": "Product", "sku": "A", "name": "A"})
    assert len(sandbox.sandbox.requests) == 1
    assert len(sandbox.sandbox.products()) == done


def test_a_403_in_the_services_own_words_means_that_nothing_was_done(sandbox, creates):
    answer_first(sandbox, 1, lambda: failed(403, "This token may not create tags."))
    with pytest.raises(Unauthorized, match=r"WMS_API_TOKEN.*This token may not create tags\."):
        creates.location_tag(TAG)
    assert statuses(sandbox) == [403]


@pytest.mark.parametrize("type_", ["text/html; charset=UTF-8", "application/JSON", None])
def test_an_answer_that_names_the_id_is_done_whatever_its_type_is_called(sandbox, creates, type_):
    """Each create of such a service was in doubt, and three ended a push of products."""
    answer = b'{"resource": {"type": "LocationTag", "id": 5}}'
    answer_first(sandbox, 1, lambda: Response(answer, headers={"Content-Type": type_} if type_ else None))
    assert creates.location_tag(TAG).id == 5


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (200, {"success": False, "message": "The name is not allowed."}, "200.*The name is not allowed"),
        (200, {"status": "error", "resource": None}, "200.*error"),
        (207, {"results": [{"status": 422}]}, "207.*422"),
        (200, ["In maintenance"], "200.*In maintenance"),
        (200, "In maintenance", "200.*In maintenance"),
    ],
)
def test_a_success_that_speaks_of_something_else_than_the_resource_is_in_doubt(sandbox, creates, status, body, told):
    """It was taken for done and never sent again, though nothing may have been created."""
    answer_first(sandbox, 1, lambda: JSONResponse(body, status))
    with pytest.raises(InDoubt, match=told):
        creates.location_tag(TAG)


@pytest.mark.parametrize("body", [{"queued": True}, {}, {"resource": {"type": "LocationTag"}}])
def test_what_was_accepted_and_has_no_id_is_in_doubt(sandbox, creates, body):
    """It was taken for done and never sent again, also where the service refused it later."""
    answer_first(sandbox, 1, lambda: JSONResponse(body, 202))
    with pytest.raises(InDoubt, match="202"):
        creates.location_tag(TAG)
    answer_first(sandbox, 1, lambda: JSONResponse({"resource": {"type": "LocationTag", "id": 5}}, 202))
    assert creates.location_tag(TAG).id == 5


@pytest.mark.parametrize("fault", [Disconnect, AnswerLost])
def test_without_an_answer_it_is_in_doubt_and_sent_once(sandbox, creates, fault):
    answer_first(sandbox, 1, fault)
    with pytest.raises(InDoubt, match="sent and not answered"):
        creates.location_tag(TAG)
    assert len(sandbox.sandbox.requests) == 1
    assert len(sandbox.sandbox.location_tags()) == (fault is AnswerLost)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503])
def test_what_the_service_itself_says_it_did_not_do_is_sent_again(sandbox, creates, status):
    answer_first(sandbox, 2, lambda: failed(status))
    assert creates.location_tag(TAG).id is not None
    assert statuses(sandbox) == [status, status, 201]
    assert len(sandbox.sandbox.location_tags()) == 1


@pytest.mark.parametrize("status", [409, 429])
def test_too_many_requests_need_no_word_to_be_sent_again(sandbox, creates, status):
    answer_first(sandbox, 2, lambda: Response("<html>trouble</html>", status))
    assert creates.location_tag(TAG).id is not None
    assert statuses(sandbox) == [status, status, 201]


@pytest.mark.parametrize("status", [304, 408, 500, 502, 503, 504])
def test_a_proxys_word_on_a_create_that_was_done_is_in_doubt(sandbox, creates, status):
    answer_first(sandbox, 1, lambda: ProxyAnswer(status))
    with pytest.raises(InDoubt, match=f"answered {status}.*may have done it"):
        creates.location_tag(TAG)
    assert statuses(sandbox) == [status]
    assert len(sandbox.sandbox.location_tags()) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b'{"message": "Endpoint request timed out"}',
        b'{"errors": []}',
        b'{"errors": [{"message": "upstream timed out"}]}',
        b'{"errors": [{"type": "appl',
    ],
)
def test_a_failure_in_other_words_than_the_services_is_in_doubt(sandbox, creates, body):
    answer_first(sandbox, 99, lambda: Response(body, 500, media_type="application/json"))
    with pytest.raises(InDoubt):
        creates.product({"type": "Product", "sku": "A", "name": "A"})
    assert statuses(sandbox) == [500]


@pytest.mark.parametrize(("status", "kind"), [(409, Busy), (429, Busy), (500, ServiceFailed)])
def test_lasting_trouble_ends_with_its_name(sandbox, creates, status, kind):
    answer_first(sandbox, 99, lambda: failed(status))
    with pytest.raises(kind, match="Please try again later"):
        creates.location_tag(TAG)
    assert len(sandbox.sandbox.requests) == IMPATIENT.attempts


def test_no_answer_after_an_answered_failure_is_in_doubt(sandbox, creates):
    answers = [failed(503), AnswerLost()]
    sandbox.sandbox.intercept = lambda _: answers.pop(0)
    with pytest.raises(InDoubt):
        creates.location_tag(TAG)
    assert not answers


def test_nobody_there_means_that_nothing_was_sent():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with GlobalApi(url, SecretStr("t"), policy=IMPATIENT) as api, pytest.raises(NotSent, match="WMS_BASE_URL"):
        CreatesOfEachKind(api).location_tag(TAG)
    assert api.requests == IMPATIENT.attempts


def test_a_wrong_token_is_final_and_names_the_setting(sandbox):
    wrong = GlobalApi(sandbox.base_url, SecretStr("planted-secret"), policy=IMPATIENT, transport=sandbox)
    with wrong as api, pytest.raises(Unauthorized, match="WMS_API_TOKEN") as error:
        CreatesOfEachKind(api).location_tag(TAG)
    assert "planted-secret" not in str(error.value)
    assert statuses(sandbox) == [401]


@pytest.mark.parametrize(
    ("status", "leads_to"),
    [(307, "http://127.0.0.2/"), (302, "/login?next=/api/global/v1/inventory/location-tags/7"), (302, "http://x[/y"),
     (308, "/api/global/v1/inventory/location-tags/7"), (301, "https://127.0.0.1/api/global/v1/inventory/location-tags")],
)  # fmt: skip
def test_a_redirect_is_refused(sandbox, creates, status, leads_to):
    answer_first(sandbox, 1, lambda: Response("", status, headers={"Location": leads_to}))
    with pytest.raises(RedirectRefused):
        creates.location_tag(TAG)


@pytest.mark.parametrize("leads_to", ["/api/global/v1/inventory/location-tags/7", "location-tags/7?fields=all"])
def test_a_create_that_is_answered_by_the_address_of_something_below_may_have_been_done(sandbox, creates, leads_to):
    answer_first(sandbox, 1, lambda: Response("", 302, headers={"Location": leads_to}))
    with pytest.raises(InDoubt, match="A 302 can also mean that the create was done"):
        creates.location_tag(TAG)


def test_a_create_that_is_answered_see_other_may_have_been_done(sandbox, creates):
    answer_first(sandbox, 1, lambda: Response("", 303, {"Location": "/elsewhere"}))
    with pytest.raises(InDoubt, match="answered 303"):
        creates.location_tag(TAG)
    assert statuses(sandbox) == [303]


def test_a_body_that_breaks_a_rule_is_refused_with_the_offending_keys(sandbox, creates):
    with pytest.raises(Rejected) as error:
        creates.location_tag({"name": "x" * 231, "color": "pink1", "odd": 1})
    assert error.value.status == 400
    assert {problem.key for problem in error.value.problems} == {"name", "color", "odd"}
    assert {problem.type for problem in error.value.problems} == {"parameters"}
    assert all(problem.message in str(error.value) for problem in error.value.problems)
    assert not sandbox.sandbox.location_tags()


@pytest.mark.parametrize("status", [400, 422])
@pytest.mark.parametrize("type_", ["parser", "parameters", "openapi", "application", "unable_to_process", "new one"])
def test_every_type_of_error_is_read(sandbox, creates, status, type_):
    errors = [{"type": type_, "message": "Not so."}, {"type": type_, "message": "-", "details": [{"key": "a.b"}]}]
    answer_first(sandbox, 1, lambda: JSONResponse({"errors": errors}, status))
    with pytest.raises(Rejected, match=r"Not so\.") as error:
        creates.location_tag(TAG)
    assert error.value.problems == (Problem(type_, "", "Not so."), Problem(type_, "a.b", ""))
    assert error.value.status == status


@pytest.mark.parametrize("status", [400, 404, 405, 413, 422])
def test_a_refusal_without_a_readable_reason_is_a_refusal(sandbox, creates, status):
    answer_first(sandbox, 1, lambda: Response("<html>", status))
    with pytest.raises(Rejected, match=f"answered {status}: no reason given") as error:
        creates.location_tag(TAG)
    assert error.value.problems == ()
    assert ("WMS_BASE_URL" in str(error.value)) == (status in {404, 405})
    assert statuses(sandbox) == [status]


@pytest.mark.parametrize(
    ("body", "keys", "said"),
    [
        (
            {"type": "https://e.org/invalid", "title": "Invalid", "detail": "No room.", "status": 422,
             "errors": {"name": ["is too long", "is odd"]}},
            ["", "name", "name"],
            "Invalid: No room.; name: is too long; name: is odd.",
        ),
        ({"title": "Invalid", "invalid-params": [{"name": "name", "reason": "is odd"}]}, ["", "name"],
         "Invalid; name: is odd."),
        ({"message": "%fieldName must not be %1.", "parameters": {"fieldName": "name"}, "trace": "#0 /var/www"}, [""],
         "name must not be %1."),
        ({"message": "Not %1.", "parameters": ["red", 5]}, [""], "Not red. (2: 5)."),
        ({"message": "Not valid.", "parameters": {"name": "too long"}}, [""], "Not valid. (name: too long)."),
        ({"errors": {"name": ["is odd"], "items": [{"color": "is no color"}]}}, ["name", "items.color"],
         "name: is odd; items.color: is no color."),
        ({"errors": ["The name is odd.", "So is the color."]}, ["", ""], "The name is odd.; So is the color."),
        ({"errors": [{"status": "422", "detail": "is odd", "source": {"pointer": "/name"}}]}, [""], "is odd."),
        ({"errors": [{"field": "name", "message": "is odd"}]}, ["name"], "name: is odd."),
        ({"messages": {"error": [{"code": 422, "message": "Odd name."}]}}, [""], "Odd name."),
        ({"error": "The name is odd."}, [""], "The name is odd."),
        ({"error": {"code": 6}, "success": False}, [], "error.code: 6; success: False."),
        ("The name is odd", [""], "The name is odd."),
    ],
)  # fmt: skip
def test_a_refusal_in_another_form_says_what_its_body_says(sandbox, creates, body, keys, said):
    """It said that no reason was given."""
    answer_first(sandbox, 1, lambda: JSONResponse(body, 422))
    with pytest.raises(Rejected) as error:
        creates.location_tag(TAG)
    assert str(error.value).endswith(f"answered 422: {said}")
    assert [problem.key for problem in error.value.problems] == keys


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("The name is odd", "The name is odd."),
        ("<html><head><style>p {}</style></head><body><p>Odd&nbsp;&amp; long</p></body></html>", "Odd & long."),
        ("<?xml version='1.0'?><Error><Message>Odd name</Message></Error>", "Odd name."),
        ("Odd\x00\x1b\u202e name\r\nAccess granted", "Odd name Access granted."),
        ("", "no reason given."),
    ],
)
def test_a_refusal_that_is_a_text_says_it_in_one_clean_line(sandbox, creates, body, said):
    answer_first(sandbox, 1, lambda: Response(body.encode(), 422))
    with pytest.raises(Rejected) as error:
        creates.location_tag(TAG)
    assert str(error.value).endswith(f"answered 422: {said}")
    assert error.value.problems == ()


@pytest.mark.parametrize(
    "body",
    ["x" * 5000, json.dumps({"message": "x" * 5000}), json.dumps({"errors": {f"k{at}": "x" * 50 for at in range(99)}})],
)
def test_no_more_than_300_characters_of_another_form_are_shown(sandbox, creates, body):
    answer_first(sandbox, 1, lambda: Response(body, 422))
    with pytest.raises(Rejected) as error:
        creates.location_tag(TAG)
    assert len(str(error.value).partition("answered 422: ")[2]) == 300


def test_the_services_own_form_is_shown_whole_and_clean(sandbox, creates):
    details = [{"key": f"key{at}", "message": "is <carrier>_<SERVICE>\x07"} for at in range(30)]
    errors = {"errors": [{"type": "parameters", "message": "No.", "details": details}]}
    answer_first(sandbox, 1, lambda: JSONResponse(errors, 422))
    with pytest.raises(Rejected, match="key29: is <carrier>_<SERVICE>") as error:
        creates.location_tag(TAG)
    assert str(error.value).isprintable()


@pytest.mark.parametrize("status", [200, 403, 422, 500])
@pytest.mark.parametrize(
    "body",
    [
        {"title": "Bearer sandbox-token was refused."},
        {"debug": {"headers": ["sandbox-token"]}},
        {"errors": {"sandbox-token": ["sandbox-token"]}},
        "<html><p>sandbox-&#116;oken</p></html>",
        "sandbox-token" * 100,
    ],
)
def test_no_form_of_an_answer_shows_the_token(sandbox, creates, body, status):
    text = body if isinstance(body, str) else json.dumps(body)
    answer_first(sandbox, 1, lambda: Response(text, status))
    with pytest.raises(ApiError, match=r"\(withheld\)") as error:
        creates.location_tag(TAG)
    assert "sandbox-token" not in str(error.value)


def test_a_name_in_use_is_recognised_in_another_form(sandbox, creates):
    answer_first(sandbox, 1, lambda: JSONResponse({"errors": {"name": ["has already been taken"]}}, 422))
    with pytest.raises(Rejected) as error:
        creates.location_tag(TAG)
    assert already_in_use(error.value, "name", "Fragile")
    assert not already_in_use(error.value, "code", "Fragile")


def test_a_name_in_use_is_recognised(creates):
    creates.location_tag(TAG)
    creates.retailer({"code": "acme", "name": "ACME"})
    with pytest.raises(Rejected) as tag:
        creates.location_tag(TAG)
    with pytest.raises(Rejected) as retailer:
        creates.retailer({"code": "acme", "name": "Other"})
    assert already_in_use(tag.value, "name", "Fragile")
    assert already_in_use(retailer.value, "code", "acme")
    assert not already_in_use(retailer.value, "name", "Other")


@pytest.mark.parametrize(
    ("key", "message", "in_use"),
    [
        ("name", "The name is already in use.", True),
        ("name", "A location tag with this name exists.", True),
        ("/name", "must be unique", True),
        ("resource.name", "Duplicate value.", True),
        ("name", "Has been taken.", True),
        ("", "A live record with this name already exists.", True),
        ("", "Duplicate entry 'Fragile' for key 'UNQ_TAG'", True),
        ("", "A record like this already exists.", False),
        ("", "Another request with this name is already being processed.", False),
        ("name", "Does not exist.", False),
        ("name", "A tag family of this name doesn't exist.", False),
        ("name", "A tag family of this name doesn’t exist.", False),
        ("name", "The family of this name no longer exists.", False),
        ("name", "Must have at most 230 characters.", False),
        ("color", "is already in use", False),
        ("", "The name is already in use.", True),
        ("", "There was an error processing the request.", False),
        ("username", "is already in use", False),
    ],
)
def test_in_use_is_said_of_the_key_itself(key, message, in_use):
    refusal = Rejected("no", status=422, problems=(Problem("unable_to_process", key, message),))
    assert already_in_use(refusal, "name", "Fragile") is in_use


@pytest.mark.parametrize(
    ("code", "message", "in_use"),
    [
        ("A", "A retailer with this name already exists.", False),
        ("this", "A retailer with this name already exists.", False),
        ("Retailer", "A retailer with this name already exists.", False),
        ("A", "A retailer 'A' already exists.", True),
        ("acme", "A retailer “ACME” already exists.", True),
        ("ACME", "Retailer ACME already exists.", True),
        ("acme-1", "Retailer acme-1 already exists.", True),
        ("acme-1", "Retailer acme-12 already exists.", False),
    ],
)
def test_a_sentence_names_a_value_only_where_that_could_be_no_word_of_it(code, message, in_use):
    refusal = Rejected("no", status=422, problems=(Problem("unable_to_process", "", message),))
    assert already_in_use(refusal, "code", code) is in_use


def test_a_409_that_names_the_key_is_a_refusal_and_not_too_many_requests(sandbox, creates):
    body = {"errors": [{"type": "conflict", "message": "no", "details": [{"key": "name", "message": "in use"}]}]}
    answer_first(sandbox, 99, lambda: JSONResponse(body, 409))
    with pytest.raises(Rejected) as error:
        creates.location_tag(TAG)
    assert already_in_use(error.value, "name", "Fragile")
    assert len(sandbox.sandbox.requests) == 1


@pytest.mark.parametrize(
    ("message", "headers", "kind"),
    [
        ("A location tag with this name already exists.", {}, Rejected),
        ("The request conflicts with the state of the resource.", {}, Rejected),
        ("Too many concurrent requests.", {}, Busy),
        ("The record is locked.", {}, Busy),
        ("The name is already in use by a request that is in progress.", {}, Busy),
        ("Conflict.", {"Retry_After": "0.01"}, Busy),
        (None, {}, Busy),
    ],
)
def test_a_409_is_busy_or_a_refusal_by_what_it_says(sandbox, creates, message, headers, kind):
    answer_first(sandbox, 99, lambda: Response("", 409) if message is None else failed(409, message, **headers))
    with pytest.raises(kind):
        creates.location_tag(TAG)
    assert len(sandbox.sandbox.requests) == (1 if kind is Rejected else IMPATIENT.attempts)


def test_the_body_is_json_and_the_token_goes_along(sandbox, api):
    seen: list[Request] = []

    def look(request: Request) -> None:
        seen.append(request)

    sandbox.sandbox.intercept = look
    api.post(f"{ROOT}{LOCATION_TAGS.endpoint}", TAG)
    [request] = seen
    assert request.headers["authorization"] == "Bearer sandbox-token"
    assert request.headers["content-type"] == "application/json"
    assert not request.query_params


def test_numbers_are_sent_as_they_are(sandbox, creates):
    money = {"amount": 0.1, "currency": "USD"}
    creates.product({"type": "Product", "sku": "A", "name": "A", "export": {"customs_value": money}})
    assert json.dumps(sandbox.sandbox.products()[0]["export"]["customs_value"]["amount"]) == "0.1"
