"""Completeness: what turns that were read lack, how that comes about, and what mends it.

Teams lose their days not with a parser but with telemetry that leaves out the documents or the conversation.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from turnsignal.stream.citations.reader import CitationReader, citation_reader
from turnsignal.stream.records.turns import Turn

_FEW = 3  #: answers, of which most hold such brackets by chance
_ENOUGH = 20  #: answers, of which some are usually followed
FIRST_PLAUSIBLE = 1_104_537_600.0  #: seconds of the year 2005; earlier times are made up


_BRACKETS = re.compile(r"\[\w[\w.:-]{0,60}\](?!\()")  #: an id in brackets; a link has an address behind them


class Share(NamedTuple):
    """How many of how many have something; mend: what to do where less than the share `least` have."""

    what: str
    n: int
    of: int
    mend: str
    least: float = 0.8

    @property
    def is_low(self) -> bool:
        """Whether so many lack it that figures would mislead."""
        return self.of > 0 and self.n < self.least * self.of


class Completeness:
    """Counts what turns have. read: how citations are read, the same as when answers are scored."""

    def __init__(self, read: CitationReader | None = None) -> None:
        self._read = read or citation_reader()
        self._counts: Counter[str] = Counter()
        self._last: dict[str, str] = {}  # conversation → who spoke last

    def add(self, turn: Turn, *, names_environment: bool) -> None:
        """Take in a turn, in the order of its conversation; a decoded one does not say whether it named production."""
        counts = self._counts
        counts["turns"] += 1
        counts["times"] += turn.time >= FIRST_PLAUSIBLE
        counts["environments"] += names_environment
        if turn.role == "user":
            counts["asked"] += 1
            counts["users"] += turn.user_id is not None
        before = self._last.get(turn.conversation_id)
        if before is not None:
            counts["neighbours"] += 1
            counts["alternating"] += before != turn.role
        counts["followed"] += turn.role == "user" and before == "assistant"
        self._last[turn.conversation_id] = turn.role
        if turn.role == "assistant":
            self._add_answer(turn)

    def _add_answer(self, turn: Turn) -> None:
        counts, documents = self._counts, turn.retrieved or []
        counts["answers"] += 1
        counts["documents"] += bool(documents)
        counts["versions"] += bool(turn.version)
        citations = self._read(turn.text, documents, turn.metadata)
        cites = bool(citations.all or citations.markers)
        counts["citations"] += cites
        counts["brackets"] += not cites and not documents and _BRACKETS.search(turn.text) is not None
        counts["cites documents"] += cites and bool(documents)
        counts["known"] += bool(citations.all) and bool(documents)

    def fallen_apart(self) -> Share | None:
        """Return the share of answers that are followed where hardly one of many is; None where conversations hold."""
        followed = next(self.shares())
        return followed if followed.is_low and followed.of >= _ENOUGH else None

    def unlogged(self) -> str | None:
        """Say what to log where most answers hold brackets that name documents, and those are not logged."""
        n = self._counts
        if n["answers"] < _FEW or 2 * n["brackets"] <= n["answers"]:
            return None
        return self._mend_of_brackets()

    def _mend_of_brackets(self) -> str:
        return (
            f"{self._counts['brackets']:,} answers hold brackets such as [doc_4], which name documents that were not "
            "logged: log what was retrieved for each"
        )

    def as_json(self) -> list[dict[str, Any]]:
        """Return the shares for `convert --check --json`; those of nothing are left out."""
        return [
            {"what": share.what, "n": share.n, "of": share.of, "share": share.n / share.of, "is_low": share.is_low}
            | ({"mend": share.mend} if share.is_low else {})
            for share in self.shares()
            if share.of
        ]

    def shares(self) -> Iterator[Share]:
        """Give what there is of each thing, with its mend."""
        n = self._counts
        yield Share(
            "answers that a user message follows", n["followed"], n["answers"],
            "conversations fall apart: send one id with every call of a conversation (session.id, thread_id, "
            "gen_ai.conversation.id, metadata.conversation_id), or each answer stands alone and no follow-up is read",
            0.2,
        )  # fmt: skip
        yield Share(
            "answers with documents", n["documents"], n["answers"],
            f"{n['answers'] - n['documents']:,} answers have none: where these need some, their retriever is not "
            "recorded; small talk, and answers of tools, have none"
            if n["documents"] else
            "the retriever is not recorded: trace it as a retriever (type RETRIEVER, run_type retriever, span kind "
            "RETRIEVER, gen_ai.retrieval.documents), in the trace of its answer, or name the field in a mapping, and "
            'the key of its ids where it is an unusual one: documents = { path = "hits", id = "ref" }',
        )  # fmt: skip
        yield Share(
            "answers with citations", n["citations"], n["answers"],
            self._mend_of_brackets()
            if 2 * n["brackets"] > n["answers"] else
            f"{n['answers'] - n['citations']:,} answers cite nothing: where these state what was retrieved, they should"
            if n["citations"] else
            "answers do not cite, or citations are taken out before they are logged: log the text as the model gave "
            "it, or the API's annotations beside it",
        )  # fmt: skip
        yield Share(
            "of answers with documents and citations, those that name a document", n["known"], n["cites documents"],
            "citations do not name what was retrieved: log the documents that the model was given, in its order and "
            "with the ids that it cites, or say in the suite's [citations] how they are written (zero_based, styles)",
        )  # fmt: skip
        yield Share(
            "answers with a version", n["versions"], n["answers"],
            "releases cannot be compared: log the release or the prompt's version, as `version` of a turn, or as "
            "metadata.version of a call; without, `replay FILE --released TIME` compares before and after a time",
        )  # fmt: skip
        yield Share(
            "user messages with a user", n["users"], n["asked"],
            "who wrote is not told: users cannot be counted once each when releases are compared: log `user_id` "
            "(`convert --hash-users` keeps a digest of it), or the user of a call",
        )  # fmt: skip
        yield Share(
            "turns whose role differs from the one before", n["alternating"], n["neighbours"],
            "messages are missing, or those of several conversations stand under one id",
        )  # fmt: skip
        yield Share(
            "turns with a plausible time", n["times"], n["turns"],
            "the log has no times, so that pauses and ends of conversations cannot be told: log when a call began",
        )  # fmt: skip
        yield Share(
            "turns that name their environment", n["environments"], n["turns"],
            "all else counts as production: set `environment` of a turn, or metadata.environment or "
            "deployment.environment.name of a call, so that tests and evaluations do not move the figures",
        )  # fmt: skip
