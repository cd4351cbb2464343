"""Templates: what texts of a program have alike around what differs, and which labels stand in that.

Use the context to answer.        before: "Use the context to answer.\nQuestion: "
Question: How do I pay?           labels: question, context
Context: Cards. Bills.            question: How do I pay?
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_LABEL = re.compile(
    r"(?:(?<=\s)|^)(?:> ?)?[*#\[\"]{0,4}(?P<label>[^\W\d_]+(?:[ _-][^\W\d_]+){0,3})[*\]\"]{0,2}:(?:[*]{0,2})(?=\s|$)"
    r"|<(?P<tag>/?[^\W\d_][\w -]{0,30})>"
)
ASKS = frozenset(
    (
        "question",
        "query",
        "input",
        "message",
        "request",
        "user",
        "customer",
        "frage",
        "anfrage",
        "pregunta",
        "requête",
        "domanda",
    )
)
FINDINGS = frozenset(
    (
        "context",
        "contexts",
        "document",
        "documents",
        "docs",
        "source",
        "sources",
        "passage",
        "passages",
        "result",
        "results",
        "article",
        "articles",
        "knowledge",
        "information",
        "chunks",
        "excerpts",
        "kontext",
        "contexto",
        "contexte",
        "contesto",
        "dokumente",
        "quellen",
    )
)
SAYS = frozenset(
    ("answer", "response", "reply", "assistant", "ai", "bot", "verdict", "antwort", "respuesta", "réponse")
)


class _Part(NamedTuple):
    """What stands between two labels. name: the last word of the first, empty without one."""

    name: str
    text: str


class Template:
    """How prompts begin and end alike. labels: those that all of them have in between, in their order."""

    def __init__(self, before: str, after: str, samples: Sequence["SentPrompt"], *, is_marked: bool) -> None:
        self.before, self.after, self.is_marked = before, after, is_marked
        self.calls = len(samples)
        self.asks_last = False  # in the last paragraph, behind what was found
        self.quotes: str | None = None  # the label behind which what others said stands, where it is no question's
        middles = [each.text[len(before) : len(each.text) - len(after)] for each in samples]
        held = [dict.fromkeys(_names(middle)) for middle in middles]
        self.labels = [name for name in held[0] if all(name in names for names in held[1:])]
        self.first = next(reversed(list(_names(before))), "")
        last = self.labels[-1] if self.labels else ""
        self.is_behind = last.startswith("</") and last.strip("</>") in FINDINGS  # what is asked, what was found
        self.questions = [self.question_in(each.text) for each in samples]
        self.answers = [each.answer for each in samples]
        self.is_long = sum("\n" in middle.strip() for middle in middles) * 2 > len(middles)
        self.takes_out = self.is_known = self.is_answered = False
        self.is_answered_by_others = False  # who are asked what differs alone

    def matches(self, text: str) -> bool:
        """Say whether a text has the same frame."""
        is_long = len(text) > len(self.before) + len(self.after)
        return is_long and text.startswith(self.before) and text.endswith(self.after)

    @property
    def words(self) -> int:
        """Count the words that are the same."""
        return len((self.before + " " + self.after).split())

    @property
    def names(self) -> set[str]:
        """Return the last words of the labels around what differs, and in it."""
        return {last_word(label) for label in (self.first, *self.labels)} - {""}

    @property
    def is_search(self) -> bool:
        """Say whether a question is asked about what was found for it, and nobody has answered."""
        searched = self.names & FINDINGS or FINDINGS & set(re.findall(r"\w+", self.before.lower()))
        is_asked = self.is_behind or bool(self.names & ASKS)
        return bool(is_asked and searched and not self.names & SAYS and self.labels)

    def question_in(self, text: str) -> str:
        """Return what was asked in a text of this frame: behind its label, else all that differs."""
        middle = text[len(self.before) : len(text) - len(self.after)]
        parts = list(self._parts(middle))
        if self.asks_last:
            return middle.rpartition("\n\n")[2].strip() if "\n\n" in middle else ""
        if self.quotes is not None:
            return next((bare(part.text) for part in parts if part.name == self.quotes), "")
        asked = [bare(part.text) for part in parts if part.name in ASKS]
        is_first = last_word(self.first) in ASKS
        is_tagged = any(label[:1] == "<" and last_word(label) in ASKS for label in self.labels)
        if self.is_behind and not (is_first or is_tagged) and parts[-1].text.strip():
            return parts[-1].text.strip()
        return (asked[0 if is_first else -1] if asked else middle).strip()

    def parts_in(self, text: str) -> dict[str, str]:
        """Return what stands behind each label in a text of this frame."""
        middle = text[len(self.before) : len(text) - len(self.after)]
        return {part.name: bare(part.text) for part in self._parts(middle)}

    def _parts(self, middle: str) -> Iterator[_Part]:
        """Give the parts of a middle: what was found may hold labels, too, and stands last or before the last label."""
        marks = [match for match in _LABEL.finditer(middle) if _name(match) in self.labels]
        is_asked_first = last_word(self.first) in ASKS
        chosen: dict[str, re.Match[str]] = {}
        for match in marks:
            name = _name(match)
            if name not in chosen or not is_asked_first:
                chosen[name] = match
        at, name = 0, last_word(self.first)
        for match in sorted(chosen.values(), key=lambda match: match.start()):
            if match.start() >= at:
                yield _Part(name, middle[at : match.start()])
            at, name = match.end(), last_word(_name(match))
        yield _Part(name, middle[at:])


class SentPrompt(NamedTuple):
    """One prompt, and a digest of what it got."""

    text: str
    answer: bytes


def bare(text: str) -> str:
    """Take off what stands around a value in JSON, as some prompts hold it: `How?", ` behind `{"question": "`."""
    text = text.strip()
    return text.strip('",}{ \n') if text.endswith(('",', '"}', '",\n')) else text


def _names(text: str) -> Iterator[str]:
    return (_name(match) for match in _LABEL.finditer(text))


def _name(match: re.Match[str]) -> str:
    return (match["label"] or f"<{match['tag']}>").lower()


def last_word(label: str) -> str:
    """Return the last word of a label, "" of what ends a tag."""
    if label.startswith("</"):
        return ""
    words = re.findall(r"[^\W_]+", label)
    return words[-1] if words else ""
