"""Pushing files to the sandbox: what is sent, what is not, what is said, and what a second push finds."""

import asyncio
import codecs
import csv
import os
import re
import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest
from msgspec import structs
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.bench import let_pass, queried, store_at
from tests.master_data.conftest import MERCHANT
from tests.master_data.files import SAMPLES, write
from tests.sql.scenario import insert
from tests.survival.moments import watched
from tests.survival.victims import INTEND
from wms_sandbox.errors import failed
from wms_sandbox.faults import AnswerLost, Disconnect, ProxyAnswer
from wms_sync.master_data.apply import GIVE_UP_AFTER, GIVE_UP_BUSY, GIVE_UP_IN_DOUBT, NOT_SENT, PushStopped
from wms_sync.master_data.create import PushProgress
from wms_sync.master_data.csv_file import UnreadableFile
from wms_sync.master_data.kind import Kind
from wms_sync.master_data.kinds import LOCATION_TAGS, PRODUCTS, RETAILERS
from wms_sync.master_data.plan import RowStatus
from wms_sync.master_data.push import TooManyCreates, needs
from wms_sync.runs import failures_of
from wms_sync.service.answers import RetryPolicy
from wms_sync.service.errors import ApiError, Unauthorized
from wms_sync.settings import Settings
from wms_sync.shipments.load.pending import settle_creates
from wms_sync.shipments.load.refresh import refresh
from wms_sync.state.ledger import State
from wms_sync.targets.database import create_empty
from wms_sync.targets.errors import AnotherServiceError

TAGS = LOCATION_TAGS


def outcomes(report) -> dict[str, RowStatus]:
    return {step.key: step.action for step in report.steps}


def test_nothing_is_sent_before_its_intent_is_written(desk):
    """What is written at the same time as it is sent is usually there first, by chance."""
    sent, too_early = threading.Event(), []
    desk.server.sandbox.intercept = lambda _: sent.set()

    def hold(moment: str) -> None:
        if moment == INTEND:
            too_early.append(sent.wait(0.5))

    with watched(hold):
        report = desk.push(TAGS, desk.file("name,color", "Fragile,red1"))
    assert (report.counts, too_early) == ({RowStatus.CREATED: 1}, [False])


def test_rejected_rows_push_once_they_are_corrected(desk):
    """With the delimiter, the names of columns and the texts of the file that was given."""
    text, quoted = 'two\nlines, and | "quotes"', '"two\nlines, and | ""quotes"""'
    path = desk.file("Name;Color ;description", "Fragile;red1;", f"Heavy;pink;{quoted}", "Cold;blu1;00123")
    report, rejects = desk.push(TAGS, path), desk.folder / "data" / "rejects" / "location-tags-given-run1.csv"
    assert (report.counts, report.rejects) == ({RowStatus.CREATED: 1, RowStatus.REJECTED: 2}, rejects)
    assert [*report.lines()][-2:] == [f"Correct the rejected rows in {rejects} and push that file.", report.summary]
    assert rejects.read_bytes().startswith(codecs.BOM_UTF8), "without it Excel takes it for Windows-1252"
    heading, *rows = csv.reader(rejects.read_text("utf-8-sig").splitlines(keepends=True), delimiter=";")
    assert heading == ["_rejected_because", "Name", "Color ", "description"]
    assert [row[1:] for row in rows] == [["Heavy", "pink", text], ["Cold", "blu1", "00123"]]
    assert "Did you mean blue1?" in rows[1][0]

    assert [desk.push(TAGS, given).rejects for given in (path, rejects)] == [rejects, rejects]
    assert [*rejects.parent.iterdir()] == [rejects], "equal files do not pile up"
    write(rejects, ";".join(heading), f";Heavy;blue2;{quoted}", ";Cold;blue1;00123")
    assert desk.push(TAGS, rejects).counts == {RowStatus.CREATED: 2}
    made = {tag["name"]: tag["description"] for tag in desk.server.sandbox.location_tags()}
    assert made == {"Fragile": None, "Heavy": text, "Cold": "00123"}


@pytest.mark.parametrize(
    ("first", "rows"),
    [
        ("sku,name", ("A,Mug", "sku,name")),
        ("sku,name,weight.value", ('A,Mug,"0,5"', "B,Cup,1.234")),
        ("sku,name,barcodes", ("100.0,Mug,", "101.0,Cup,")),
        ("sku,name,barcodes", ("A,Mug,12.0", "B,Cup,13.0")),
        ("sku,name,export.hs_base_code", ("A,Mug,691200.0", "B,Cup,691300.0")),
    ],
)
def test_rejected_rows_stay_rejected_without_the_other_rows(desk, first, rows):
    """Rows that were created are not in the file of rejected rows, but other rows were rejected because of them."""
    desk.push(PRODUCTS, desk.file(first, rows[0]))
    report = desk.push(PRODUCTS, desk.file(first, *rows))
    assert report.counts == {RowStatus.ALREADY_THERE: 1, RowStatus.REJECTED: 1}
    assert desk.push(PRODUCTS, report.rejects).counts == {RowStatus.REJECTED: 1}


