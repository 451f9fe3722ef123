"""The sandbox as an ASGI application: routes, with checks in the same order as the service.

The token first (401), then the path (404), the method (405), the parameters and the body (400, 422). The Merchant API
has its own rules for all this. Tests may answer instead of it (`intercept`) or change an envelope before it is sent
(`rewrite`).
"""

import gzip
import inspect
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from functools import partial
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from wms_sandbox.advance import Advance, Passage, Wish
from wms_sandbox.clock import Clock, as_datetime
from wms_sandbox.config import SandboxConfig
from wms_sandbox.creates import Creates
from wms_sandbox.errors import ParameterError, bad_parameters, problem
from wms_sandbox.faults import AnswerLost, ProxyAnswer
from wms_sandbox.field_treatment import FieldTreatment
from wms_sandbox.merchant_api import MerchantApi
from wms_sandbox.pages import Pages
from wms_sandbox.pools import Pools
from wms_sandbox.query import ListQuery, read_query
from wms_sandbox.rpc_methods import Methods
from wms_sandbox.store import Store

SHIPMENTS = "/api/global/v1/shipping/shipments"
STATUS = "/api/global/v1/system/status"
LOCATION_TAGS = "/api/global/v1/inventory/location-tags"
RETAILERS = "/api/global/v1/shipping/retailers"
PRODUCTS = "/api/global/v1/inventory/products"
MERCHANT_API = "/api/jsonrpc"
ADVANCE = "/sandbox/advance"

_REMEMBERED = 100_000
_LEAST_COMPRESSED = 500

Intercept = Callable[[Request], Awaitable[Response | None] | Response | None]
Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True)
class ServedRequest:
    """A request and the status of its answer."""

    method: str
    path: str
    query: str
    status: int


