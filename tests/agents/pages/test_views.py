import asyncio
import base64
import hashlib
from collections.abc import AsyncIterator

import orjson
import pytest
from aiohttp import ClientSession, web
from yarl import URL

from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.pages.content import Asked, ElsewhereError, MissingError, Page
from turnsignal.agents.pages.views import Health, make_views
from turnsignal.stream.pipeline.metric_deltas import MetricDeltas

WELL = Health(seconds_since_progress=1.0, assigned=True, partitions=4, recovery_remaining=0, broker_reachable=True)
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
KEPT = {
    "c-1": {"turns": 3, "prompt": "<script>alert(1)</script>"},
    "a/b?c": {"turns": 1},
    "torn": {"prompt": "\ud800"},
    "huge": {"prompt": "x" * 2_000_000},
}


class Worker:
    """What the views are made of, changed by a test while they run."""

    def __init__(self) -> None:
        self.metrics = WorkerMetrics(scorers=["nDCG@5"])
        self.health = WELL

    def ask_health(self) -> Health:
        return self.health

    async def answer(self, asked: Asked) -> dict[str, object]:
        conversation_id = asked.words["id"]
        if conversation_id == "broken":
            raise KeyError("secret detail")
        if conversation_id == "moved":
            raise ElsewhereError("/conversations/c-1")
        if conversation_id not in KEPT:
            raise MissingError("not kept here", conversation_id[:200])
        return KEPT[conversation_id]

    @property
    def pages(self) -> list[Page]:
        return [Page("/conversations/{id:.+}", "message.html.j2", self.answer, "a conversation", texts=True)]


class Site:
    """A running site and a client that shows status, headers and body of an answer."""

    def __init__(self, session: ClientSession, root: str) -> None:
        self.session, self.root = session, root

    async def get(self, path, method="GET", **headers):
        url = URL(f"{self.root}{path}", encoded=True)
        async with self.session.request(method, url, headers=headers, allow_redirects=False) as answer:
            return answer.status, answer.headers, await answer.read()

    async def get_json(self, path):
        url = URL(f"{self.root}{path}", encoded=True)
        async with self.session.get(url) as answer:
            return answer.status, await answer.json()


async def serve(app: web.Application) -> AsyncIterator[Site]:
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with ClientSession() as session:
        yield Site(session, f"http://127.0.0.1:{runner.addresses[0][1]}")
    await runner.cleanup()


@pytest.fixture
def worker():
    return Worker()


@pytest.fixture
async def site(worker):
    async for running in serve(make_views(worker.metrics, worker.ask_health, worker.pages)):
        yield running