def test_a_deleted_tag_is_created_again_when_asked(desk):
    path = desk.file("name,color", "Fragile,red1", "Cold,blue1")
    desk.push(TAGS, path)
    desk.server.sandbox.delete_location_tag(desk.entries()["Fragile"].remote_id)
    assert outcomes(desk.push(TAGS, path, resend=True)) == {
        "Fragile": RowStatus.CREATED,
        "Cold": RowStatus.ALREADY_THERE,
    }
    live = {tag["name"]: tag["id"] for tag in desk.server.sandbox.location_tags() if "Deleted" not in tag["name"]}
    assert {key: entry.remote_id for key, entry in desk.entries().items()} == live


@dataclass(frozen=True)
class Push:
    """What comes instead of the service's answers, one create after the other, and what becomes of the row by it.

    ``creates`` are the statuses of what was sent, as the service's log has them, and ``why`` what the row says. ``row``
    is other content of the same key.
    """

    outcome: RowStatus
    state: State
    answers: tuple[Response | None, ...] = ()
    creates: tuple[int, ...] | None = None
    why: tuple[str, ...] = ()
    resend: bool = False
    row: str | None = None
    settings: dict[str, object] = field(default_factory=dict)


def refused(status: int, message: str, kind: str = "unable_to_process", **details: str) -> Response:
    named = [{"key": key, "message": said} for key, said in details.items()]
    error = {"type": kind, "message": message} | ({"details": named} if named else {})
    return JSONResponse({"errors": [error]}, status)


LOST = AnswerLost()
TAKEN = "A live record with this name already exists."
SAMPLE = failed(422, "There was an error processing the request.")
"""That of the specification: it neither says that the name is taken nor that something else is wrong."""
UNSETTLED = (
    "There was an error processing the request.",
    "pushing again does not settle it",
    "Look for the name in the service",
)
DOUBT = Push(RowStatus.IN_DOUBT, State.DOUBT, (LOST,) * 9)
AGAIN = Push(RowStatus.CREATED, State.CREATED, resend=True)
ROWS = {TAGS: ("name,color", "K,red1"), RETAILERS: ("code,name", "K,one"), PRODUCTS: ("sku,name", "K,P")}

ANSWERED: dict[str, tuple[Kind, list[Push], int]] = {
    # what the service answers: the kind, push after push of one row, and how many the service has in the end
    "503: not done": (
        TAGS,
        [Push(RowStatus.CREATED, State.CREATED, (failed(503, Retry_After="0.01"),), (503, 201))],
        1,
    ),
    "lost, then in use": (
        TAGS,
        [Push(RowStatus.CREATED, State.CREATED, (LOST,), (201, 422), ("the first one was created",))],
        1,
    ),
    "lost, then in use without details": (
        TAGS,
        [Push(RowStatus.CREATED, State.CREATED, (LOST, refused(409, TAKEN)), (201, 409))],
        1,
    ),
    "done, and a proxy's word": (RETAILERS, [Push(RowStatus.CREATED, State.CREATED, (ProxyAnswer(),), (504, 422))], 1),
    "not done, and a proxy's word": (
        RETAILERS,
        [Push(RowStatus.CREATED, State.CREATED, (Response("<html>", 503, {"Retry-After": "0.01"}),), (503, 201))],
        1,
    ),
    "lost, and failures ever since": (TAGS, [DOUBT, replace(DOUBT, answers=(failed(503),) * 9)], 1),
    "lost each time, and settled by the next push": (
        TAGS,
        [
            DOUBT,
            Push(RowStatus.CREATED, State.CREATED, (), (422,)),
            Push(RowStatus.ALREADY_THERE, State.CREATED, (), ()),
        ],
        1,
    ),
    "lost each time, and sent by a person": (TAGS, [DOUBT, AGAIN], 1),
    "lost, then refused without a reason": (
        TAGS,
        [
            Push(RowStatus.IN_DOUBT, State.UNPROVEN, (LOST, SAMPLE), (201, 422), UNSETTLED),
            Push(RowStatus.IN_DOUBT, State.UNPROVEN, (SAMPLE,), (422,), UNSETTLED),
            Push(RowStatus.REJECTED, State.REFUSED, (SAMPLE,), (422,), resend=True),
        ],
        1,
    ),
    "lost, then refused without a reason, and found": (
        RETAILERS,
        [Push(RowStatus.CREATED, State.CREATED, (LOST, SAMPLE), (201, 422), settings=MERCHANT)],
        1,
    ),
    "lost, then refused without a reason, and found later": (
        RETAILERS,
        [
            Push(RowStatus.IN_DOUBT, State.UNPROVEN, (LOST, SAMPLE), (201, 422), ("WMS_MERCHANT_USERNAME",)),
            Push(RowStatus.ALREADY_THERE, State.CREATED, settings=MERCHANT),
        ],
        1,
    ),
    "lost, then refused for another key": (
        TAGS,
        [DOUBT, Push(RowStatus.REJECTED, State.REFUSED, (refused(422, "No.", "parameters", color="Not red."),))],
        1,
    ),
    "lost, then other content refused for another key": (
        TAGS,
        [
            DOUBT,
            Push(RowStatus.IN_DOUBT, State.UNPROVEN, (refused(422, "No.", color="Not red."),), (422,), row="K,red2"),
        ],
        1,
    ),
    "lost, then another key in use, maybe by the first": (
        RETAILERS,
        [Push(RowStatus.IN_DOUBT, State.UNPROVEN, (LOST, refused(422, "No.", name="is already in use")))],
        1,
    ),
    "409: in use": (
        TAGS,
        [
            Push(
                RowStatus.ALREADY_THERE,
                State.EXISTS,
                (refused(409, TAKEN),),
                (409,),
                (f"The service already had it: {TAKEN}",),
            )
        ],
        0,
    ),
    "409 each time: busy": (
        TAGS,
        [Push(RowStatus.UNSENT, State.UNDONE, (failed(409),) * 9, None, ("answered 409: Please try again later.",))],
        0,
    ),
    "a product, done, and a proxy's word": (
        PRODUCTS,
        [
            replace(DOUBT, answers=(ProxyAnswer(504),), creates=(504,), why=("answered 504", "--resend")),
            Push(RowStatus.IN_DOUBT, State.DOUBT, why=("--resend",), creates=()),
        ],
        1,
    ),
    "a product, lost, and found later": (
        PRODUCTS,
        [
            replace(DOUBT, creates=(201,)),
            Push(RowStatus.ALREADY_THERE, State.CREATED, creates=(), settings=MERCHANT),
        ],
        1,
    ),
    "a product, lost, and its sku in use": (
        PRODUCTS,
        [replace(DOUBT, creates=(201,)), replace(AGAIN, answers=(refused(422, "No.", sku="is already in use"),))],
        1,
    ),
    "a product, no connection, and not found later": (
        PRODUCTS,
        [
            replace(DOUBT, answers=(Disconnect(),)),
            Push(RowStatus.IN_DOUBT, State.DOUBT, creates=(), settings=MERCHANT),
        ],
        0,
    ),
    "a product, no connection, and sent by a person": (
        PRODUCTS,
        [
            replace(DOUBT, answers=(Disconnect(),)),
            replace(AGAIN, creates=(201,)),
            Push(RowStatus.ALREADY_THERE, State.CREATED, creates=(), resend=True),
        ],
        1,
    ),
}


