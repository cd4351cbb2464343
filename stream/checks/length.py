"""Length checks: how many words, sentences and paragraphs a response has.

Counted as IFEval's reference program does, so that published figures can be compared; words also as people count them.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.checks.counted import Counted
from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.sentence_ends import count_sentences
from turnsignal.stream.text.typography import typed

_WORD = re.compile(r"\w+")
_READABLE = re.compile(r"[^\W_]")  #: a letter or a digit, without which signs between spaces are no word
_ITEM_NUMBER = re.compile(r"^[ \t]*\(?\d{1,3}[.)](?=\s)", re.M)
_QUOTED_OR_STOPPED = re.compile(r"[.,?!'\"]")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberWords(Counted):
    """The response has at least or at most so many words. Source: IFEval, length_constraints:number_words.

    A word is a run of letters, digits and underscores (`\\w+`), so that "it's" is two and an address is many;
    by_spaces: as people count instead: what stands between spaces and holds a letter or a digit, without the numbers of
    items and the markers of citations. at_least, at_most: words.
    """

    family: ClassVar[str] = "length.number_words"
    example: ClassVar[str] = "length.number_words(at_most=120)"
    breaks: ClassVar[str] = "word " * 121
    unit: ClassVar[str] = "words"
    by_spaces: bool = False

    def evaluate(self, response: Response) -> CheckResult:
        """Count words."""
        return self.count_result(_spaced_words(response) if self.by_spaces else len(_WORD.findall(response.text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSentences(Counted):
    """The response has at least or at most so many sentences. Source: IFEval, length_constraints:number_sentences.

    A sentence ends with `.`, `!` or `?` before a space, unless the full stop belongs to a short form or an initial
    ("Dr.", "J.K.", "9 a.m. Monday"), an ellipsis goes on in lower case, or what goes on so stands in quotation marks
    ("“Stop!” and left"). A plain form of nltk's punkt, which the reference program uses; so the "1." of a numbered item
    counts, unless skip_markers.
    """

    family: ClassVar[str] = "length.number_sentences"
    example: ClassVar[str] = "length.number_sentences(at_least=2,at_most=9)"
    breaks: ClassVar[str] = "Done."
    version: ClassVar[int] = 4  # since initials, units and quotations end a sentence only where another may begin
    unit: ClassVar[str] = "sentences"
    skip_markers: bool = False

    def evaluate(self, response: Response) -> CheckResult:
        """Count sentences."""
        return self.count_result(count_sentences(response.text, skip_markers=self.skip_markers))


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberParagraphs(Counted):
    """The response has so many paragraphs, separated by the divider `***`. Source: IFEval, number_paragraphs.

    An empty paragraph between two dividers fails; before the first or after the last divider it does not count.
    """

    family: ClassVar[str] = "length.number_paragraphs"
    example: ClassVar[str] = "length.number_paragraphs(at_least=2)"
    breaks: ClassVar[str] = "Done."
    unit: ClassVar[str] = "paragraphs"

    def evaluate(self, response: Response) -> CheckResult:
        """Count paragraphs."""
        paragraphs = [part.strip() for part in response.text.split("***")]
        if not all(paragraphs[1:-1]):
            return failed("a paragraph between two dividers is empty")
        return self.count_result(sum(1 for paragraph in paragraphs if paragraph))


@dataclass(frozen=True, slots=True, kw_only=True)
class NthParagraphFirstWord(InstructionCheck):
    """The response has `paragraphs` paragraphs, and number `nth` begins with `word`. Source: IFEval,
    length_constraints:nth_paragraph_first_word.

    Paragraphs are separated by an empty line; nth: 1-based; upper and lower case are the same, typographic and straight
    signs, too; word: read up to an apostrophe, as in the response.
    """

    family: ClassVar[str] = "length.nth_paragraph_first_word"
    example: ClassVar[str] = "length.nth_paragraph_first_word(nth=1,paragraphs=2,word=first)"
    breaks: ClassVar[str] = "Then this."
    version: ClassVar[int] = 3  # since typographic signs are the same as typed ones
    paragraphs: int
    nth: int
    word: str

    def validate(self) -> str | None:
        """Expect a paragraph that there can be."""
        if 1 <= self.nth <= self.paragraphs:
            return None
        return f"expected nth between 1 and paragraphs={self.paragraphs}; got {self.nth}"

    def evaluate(self, response: Response) -> CheckResult:
        """Count paragraphs, then read one word."""
        parts = [part.strip() for part in response.typed.split("\n\n") if part.strip()]
        if len(parts) != self.paragraphs:
            return failed(f"{len(parts)} paragraphs, {self.paragraphs} were asked for")
        first = parts[self.nth - 1].split(maxsplit=1)[0].lstrip("'\"")
        first = _QUOTED_OR_STOPPED.split(first, maxsplit=1)[0].lower()
        if first == _QUOTED_OR_STOPPED.split(typed(self.word).lstrip("'\""), maxsplit=1)[0].lower():
            return PASSED
        return failed(f"paragraph {self.nth} begins with {shown(first)}, not with {shown(self.word)}")


def _spaced_words(response: Response) -> int:
    """Count what stands between spaces, as people count words."""
    pieces, end = [], 0
    for start, stop in response.citations.markers:
        pieces.append(response.text[end:start])
        end = max(end, stop)
    text = " ".join([*pieces, response.text[end:]])
    return sum(_READABLE.search(word) is not None for word in _ITEM_NUMBER.sub("", text).split())