async def test_metrics_come_in_the_text_format_unless_openmetrics_is_asked_for(site, worker):
    deltas = MetricDeltas()
    deltas.count(deltas.turns, ("support", "v1", "user"))
    worker.metrics.apply(deltas, 1_700_000_000.0)
    status, headers, body = await site.get("/metrics")
    assert (status, headers["Content-Type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert b'turnsignal_turns_total{assistant="support",role="user",version="v1"} 1.0' in body
    status, headers, body = await site.get("/metrics", Accept="application/openmetrics-text;version=1.0.0")
    assert (status, headers["Content-Type"]) == (200, "application/openmetrics-text; version=1.0.0; charset=utf-8")
    assert body.endswith(b"# EOF\n")


async def test_scrapes_at_the_same_time_are_all_answered(site):
    answers = await asyncio.gather(*(site.get("/metrics") for _ in range(20)))
    assert [status for status, _, _ in answers] == [200] * 20


async def test_a_worker_that_goes_on_is_alive(site):
    assert await site.get_json("/healthz") == (
        200,
        {"ok": True, "detail": "1 s since the last progress, at most 120 s"},
    )


@pytest.mark.parametrize("age", [121.0, float("inf"), float("nan")])
async def test_a_worker_that_runs_but_does_not_go_on_is_not_alive(site, worker, age):
    worker.health = Health(age, assigned=True, partitions=4, recovery_remaining=0, broker_reachable=True)
    status, answer = await site.get_json("/healthz")
    assert status == 503
    assert answer["ok"] is False


async def test_a_worker_that_restores_its_tables_is_alive_but_not_ready(site, worker):
    worker.health = Health(1.0, assigned=True, partitions=4, recovery_remaining=900, broker_reachable=True)
    assert (await site.get_json("/healthz"))[0] == 200
    status, answer = await site.get_json("/readyz")
    assert status == 503
    assert answer["conditions"]["tables"] == {"ok": False, "detail": "900 records to restore"}
    assert answer["conditions"]["broker"]["ok"]


@pytest.mark.parametrize(
    ("condition", "health"),
    [
        ("partitions", Health(1.0, assigned=False, partitions=0, recovery_remaining=0, broker_reachable=True)),
        ("tables", Health(1.0, assigned=True, partitions=4, recovery_remaining=1, broker_reachable=True)),
        ("broker", Health(1.0, assigned=True, partitions=4, recovery_remaining=0, broker_reachable=False)),
        (
            "batches",
            Health(
                1.0,
                assigned=True,
                partitions=4,
                recovery_remaining=0,
                broker_reachable=True,
                troubles={3: "blocked, as what sets a record aside is refused: MSG_SIZE_TOO_LARGE"},
            ),
        ),
        (
            "topics",
            Health(1.0, assigned=True, partitions=0, recovery_remaining=0, broker_reachable=True, absent=["t.turns"]),
        ),
        ("progress", Health(500.0, assigned=True, partitions=4, recovery_remaining=0, broker_reachable=True)),
    ],
)
async def test_readiness_names_the_one_condition_that_fails(site, worker, condition, health):
    worker.health = health
    status, answer = await site.get_json("/readyz")
    assert (status, answer["ok"]) == (503, False)
    assert [name for name, found in answer["conditions"].items() if not found["ok"]] == [condition]


async def test_a_spare_worker_without_partitions_is_ready(site, worker):
    worker.health = Health(1.0, assigned=True, partitions=0, recovery_remaining=0, broker_reachable=True)
    assert (await site.get_json("/readyz"))[0] == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_a_health_check_that_fails_counts_as_ill_and_tells_no_details(path):
    def fail():
        raise RuntimeError("password=hunter2")

    async for site in serve(make_views(WorkerMetrics(), fail)):
        status, answer = await site.get_json(path)
        assert status == 503
        assert answer == {"ok": False, "detail": "the health check itself failed: RuntimeError"}


async def test_a_conversation_is_shown_as_json_that_a_browser_will_not_run(site):
    status, headers, body = await site.get("/conversations/c-1")
    assert status == 200
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert body == b'{"turns":3,"prompt":"<script>alert(1)</script>"}'


async def test_an_id_with_reserved_characters_is_found(site):
    assert await site.get_json("/conversations/a%2Fb%3Fc") == (200, {"turns": 1})


async def test_a_text_that_utf8_cannot_write_is_shown_escaped(site):
    status, _, body = await site.get("/conversations/torn")
    assert (status, body) == (200, rb'{"prompt": "\ud800"}')


async def test_an_unknown_conversation_is_answered_with_a_reason(site):
    status, answer = await site.get_json("/conversations/nobody")
    assert status == 404
    assert answer["id"] == "nobody"
    assert answer["error"] == "not kept here"


@pytest.mark.parametrize(
    "path",
    ["%3Cscript%3E", "%00", "%ED%A0%80", "%FF", "..%2F..%2Fetc%2Fpasswd", "%22%7D%0d%0aX-Evil:%201", "x" * 5_000],
)
async def test_ids_from_strangers_get_a_bounded_refusal(site, path):
    status, headers, body = await site.get(f"/conversations/{path}")
    assert status == 404
    assert headers["Content-Type"] == "application/json"
    assert "X-Evil" not in headers
    assert len(body) < 1_000


async def test_an_answer_that_is_too_large_is_replaced_by_its_size(site):
    status, answer = await site.get_json("/conversations/huge")
    assert status == 500
    assert "2000013 bytes" in answer["error"]


async def test_a_view_that_fails_tells_the_log_and_not_the_stranger(site, caplog):
    status, _, body = await site.get("/conversations/broken")
    assert status == 500
    assert b"secret" not in body
    assert b"Traceback" not in body
    assert "/conversations/broken" in caplog.text


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:9108", "127.0.0.1", "127.8.8.8:80", "[::1]:9108", "score.svc.", "score.svc:9108"]
)
async def test_conversations_are_shown_to_who_asks_by_an_address_or_an_allowed_name(worker, host):
    async for site in serve(make_views(worker.metrics, worker.ask_health, worker.pages, hosts=["score.svc"])):
        assert (await site.get("/conversations/c-1", Host=host))[0] == 200
        assert (await site.get("/", Host=host))[0] == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "192.0.2.1", "[", "", "evil@localhost:x"],
)
@pytest.mark.parametrize("path", ["/conversations/c-1", "/"])
async def test_a_name_that_was_pointed_here_by_a_stranger_is_refused(site, host, path):
    status, headers, body = await site.get(path, Host=host)
    assert status == 403
    assert headers["Content-Type"] == "application/json"
    assert b"TURNSIGNAL_ALLOWED_HOSTS" in body
    assert b"script" not in body