@pytest.mark.parametrize(("kind", "pushes", "made"), ANSWERED.values(), ids=ANSWERED)
def test_what_an_answer_makes_of_a_row(desk, kind, pushes, made):
    columns, row = ROWS[kind]
    for push in pushes:
        path = desk.file(columns, push.row or row)
        sent = len(desk.creates)
        desk.answers(*push.answers)
        desk.set(**push.settings)
        report = desk.push(kind, path, resend=push.resend)
        [told], entry = report.rows(), desk.entries()["K"]
        assert (report.counts, entry.state) == ({push.outcome: 1}, push.state)
        assert push.creates is None or tuple(desk.creates[sent:]) == push.creates
        assert [words for words in push.why if words not in told["why"]] == []
        assert (report.rejects is not None) == (push.outcome is RowStatus.REJECTED)
        is_open = push.outcome is RowStatus.UNSENT or (push.state is State.DOUBT and kind is not PRODUCTS)
        assert [file.unsent for file in desk.unfinished() if file.unsent] == [1] * is_open, "sending again settles it"
        if push.outcome is not RowStatus.UNSENT:
            assert report.exit_code == (0 if push.outcome in {RowStatus.CREATED, RowStatus.ALREADY_THERE} else 3)
    there = {TAGS: "location_tags", RETAILERS: "retailers", PRODUCTS: "products"}[kind]
    assert len(getattr(desk.server.sandbox, there)()) == made


@pytest.mark.parametrize("kind", ROWS)
def test_a_push_of_the_first_rows_leaves_the_rest_to_the_next(desk, kind):
    """All are too many. Rows that the service has do not count. Nothing is sent twice, whatever the order of pushes."""
    column, row = ROWS[kind]
    rows = [row.replace("K", key, 1) for key in "abcde"]
    desk.push(kind, desk.file(column, rows[0]))
    path = desk.file(column, *rows)
    desk.set(push_limit=3)
    with pytest.raises(TooManyCreates):
        desk.push(kind, path)
    [file] = desk.unfinished()
    assert (file.unsent, "raise WMS_PUSH_LIMIT" in needs(desk.settings, file)) == (4, True)
    for limit, created, left in ((1, "b", 3), (2, "cd", 1), (None, "e", 0), (1, "", 0)):
        report = desk.push(kind, path, limit=limit)
        assert [key for key, outcome in outcomes(report).items() if outcome is RowStatus.CREATED] == [*created]
        assert (len(report.left), report.exit_code, [*failures_of(report)]) == (left, 0, [])
        assert [file.unsent for file in desk.unfinished()] == [left] * bool(left)
    assert (desk.creates, {entry.state for entry in desk.entries().values()}) == ([201] * 5, {State.CREATED})


CREATED, THERE, WAITS, LEFT = RowStatus.CREATED, RowStatus.ALREADY_THERE, RowStatus.WAITS, RowStatus.LEFT
SAME = JSONResponse({"resource": {"type": "Retailer", "id": 77}}, 201)
OTHERWISE = JSONResponse({"resource": {"type": "Retailer", "id": 104, "name": "ROOT"}}, 201)
TREE = ("root,Root,", "leaf,Leaf,root", "tip,Tip,leaf")