class Sandbox:
    """The service and its data, an ASGI application.

    `requests` are those served so far, oldest first. Tests may set these hooks: `intercept` is called before anything
    else, for one request at a time, and answers instead, unless it returns None (see also `faults`); `rewrite` receives
    the envelope of each listing and returns the one to send; `redate` receives the time for an answer's `Date` and
    returns the one to send, or None for an answer without it; `finish` may change the headers of each answer;
    `field_treatment` changes how field selection is treated; `most_matches` is where every listing and every count ends
    without a word, as in some search backends; `status_of_empty_list` (404 or 204) is the answer in the place of an
    empty list.
    """

    def __init__(self, config: SandboxConfig | None = None) -> None:
        self.config = config or SandboxConfig()
        self.clock = Clock(self.config.now)
        self.requests: deque[ServedRequest] = deque(maxlen=_REMEMBERED)
        self.intercept: Intercept | None = None
        self.rewrite: Callable[[dict[str, Any]], dict[str, Any]] | None = None
        self.redate: Callable[[datetime], datetime | None] | None = None
        self.finish: Callable[[Response], object] | None = None
        self.field_treatment = FieldTreatment()
        self.most_matches: int | None = None
        self.status_of_empty_list: int | None = None
        self._store = Store(self.config, self.clock.anchor)
        pools = Pools(self.config.seed, is_odd=self.config.odd_values)
        self._pages = Pages(self._store, pools, unasked_telephones=self.config.unasked_telephones)
        self._lock = threading.Lock()
        self._intercepting = threading.Lock()
        self._creates = Creates(pools, self.clock, self._lock)
        self._merchant_api = MerchantApi(self.config, Methods(pools), self.clock, self._lock)
        self._routes: dict[str, tuple[str, Handler]] = {
            SHIPMENTS: ("GET", self._list_shipments),
            STATUS: ("GET", self._status),
            LOCATION_TAGS: ("POST", partial(self._creates.answer, self._creates.tag)),
            RETAILERS: ("POST", partial(self._creates.answer, self._creates.retailer)),
            PRODUCTS: ("POST", partial(self._creates.answer, self._creates.product)),
            ADVANCE: ("POST", self._advance),
        }

    def advance(
        self,
        *,
        seconds: float = 86_400,
        changed: int = 0,
        new: int = 0,
        packages_added: int | None = None,
        packages_removed: int | None = None,
        orders: int = 0,
        retailers: int = 0,
        late: float = 0,
    ) -> Advance:
        """Let time pass; see `Wish` and `Advance`."""
        wish = Wish(seconds, changed, new, packages_added, packages_removed, orders, retailers, late)
        with self._lock:
            return Passage(self._store, self._creates.newcomers, self.clock, wish).run()

    def delete_shipments(self, ids: list[int], *, deleted: bool = True) -> None:
        """Delete shipments: no listing shows or counts them any more; or restore them as they were.

        Raises LookupError for an unknown id.
        """
        with self._lock:
            self._store.delete(ids, deleted=deleted)

    def location_tags(self) -> list[dict[str, Any]]:
        """Return all location tags as the service stores them, deleted ones included, in order of creation."""
        with self._lock:
            return self._creates.tags.all()

    def retailers(self) -> list[dict[str, Any]]:
        """Return the created retailers with all fields, in order of creation."""
        with self._lock:
            return deepcopy(self._creates.retailers.created)

    def products(self) -> list[dict[str, Any]]:
        """Return the created products of all kinds with all fields, in order of creation."""
        with self._lock:
            return deepcopy(self._creates.products.created)

    def delete_location_tag(self, identity: int) -> None:
        """Soft-delete a live tag (specification 2.1); no path of the service is known for it."""
        with self._lock:
            self._creates.tags.delete(identity)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. A client that was killed while it sent the body gets no answer."""
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            return
        now = as_datetime(self.clock.now())
        date = now if self.redate is None else self.redate(now)
        if date is not None:
            response.headers["Date"] = format_datetime(date, usegmt=True)
        if self.finish is not None:
            self.finish(response)
        url = request.url
        self.requests.append(ServedRequest(request.method, url.path, url.query, response.status_code))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        instead = await self._intercepted(request)
        if isinstance(instead, AnswerLost):
            return AnswerLost(status_code=(await self._serve(request)).status_code)
        if isinstance(instead, ProxyAnswer):
            await self._serve(request)
        return instead or await self._serve(request)

    async def _intercepted(self, request: Request) -> Response | None:
        if self.intercept is None:
            return None
        with self._intercepting:  # InProcess serves in as many threads as the client has
            answer = self.intercept(request)
        return await answer if inspect.isawaitable(answer) else answer

    async def _serve(self, request: Request) -> Response:
        if request.url.path == MERCHANT_API:
            return await self._merchant_api.answer(request) if request.method == "POST" else problem(405, Allow="POST")
        if request.headers.get("authorization") != f"Bearer {self.config.token}":
            return problem(401)
        if request.url.path not in self._routes:
            return problem(404)
        method, handler = self._routes[request.url.path]
        return await handler(request) if request.method == method else problem(405, Allow=method)

    async def _status(self, request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def _list_shipments(self, request: Request) -> Response:
        given = request.query_params.multi_items()
        if (refusal := self.field_treatment.refusal(given)) is not None:
            return refusal
        try:
            query = read_query(self.field_treatment.heard(given))
        except ParameterError as violation:
            return bad_parameters(violation)
        takes_gzip = "gzip" in request.headers.get("accept-encoding", "")
        return await run_in_threadpool(self._respond, request.url.path, query, takes_gzip)

    def _respond(self, path: str, query: ListQuery, compressed: bool) -> Response:
        with self._lock:
            body = b"".join(self._pages.write(path, query, most_matches=self.most_matches))
        if self.status_of_empty_list is not None and not json.loads(body)["collection"]:
            return Response(status_code=self.status_of_empty_list)
        if self.field_treatment.drops_included:
            body = json.dumps({key: value for key, value in json.loads(body).items() if key != "included"}).encode()
        if self.rewrite is not None:
            body = json.dumps(self.rewrite(json.loads(body))).encode()
        headers = {"Vary": "Accept-Encoding"}
        if compressed and len(body) >= _LEAST_COMPRESSED:
            body = gzip.compress(body, 1, mtime=0)
            headers["Content-Encoding"] = "gzip"
        return Response(body, media_type="application/json", headers=headers)

    async def _advance(self, request: Request) -> Response:
        outcome = self.advance(**await request.json())
        return Response(msgspec.json.encode(outcome), media_type="application/json")
