"""Citation checks: are markers well formed, placed after what they support, few in a row, and there at all.

Hoffer makes one instruction of this ("must follow [dataset_step_id-item_id], placed after supporting text. Max three
consecutive. No source URLs."); each part fails for another reason, so each is a check.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from turnsignal.stream.checks.instruction_check import InstructionCheck, failed, shown
from turnsignal.stream.checks.protocol import NOT_APPLICABLE, PASSED, CheckResult, Result
from turnsignal.stream.citations.markers import is_labelled
from turnsignal.stream.citations.reader import DEFAULT_STYLES, Citations
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.text.markdown import CUT

_READS = 4  #: version of checks that look at markers: since documents of earlier answers may be cited
_LOOK_BACK = 100  #: characters of a delivered span that are looked at, from its end: spans may all overlap
_BETWEEN = " \t,;"  #: what may stand between two citations in a row
_MARKUP = "*_~`"  #: closing decoration between a word and its citation
_OPENING = frozenset(" \t\n\r([{<|“‘«„")  #: nothing that a citation could support
_LEANING = frozenset(
    "-–—+•>#=\"'"
)  #: text after a word ("C++", a closing quote), otherwise a bullet or an opening quote
_STOPS = frozenset(".,;:!?…。！？")
_BARE_NUMBERS = re.compile(r"[\[\]\d\s,;#–—-]+")
_ORDINAL = re.compile(r"[ \t>]*\d{1,9}\Z")
_URL = re.compile(r"(?:https?://|www\.)[^\s<>|\"'`]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Format(InstructionCheck):
    """Every marker is well formed. Source: Hoffer, "Citation format: citations must follow [doc_id] format".

    style: the one style that markers must have (`doc_id`, `numeric`, …); default `any`: every style that the suite
    declares. What counts is how a marker is written: where ids are numbers, `[1]` is an id and numeric, where they are
    like "Source 1", `[Source 1]` is an id and labelled. A well-formed marker that names nothing retrieved is no format
    fault. A citation beside the text has the style `structured`. Not applicable without citations.
    """

    family: ClassVar[str] = "citation.format"
    example: ClassVar[str] = "citation.format(style=doc_id)"
    breaks: ClassVar[str] = "Open Settings [doc_1"
    version: ClassVar[int] = 4  # since an id may have the form of another style
    style: str = "any"

    def validate(self) -> str | None:
        """Expect a style that the reader knows."""
        if self.style == "any" or self.style in DEFAULT_STYLES:
            return None
        return f"expected style to be any, {', '.join(DEFAULT_STYLES)}; got {self.style!r}"

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first marker that is malformed or of another style."""
        citations = response.citations
        if not (citations.markers or citations.beside):
            return NOT_APPLICABLE
        anything = self.style == "any"
        if anything and not citations.faults:
            return PASSED
        wrong = [(f.start, f.end) for f in citations.faults if f.kind == "malformed"]
        if not anything:
            fits = self._writings(response)
            wrong += [
                (f.start, f.end)
                for f in citations.faults
                if not (f.style == "structured" or fits(f.style, f.text, f.start))
            ]
            wrong += [(c.start, c.end) for c in citations.with_earlier if not fits(c.style, c.doc_id, c.start)]
        if not wrong:
            return PASSED
        start, end = min(wrong)
        form = "a well-formed citation" if anything else f"a citation in the style {self.style}"
        written = (start, end) in citations.markers
        what = shown(response.text[start:end]) if written else "what is cited beside the text"
        return failed(f"{what} is not {form}", start, end)

    def _writings(self, response: Response) -> Callable[[str, str, int], bool]:
        """Return what says of an item, by the style that it was read in, whether it fits the style asked for."""
        # Where ids are numbers, one that names none is as well-formed as those that do.
        ids_are_numbers = bool(response.documents) and all(one.doc_id.isdecimal() for one in response.documents)

        def fits(style: str, item: str, start: int) -> bool:
            if style == self.style:
                return True
            if self.style == "doc_id":
                return style == "step_item" or (style == "numeric" and ids_are_numbers)
            if style not in ("doc_id", "numeric"):
                return False
            is_number = _BARE_NUMBERS.fullmatch(item) is not None
            if self.style == "labelled":  # "[Sources 1, 2]": the label is for both
                return is_labelled(item.strip("[]")) or (is_number and response.text[start + 1 : start + 2].isalpha())
            return self.style == "numeric" and is_number

        return fits


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolves(InstructionCheck):
    """Every marker names something that was retrieved. Source: Hoffer, citation errors that mislead users come first.

    An earlier answer of the conversation may have retrieved it. What is delivered beside the text counts too. Not
    applicable without citations, and without documents: nobody can tell then whether none were retrieved or none were
    recorded.
    """

    family: ClassVar[str] = "citation.resolves"
    example: ClassVar[str] = "citation.resolves"
    breaks: ClassVar[str] = "Open Settings [doc_9]."
    version: ClassVar[int] = _READS

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first marker that dangles."""
        citations = response.citations
        cited = citations.with_earlier
        if not (cited or citations.faults) or not response.documents:
            return NOT_APPLICABLE
        wrong = next((fault for fault in citations.faults if fault.kind == "dangling"), None)
        if wrong is None:
            return PASSED if cited else NOT_APPLICABLE
        count = len(response.documents)
        retrieved = "the one retrieved document" if count == 1 else f"any of the {count} retrieved documents"
        return failed(f"{shown(wrong.text)} does not name {retrieved}", wrong.start, wrong.end)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement(InstructionCheck):
    """Each marker stands directly after the text it supports. Source: Hoffer, "immediately after supporting text".

    That is: after a word, closing quote or bracket, at most one space between; not opening a line, cell or list item,
    not alone on a line; a marker after a marker stands as the first does.
    after_stop: also allow a marker after the sentence's full stop ("… Security. [1]"). A citation beside the text must
    have some text in its span, or just before where it ends; without a place it is not judged. Not applicable without
    markers and places.
    """

    family: ClassVar[str] = "citation.placement"
    example: ClassVar[str] = "citation.placement(after_stop=true)"
    breaks: ClassVar[str] = "Sources:\n- [doc_1]"
    version: ClassVar[int] = _READS
    after_stop: bool = False

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first marker that supports nothing."""
        markers, beside = response.citations.markers, response.citations.beside
        if not markers and not any(c.start >= 0 for c in beside):
            return NOT_APPLICABLE
        text = response.text
        previous = 0
        for start, end in markers:
            if start - 2 >= previous and text[start - 1] == " " and text[start - 2].isalnum():
                previous = end
                continue  # as nearly all do
            chained = previous > 0 and not text[previous:start].strip(_BETWEEN)
            if not chained and not self._supports(text, start, end, previous):
                return failed(f"{shown(text[start:end])} does not directly follow the text it supports", start, end)
            previous = end
        for c in beside:
            if c.start >= 0 and not text[max(0, c.end - _LOOK_BACK, min(c.start, c.end - 2)) : c.end].strip():
                return failed(f"the place cited to {shown(c.doc_id)} beside the text holds no text", c.start, c.end)
        return PASSED

    def _supports(self, text: str, start: int, end: int, floor: int) -> bool:
        """Look at what stands before a marker; never further back than `floor`, so that all markers cost one pass."""
        at = start - 1
        if at >= floor and text[at] == " ":
            at -= 1
        while at >= floor and text[at] in _MARKUP:
            at -= 1
        if at < floor:
            return floor > 0  # decoration only, between two markers
        char = text[at]
        if char in _STOPS:
            # "in the U.S. [4]." has its sentence end after the marker
            return (self.after_stop or text[end : end + 1] in _STOPS) and not self._is_ordinal(text, at)
        if char in _LEANING:
            return at > floor and text[at - 1] not in _OPENING
        return char not in _OPENING

    def _is_ordinal(self, text: str, at: int) -> bool:
        """Tell `1.` at the start of a line from the end of a sentence."""
        line = text.rfind("\n", max(0, at - 40), at) + 1
        return (line > 0 or at < 40) and _ORDINAL.match(text, line, at) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxConsecutive(InstructionCheck):
    """No more than `at_most` citations in a row. Source: Hoffer, "Max three consecutive".

    In a row: only spaces, commas or semicolons between; a list `[1, 2]` counts its items. Not applicable without
    markers.
    """

    family: ClassVar[str] = "citation.max_consecutive"
    example: ClassVar[str] = "citation.max_consecutive(at_most=2)"
    breaks: ClassVar[str] = "Open Settings [doc_1][doc_2][doc_3]."
    version: ClassVar[int] = _READS
    at_most: int = 3

    def validate(self) -> str | None:
        """Expect a bound that one citation can meet."""
        return None if self.at_most >= 1 else f"expected at_most of 1 or more; got {self.at_most}"

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first row that is too long."""
        citations, text, at_most = response.citations, response.text, self.at_most
        markers, documents = citations.markers, len(citations.with_earlier) + len(citations.faults)
        if not markers:
            return NOT_APPLICABLE
        if documents <= at_most:
            return PASSED
        if documents <= len(markers):  # one in each: where none of every few follows the one before it, no row is long
            for place in range(at_most, len(markers), at_most):
                start = markers[place][0]
                if start - markers[place - 1][1] < 2 or text[start - 2] in _BETWEEN:
                    break
            else:
                return PASSED
        row = _long_row(text, citations, at_most)
        if row is not None:
            start, end, count = row
            return failed(f"{count} citations in a row, at most {at_most} are allowed", start, end)
        return PASSED


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSourceUrls(InstructionCheck):
    """The response shows no URL where a citation belongs. Source: Hoffer, "No source URLs".

    Any web address outside code counts, Markdown links included; in a response without citations, only addresses of
    retrieved documents do. retrieved_only: never count others, for assistants that send people to pages. Not applicable
    without citations and without such an address; error where the text is too intricate to be parsed whole, and what is
    shows none.
    """

    family: ClassVar[str] = "citation.no_source_urls"
    example: ClassVar[str] = "citation.no_source_urls(retrieved_only=true)"
    breaks: ClassVar[str] = "See https://a.example/1."
    version: ClassVar[int] = _READS
    retrieved_only: bool = False

    def evaluate(self, response: Response) -> CheckResult:
        """Fail at the first address."""
        text = response.text
        cites = bool(response.citations.markers or response.citations.beside)
        if "://" in text or "www." in text:
            any_counts = cites and not self.retrieved_only
            for url in _visible_urls(response):
                if any_counts or _is_retrieved(url, response):
                    start = text.find(url)
                    end = start + len(url) if start >= 0 else -1
                    return failed(f"the response shows the address {shown(url)}", start, end)
            if response.markdown.cut and (cites or response.documents):
                return CheckResult(Result.ERROR, CUT)
        return PASSED if cites else NOT_APPLICABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Required(InstructionCheck):
    """A response that was given documents cites at least one. Source: Hoffer, the prompt asks to cite the sources used.

    One that an earlier answer of the conversation retrieved counts, a marker that names nothing retrieved does not. Not
    applicable without documents.
    """

    family: ClassVar[str] = "citation.required"
    example: ClassVar[str] = "citation.required"
    breaks: ClassVar[str] = "Open Settings."
    version: ClassVar[int] = _READS

    def evaluate(self, response: Response) -> CheckResult:
        """Fail when nothing retrieved is cited."""
        if not response.documents:
            return NOT_APPLICABLE
        if response.citations.with_earlier:
            return PASSED
        return failed(f"none of the {len(response.documents)} retrieved documents is cited")


def _long_row(text: str, citations: Citations, at_most: int) -> tuple[int, int, int] | None:
    """Return start, end and number of citations of the first unbroken row of markers that has too many."""
    starts: list[int] = []
    cited = citations.with_earlier
    if len(cited) + len(citations.faults) > len(citations.markers):
        starts += [c.start for c in cited if c.style != "structured"]
        starts += [f.start for f in citations.faults if f.kind != "duplicate"]
        starts.sort()
    several = len(starts) > len(citations.markers)  # documents in one marker
    first = last = count = 0
    for start, end in citations.markers:
        # Nearly always there is a word right before the space before a marker, and nothing else to be looked at.
        if (start - last > 1 and text[start - 2] not in _BETWEEN) or text[last:start].strip(_BETWEEN) or not count:
            if count > at_most:
                break
            first, count = start, 0
        count += max(1, bisect_left(starts, end) - bisect_left(starts, start)) if several else 1
        last = end
    return (first, last, count) if count > at_most else None


def _visible_urls(response: Response) -> Iterator[str]:
    """Yield addresses in the order of the text; Markdown is parsed because code is not shown as an address."""
    for token in response.markdown.tokens:
        if token.type == "html_block":
            yield from _URL.findall(token.content)
        for child in token.children or ():
            if child.type in ("text", "html_inline"):
                yield from _URL.findall(child.content)
            elif child.type in ("link_open", "image"):
                yield from _URL.findall(str(child.attrGet("href") or child.attrGet("src") or ""))


def _is_retrieved(url: str, response: Response) -> bool:
    bare = url.rstrip("/.,;:!?)]").casefold()
    return any(
        document.url is not None and document.url.rstrip("/").casefold() == bare for document in response.documents
    )
