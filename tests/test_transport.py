"""Transport that misbehaves: a sync over a socket for each line of tests/transport.md.

Either the sync ends right, or it ends with one clear error, keeps what it has, and the next one completes it. Either
way every shipment is landed, and nothing counts as covered that is not.
"""

import gzip
import itertools
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from email.utils import format_datetime
from math import inf
from typing import Any

import anyio
import pytest
import zstandard
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from tests.bench import CONFIG, IMPATIENT, NOW, Bench, asks_for_page
from tests.services import content_of
from wms_sandbox.app import Sandbox
from wms_sandbox.faults import Disconnect, Truncated
from wms_sync.errors import WmsSyncError
from wms_sync.service.client import GlobalApi
from wms_sync.service.connection import TimeLimits
from wms_sync.service.errors import (
    Busy,
    PagingBroken,
    ProtocolError,
    RedirectRefused,
    Rejected,
    ServiceFailed,
    Unauthorized,
)
from wms_sync.shipments.read.raw import WindowIncomplete

pytestmark = pytest.mark.proof

SHIPMENTS, PAGE_SIZE = 20, 5
AGAIN = "retried"
GOES_ON = "accepted"
ANEW = "window read again"
GIVEN_UP = {WindowIncomplete, PagingBroken, Rejected}
"""Of a window that ends so nothing counts, since its page cursors are not to be trusted."""

HTML = {"Content-Type": "text/html"}
BLOCKED = "<html><head><title>Blocked</title></head><body>Ray 7</body></html>"
FAILED = {"errors": [{"type": "application", "message": "No database."}]}

Page = dict[str, Any]
Answer = Callable[[Response], Response | Awaitable[Response]]
"""Is given the right answer to the request for a page, and returns the one to send."""


@dataclass(frozen=True)
class Case:
    """What happens to ``times`` pages after the second; inf: to all that follow."""

    name: str
    outcome: str
    answer: Answer
    error: type[WmsSyncError] | None = None
    says: str = ""
    times: float = 1


def instead(status: int = 200, body: str = "", headers: Mapping[str, str] | None = None) -> Answer:
    """Something else, freshly made for each request."""
    return lambda _: Response(body, status, headers=headers)


def respelt(change: Callable[[bytes], bytes], headers: Mapping[str, str] | None = None) -> Answer:
    """The right page as bytes, changed; unless a header says so nothing packs it, so nothing else would show it."""
    return lambda answer: Response(change(content_of(answer)), headers=headers, media_type="application/json")


def edited(edit: Callable[[Page], Page]) -> Answer:
    """The right page, changed."""
    return respelt(lambda content: json.dumps(edit(json.loads(content))).encode())


def dripping(answer: Response) -> Response:
    """A byte now and then: never so late that one read fails, never done."""

    async def drip() -> AsyncIterator[bytes]:
        for byte in content_of(answer):
            yield bytes([byte])
            await anyio.sleep(0.1)

    return StreamingResponse(drip())


async def silent(answer: Response) -> Response:
    await anyio.sleep(1)
    return answer


def pointing(to: str) -> Answer:
    """``next`` leads elsewhere."""
    return edited(lambda page: page | {"next": page["next"] and to + page["next"]})


def looping(answer: Response) -> Response | Awaitable[Response]:
    return edited(lambda page: page | {"has_more": True, "next": answer.headers["asked-for"]})(answer)