@dataclass(frozen=True)
class Step:
    """A push of retailers: what becomes of the rows, what comes instead of the first answers, and what is said."""

    rows: tuple[str, ...]
    becomes: dict[str, RowStatus]
    answers: tuple[Response, ...] = ()
    says: tuple[str, ...] = ()
    limit: int | None = None
    settings: dict[str, object] = field(default_factory=dict)
    stopped: str = ""


FAMILIES: dict[str, list[Step]] = {
    "one bad row stops only its children": [
        Step(
            ("a,A,", "b,B,a", "c,C,b", "d,D,"),
            {**dict.fromkeys("abc", RowStatus.REJECTED), "d": CREATED},
            (refused(422, "Not today.", "application"),),
            ("Refused by the service: Not today.",),
        ),
        Step(("a,A,", "b,B,a", "c,C,b", "d,D,"), {**dict.fromkeys("abc", CREATED), "d": THERE}),
    ],
    "the first rows are those that others refer to": [
        Step(("c,C,b", "b,B,a", "a,A,"), {"a": CREATED, "b": CREATED, "c": LEFT}, says=("by --limit",), limit=2),
        Step(("c,C,b", "b,B,a", "a,A,"), {"a": THERE, "b": THERE, "c": CREATED}),
    ],
    "a row in doubt counts and stays in doubt": [
        Step(("a,A,", "b,B,"), dict.fromkeys("ab", RowStatus.IN_DOUBT), (Disconnect(),) * 9),
        Step(("a,A,", "b,B,", "c,C,"), {"a": CREATED, "b": RowStatus.IN_DOUBT, "c": LEFT}, limit=1),
        Step(("a,A,", "b,B,", "c,C,"), {"a": THERE, "b": CREATED, "c": CREATED}),
    ],
    "a child waits for the id of its parent": [
        Step(
            TREE,
            {"root": CREATED, "leaf": WAITS, "tip": WAITS},
            (LOST,),
            ("WMS_MERCHANT_USERNAME", "which waits too"),
        ),
        Step(TREE, {"root": THERE, "leaf": WAITS, "tip": WAITS}),
        Step(TREE, {"root": THERE, "leaf": CREATED, "tip": CREATED}, settings=MERCHANT),
        # the id is asked for while pushing
        Step(("oak,Oak,", "twig,Twig,oak"), {"oak": CREATED, "twig": CREATED}, (LOST,)),
    ],
    "a parent that is stored otherwise has its children": [
        Step(TREE[:2], {"root": RowStatus.STORED_OTHERWISE, "leaf": CREATED}, (OTHERWISE,)),
        Step(("root,ROOT,", "leaf,Leaf,root"), {"root": THERE, "leaf": THERE}),
    ],
    # a child would be created below the wrong parent, and the service would not say a word
    "an id that two creates got is nobody's": [
        Step(
            ("a,A,", "b,B,", "below-b,C,b"),
            {"a": CREATED, "b": CREATED, "below-b": RowStatus.UNSENT},
            (SAME, SAME),
            stopped="creates of a and b with the same id 77",
        ),
        Step(("a,A,", "b,B,", "below-b,C,b"), {"a": THERE, "b": THERE, "below-b": WAITS}),
    ],
}


@pytest.mark.parametrize("steps", FAMILIES.values(), ids=FAMILIES)
def test_what_becomes_of_related_rows(desk, steps):
    desk.set(max_parallel_requests=1)
    parents: dict[str, str] = {}
    for step in steps:
        desk.answers(*step.answers)
        desk.set(**step.settings)
        report = desk.push(RETAILERS, desk.file("code,name,parent_retailer_code", *step.rows), limit=step.limit)
        assert outcomes(report) == step.becomes
        said = "\n".join(str(row["why"]) for row in report.rows())
        assert [words for words in step.says if words not in said] == []
        assert step.stopped in str(report.stopped)
        is_well = {*step.becomes.values()} <= {CREATED, THERE, LEFT}
        assert report.exit_code == (1 if step.stopped else 0 if is_well else 3)
        assert (report.rejects is None) == (RowStatus.REJECTED not in step.becomes.values())
        parents |= {row.split(",")[0]: row.split(",")[2] for row in step.rows}
    ids = {key: entry.remote_id for key, entry in desk.entries().items()}
    made = {one["code"]: (one["parent_retailer"] or {}).get("id") for one in desk.server.sandbox.retailers()}
    assert made == {code: ids[parents[code]] if parents[code] else None for code in made}


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (refused(422, "No.", name="is too long"), ["answered 422: name: is too long"]),
        (
            JSONResponse({"resource": {"type": "LocationTag", "id": 7, "name": "Fra", "color": "red1"}}, 201),
            [
                'answer: 201 {"type": "LocationTag", "id": 7, "name": "Fra"',
                'stored otherwise: name: "Fragile" -> "Fra"',
            ],
        ),
        (failed(503), ["answered 503"]),
    ],
)
def test_a_push_of_the_first_rows_shows_what_was_said(desk, answer, shown):
    path = desk.file("name,color", "Fragile,red1")
    desk.answer({"Fragile": answer})
    text = "\n".join(desk.push(TAGS, path, limit=1).lines())
    sent = ('request: POST /v1/inventory/location-tags {"', '"name": "Fragile"')
    assert [words for words in (*sent, *shown) if words not in text] == []
    assert "request:" not in "\n".join(desk.push(TAGS, path).lines())


