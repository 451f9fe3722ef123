"""Creates against the sandbox on a socket: what counts as done, as refused, as not done and as in doubt."""

import json

import pytest
from starlette.responses import JSONResponse, Response

from tests.bench import IMPATIENT
from tests.service.test_client import TOKEN, answer_first, client
from wms_sandbox.errors import failed
from wms_sandbox.faults import IN_ITS_PLACE, AnswerLost, Disconnect, ProxyAnswer, Truncated, in_its_place
from wms_sync.master_data.kinds import LOCATION_TAGS
from wms_sync.service.creates import already_in_use, send_create
from wms_sync.service.errors import (
    ApiError,
    Busy,
    InDoubt,
    Problem,
    RedirectRefused,
    Rejected,
    ServiceFailed,
    Unauthorized,
)


@pytest.fixture
def create(sandbox):
    """Create a location tag."""
    with client(sandbox, TOKEN) as api:
        yield lambda: send_create(api, LOCATION_TAGS.endpoint, {"name": "Fragile", "color": "red1"})


NAME = "/api/global/v1/inventory/location-tags"
DEEP = b"[" * 3000 + b"]" * 3000
FIVE = b'{"resource": {"type": "LocationTag", "id": 5}}'


def resource(id_: object, status: int = 201, **more: object) -> Response:
    return JSONResponse({"resource": {"type": "LocationTag", "id": id_, **more}}, status)


def json_of(body: bytes, status: int = 201) -> Response:
    return Response(body, status, media_type="application/json")


@pytest.mark.parametrize(
    ("answer", "id_", "warnings"),
    [
        # answer, the id that it names, what it warns of unless that does not matter
        *((resource(5, status), 5, ()) for status in (200, 201, 202)),
        (resource(5, warnings=["one", {"odd": 3}]), 5, ("one", "{'odd': 3}")),
        *((resource(5, warnings=warnings), 5, ()) for warnings in ("text", None)),
        *((resource(id_), int(id_), ()) for id_ in ("901", "0901", 2**63 - 1)),
        *((resource(id_), None, ()) for id_ in ("９", "-1", 0, "9" * 5000, 2**63)),
        *(
            (json_of(body, status), None, ())
            for body in (b"", b"{", b"[]", b"{}", b'{"resource": {}}', b'{"resource": {"id": "x"}}', b"\xff")
            for status in (200, 201)
        ),
        (json_of(b"\xef\xbb\xbf" + FIVE), 5, ()),
        (json_of(b'{"resource": {"id": 5, "warnings": %s}}' % DEEP), 5, None),
        (json_of(b'{"a": %s, "resource": {"id": 5}}' % DEEP), 5, ()),
        (Truncated(b'{"resource": {"id": 1}}', 201, media_type="application/json"), None, ()),
        # each create of such a service was in doubt, and three ended a push of products
        *((Response(FIVE, media_type=kind), 5, ()) for kind in ("text/html; charset=UTF-8", "application/JSON", None)),
    ],
)
def test_what_counts_as_done(sandbox, create, answer, id_, warnings):
    answer_first(sandbox, 1, lambda: answer)
    created, requests = create(), len(sandbox.sandbox.requests)
    assert (created.id, created.warnings, requests) == (id_, created.warnings if warnings is None else warnings, 1)


