"""Exchanges: prompt, response and follow-up, the unit that is scored; and the response as scorers see it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from turnsignal.stream.citations.reader import CitationReader
from turnsignal.stream.records.turns import Document
from turnsignal.stream.text.markdown import Markdown, parse_markdown
from turnsignal.stream.text.typography import typed


class Exchange(msgspec.Struct, frozen=True, gc=False):
    """Texts around one follow-up, cut to what the conversation keeps.

    prompt: the user turns before the response, joined; response: the assistant's text; follow_up: the user turn after
    it; before: the prompt of the exchange before this one, or "".
    """

    prompt: str
    response: str
    follow_up: str
    before: str = ""


class Response:
    """An assistant turn as response scorers see it; what several of them need is worked out once.

    text: what the user saw; documents: the retrieved list in context order; read_citations: how the suite reads
    markers; platform: web, slack, … or None; relevant: known relevant document ids, if any; metadata: the turn's, where
    citations may have been delivered beside the text; earlier: what earlier answers of the conversation retrieved, as
    `earlier_documents.remember` returns it.
    """

    __slots__ = (
        *("_earlier", "_markdown", "_read", "_typed"),
        *("citations", "documents", "metadata", "platform", "relevant", "text"),
    )

    def __init__(
        self,
        text: str,
        documents: Sequence[Document],
        read_citations: CitationReader,
        platform: str | None = None,
        relevant: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        earlier: bytes = b"",
    ) -> None:
        self.text = text
        self.documents = documents
        self.platform = platform
        self.relevant = relevant
        self.metadata = metadata
        #: citations and faults found in the text and beside it
        more = (metadata, earlier) if metadata or earlier else ()
        self.citations = read_citations(text, documents, *more)
        self._read, self._earlier = read_citations, earlier
        self._markdown: Markdown | None = None
        self._typed: str | None = None

    def with_text(self, text: str) -> "Response":
        """Return the same response as if it had said `text`."""
        return Response(text, self.documents, self._read, self.platform, self.relevant, self.metadata, self._earlier)

    @property
    def typed(self) -> str:
        """The text with its signs as they are typed, of the same length: what words and phrases are looked for in."""
        if self._typed is None:
            self._typed = typed(self.text)
        return self._typed

    @property
    def markdown(self) -> Markdown:
        """A bounded part of the text as CommonMark blocks with tables; ask only after a cheap test of the text."""
        if self._markdown is None:
            self._markdown = parse_markdown(self.text)
        return self._markdown