@pytest.mark.parametrize("answers", [[Disconnect()] * 9, [failed(503)] * 9, [AnswerLost()]])
def test_what_was_there_stays_unless_created_again(desk, answers):
    desk.push(RETAILERS, desk.file("code,name", "A,one"))
    kept = desk.entries()["A"]
    desk.answers(*answers)
    path = desk.file("code,name", "A,two")
    report = desk.push(RETAILERS, path, resend=True)
    assert RowStatus.CREATED not in report.counts
    now = desk.entries()["A"]
    assert structs.replace(now, message=None, run_id="run1", attempts=1, intended_at=kept.intended_at) == kept
    assert now.version > kept.version
    if RowStatus.ALREADY_THERE not in report.counts:
        assert "ush the file again with --resend" in report.rows()[0]["why"]
    changed = desk.push(RETAILERS, path)
    assert (changed.counts, changed.exit_code, changed.rejects) == ({RowStatus.CHANGED: 1}, 3, None)
    assert re.search('name: "one" -> "two".*cannot update', changed.rows()[0]["why"])


ENDS: dict[str, tuple[Kind, Response, type[Exception], int, int, State]] = {
    # what each create is answered: the kind, why the push stops, its exit code, and of what was sent until then fewer
    # rows than how many, and their state
    "401": (TAGS, Response("", 401), Unauthorized, 2, 50, State.UNDONE),
    **{
        str(status): (TAGS, Response("", status, {"Location": "http://127.0.0.2/"}), ApiError, 1, 50, State.UNDONE)
        for status in (302, 404, 405)
    },
    "409": (TAGS, Response("", 409), PushStopped, 1, GIVE_UP_BUSY + 4, State.UNDONE),
    "500": (PRODUCTS, failed(500), PushStopped, 1, GIVE_UP_AFTER + 4, State.UNDONE),
    "500 of a proxy": (PRODUCTS, Response("", 500), PushStopped, 1, GIVE_UP_IN_DOUBT + 4, State.DOUBT),
    "no answer": (PRODUCTS, Disconnect(), PushStopped, 1, GIVE_UP_IN_DOUBT + 4, State.DOUBT),
}


@pytest.mark.parametrize(("kind", "answer", "error", "exit_code", "fewer_than", "state"), ENDS.values(), ids=ENDS)
def test_some_answers_end_the_push(desk, kind, answer, error, exit_code, fewer_than, state):
    """And reject no row."""
    desk.set(max_parallel_requests=2)
    desk.server.sandbox.intercept = lambda _: answer
    header, row = ROWS[kind]
    path = desk.file(header, *(f"{number}{row}" for number in range(50)))
    report = desk.push(kind, path)
    assert (isinstance(report.stopped, error), report.exit_code) == (True, exit_code), report.stopped
    waited = "The client was closed while a request was waiting."  # a row of the other thread
    sent = [entry.state for entry in desk.entries().values() if entry.message not in {NOT_SENT, waited}]
    assert ({*sent}, len(sent) < fewer_than) == ({state}, True)
    doubts = {RowStatus.IN_DOUBT: len(sent)} if state is State.DOUBT else {}
    unsent = 50 - sum(doubts.values())
    assert report.counts == {RowStatus.UNSENT: unsent} | doubts
    desk.server.sandbox.intercept = None
    assert desk.push(kind, path).counts == {RowStatus.CREATED: unsent} | doubts


def test_what_a_push_left_is_remembered_until_done(desk):
    path = desk.file("code,name,parent_retailer_code", "p,P,", "c,C,p", "d,D,")
    desk.answer({"p": failed(429, Retry_After="99"), "d": failed(422, "Not today.")})
    report = desk.push(RETAILERS, path)
    assert report.counts == {RowStatus.REJECTED: 1, RowStatus.WAITS: 1, RowStatus.UNSENT: 1}
    [file] = desk.unfinished()
    assert (file.path, file.unsent, file.waits) == (str(path), 1, 1)
    said, rows = needs(desk.settings, file), "1 row was not sent or not settled, 1 waits for objects that it refers to"
    expected = (rows, "Please try again later.", f"`wms-sync push retailers {path}`")
    assert [words for words in expected if words not in said] == []

    desk.answer({})
    again = desk.push(RETAILERS, path, again=True)
    assert outcomes(again) == {"p": RowStatus.CREATED, "c": RowStatus.CREATED, "d": RowStatus.REJECTED}
    assert "Refused by the service on" in again.rows(RowStatus.REJECTED)[0]["why"]
    assert (again.rejects, report.rejects is None) == (None, False), "they were written before"
    assert [(file.unsent, file.waits, file.rejected) for file in desk.unfinished()] == [(0, 0, 1)]
    assert str(report.rejects) in needs(desk.settings, desk.unfinished()[0])
    assert desk.push(RETAILERS, path).counts == {RowStatus.CREATED: 1, RowStatus.ALREADY_THERE: 2}