def shortened(page: Page) -> Page:
    """Half a page; the rest comes with the next."""
    half, rest = page["collection"][: PAGE_SIZE // 2], page["collection"][PAGE_SIZE // 2 :]
    if not rest or not page["next"]:
        return page
    cursor = f"cursor_start={rest[0]['id']}"
    return page | {"collection": half, "next": re.sub(r"cursor_start=\d+", cursor, page["next"])}


def holding(change: Callable[[list[Page]], object]) -> Answer:
    """The page has other records."""
    return edited(lambda page: page | {"collection": change(page["collection"])})


def counting(more: int) -> Answer:
    """The count of the page, if it has one, is so much larger."""
    return edited(
        lambda page: (
            page | {"meta": page["meta"] | {"count": page["meta"]["count"] + more}} if "count" in page["meta"] else page
        )
    )


def stops(name: str, error: type[WmsSyncError], says: str, answer: Answer) -> Case:
    """The sync ends with an error."""
    return Case(name, f"`{error.__name__}`, next {'window' if error in GIVEN_UP else 'page'}", answer, error, says, inf)


CASES = [
    Case("429 without `Retry-After`", AGAIN, instead(429)),
    Case("429 with `Retry-After` in seconds", AGAIN, instead(429, "", {"Retry-After": "0.2"})),
    Case(
        "429 with `Retry-After` as a date",
        AGAIN,
        # by the service's clock, which is months behind
        instead(429, "", {"Retry-After": format_datetime(NOW + timedelta(seconds=1), usegmt=True)}),
    ),
    Case("409, too many at once", AGAIN, instead(409)),
    Case("500 with HTML", AGAIN, instead(500, "<html>oops</html>", HTML)),
    Case("502 with HTML", AGAIN, instead(502, "<html>bad gateway</html>", HTML), times=3),
    Case("503 with `Retry-After`", AGAIN, instead(503, "", {"Retry-After": "0.1"})),
    Case("403 of a firewall", AGAIN, instead(403, BLOCKED, HTML), times=3),
    Case("403 of a firewall with `Retry-After`", AGAIN, instead(403, BLOCKED, {"Retry-After": "0.1"})),
    Case("200 with HTML", AGAIN, instead(200, "<html>maintenance</html>", HTML), times=3),
    Case("200 with `errors` and no `collection`", AGAIN, instead(200, json.dumps(FAILED))),
    Case(
        "200 with `errors` next to an empty `collection`",
        AGAIN,
        edited(lambda page: page | FAILED | {"collection": [], "has_more": False, "next": None}),
    ),
    Case("200 with a status and no `collection`", AGAIN, instead(200, '{"status": "maintenance"}')),
    Case("200 with an empty body", AGAIN, instead(200)),
    Case("200 with a list", AGAIN, respelt(lambda page: b"[%s]" % page)),
    Case("200 with `null`", AGAIN, instead(200, "null")),
    Case("a page that ends early in a whole body", AGAIN, respelt(lambda page: page[:-1])),
    Case("more after the page", AGAIN, respelt(lambda page: page + b" and more")),
    Case("a second page after the page", AGAIN, respelt(lambda page: page + page)),
    Case("the connection is reset instead of an answer", AGAIN, lambda _: Disconnect()),
    Case("the body ends before its `Content-Length`", AGAIN, lambda answer: Truncated(content_of(answer))),
    Case("gzip that ends early", AGAIN, respelt(lambda page: gzip.compress(page)[:-9], {"Content-Encoding": "gzip"})),
    Case("gzip that is none", AGAIN, respelt(lambda page: b"\x1f\x8b" + page[:500], {"Content-Encoding": "gzip"})),
    Case(
        "gzip with more after its end",
        AGAIN,
        respelt(lambda page: gzip.compress(page) + b"and more", {"Content-Encoding": "gzip"}),
    ),
    Case(
        "zstd that ends early", AGAIN, respelt(lambda page: zstandard.compress(page)[:-9], {"Content-Encoding": "zstd"})
    ),
    Case("no byte within the time limit of a read", AGAIN, silent),
    Case("a slow drip beyond the time limit of an answer", AGAIN, dripping),
    Case("a page shorter than was asked for, with `has_more`", GOES_ON, edited(shortened), times=inf),
    Case("`meta.count` larger than what is there", GOES_ON, counting(+1), times=inf),
    Case("`meta.count` smaller than what is there", GOES_ON, counting(-1), times=inf),
    Case("a record that is missing from a page, once", "requested by id", holding(lambda records: records[:-1])),
    stops(
        "a record that is missing from a page, every time",
        WindowIncomplete,
        "lacked",
        holding(lambda records: records[:-1]),
    ),
    stops("429 for ever", Busy, "429", instead(429)),
    stops("503 for ever", ServiceFailed, "503", instead(503)),
    stops("the token expires", Unauthorized, "WMS_API_TOKEN", instead(401, "<html>log in</html>")),
    stops("400", Rejected, "400", instead(400, "{}")),
    stops("a redirect", RedirectRefused, "WMS_BASE_URL", instead(302, "", {"Location": "http://127.0.0.2/"})),
    stops(
        "403 in the service's own words",
        Unauthorized,
        "It says: Not allowed.",
        instead(403, '{"errors": [{"type": "acl", "message": "Not allowed."}]}'),
    ),
    stops(
        "403 of a firewall for ever",
        ServiceFailed,
        "server: shield.*It says: Blocked: Ray 7",
        instead(403, BLOCKED, {"Server": "shield", **HTML}),
    ),
    stops("200 with HTML for ever", ServiceFailed, "It says: Back at 6:00", instead(200, "<html>Back at 6:00</html>")),
    stops("200 with `errors` for ever", ServiceFailed, "It says: No database", instead(200, json.dumps(FAILED))),
    stops(
        "a `collection` that is no list",
        ProtocolError,
        "cannot be read",
        holding(lambda _: "none"),
    ),
    stops(
        "a `Content-Encoding` that was not offered", ProtocolError, "br", instead(200, "x", {"Content-Encoding": "br"})
    ),
    Case("`next` leads to another host", GOES_ON, pointing("http://localhost:1"), times=inf),
    Case("`next` leads to another scheme", GOES_ON, pointing("https://127.0.0.1"), times=inf),
    Case("`next` leads to the page it stands on, once", ANEW, looping),
    stops("`next` leads to the page it stands on", PagingBroken, "already been read|after", looping),
    stops(
        "`has_more` without `next`",
        PagingBroken,
        "no next page",
        edited(lambda page: page | {"has_more": True, "next": None}),
    ),
    Case("ids that fall, once", ANEW, holding(lambda records: records[::-1])),
    stops("ids that fall", PagingBroken, "after", holding(lambda records: records[::-1])),
    stops("a shipment twice on a page", PagingBroken, "after", holding(lambda records: records + records[-1:])),
]


def misbehave(sandbox: Sandbox, case: Case) -> None:
    """Let the sandbox serve two right pages, then do what the case says."""
    numbers = itertools.count(-1)  # two pages are served as they should be

    async def pages(request: Request) -> Response | None:
        if not asks_for_page(request.url.query) or not 0 < next(numbers) <= case.times:
            return None
        answer = await sandbox._serve(request)
        answer.headers["asked-for"] = f"{request.url.path}?{request.url.query}"
        changed = case.answer(answer)
        return changed if isinstance(changed, Response) else await changed

    sandbox.intercept = pages


@pytest.fixture
def sandbox(server):
    server.sandbox = Sandbox(replace(CONFIG, shipments=SHIPMENTS))
    return server


def sync(bench: Bench) -> None:
    with GlobalApi.from_settings(
        bench.settings, policy=IMPATIENT, limits=TimeLimits(connect=2, read=0.5, answer=1)
    ) as api:
        bench.reading(api).sync()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_sync_completes_or_the_next_does(case, sandbox, bench, settings_for):
    bench.settings = settings_for(sandbox, page_size=PAGE_SIZE)
    misbehave(sandbox.sandbox, case)
    if case.error is None:
        sync(bench)
    else:
        with pytest.raises(case.error, match=case.says):
            sync(bench)
        kept = bench.landed_ids("landed", "reading")
        assert kept or case.error in GIVEN_UP
        assert len(kept) == len(set(kept))
        for window in bench.store.windows("landed"):
            assert window.records == window.count_reported == len(bench.landed_ids("landed", only=window.id))
        sandbox.sandbox.intercept = None
        sync(bench)
    assert len(set(bench.landed_ids())) == SHIPMENTS
    assert len(bench.store.covered()) == 1
