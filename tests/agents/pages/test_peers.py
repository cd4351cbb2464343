"""A worker's pages answer for the workers beside it, too."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from aiohttp import ClientSession, web

from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.pages.content import Asked, ElsewhereError, MissingError, Page
from turnsignal.agents.pages.peers import Peers
from turnsignal.agents.pages.rendering import quote_path
from turnsignal.agents.pages.views import Health, make_views

WELL = Health(seconds_since_progress=1.0, assigned=True, partitions=4, recovery_remaining=0, broker_reachable=True)


class Worker:
    """A worker that keeps one conversation, and knows where the others are."""

    def __init__(self, kept: str) -> None:
        self.kept = kept
        self.asked: list[tuple[str, bool]] = []
        self.owner: str | None = None
        self.address = ""

    async def show(self, asked: Asked) -> dict[str, Any]:
        self.asked.append((asked.words["id"], asked.by_worker))
        if asked.words["id"] != self.kept:
            raise MissingError("not kept here", asked.words["id"])
        return {"conversation_id": self.kept}

    async def resolve(self, asked: Asked) -> dict[str, Any]:
        if asked.words["digest"] == self.kept:
            raise ElsewhereError(f"/conversations/{self.kept}")
        raise MissingError("not kept here")


@asynccontextmanager
async def serving(worker: Worker, *, shown: bool = True) -> AsyncIterator[None]:
    peers = Peers(lambda _: worker.owner, lambda: [worker.owner] if worker.owner else [])
    pages = [
        Page("/conversations/{id:.+}", "message.html.j2", worker.show, "", texts=True, beyond="owner"),
        Page("/exemplars/{digest}", "message.html.j2", worker.resolve, "", texts=True, beyond="all"),
    ]
    views = make_views(WorkerMetrics(), lambda: WELL, [peers.ask_too(page) for page in pages], shown=shown)
    runner = web.AppRunner(views)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    worker.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield
    finally:
        await peers.close()
        await runner.cleanup()


async def get(worker: Worker, path: str) -> tuple[int, Any]:
    async with ClientSession() as session, session.get(f"{worker.address}{path}", allow_redirects=False) as answer:
        return answer.status, answer.headers.get("Location") or await answer.json()


@pytest.fixture
async def two() -> AsyncIterator[tuple[Worker, Worker]]:
    one, other = Worker("c-1"), Worker("c-2")
    async with AsyncExitStack() as stack:
        for worker in (one, other):
            await stack.enter_async_context(serving(worker))
        one.owner, other.owner = other.address, one.address
        yield one, other


async def test_a_conversation_of_another_worker_is_fetched_from_its_owner(two: tuple[Worker, Worker]) -> None:
    one, other = two
    expected = {"conversation_id": "c-2", "fetched_from": other.address}
    assert await get(one, "/conversations/c-2") == (200, expected)
    assert other.asked == [("c-2", True)]


async def test_workers_that_each_take_the_other_for_the_owner_do_not_ask_in_circles(two: tuple[Worker, Worker]) -> None:
    one, other = two
    status, answer = await get(one, "/conversations/nobody%2F%3F")
    assert status == 404
    assert answer == {"error": "not kept here: unknown, or past its retention", "id": "nobody/?"}
    assert one.asked == [("nobody/?", False)]
    assert other.asked == [("nobody/?", True)]


async def test_an_owner_that_does_not_answer_is_named() -> None:
    worker = Worker("c-1")
    worker.owner = "http://127.0.0.1:9"
    async with serving(worker):
        status, answer = await get(worker, "/conversations/c-2")
    assert status == 404
    assert "kept by the worker at http://127.0.0.1:9, which gives no answer" in answer["error"]


async def test_an_owner_that_shows_no_conversations_is_named_with_the_setting() -> None:
    one, other = Worker("c-1"), Worker("c-2")
    async with serving(one), serving(other, shown=False):
        one.owner = other.address
        status, answer = await get(one, "/conversations/c-2")
    assert status == 404
    assert "TURNSIGNAL_SHOW_CONVERSATIONS=true" in answer["error"]


async def test_an_exemplar_of_another_worker_is_resolved(two: tuple[Worker, Worker]) -> None:
    one, _ = two
    assert await get(one, "/exemplars/c-2") == (302, "/conversations/c-2")
    assert (await get(one, "/exemplars/nobody"))[0] == 404


@pytest.mark.parametrize("conversation", [".", ".."])
async def test_a_conversation_whose_id_clients_take_for_a_direction_is_found_by_its_link(
    two: tuple[Worker, Worker], conversation: str
) -> None:
    one, other = two
    other.kept = conversation
    expected = {"conversation_id": conversation, "fetched_from": other.address}
    assert await get(one, f"/conversations/{quote_path(conversation)}") == (200, expected)
    other.kept = "c-2"
    assert (await get(one, f"/conversations/{quote_path(conversation)}"))[0] == 404


async def test_an_answer_that_no_worker_gives_is_none() -> None:
    async def chat(_: web.Request) -> web.Response:
        return web.Response(text="<html>")

    worker, stranger = Worker("c-1"), web.Application()
    stranger.router.add_get("/{path:.*}", chat)
    runner = web.AppRunner(stranger)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    worker.owner = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        async with serving(worker):
            status, answer = await get(worker, "/conversations/c-2")
            assert (status, "gives no answer from here" in answer["error"]) == (404, True)
            assert (await get(worker, "/exemplars/c-2"))[0] == 404
    finally:
        await runner.cleanup()