def test_nobody_there_leaves_nothing_in_doubt(desk):
    desk.set(base_url="http://127.0.0.1:9")
    assert desk.push(PRODUCTS, desk.file("sku,name", "P1,P"), transport=None).counts == {RowStatus.UNSENT: 1}
    assert desk.entries()["P1"].state is State.UNDONE


@pytest.mark.parametrize(("status", "outcome"), [(429, RowStatus.UNSENT), (503, RowStatus.IN_DOUBT)])
def test_stopping_wakes_what_waits_and_sends_no_more(desk, status, outcome):
    """What was not sent is newer than its intent: a copy of that, which a sync may publish, must make no doubt."""
    desk.set(max_parallel_requests=1)
    desk.answers(SAMPLE)
    desk.push(TAGS, desk.file("name,color", "b,red1"))
    before, stop = desk.entries()["b"], threading.Event()

    def intercept(_: Request) -> Response:
        stop.set()
        return Response("<html>", status, headers={"Retry-After": "30"})

    desk.server.sandbox.intercept = intercept
    report = desk.push(TAGS, desk.file("name,color", "a,red1", "b,red1"), stop=stop, policy=RetryPolicy())
    assert (outcomes(report), report.stopped, desk.creates) == (
        {"a": outcome, "b": RowStatus.UNSENT},
        None,
        [422, status],
    )
    after = desk.entries()["b"]
    assert (after.state, after.version > before.version) == (State.UNDONE, True)


def test_an_interrupt_records_what_became_of_everything(desk):
    path = desk.file("type,sku,name", *(f"Product,P{number},P" for number in range(60)))

    def interrupt(progress: PushProgress) -> None:
        if progress.done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        desk.push(PRODUCTS, path, watcher=interrupt)
    made = {product["sku"] for product in desk.server.sandbox.products()}
    known = {key: entry.state for key, entry in desk.entries().items()}
    assert known == {key: State.CREATED if key in made else State.UNDONE for key in known}
    [file] = desk.unfinished()
    assert (file.unsent, "was killed" in needs(desk.settings, file)) == (60, True)
    path.unlink()
    assert "put it back" in needs(desk.settings, file)


def test_no_more_requests_run_than_allowed(desk):
    running: set[Request] = set()
    counts: set[int] = set()

    async def count(request: Request) -> None:
        running.add(request)
        counts.add(len(running))
        await asyncio.sleep(0.02)
        running.discard(request)

    desk.server.sandbox.intercept = count
    desk.set(max_parallel_requests=3)
    desk.push(TAGS, desk.file("name,color", *(f"tag {number},red1" for number in range(30))))
    assert max(counts) == 3


def test_a_file_whose_name_is_not_utf_8_is_named(desk):
    path = Path(os.fsdecode(os.fsencode(desk.folder) + b"/retailers-M\xfcnchen.csv"))
    for use in (desk.plan, desk.push):
        with pytest.raises(UnreadableFile, match="retailers-M\ufffdnchen\\.csv cannot be read: its name is not UTF-8"):
            use(RETAILERS, path)


def test_a_lost_state_creates_no_product_twice(desk, caplog):
    """After a killed push, which writes no snapshot, an old copy of the state store does not even look like one."""
    first, second = desk.file("sku,name", "P1,One", name="1.csv"), desk.file("sku,name", "P1,One", "P2,Two")
    layout = desk.settings.layout
    old = layout.state.read_bytes()
    assert desk.push(PRODUCTS, first).counts == {RowStatus.CREATED: 1}
    [_, of_the_end] = layout.snapshots()
    (layout.root / of_the_end).unlink()
    layout.state.write_bytes(old)
    with layout.creates.open("ab") as file:  # a kill in the middle of a line: its request was not sent
        file.write(layout.creates.read_bytes()[:100])
    assert desk.push(PRODUCTS, second).counts == {RowStatus.ALREADY_THERE: 1, RowStatus.CREATED: 1}
    assert "damaged" not in caplog.text

    layout.state.write_bytes(old)
    assert desk.plan(PRODUCTS, second).sends == 0
    layout.creates.write_bytes(b"{}\n" + layout.creates.read_bytes())
    layout.state.unlink()
    assert desk.push(PRODUCTS, second).counts == {RowStatus.ALREADY_THERE: 2}
    assert "line 1 of" in caplog.text


@pytest.mark.parametrize(
    "lose",
    [
        Path.unlink,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(re.sub(rb".*P1.*", rb"\0\0", path.read_bytes())),
        lambda path: path.write_bytes(re.sub(rb".*P1.*\n", b"", path.read_bytes())),
    ],
    ids=["deleted", "emptied", "damaged", "an older copy"],
)
def test_after_creates_are_lost_no_product_is_sent_unasked(desk, lose):
    """The service refuses a second retailer by itself; of a product it would make two."""
    retailers, products = desk.file("code,name", "r1,One", name="r.csv"), desk.file("sku,name", "P1,One", name="p.csv")
    for kind, path in ((RETAILERS, retailers), (PRODUCTS, products)):
        assert desk.push(kind, path).counts == {RowStatus.CREATED: 1}
    desk.settings.layout.state.unlink()
    lose(desk.settings.layout.creates)
    assert desk.push(RETAILERS, retailers).counts == {RowStatus.ALREADY_THERE: 1}
    asked = desk.push(PRODUCTS, products)
    assert (asked.counts, desk.creates[:2], 201 in desk.creates[2:]) == ({RowStatus.IN_DOUBT: 1}, [201, 201], False)
    assert "The ledger was restored, and may lack any create. Look for" in asked.steps[0].why
    assert desk.push(PRODUCTS, products, resend=True).counts == {RowStatus.CREATED: 1}
    assert desk.push(PRODUCTS, products).counts == {RowStatus.ALREADY_THERE: 1}


