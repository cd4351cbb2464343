"""Peers: what another worker keeps, fetched from it, so that any worker's page answers for all of them.

Workers know each other's addresses from their group. One that is asked by another asks nobody in turn.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Any

import aiohttp
import orjson

from turnsignal.agents.pages.content import Asked, ElsewhereError, MissingError, Page
from turnsignal.agents.pages.rendering import quote_path

logger = logging.getLogger("turnsignal.peers")

ASKING = "X-Turnsignal-Worker"  #: header of a request that another worker makes
SECONDS = 5.0  #: for another worker to answer, which may read turns again
MAX_ANSWER = 1_000_000  #: bytes of one
MAX_PEERS = 50  #: that are asked for what any of them may have

_NOT_HERE = "not kept here: unknown, or past its retention"


class Peers:
    """The other workers of an app.

    owner: conversation's key → the address of the worker that has its partition, None when that is this one, or nobody
    knows; others: the addresses of all others.
    """

    def __init__(self, owner: Callable[[bytes], str | None], others: Callable[[], Iterable[str]]) -> None:
        self._owner = owner
        self._others = others
        self._session: aiohttp.ClientSession | None = None

    def addresses(self) -> list[str]:
        """Return the addresses of the other workers."""
        return sorted(self._others())

    async def close(self) -> None:
        """End the connections to other workers."""
        if self._session is not None:
            await self._session.close()

    def ask_too(self, page: Page) -> Page:
        """Return a page that asks other workers, too, where this one has nothing to show."""
        if page.beyond is None:
            return page
        ask = self._fetch if page.beyond == "owner" else partial(self._search, page.path)
        return page._replace(answer=self._or(page.answer, ask))

    def _or(
        self,
        answer: Callable[[Asked], Awaitable[Mapping[str, Any]]],
        ask: Callable[[Asked, MissingError], Awaitable[Mapping[str, Any]]],
    ) -> Callable[[Asked], Awaitable[Mapping[str, Any]]]:
        async def answer_or_ask(asked: Asked) -> Mapping[str, Any]:
            try:
                return await answer(asked)
            except MissingError as missing:
                if asked.by_worker:
                    raise
                return await ask(asked, missing)

        return answer_or_ask

    async def _fetch(self, asked: Asked, missing: MissingError) -> Mapping[str, Any]:
        """Fetch a conversation from its owner."""
        conversation_id = asked.words["id"]
        address = self._owner(conversation_id.encode("utf-8", "replace"))
        if address is None:
            raise missing
        documents = "?documents=yes" if asked.query.get("documents") else ""
        status, body, _ = await self._get(f"{address}/conversations/{quote_path(conversation_id)}{documents}")
        if status == 200:
            return {**body, "fetched_from": address}
        reason = {
            404: _NOT_HERE,
            403: f"kept by the worker at {address}, which shows no conversations: TURNSIGNAL_SHOW_CONVERSATIONS=true",
        }.get(status, f"kept by the worker at {address}, which gives no answer from here")
        raise MissingError(reason, missing.about)

    async def _search(self, path: str, asked: Asked, missing: MissingError) -> Mapping[str, Any]:
        """Ask every other worker for the page of that path."""
        for name, word in asked.words.items():
            path = path.replace(f"{{{name}}}", quote_path(word))
        addresses = self.addresses()[:MAX_PEERS]
        answers = await asyncio.gather(*(self._get(f"{address}{path}") for address in addresses))
        for address, (status, body, location) in zip(addresses, answers, strict=True):
            if status == 302 and location.startswith("/conversations/"):
                raise ElsewhereError(location)
            if status == 200:
                return {**body, "fetched_from": address}
        raise missing

    async def _get(self, url: str) -> tuple[int, Mapping[str, Any], str]:
        """Return status, body and where it is redirected to; status 0 for no answer, or one that no worker gives."""
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(SECONDS), headers={ASKING: "1"})
        try:
            async with self._session.get(url, allow_redirects=False) as answer:
                body = b""
                async for chunk in answer.content.iter_chunked(65_536):
                    body += chunk
                    if len(body) > MAX_ANSWER:
                        return 0, {}, ""
                content = orjson.loads(body) if answer.status == 200 else {}
                if not isinstance(content, dict):
                    return 0, {}, ""
                return answer.status, content, answer.headers.get("Location", "")
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            logger.debug("%s does not answer: %s", url[:200], type(error).__name__)
            return 0, {}, ""
