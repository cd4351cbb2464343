"""Views: what a worker answers over HTTP, to Prometheus, to the orchestrator and to the engineer on call.

Health is asked of progress, not of the process: a worker that hangs in a commit is alive to its operating system.
Whoever asks is a stranger: answers are bounded, carry no markup of theirs, and are never cached or sniffed.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web
from aiohttp.typedefs import Handler

from turnsignal.agents.environment import is_loopback
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.pages.content import Asked, ElsewhereError, MissingError, Page
from turnsignal.agents.pages.listening import Activity
from turnsignal.agents.pages.peers import ASKING
from turnsignal.agents.pages.rendering import render, style_policy, unquote_path, wants_page

logger = logging.getLogger("turnsignal.views")

MAX_BODY = 1_000_000  #: bytes of a JSON answer
ACCEPT_SHOWN = 2_000  #: characters of an Accept header that are looked at

_NOT_SHOWN = (
    "conversations are not shown on an address that other machines reach, unless TURNSIGNAL_SHOW_CONVERSATIONS=true"
)
_NOT_THIS_HOST = "expected a Host that is this worker's address, a loopback name or one of TURNSIGNAL_ALLOWED_HOSTS"

_SHOWN_TROUBLE = 300  #: characters

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]{1,255}))(?::[0-9]{1,5})?")

Facts = Callable[[], Mapping[str, Any]]

#: what every worker has, for the front page
_ALWAYS = (
    ("/metrics", "for Prometheus, OpenMetrics with exemplars when asked for"),
    ("/healthz", "does the work go on? 503 means: restart me"),
    ("/readyz", "partitions, tables, broker; 503 means: wait for me"),
)


@dataclass(frozen=True, slots=True)
class Health:
    """How a worker is, in facts.

    seconds_since_progress: since it last committed a batch, restored records, or found nothing to do.
    progress_limit: seconds that this may take. assigned: the group gave it its partitions, which may be none for a
    spare worker. partitions: how many. recovery_remaining: changelog records still to be restored. broker_reachable:
    the last request was answered. starts: partition → take-overs at its present position, where there were several.
    stalled: partition → its position, the end of its log, and for how many seconds it has stood there. troubles:
    partition → why its batches are blocked, slow or small, in words. absent: topics that the broker does not have.
    """

    seconds_since_progress: float
    assigned: bool
    partitions: int
    recovery_remaining: int
    broker_reachable: bool
    progress_limit: float = 120.0
    starts: Mapping[int, int] = field(default_factory=dict)
    stalled: Mapping[str, tuple[int, int, float]] = field(default_factory=dict)
    troubles: Mapping[int, str] = field(default_factory=dict)
    absent: Sequence[str] = ()

    @property
    def alive(self) -> bool:
        """Whether the work goes on; NaN is no progress."""
        return self.seconds_since_progress <= self.progress_limit

    def conditions(self) -> dict[str, dict[str, object]]:
        """Say of each condition of readiness whether it is met, and in words how it is."""
        age = f"{self.seconds_since_progress:.0f} s since the last progress, at most {self.progress_limit:.0f} s"
        assigned = f"{self.partitions} partitions" if self.assigned else "waiting for the consumer group"
        stands = [
            f"{place} at {at} for {age:.0f} s, its end is {end}" for place, (at, end, age) in self.stalled.items()
        ]
        why = "; the producer of an open transaction holds it up, or this worker does not get through"
        again = [f"partition {number}: {count} at one position" for number, count in self.starts.items()]
        ended = "; a record there ends its worker, and will be set aside"
        troubles = [f"partition {number} is {why[:_SHOWN_TROUBLE]}" for number, why in self.troubles.items()]
        broker = "answers" if self.broker_reachable else "no answer to the last request"
        gone = f"{', '.join(self.absent)}: deleted, or not to be seen by this user"
        return {
            "progress": {"ok": self.alive, "detail": age},
            "partitions": {"ok": self.assigned, "detail": assigned},
            "topics": {"ok": not self.absent, "detail": gone if self.absent else "all that are read are there"},
            "tables": {"ok": self.recovery_remaining == 0, "detail": f"{self.recovery_remaining} records to restore"},
            "starts": {"ok": not again, "detail": ", ".join(again[:5]) + ended if again else "none at one position"},
            "broker": {"ok": self.broker_reachable, "detail": broker},
            "batches": {"ok": not troubles, "detail": ", ".join(troubles[:5]) if troubles else "none is refused"},
            "positions": {"ok": not stands, "detail": ", ".join(stands[:5]) + why if stands else "none stands"},
        }


def make_views(
    metrics: WorkerMetrics,
    health: Callable[[], Health],
    pages: Sequence[Page] = (),
    *,
    facts: Facts = dict,
    shown: bool = True,
    hosts: Collection[str] = (),
    activity: Activity | None = None,
) -> web.Application:
    """Build the worker's web application.

    health: asked on every request, must not block; if it raises, the worker counts as neither alive nor ready.
    pages: what the app has to show beside its health. facts: what the front page says of the worker, as
    `Neighbours.describe_worker` gives it.
    shown: whether pages with what people said are shown to whoever asks by an address of this machine, or by one of the
    hosts. activity: takes note of which connections ask.
    """
    scrape = asyncio.Lock()  # one page at a time: scrapes by strangers must not take the worker's processor

    async def show_metrics(request: web.Request) -> web.Response:
        accept = request.headers.get("Accept", "")[:ACCEPT_SHOWN]
        async with scrape:
            page, content_type = await asyncio.get_running_loop().run_in_executor(None, metrics.render, accept)
        return web.Response(body=page, headers={"Content-Type": content_type})

    async def show_alive(_: web.Request) -> web.Response:
        answer = _ask(health)
        if isinstance(answer, str):
            return _answer({"ok": False, "detail": answer}, 503)
        return _answer(answer.conditions()["progress"], 200 if answer.alive else 503)

    async def show_ready(_: web.Request) -> web.Response:
        conditions = _conditions(health)
        if isinstance(conditions, str):
            return _answer({"ok": False, "detail": conditions}, 503)
        ready = all(condition["ok"] for condition in conditions.values())
        return _answer({"ok": ready, "conditions": conditions}, 200 if ready else 503)

    async def show_front(request: web.Request) -> web.Response:
        _refuse_host(request, hosts)
        answer = _describe_worker(_conditions(health), facts(), pages, shown=shown)
        accept = request.headers.get("Accept", "")[:ACCEPT_SHOWN]
        if "application/json" in accept and not wants_page(accept):
            return _answer(answer, 200)
        return _draw("front.html.j2", answer, 200)

    def shower(page: Page) -> Handler:
        async def show(request: web.Request) -> web.StreamResponse:
            _refuse_host(request, hosts)
            if page.texts and not shown:
                return _refuse(request, {"error": _NOT_SHOWN}, 403)
            words = {name: unquote_path(part) for name, part in request.match_info.items()}
            asked = Asked(words, request.query, ASKING in request.headers)
            try:
                return _show(request, page.template, await page.answer(asked), 200)
            except MissingError as missing:
                about = {"id": missing.about} if missing.about else {}
                return _refuse(request, {"error": str(missing), **about}, 404)
            except ElsewhereError as elsewhere:
                raise web.HTTPFound(elsewhere.path) from None

        return show

    app = web.Application(middlewares=[*([activity.middleware] if activity else []), _refuse_in_words])
    app.on_response_prepare.append(_protect)
    app.add_routes(
        [
            web.get("/", show_front),
            web.get("/metrics", show_metrics),
            web.get("/healthz", show_alive),
            web.get("/readyz", show_ready),
            *(web.get(page.path, shower(page)) for page in pages),
        ]
    )
    return app


def _describe_worker(
    conditions: dict[str, dict[str, object]] | str, facts: Mapping[str, Any], pages: Sequence[Page], *, shown: bool
) -> dict[str, Any]:
    """Put the front page together.

    facts: app, version, suite; partitions, each with partition, entries and inputs (topic, position, lag), and how many
    more are left out; peers, the addresses of the others.
    """
    if isinstance(conditions, str):
        conditions = {"health": {"ok": False, "detail": conditions}}
    here = [{"path": path, "summary": summary, "link": path, "shown": True} for path, summary in _ALWAYS]
    more = [
        {"path": page.path.replace(":.+", ""), "summary": page.summary, "link": page.link}
        | {"shown": shown or not page.texts}
        for page in pages
    ]
    return {
        "app": "worker",
        "version": "",
        "suite": "",
        "partitions": [],
        "left_out": 0,
        "peers": [],
        **facts,
        "ready": all(condition["ok"] for condition in conditions.values()),
        "conditions": conditions,
        "pages": [*here, *more],
        "not_shown": _NOT_SHOWN,
    }


def _conditions(health: Callable[[], Health]) -> dict[str, dict[str, object]] | str:
    answer = _ask(health)
    return answer if isinstance(answer, str) else answer.conditions()


def _refuse_host(request: web.Request, hosts: Collection[str]) -> None:
    """Refuse a request whose Host is neither this machine's address nor a name that was allowed.

    A page that a browser loaded from a stranger's name can point that name at this address afterwards and read what
    comes (DNS rebinding); the name it asks by gives it away. Prometheus may ask for /metrics by any name.
    """
    given = request.headers.getall("Host", [])
    match = _HOST.fullmatch(given[0].lower()) if len(given) == 1 else None
    name = (match[1] or match[2]).rstrip(".") if match else ""
    own = request.transport.get_extra_info("sockname") if request.transport else None
    if name and (name in ("localhost", *hosts) or (own and name == own[0]) or is_loopback(name)):
        return
    raise web.HTTPForbidden(reason=_NOT_THIS_HOST)


def _ask(health: Callable[[], Health]) -> Health | str:
    try:
        return health()
    except Exception as error:
        return f"the health check itself failed: {type(error).__name__}"


def _answer(content: Mapping[str, object], status: int) -> web.Response:
    try:
        body = orjson.dumps(content, default=str, option=orjson.OPT_NON_STR_KEYS)
    except TypeError:  # a lone surrogate, which orjson refuses to write
        body = json.dumps(content, default=str).encode()
    if len(body) > MAX_BODY:
        return _answer({"error": f"the answer has {len(body)} bytes, at most {MAX_BODY} are shown"}, 500)
    return web.Response(body=body, status=status, content_type="application/json")


def _draw(template: str, answer: Mapping[str, Any], status: int) -> web.Response:
    headers = {"Content-Security-Policy": style_policy()}
    body = render(template, answer)
    return web.Response(body=body, status=status, content_type="text/html", charset="utf-8", headers=headers)


def _show(request: web.Request, template: str, answer: Mapping[str, Any], status: int) -> web.Response:
    """Answer as a page where one is asked for, else as JSON."""
    if wants_page(request.headers.get("Accept", "")[:ACCEPT_SHOWN]):
        return _draw(template, answer, status)
    return _answer(answer, status)


def _refuse(request: web.Request, answer: Mapping[str, Any], status: int) -> web.Response:
    return _show(request, "message.html.j2", answer, status)


@web.middleware
async def _refuse_in_words(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer refusals and failures in the same form as everything else, and never with a traceback."""
    try:
        return await handler(request)
    except web.HTTPRedirection:
        raise
    except web.HTTPException as refusal:
        answer = _refuse(request, {"error": refusal.reason}, refusal.status)
        if "Allow" in refusal.headers:
            answer.headers["Allow"] = refusal.headers["Allow"]
        return answer
    except Exception:
        logger.exception("expected an answer for %s, the view failed", request.path)
        return _refuse(request, {"error": "the view failed; the worker's log says why"}, 500)


async def _protect(_: web.Request, response: web.StreamResponse) -> None:
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"  # a path may be a person's conversation
    response.headers.setdefault("Content-Security-Policy", "default-src 'none'")
    response.headers["Server"] = "turnsignal"