RETAILER = (
    "code,name,status,parent_retailer_id,allowed_shipping_methods,routing_guide_notes,custom_fields.tier",
    'K,Café One,active,12,ups_GROUND|fedex_2DAY,"One\r\ntwo",3',
)
ITEM = (
    "type,sku,name,is_enabled,container_options.weight.value,container_options.allow_for_brand_ids",
    "PackagingContainer,K,Box,yes,1.5,9|10",
)
MUG = ("sku,name,barcodes,custom_fields.season,custom_fields.size", "K,Mug,0123|0456,spring,007")
TAG = ("name,color,description", "Glass only,red4,Zürich")
STORED: dict[str, tuple[Kind, tuple[str, str], dict[str, object], str | None]] = {
    # a row, the values that the answer to its create shows, and the difference that is named
    "a name that was cut": (TAGS, TAG, {"name": "Glass on"}, 'name: "Glass only" -> "Glass on"'),
    "another colour": (TAGS, TAG, {"color": "red1"}, 'color: "red4" -> "red1"'),
    "a letter that was lost": (TAGS, TAG, {"description": "Z?rich"}, 'description: "Zürich" -> "Z?rich"'),
    "a text that was left empty": (TAGS, TAG, {"description": None}, 'description: "Zürich" -> null'),
    "other case": (RETAILERS, RETAILER, {"code": "k"}, 'code: "K" -> "k"'),
    "a sku in other case": (PRODUCTS, MUG, {"sku": "k"}, 'sku: "K" -> "k"'),
    "another parent": (
        RETAILERS,
        RETAILER,
        {"parent_retailer": {"type": "Retailer", "id": 13}},
        "parent_retailer.id: 12 -> 13",
    ),
    "a list that was cut": (
        RETAILERS,
        RETAILER,
        {"allowed_shipping_methods": ["ups_GROUND"]},
        'allowed_shipping_methods: ["ups_GROUND", "fedex_2DAY"] -> ["ups_GROUND"]',
    ),
    "a custom field": (
        RETAILERS,
        RETAILER,
        {"custom_fields": {"tier": {"value": 4}}},
        "custom_fields.tier.value: 3 -> 4",
    ),
    "zeros of a barcode": (PRODUCTS, MUG, {"barcodes": [123, 456]}, 'barcodes: ["0123", "0456"] -> [123, 456]'),
    "custom fields in another shape": (PRODUCTS, MUG, {"custom_fields": ["spring"]}, '-> ["spring"]'),
    "another brand": (
        PRODUCTS,
        ITEM,
        {"container_options": {"allow_for_brands": [{"type": "Merchant", "id": 9}, {"type": "Merchant", "id": 11}]}},
        "container_options.allow_for_brands: [",
    ),
    "a weight that was rounded": (
        PRODUCTS,
        ITEM,
        {"container_options": {"weight": {"value": "2.0", "unit": "lb"}}},
        'container_options.weight.value: 1.5 -> "2.0"',
    ),
    "only written otherwise: a retailer": (
        RETAILERS,
        RETAILER,
        {
            "name": "Cafe\u0301 One ",
            "parent_retailer": {"type": "Retailer", "id": "12", "code": "P"},
            "routing_guide_notes": "One\ntwo",
            "custom_fields": {"tier": {"value": "3", "label": "Three"}, "other": {"value": 1}},
            "legal_name": "",
        },
        None,
    ),
    "only written otherwise: a packaging item": (
        PRODUCTS,
        ITEM,
        {
            "type": "PackagingContainer",
            "is_enabled": 1,
            "container_options": {
                "weight": {"value": "1.50", "unit": "lb"},
                "allow_for_brands": [{"type": "Merchant", "id": "10", "name": "Ten"}, {"type": "Merchant", "id": 9}],
                "volume": None,
            },
        },
        None,
    ),
    "only written otherwise: a product": (
        PRODUCTS,
        MUG,
        {"custom_fields": [{"code": "size", "value": "007"}, {"code": "season", "value": "spring", "label": "Spring"}]},
        None,
    ),
}