async def test_prometheus_and_probes_may_ask_by_any_name(site):
    for path in ("/metrics", "/healthz", "/readyz"):
        assert (await site.get(path, Host="score-0.turnsignal.svc.cluster.local:9108"))[0] == 200


async def test_conversations_that_are_not_shown_are_refused_with_the_setting_that_shows_them(worker):
    async for site in serve(make_views(worker.metrics, worker.ask_health, worker.pages, shown=False)):
        status, answer = await site.get_json("/conversations/c-1")
        assert status == 403
        assert "TURNSIGNAL_SHOW_CONVERSATIONS=true" in answer["error"]


async def test_the_front_page_says_what_is_here(site):
    status, headers, body = await site.get("/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    for path in (b"/metrics", b"/healthz", b"/readyz", b"/conversations/{id}"):
        assert path in body


async def test_the_front_page_names_the_condition_that_fails_and_the_partitions_with_their_lag(worker):
    worker.health = Health(1.0, assigned=True, partitions=1, recovery_remaining=0, broker_reachable=False)
    input_facts = {"topic": "turnsignal.turns", "position": 1_200, "lag": 34}
    facts = {"app": "score", "partitions": [{"partition": 3, "entries": 56_789, "inputs": [input_facts]}]}
    async for site in serve(make_views(worker.metrics, worker.ask_health, facts=lambda: facts)):
        text = (await site.get("/"))[2].decode()
        assert "not ready" in text
        assert "no answer to the last request" in text
        assert 'class="number">56,789</td>' in text
        assert 'class="number">34</td>' in text
        answer = (await site.get("/", Accept="application/json"))[2]
        assert orjson.loads(answer)["partitions"] == facts["partitions"]


async def test_a_browser_gets_pages_and_everybody_else_json(site):
    for path, status in (("/conversations/nobody", 404), ("/nowhere", 404), ("/conversations/broken", 500)):
        answered, headers, body = await site.get(path, Accept=BROWSER)
        assert (answered, headers["Content-Type"]) == (status, "text/html; charset=utf-8")
        assert b"<h1>" in body
        assert "style-src 'sha256-" in headers["Content-Security-Policy"]
        assert headers["Content-Security-Policy"].startswith("default-src 'none'; ")
        assert (await site.get(path, Accept="application/json"))[1]["Content-Type"] == "application/json"


async def test_what_stands_elsewhere_is_redirected_to_within_the_worker(site):
    status, headers, _ = await site.get("/conversations/moved")
    assert (status, headers["Location"]) == (302, "/conversations/c-1")


async def test_the_style_that_a_page_brings_is_the_one_that_the_browser_is_told_to_take(site):
    _, headers, body = await site.get("/")
    style = body.split(b"<style>", 1)[1].split(b"</style>", 1)[0]
    digest = base64.b64encode(hashlib.sha256(style).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in headers["Content-Security-Policy"]
    assert b"<script" not in body
    assert b"prefers-color-scheme: dark" in style


@pytest.mark.parametrize(
    ("path", "method", "expected"),
    [("/", "GET", 200), ("/metrics", "HEAD", 200), ("/nowhere", "GET", 404), ("/metrics", "POST", 405)],
)
async def test_every_answer_is_protected_and_refusals_are_json(site, path, method, expected):
    status, headers, _ = await site.get(path, method)
    assert status == expected
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "aiohttp" not in headers["Server"]
    if expected >= 400:
        assert headers["Content-Type"] == "application/json"
    if expected == 405:
        assert headers["Allow"] == "GET,HEAD"