@pytest.mark.parametrize(
    ("answer", "keys", "says"),
    [
        # the answer, the keys that are named, what is said
        *(
            (JSONResponse(body, 422), [], said)
            for body, said in (
                ({"title": "Invalid", "errors": {"name": ["is odd"]}}, "title: Invalid; errors.name: is odd."),
                ({"errors": [{"field": "name", "message": "is odd"}]}, "errors.field: name; errors.message: is odd."),
                ({"error": "The name is odd."}, "error: The name is odd."),
                ({"error": {"code": 6}, "success": False}, "error.code: 6; success: False."),
                ("The name is odd", "The name is odd."),
            )
        ),
        *(
            (Response(body.encode(), 422), [], said)
            for body, said in (
                ("The name is odd", "The name is odd."),
                ("<html><head><style>p {}</style></head><body><p>Odd&nbsp;&amp; long</p></body></html>", "Odd & long."),
                ("<?xml version='1.0'?><Error><Message>Odd name</Message></Error>", "Odd name."),
                ("Odd\x00\x1b\u202e name\r\nAccess granted", "Odd name Access granted."),
                ("", "no reason given."),
            )
        ),
        *(
            (
                json_of(
                    b'\xef\xbb\xbf{"errors": [{"type": "application", "message": "No room."}], "trace": %s}' % trace,
                    422,
                ),
                [""],
                "No room.",
            )
            for trace in (b"0", DEEP)
        ),
        *((Response("<html>", status), [], "no reason given.") for status in (400, 413, 422)),
        # another form is cut
        (JSONResponse({"message": "x" * 5000}, 422), [], f"message: {'x' * 290}…"),
        # the service's own is shown whole
        (
            JSONResponse(
                {
                    "errors": [
                        {"type": "parser", "message": "Not so."},
                        {
                            "type": "new",
                            "message": "-",
                            "details": [
                                {"key": f"key{at}", "message": "is <carrier>_<SERVICE>\x07"} for at in range(30)
                            ],
                        },
                    ]
                },
                422,
            ),
            ["", *(f"key{at}" for at in range(30))],
            "Not so.; " + "; ".join(f"key{at}: is <carrier>_<SERVICE>" for at in range(30)) + ".",
        ),
        *(
            (Response("<html>", status), [], "no reason given. Check that WMS_BASE_URL is the address of the instance.")
            for status in (404, 405)
        ),
    ],
)
def test_a_refusal_is_shown(sandbox, create, answer, keys, says):
    answer_first(sandbox, 1, lambda: answer)
    with pytest.raises(Rejected) as error:
        create()
    _, _, said = str(error.value).partition(f"answered {answer.status_code}: ")
    named = [problem.key for problem in error.value.problems]
    assert (said, named, len(sandbox.sandbox.requests)) == (says, keys, 1)


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
def test_no_form_of_an_answer_shows_the_token(sandbox, create, body, status):
    answer_first(sandbox, 1, lambda: Response(body if isinstance(body, str) else json.dumps(body), status))
    with pytest.raises(ApiError, match=r"\(withheld\)") as error:
        create()
    assert "sandbox-token" not in str(error.value)


@pytest.mark.parametrize(
    ("field", "value", "key", "message", "in_use"),
    [
        ("name", "Fragile", "name", "The name is already in use.", True),
        ("name", "Fragile", "name", "A location tag with this name exists.", True),
        ("name", "Fragile", "/name", "must be unique", True),
        ("name", "Fragile", "resource.name", "Duplicate value.", True),
        ("name", "Fragile", "name", "Has been taken.", True),
        ("name", "Fragile", "", "A live record with this name already exists.", True),
        ("name", "Fragile", "", "Duplicate entry 'Fragile' for key 'UNQ_TAG'", True),
        ("name", "Fragile", "", "The name is already in use.", True),
        ("name", "Fragile", "", "A record like this already exists.", False),
        ("name", "Fragile", "", "Another request with this name is already being processed.", False),
        ("name", "Fragile", "", "There was an error processing the request.", False),
        ("name", "Fragile", "name", "Does not exist.", False),
        ("name", "Fragile", "name", "A tag family of this name doesn't exist.", False),
        ("name", "Fragile", "name", "A tag family of this name doesn’t exist.", False),
        ("name", "Fragile", "name", "The family of this name no longer exists.", False),
        ("name", "Fragile", "name", "Must have at most 230 characters.", False),
        ("name", "Fragile", "color", "is already in use", False),
        ("name", "Fragile", "username", "is already in use", False),
        # a sentence names a value only where that could be no word of it
        ("code", "A", "", "A retailer with this name already exists.", False),
        ("code", "this", "", "A retailer with this name already exists.", False),
        ("code", "Retailer", "", "A retailer with this name already exists.", False),
        ("code", "A", "", "A retailer 'A' already exists.", True),
        ("code", "acme", "", "A retailer “ACME” already exists.", True),
        ("code", "ACME", "", "Retailer ACME already exists.", True),
        ("code", "acme-1", "", "Retailer acme-1 already exists.", True),
        ("code", "acme-1", "", "Retailer acme-12 already exists.", False),
    ],
)
def test_in_use_is_said_of_the_key_itself(field, value, key, message, in_use):
    refusal = Rejected("no", status=422, problems=(Problem("unable_to_process", key, message),))
    assert already_in_use(refusal, field, value) is in_use


