"""Conversations: the worst ones that this worker keeps, one of them turn by turn, and the one that an exemplar names.

A hundred thousand conversations are looked through in slices of a millisecond with a pause behind each, so that turns,
probes and scrapes never wait for a page; one search at a time, and its answer is given again for some seconds.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import orjson

from turnsignal.agents.metrics.exposition import DIGEST_LENGTH, conversation_digest
from turnsignal.agents.pages.content import Asked, ElsewhereError, MissingError, Page
from turnsignal.agents.pages.recent_rows import MAX_ROWS, RecentRows
from turnsignal.agents.pages.rendering import quote_path
from turnsignal.agents.pages.searching import Pauses, Searchable, snapshots
from turnsignal.stream.conversations.state import Conversation, restore
from turnsignal.stream.errors import Refused, SchemaError
from turnsignal.stream.pipeline.kept_conversations import (
    ConversationFilter,
    TurnDescriber,
    WorstConversations,
    has_label,
)
from turnsignal.stream.pipeline.lenient_turns import lenient_decoder
from turnsignal.stream.pipeline.scoring import scorer_names
from turnsignal.stream.records.scores import Stage
from turnsignal.stream.records.turns import MAX_ID
from turnsignal.stream.suite import Suite

SHOWN = 50  #: conversations of one list
MAX_SEARCHED = 200_000  #: conversations that one list is made of
SEARCH_SECONDS = 20.0  #: that a search may take
ANSWER_SECONDS = 10.0  #: for which a list is given again

_decode = lenient_decoder(Counter)  # a turn that has rows was taken in, whether strictly or not
_OF_ROW = ("id", "stage", "time", "suite", "outcome", "replaced", "turn_id", "source", "verdict")
_OF_SCORE = ("scorer", "value", "label", "unscored", "explanation", "confidence")
NOT_KEPT_HERE = "not kept here: unknown, past its retention, or in a partition of another worker"
_NOT_KEPT = (
    "A worker keeps the last {turns} turns of a conversation, {characters:,} characters of each, no documents, and the"
    " last {rows:,} score rows since it started. `turnsignal conversation {shown}` reads all of it from the topics."
)


class SearchableConversations(Searchable, Protocol):
    """Who keeps the conversations of one partition."""

    def conversation(self, key: bytes) -> Conversation | None:
        """Return what is remembered of a conversation."""
        ...


class TurnSource(Protocol):
    """Where turns can be read again that no state keeps."""

    async def read(self, partition: int, offsets: Sequence[int]) -> dict[int, bytes]:
        """Return the values of records by offset, of those that are there."""
        ...


class ConversationPages:
    """What a score worker shows of the conversations in its partitions.

    processors: asked for whenever something is shown, as partitions come and go; secret: that exemplars are digested
    with, None where there are none; stored: where turns can be read again; clock: monotonic seconds.
    """

    def __init__(
        self,
        suite: Suite,
        processors: Callable[[], Iterable[SearchableConversations]],
        rows: RecentRows,
        secret: str | None = None,
        stored: TurnSource | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._suite = suite
        self._processors = processors
        self._rows = rows
        self._secret = secret
        self._stored = stored
        self._clock = clock
        self._turns = TurnDescriber(suite)
        self._scorers = scorer_names(suite)
        self._search = asyncio.Lock()
        self._answers: dict[tuple[ConversationFilter, str | None], tuple[float, dict[str, Any]]] = {}

    def pages(self) -> list[Page]:
        """Return the pages that there are."""
        return [
            Page(
                "/conversations",
                "conversations.html.j2",
                self._list,
                "the worst conversations that this worker keeps, by assistant, version, scorer and label",
                "/conversations",
                texts=True,
            ),
            Page(
                "/conversations/{id:.+}",
                "conversation.html.j2",
                self._show,
                "what this worker keeps of a conversation in its partitions, or the one whose partition it is in",
                texts=True,
                beyond="owner",
            ),
            Page(
                "/exemplars/{digest}",
                "message.html.j2",
                self._resolve,
                "the conversation that an exemplar on /metrics names",
                texts=True,
                beyond="all",
            ),
        ]

    # -- one conversation ----------------------------------------------------------------------------------------------

    async def _show(self, asked: Asked) -> Mapping[str, Any]:
        conversation_id = asked.words["id"]
        if len(conversation_id) > MAX_ID:
            reason = f"an id has at most {MAX_ID} characters, got {len(conversation_id)}"
            raise MissingError(reason, conversation_id[:MAX_ID])
        answer = self.describe(conversation_id)
        if answer is None:
            raise MissingError(NOT_KEPT_HERE, conversation_id)
        if asked.query.get("documents"):
            await self._add_documents(conversation_id, answer["kept"])
            answers = [turn for turn in answer["kept"] if turn["role"] == "assistant" and "text" in turn]
            answer["not_read"] = sum("documents" not in turn for turn in answers)
        return answer

    async def _add_documents(self, conversation_id: str, kept: list[dict[str, Any]]) -> None:
        """Read the answers again whose recent rows say where their records are, with the documents of each."""
        at = {
            (row["source"]["partition"], row["source"]["offset"]): turn
            for turn in kept
            for row in turn.get("rows", ())
            if row["stage"] == Stage.RESPONSE and row["source"] is not None
        }
        if self._stored is None or not at:
            return
        partition = next(iter(at))[0]  # a conversation has one
        values = await self._stored.read(partition, [offset for _, offset in at])
        key = conversation_id.encode("utf-8", "replace")
        for offset, value in values.items():
            try:
                turn = _decode(value, key, None)
            except Refused:
                continue
            if self._suite.redaction is not None:
                self._suite.redaction.apply(turn, Counter())
            shown = at[partition, offset]
            if turn.turn_id == shown["turn_id"]:
                shown.pop("cut", None)
                shown |= self._turns.describe_documents(turn)

    def describe(self, conversation_id: str) -> dict[str, Any] | None:
        """Return what is kept of a conversation, as JSON; None when that is nothing."""
        key = conversation_id.encode("utf-8", "replace")
        for processor in self._processors():
            try:
                state = processor.conversation(key)
            except SchemaError as error:
                reason = f"kept here, and not readable: {error}"
                raise MissingError(reason, conversation_id) from None
            described = None if state is None else processor.describe(key)
            if state is not None and described is not None:
                return {**described, **self._add_rows(key, self._turns.describe(state)), "not_kept": self._say(key)}
        return None

    def _add_rows(self, key: bytes, kept: list[dict[str, Any]]) -> dict[str, Any]:
        """Put the recent rows of a conversation with their turns."""
        turns, others = {turn["turn_id"]: turn for turn in kept}, []
        for row in self._rows.of(key):
            shown = {name: row.get(name) for name in _OF_ROW}
            shown["scores"] = [{name: score.get(name) for name in _OF_SCORE} for score in row["scores"]]
            turn = turns.get(row["turn_id"])
            if turn is None:
                others.append(shown)
            else:
                turn.setdefault("rows", []).append(shown)
        return {"kept": kept, "other_rows": others}

    def _say(self, key: bytes) -> str:
        limits = self._suite.limits
        return _NOT_KEPT.format(
            turns=limits.kept_turns,
            characters=limits.kept_characters,
            rows=MAX_ROWS,
            shown=key.decode("utf-8", "replace"),
        )

    # -- the worst of them ---------------------------------------------------------------------------------------------

    async def _list(self, asked: Asked) -> Mapping[str, Any]:
        assistant, version, scorer, label = (
            asked.query.get(name, "")[:MAX_ID].encode("utf-8", "replace").decode() or None
            for name in ("assistant", "version", "scorer", "label")
        )
        if scorer is not None and scorer not in self._scorers:
            reason = f"expected a scorer of the suite ({', '.join(self._scorers)}), got {scorer!r}"
            raise MissingError(reason)
        wanted = (ConversationFilter(assistant, version, scorer), label)
        async with self._search:
            made, answer = self._answers.get(wanted, (float("-inf"), {}))
            if self._clock() - made > ANSWER_SECONDS:
                answer = await self._find_worst(*wanted)
                now = self._clock()
                self._answers = {w: a for w, a in self._answers.items() if now - a[0] <= ANSWER_SECONDS}
                if len(self._answers) < SHOWN:
                    self._answers[wanted] = now, answer
        return answer

    async def _find_worst(self, wanted: ConversationFilter, label: str | None) -> dict[str, Any]:
        worst = WorstConversations(self._suite, wanted, SHOWN)
        until, kept = self._clock() + SEARCH_SECONDS, sum(len(processor.store) for processor in self._processors())
        states = self._with_label(label, wanted.scorer) if label is not None else self._states()
        unreadable = 0
        async for key, state in states:
            if state is None:
                unreadable += 1
            else:
                worst.add(key, state)
            if worst.shown >= MAX_SEARCHED or self._clock() > until:
                break
        among = f"the last {MAX_ROWS:,} score rows" if label is not None else f"{kept:,} that this worker keeps"
        how = (
            f"{worst.shown:,} conversations looked at, of {among}; {worst.scored:,} fit and have a score under the"
            f" present suite; at most {SHOWN} are shown. Without a scorer the lowest of relevancy, follow-ups and"
            " instructions counts. Other workers keep others."
        )
        if unreadable:
            how += f" {unreadable:,} could not be read: turnsignal topics repair says more."
        return {
            **wanted._asdict(),
            "label": label,
            "scorers": self._scorers,
            "conversations": worst.describe(),
            "kept_here": kept,
            "searched": worst.shown,
            "how": how,
        }

    async def _states(self) -> AsyncIterator[tuple[bytes, Conversation | None]]:
        """Yield every conversation that is kept, None for one that cannot be read."""
        async for _, key, value in snapshots(self._processors()):
            state = _restore(value)
            if state is None or state.turns:
                yield key, state

    async def _with_label(self, label: str, scorer: str | None) -> AsyncIterator[tuple[bytes, Conversation | None]]:
        """Yield the conversations of recent rows that have a label, None for one that cannot be read."""
        needle, known, pauses = orjson.dumps(label), set[bytes](), Pauses()
        for key, value in self._rows.newest():
            if key not in known and needle in value and has_label(orjson.loads(value), label, scorer):
                known.add(key)
                for processor in self._processors():
                    kept = processor.store.get(key)
                    state = None if kept is None else _restore(kept)
                    if kept is not None and (state is None or state.turns):
                        yield key, state
            await pauses.pause_if_due()

    # -- exemplars -----------------------------------------------------------------------------------------------------

    async def _resolve(self, asked: Asked) -> Mapping[str, Any]:
        digest = asked.words["digest"].lower()
        if self._secret is None:
            raise MissingError("there are no exemplars here without TURNSIGNAL_EXEMPLAR_SECRET")
        if len(digest) != DIGEST_LENGTH or not set(digest) <= set("0123456789abcdef"):
            reason = f"expected the {DIGEST_LENGTH} hex digits of an exemplar"
            raise MissingError(reason, asked.words["digest"][:MAX_ID])
        secret = self._secret.encode()
        async with self._search:
            async for _, key, _value in snapshots(self._processors()):
                conversation_id = key.decode("utf-8", "replace")
                if conversation_digest(secret, conversation_id) == digest:
                    path = f"/conversations/{quote_path(conversation_id)}"
                    raise ElsewhereError(path)
        raise MissingError(NOT_KEPT_HERE, digest)


def _restore(value: bytes) -> Conversation | None:
    """Read what is kept of a conversation, None where it cannot be read: a page shows the others."""
    try:
        return restore(value)
    except SchemaError:
        return None
