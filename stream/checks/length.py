"""Length checks: how many words, sentences and paragraphs a response has.

Counted as IFEval's reference program does, so that published figures can be compared.
"""

import re
from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.checks.counted import Counted
from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.typography import typed

_WORD = re.compile(r"\w+")
_QUOTED_OR_STOPPED = re.compile(r"[.,?!'\"]")
#: a run of stops that ends a word; possessive and anchored at the run's begin, so that "......" costs one pass
_STOP = re.compile(r"(?<![.!?])[.!?]++(?=[\"'”’)\]*_}]*+\s++[\"'“‘(\[*_]*+(\S))")
#: never the end of a sentence
_BEFORE_NAMES = (
    "mr mrs ms dr prof rev gen sen rep st mt ft lt col capt sgt no fig vol vs approx e.g i.e incl"
    " sra srta dra mme mlle ca inkl exkl zzgl bzw vgl ggf evtl"
)
#: the end only before a capital
_BEFORE_ANYTHING = (
    "jr sr inc ltd co corp etc al a.m p.m u.s u.k jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu"
    " thur thurs fri sec art abs nr núm pág págs usw mwst"
)
_TITLES, _SHORTENED = frozenset(_BEFORE_NAMES.split()), frozenset(_BEFORE_ANYTHING.split())
_LONGEST = 12  #: characters; longer words are no short forms


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberWords(Counted):
    """The response has at least or at most so many words. Source: IFEval, length_constraints:number_words.

    A word is a run of letters, digits and underscores (`\\w+`); at_least, at_most: words.
    """

    family: ClassVar[str] = "length.number_words"
    example: ClassVar[str] = "length.number_words(at_most=120)"
    breaks: ClassVar[str] = "word " * 121
    unit: ClassVar[str] = "words"

    def evaluate(self, response: Response) -> CheckResult:
        """Count words."""
        return self.count_result(len(_WORD.findall(response.text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSentences(Counted):
    """The response has at least or at most so many sentences. Source: IFEval, length_constraints:number_sentences.

    A sentence ends with `.`, `!` or `?` before a space, unless the full stop belongs to a short form or an initial
    ("Dr.", "J.") or an ellipsis goes on in lower case. A plain form of nltk's punkt, which the reference program uses;
    so the "1." of a numbered item counts, unless skip_markers.
    """

    family: ClassVar[str] = "length.number_sentences"
    example: ClassVar[str] = "length.number_sentences(at_least=2,at_most=9)"
    breaks: ClassVar[str] = "Done."
    version: ClassVar[int] = 3  # since short forms of German, Spanish and French, and of weekdays, end no sentence
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


def count_sentences(text: str, *, skip_markers: bool = False) -> int:
    """Count sentences; text after the last full stop is one; skip_markers: whether the "1." of an item is none.

    Source: Kiss and Strunk 2006 (punkt), with a fixed list of short forms instead of a trained one.
    """
    text = text.strip()
    if not text:
        return 0
    count = 1
    for stop in _STOP.finditer(text):
        if stop[0].startswith("..") and stop[1].islower():
            continue
        is_marker = skip_markers and text[stop.start() - 1].isdecimal() and _marks_item(text, stop.start())
        if not is_marker and (stop[0] != "." or not _continues(text, stop.start(), stop[1])):
            count += 1
    return count


def _marks_item(text: str, at: int) -> bool:
    """Say whether the full stop at `at` belongs to the number of an item: nothing else stands before it on its line."""
    begin = max(0, at - _LONGEST)
    _, newline, line = text[begin:at].rpartition("\n")
    return (bool(newline) or begin == 0) and line.strip(" \t-*+•>").isdecimal()


def _continues(text: str, at: int, follower: str) -> bool:
    """Say whether the sentence goes on after the full stop at `at`, before a word that begins with `follower`."""
    word = text[max(0, at - _LONGEST) : at].split()
    last = word[-1].lstrip("([\"'“‘*_").lower() if word and not text[at - 1].isspace() else ""
    if last in _TITLES or (len(last) == 1 and last.isalpha() and last != "i"):
        return True
    return last in _SHORTENED and not follower.isupper()