IN_DOUBT: list[tuple[str, Response, str]] = [
    # what answers, its answer, what is said of it
    ("nobody", Disconnect(), "sent but not answered"),
    ("nobody, though it was done", AnswerLost(), "sent but not answered"),
    *(
        (
            f"a proxy with {status}, though it was done",
            ProxyAnswer(status),
            f"answered {status}.*may have taken effect",
        )
        for status in (304, 408, 500, 502, 503, 504)
    ),
    # a 403 of a firewall counted as a wrong token, so that nothing had been done
    *((name, in_its_place(name, done=False), "maintenance|Blocked") for name in IN_ITS_PLACE),
    *((f"{name}, though it was done", in_its_place(name, done=True), "maintenance|Blocked") for name in IN_ITS_PLACE),
    # a page that was called JSON counted as a create that was done
    *(
        (
            f"a page of {kind}",
            Response("<html>please log in</html>", 200, media_type=kind),
            r"It says: please log in\..*WMS_BASE_URL",
        )
        for kind in ("text/html", "application/json")
    ),
    *(
        (f"a {status} with errors", JSONResponse(body, status), said)
        for status in (200, 201)
        for body, said in (
            ({"errors": [{"type": "unable_to_process", "message": "No room."}]}, "No room."),
            ({"resource": None, "errors": ["odd"]}, "odd"),
            ({"error": {"code": 6}}, "error.code: 6"),
            ({"errors": [[]]}, "no readable reason"),
        )
    ),
    # these were taken for done and never sent again, though nothing may have been created
    *(
        (f"a {status} of something else", JSONResponse(body, status), said)
        for status, body, said in (
            (200, {"success": False, "message": "The name is not allowed."}, "200.*The name is not allowed"),
            (200, {"status": "error", "resource": None}, "200.*error"),
            (207, {"results": [{"status": 422}]}, "207.*422"),
            (200, ["In maintenance"], "200.*In maintenance"),
            (200, "In maintenance", "200.*In maintenance"),
            (202, {"queued": True}, "202"),
            (202, {}, "202"),
            (202, {"resource": {"type": "LocationTag"}}, "202"),
        )
    ),
    *(
        ("a failure in other words", json_of(body, 500), "answered 500")
        for body in (
            b"",
            b"{}",
            b'{"message": "Endpoint request timed out"}',
            b'{"errors": []}',
            b'{"errors": [{"message": "upstream timed out"}]}',
            b'{"errors": [{"type": "appl',
        )
    ),
    *(
        (
            "the address of something below",
            Response("", 302, {"Location": to}),
            "A 302 can also mean that the request",
        )
        for to in (f"{NAME}/7", "location-tags/7?fields=all")
    ),
    ("see other", Response("", 303, {"Location": "/elsewhere"}), "answered 303"),
]
WITHOUT_EFFECT: list[tuple[Response, type[ApiError], str]] = [
    # what answers every request, the error, what it says
    (failed(403, "Not for this token."), Unauthorized, r"WMS_API_TOKEN.*Not for this token\."),
    *(
        (Response("", status, headers={"Location": to}), RedirectRefused, "WMS_BASE_URL")
        for status, to in (
            (307, "http://127.0.0.2/"),
            (302, f"/login?next={NAME}/7"),
            (302, "http://x[/y"),
            (308, f"{NAME}/7"),
            (301, f"https://127.0.0.1{NAME}"),
        )
    ),
    # the service says so itself that nothing was done; too many requests need no word
    *((failed(status), Busy, "Please try again later") for status in (409, 429)),
    *((failed(status), ServiceFailed, "Please try again later") for status in (408, 500, 502, 503)),
    *((Response("<html>trouble</html>", status), Busy, str(status)) for status in (409, 429)),
    # a 409 is too many requests, or a refusal by what it says
    (
        JSONResponse(
            {"errors": [{"type": "conflict", "message": "no", "details": [{"key": "name", "message": "in use"}]}]},
            409,
        ),
        Rejected,
        "name: in use",
    ),
    (failed(409, "A location tag with this name already exists."), Rejected, "already exists"),
    (failed(409, "The request conflicts with the state of the resource."), Rejected, "conflicts"),
    (failed(409, "Too many concurrent requests."), Busy, "concurrent"),
    (failed(409, "The record is locked."), Busy, "locked"),
    (failed(409, "The name is already in use by a request that is in progress."), Busy, "in progress"),
    (failed(409, "Conflict.", Retry_After="0.01"), Busy, "Conflict"),
    (Response("", 409), Busy, "409"),
]


@pytest.mark.parametrize(
    ("answer", "error", "says", "is_done"),
    [
        *((answer, InDoubt, says, what.endswith("it was done")) for what, answer, says in IN_DOUBT),
        *((answer, error, says, False) for answer, error, says in WITHOUT_EFFECT),
    ],
)
def test_what_is_in_doubt_or_without_effect(sandbox, create, answer, error, says, is_done):
    """What is in doubt is sent once."""
    answer_first(sandbox, 99, lambda: answer)
    with pytest.raises(error, match=says):
        create()
    times = IMPATIENT.attempts if issubclass(error, Busy | ServiceFailed) else 1
    assert (len(sandbox.sandbox.requests), len(sandbox.sandbox.location_tags())) == (times, is_done)
