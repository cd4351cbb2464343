"""Exchanges: prompt, response and follow-up, the unit that is scored; and the response as scorers see it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from stream.citations import Citations
from stream.turns import Document

_MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table")


class Exchange(NamedTuple):
    """Texts around one follow-up, cut to what the conversation keeps.

    prompt: the user turns before the response, joined; response: the assistant's text; follow_up: the user turn after it;
    before: the prompt of the exchange before this one, or "".
    """

    prompt: str
    response: str
    follow_up: str
    before: str = ""


@dataclass
class Response:
    """An assistant turn as response scorers see it; what several of them need is worked out once, when first asked.

    text: what the user saw; documents: the retrieved list in context order; platform: web, slack, … or None;
    read_citations: how the suite reads markers; relevant: known relevant document ids, if any.
    """

    text: str
    documents: Sequence[Document]
    read_citations: Callable[[str, Sequence[Document]], Citations]
    platform: str | None = None
    relevant: Sequence[str] | None = None

    @cached_property
    def citations(self) -> Citations:
        """Citations and faults found in the text."""
        return self.read_citations(self.text, self.documents)

    @cached_property
    def markdown(self) -> list[Token]:
        """The text as CommonMark block tokens with tables; parse only after a cheap look says that there is some."""
        return _MARKDOWN.parse(self.text)