@pytest.mark.parametrize(("kind", "lines", "shown", "says"), STORED.values(), ids=STORED)
def test_what_the_service_stores_otherwise_is_named(desk, kind, lines, shown, says):
    path = desk.file(*lines)
    answer = JSONResponse({"resource": {"type": kind.type, "id": 901} | shown}, 201)
    desk.server.sandbox.intercept = lambda _: answer
    report = desk.push(kind, path)
    [result], [entry], again = report.steps, desk.entries().values(), desk.plan(kind, path)
    assert (entry.state, entry.remote_id, again.sends) == (State.CREATED, 901, 0)
    if says is None:
        assert (report.counts, report.exit_code, result.why) == ({RowStatus.CREATED: 1}, 0, "")
        assert again.counts == {RowStatus.ALREADY_THERE: 1}
        return
    assert (report.counts, report.exit_code) == ({RowStatus.STORED_OTHERWISE: 1}, 3)
    assert (says in result.why, says in str(entry.message)) == (True, True)
    assert next(report.lines()).startswith(f"line 2: created, stored otherwise {result.key}: the service stored")
    assert ("another sku is another create" in result.why) == says.startswith("sku"), "no advice to create it twice"
    assert again.counts == {RowStatus.CHANGED: 1}, "the values of the service are known"


def test_every_kind_arrives_as_specified(desk, shown):
    """Merchants and the warehouse that the sample file names are known from a sync."""
    desk.sync_has_shown(shown)
    assert desk.push(PRODUCTS, SAMPLES / "products.csv").counts == {RowStatus.CREATED: 11}
    made = {product["sku"]: product for product in desk.server.sandbox.products()}
    assert {product["type"] for product in made.values()} == set(PRODUCTS.bodies)
    references = {
        "associated_products": [{"type": "Product", "id": made["MUG-01"]["id"]}],
        "allow_for_brands": [{"type": "Merchant", "id": 12}, {"type": "Merchant", "id": 13}],
        "disallow_for_brands": [{"type": "Merchant", "id": 14}],
        "allow_for_warehouses": [{"type": "Warehouse", "id": 1}],
    }
    assert references.items() <= made["BOX-12"]["container_options"].items()
    assert desk.push(PRODUCTS, SAMPLES / "products.csv").counts == {RowStatus.ALREADY_THERE: 11}


@pytest.mark.parametrize(
    ("answer", "url", "becomes"),
    [
        (None, "http://LOCALHOST:01/", RowStatus.ALREADY_THERE),
        (None, "http://[::1]:1", None),
        (None, "https://an.alias.test", None),
        (Response("no such page", 404), "https://an.alias.test", RowStatus.CREATE),
    ],
)
def test_the_same_service_spelt_otherwise_gets_nothing_twice(desk, answer, url, becomes):
    """Nor can its address be another one, unless nothing was created there."""
    tags = desk.file("name,color", "T1,red4")
    desk.answers(answer)
    desk.push(TAGS, tags)
    desk.set(base_url=Settings.load(_env_file=None, base_url=url).base_url)
    if becomes is None:
        with pytest.raises(AnotherServiceError, match=r"WMS_BASE_URL=http://127\.0\.0\.1:1"):
            desk.plan(TAGS, tags)
    else:
        assert desk.plan(TAGS, tags).counts == {becomes: 1}


def test_what_was_created_comes_back_with_shipments(desk, shown, bench):
    """Three creates get no answer: a retailer and a product are created, a product whose sku is in use is not."""
    [(old,)] = queried(shown, "select min(sku) from products where type = 'Product'")
    desk.answer({"r2": AnswerLost(), "P2": AnswerLost(), old: Disconnect()})
    desk.push(RETAILERS, desk.file("code,name", "r1,R1", "r2,R2"))
    desk.push(PRODUCTS, desk.file("sku,name", "P1,P1", "P2,P2", f"{old},Ours"))
    assert {key for key, entry in desk.entries().items() if entry.state is State.DOUBT} == {"r2", "P2", old}
    service = desk.server.sandbox
    service.intercept = None
    let_pass(service, seconds=3600, new=10)
    bench.settings = bench.settings.model_copy(update={"page_size": 1000})
    bench.read()
    replace(bench, settings=bench.settings.model_copy(update={"base_url": "https://other.example.com"})).load()
    assert all(entry.seen_at is None for entry in desk.entries().values()), "that was sent to another instance"
    refresh(bench.run)
    made = {retailer["code"]: retailer["id"] for retailer in service.retailers()}
    made |= {product["sku"]: product["id"] for product in service.products()}
    known = {key: (entry.state, entry.remote_id, entry.seen_at is not None) for key, entry in desk.entries().items()}
    assert known == {key: (State.CREATED, id_, True) for key, id_ in made.items()} | {old: (State.DOUBT, None, False)}


@pytest.mark.parametrize(("hours", "becomes"), [(0, State.CREATED), (4, State.DOUBT)])
def test_a_time_in_the_future_proves_no_create(desk, hours, becomes):
    """A product of another merchant that was made before, if the service writes local times as if they were UTC."""
    desk.answers(Disconnect())
    desk.push(PRODUCTS, desk.file("sku,name", "P1,P1"))
    with duckdb.connect() as connection, store_at(desk.settings.database_url, desk.settings.data_dir) as store:
        create_empty(connection)
        made = datetime.now(UTC) + timedelta(hours=hours)
        insert(connection, "products", id=7, sku="P1", type="Product", created_at=made, _extracted_at=made)
        settle_creates(connection, store.ledger, desk.settings.base_url)
    assert desk.entries()["P1"].state is becomes
