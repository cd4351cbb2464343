"""Proposals: which checks a sentence of a prompt asks for.

There is one function for each family of wording. It gets the sentence twice: as written, and with quoted text masked,
so that an example in quotation marks is not read as an instruction.
"""

import tomllib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import re2

from turnsignal.stream.names import Value, write_name
from turnsignal.stream.prompts.wording import (
    QUOTED,
    Amount,
    Partly,
    amounts,
    compile_pattern,
    forbidden,
    listed,
    negated,
    partly,
    read_patterns,
)

_COUNTED = {
    "words": "length.number_words",
    "sentences": "length.number_sentences",
    "bullets": "format.number_bullet_lists",
    "highlights": "format.number_highlighted_sections",
    "placeholders": "content.number_placeholders",
    "capitals": "case.capital_word_frequency",
}
_AT_LEAST = frozenset({"highlights", "placeholders", "capitals"})  #: a plain number of these is a lower bound
_OF_PARTS = frozenset({"words", "sentences", "bullets", "sections", "paragraphs"})
_BLANK = r"\n[ \t]*\n\s*\S"  #: an empty line between two paragraphs, and the second paragraph's first character

_WORDED = tomllib.loads(Path(__file__).with_name("proposals.toml").read_text(encoding="utf-8"))
_LANGUAGES: dict[str, str] = _WORDED["languages"]  #: name → code
_SAYS = read_patterns(_WORDED["patterns"], LANGUAGE="|".join(_LANGUAGES), PART="|".join(_WORDED["parts"]))
_SUBJECT = compile_pattern(
    r"(?:^|[,:(]|\b(?:the|its|your|keep|make)\b)\s*·+\s+(?:\w+\s+)?(?:must|should|shall|is|are|be)\b"
)
_STYLES = read_patterns(_WORDED["styles"])
_ANY_THING = compile_pattern(rf"\b(?:{'|'.join(_WORDED['forbidden'])})\b")
_ADDRESS = r"(?i)https?://|\bwww\."
_THINGS = {compile_pattern(rf"\b(?:{words})\b"): pattern for words, pattern in _WORDED["forbidden"].items()}


class Sentence(NamedTuple):
    """One sentence of a prompt.

    text: as written; masked: the same length, with quoted text replaced by dots; dividers: what the prompt wants
    between paragraphs: `***`, or an empty line; paragraphs: how many the prompt asks for, 0 if it does not say;
    splitter: the word that sections must begin with, as in "Section X"; about: the headings above and the sentence
    before, which may hold the subject.
    """

    text: str
    masked: str
    dividers: str = "\n\n"
    paragraphs: int = 0
    splitter: str = ""
    about: str = ""


def propose(sentence: Sentence) -> dict[str, str | None]:
    """Return the checks that a sentence asks for, in the order of `_FAMILIES`: name → why it is doubtful, or None."""
    asked: dict[str, str | None] = {}
    for family in _FAMILIES:
        for proposal in family(sentence):
            name, doubt = (proposal, None) if isinstance(proposal, str) else proposal
            asked[name] = asked.get(name, doubt) and doubt
    return asked


def _part_of(masked: str, start: int, end: int, *, quoted: bool = True) -> str:
    """Return the part of the answer that the words at [start, end) are about, "" for the whole answer.

    quoted: whether a quoted word may be the name of a part, as in `"status" must be lowercase`.
    """
    after = masked[end : end + 60]
    following = _SAYS["part_next"].search(after) or _SAYS["held_in"].search(after)
    if following is not None and not _SAYS["whole"].search(following[1]):
        return str(following[1])
    for match in islice(_SAYS["part"].finditer(masked), _LISTS):
        group = next(number for number, name in enumerate(match.groups(), 1) if name)
        if not (match.start(group) < end and start < match.end(group)):
            return str(match[group])
    return "·" if quoted and (subject := _SUBJECT.search(masked)) is not None and subject.start() < start else ""


def _counts(sentence: Sentence) -> Iterator[str | Partly]:
    for amount in amounts(sentence.masked):
        unit = amount.unit
        if _SAYS["numbered"].search(sentence.masked[: amount.start]):
            continue  # "part 2" is a name
        part = _counted_part(sentence.masked, amount) if unit in _OF_PARTS else ""
        yield from partly(_counted(amount, unit, sentence), part)


def _counted(amount: Amount, unit: str, sentence: Sentence) -> Iterator[str]:
    if unit in ("sections", "number") and _SAYS["highlight"].search(sentence.masked):
        unit = "highlights"
    if unit == "number" and _SAYS["capital_words"].search(sentence.masked):
        unit = "capitals"
    if unit in _COUNTED:
        if unit == "words" and amount.exact:
            return  # "a 200 word essay" is not meant as an exact number of words
        bounds: dict[str, Value] = amount.bounds()
        if amount.exact and unit in _AT_LEAST:
            del bounds["at_most"]
        yield from _named(_COUNTED[unit], bounds)
    elif unit == "exclamations":
        yield from _named("keywords.letter_frequency", amount.bounds(), letter="!")
    elif unit == "hashtags":
        yield from _named("keywords.letter_frequency", amount.bounds(), letter="#")
    elif unit == "paragraphs":
        yield from _paragraphs(amount, sentence)
    elif unit == "sections":
        yield from _sections(amount, sentence)
    elif unit == "times":
        yield from _times(amount, sentence)


def _named(family: str, bounds: dict[str, Value], **more: Value) -> Iterator[str]:
    if bounds:
        yield write_name(family, bounds | more)


def _counted_part(masked: str, amount: Amount) -> str:
    """Return the part of the answer that a number limits, "" for the whole answer."""
    before, after = masked[max(0, amount.start - 60) : amount.start], masked[amount.end : amount.end + 60]
    opening = _SAYS["opening"].search(after)
    if opening is not None and _SAYS["opens"].search(before):
        return str(opening[0]).strip()  # "start with a one-sentence summary"
    part = _SAYS["part_before"].search(before) or _SAYS["part_after"].search(after)
    if part is None:
        return ""
    name: str = next(group for group in part.groups() if group)
    return "" if name.casefold().startswith(amount.unit[:-1]) else name


def _paragraphs(amount: Amount, sentence: Sentence) -> Iterator[str]:
    if sentence.dividers == "***":
        yield from _named("length.number_paragraphs", amount.bounds())
        return
    low, high = amount.low, amount.high
    if low is not None and 1 < low <= 50:
        yield write_name("pattern.require", {"regex": rf"(?s)\S(?:.*?{_BLANK}){{{low - 1}}}"})
    if high is not None and 0 < high <= 50:
        yield write_name("pattern.forbid", {"regex": rf"(?s)\S(?:.*?{_BLANK}){{{high}}}"})


def _sections(amount: Amount, sentence: Sentence) -> Iterator[str]:
    marked = _SAYS["section"].search(sentence.text)
    splitter = marked[1] if marked is not None else sentence.splitter
    if splitter and amount.low:
        yield write_name("format.multiple_sections", {"at_least": amount.low, "splitter": splitter})
    elif "***" in sentence.text:
        yield from _named("length.number_paragraphs", amount.bounds())


def _times(amount: Amount, sentence: Sentence) -> Iterator[str]:
    if _SAYS["capital_words"].search(sentence.masked):
        bounds: dict[str, Value] = amount.bounds()
        if amount.exact:
            del bounds["at_most"]
        yield from _named("case.capital_word_frequency", bounds)
        return
    before = [match for match in _SAYS["word"].finditer(sentence.text) if match.start() < amount.start]
    for match in before[-1:] or list(_SAYS["word"].finditer(sentence.text))[:1]:
        word = next(part for part in match.groups()[1:] if part)
        if match[1].casefold() in ("letter", "character"):
            if len(word) == 1:
                yield from _named("keywords.letter_frequency", amount.bounds(), letter=word)
        elif word.casefold() not in _NO_WORDS:
            yield from _named("keywords.frequency", amount.bounds(), word=word)


def _letters(sentence: Sentence) -> Iterator[str | Partly]:
    if any(amount.unit == "times" for amount in amounts(sentence.masked)):
        return
    for match in _SAYS["word"].finditer(sentence.text):
        letter = next(part for part in match.groups()[1:] if part)
        if (
            match[1].casefold() in ("letter", "character")
            and len(letter) == 1
            and negated(sentence.masked, match.start())
        ):
            part = _part_of(sentence.masked, *match.span(), quoted=False)
            yield from partly([write_name("keywords.letter_frequency", {"at_most": 0, "letter": letter})], part)


def _keywords(sentence: Sentence) -> Iterator[str | Partly]:
    masked = sentence.masked
    if _SAYS["capital_words"].search(masked):
        return
    for match in islice(_SAYS["list"].finditer(masked), _LISTS):
        if _SAYS["no_list"].search(masked[max(0, match.start() - 40) : match.start()]):
            continue
        if any(amount.start <= match.start() < amount.end for amount in amounts(masked)):
            continue  # the words are counted, not named
        end = match.end() + len(_SAYS["until"].split(masked[match.end() :], 1)[0])
        if _SAYS["often"].search(masked[match.end() : end + 25]):
            continue  # a word with a number of times is a frequency
        rest = sentence.text[match.end() : end]
        if _SAYS["naming"].search(rest):
            continue  # "include the words …": the list begins later
        words = _words(rest, match["what"])
        no = forbidden(masked, match.start(), end)
        if not words or (not no and _SAYS["example"].search(match[0])):
            continue
        if not no and _SAYS["choice"].search(masked):
            return  # one of them is enough
        if no or _SAYS["asks"].search(masked[: match.end()]):
            name = write_name("keywords.forbidden_words" if no else "keywords.existence", {"words": "|".join(words)})
            yield from partly([name], _part_of(masked, match.start(), end, quoted=False))
            return


def _words(rest: str, noun: str) -> list[str]:
    """Return the words of a list. If no word is quoted, every one must look like a bare word, or none is returned."""
    candidates = [(word, quoted) for word, quoted in listed(rest) if any(sign.isalnum() for sign in word)]
    bare = [_is_bare_word(word, noun) for word, quoted in candidates if not quoted]
    if len(bare) == len(candidates) and not all(bare):
        return []
    return [word for word, quoted in candidates if quoted or _is_bare_word(word, noun)]


def _is_bare_word(word: str, noun: str) -> bool:
    if word.casefold() in _NO_WORDS or not word.replace("-", "").replace("'", "").replace("’", "").isalnum():
        return False
    return len(word.split()) == 1 and noun.casefold().endswith(_NAMING)


def _ends(sentence: Sentence) -> Iterator[str]:
    for pattern, at_end in ((_SAYS["end"], True), (_SAYS["start"], False)):
        for match in pattern.finditer(sentence.masked):
            before = sentence.masked[max(0, match.start() - 30) : match.end()]
            quote = QUOTED.search(sentence.text, match.end() - 1)
            if quote is None or quote.start() - match.end() > 30 or _SAYS["of_a_part"].search(before):
                continue
            phrase = next(part for part in quote.groups() if part).strip()
            if phrase and negated(sentence.masked, match.start()):
                edge = rf"{re2.escape(phrase)}\W*\z" if at_end else rf"\A\W*{re2.escape(phrase)}(?:\W|\z)"
                yield write_name("pattern.forbid", {"regex": f"(?i){edge}"})
            elif phrase and at_end:
                yield write_name("startend.end_checker", {"phrase": phrase})
            elif phrase:
                yield write_name("pattern.require", {"regex": rf"(?i)\A\s*{re2.escape(phrase)}"})
            break


def _asks_back(sentence: Sentence) -> Iterator[str]:
    match = _SAYS["end_question"].search(sentence.masked)
    if match is not None and not negated(sentence.masked, match.start()):
        yield write_name("pattern.require", {"regex": r"\?[\"”’')\]*_]*\s*\z"})


def _first_words(sentence: Sentence) -> Iterator[str]:
    match = _SAYS["first_word"].search(sentence.text)
    if match is None or not sentence.paragraphs:
        return
    which = next(part for part in (match["a"], match["b"]) if part).casefold()
    nth = sentence.paragraphs if which == "last" else _ORDINALS.get(which) or int(which.rstrip("sthndr") or 0)
    if 1 <= nth <= sentence.paragraphs:
        params: dict[str, Value] = {"nth": nth, "paragraphs": sentence.paragraphs, "word": match["word"]}
        yield write_name("length.nth_paragraph_first_word", params)


def _shapes(sentence: Sentence) -> Iterator[str | Partly]:
    masked = sentence.masked
    for name, key, forbids in (
        ("format.json", "json", False),
        ("startend.quotation", "quotation", False),
        ("punctuation.no_comma", "commas", True),
    ):
        match = _SAYS[key].search(masked)
        if match is not None and forbidden(masked, *match.span()) == forbids:
            yield from partly([name], _part_of(masked, match.end() - 1, match.end()))
    if _SAYS["angular"].search(masked) or "<<" in sentence.text:
        yield "format.title"
    if "******" in sentence.text or _SAYS["six"].search(masked):
        yield "combination.two_responses"
    match = _SAYS["postscript"].search(sentence.text)
    if match is not None and not negated(masked, match.start()):
        marker = _SAYS["marker"].search(sentence.text)
        name = "P.P.S" if marker is not None and marker[0].upper().startswith("P.P") else "P.S."
        yield write_name("content.postscript", {} if name == "P.S." else {"marker": name})
    match = _SAYS["choice"].search(masked)
    if match is not None and not negated(masked, match.end()):
        options = [next(part for part in quote.groups() if part) for quote in QUOTED.finditer(sentence.text)]
        if len(options) > 1 and not any("|" in option for option in options):
            yield write_name("format.constrained_response", {"options": "|".join(dict.fromkeys(options))})


def _cases(sentence: Sentence) -> Iterator[str | Partly]:
    masked = sentence.masked
    if _SAYS["capital_words"].search(masked) and _SAYS["all_words"].search(masked) is None:
        return
    upper, lower = _SAYS["upper"].search(masked), _SAYS["lower"].search(masked)
    if upper is not None and not forbidden(masked, *upper.span()):
        yield from partly(["case.upper"], _part_of(masked, upper.end() - 1, upper.end()))
    elif lower is not None and not forbidden(masked, *lower.span()):
        yield from partly(["case.lower"], _part_of(masked, lower.end() - 1, lower.end()))
    else:
        for pattern, name in ((_SAYS["any_upper"], "case.lower"), (_SAYS["any_lower"], "case.upper")):
            match = pattern.search(masked)
            if match is not None and forbidden(masked, *match.span()):
                yield from partly([name], _part_of(masked, match.end() - 1, match.end()))
                return


def _languages(sentence: Sentence) -> Iterator[str | Partly]:
    names = {match[1].casefold() for match in _SAYS["any_language"].finditer(sentence.masked)}
    if len({_LANGUAGES[name] for name in names}) != 1:  # two languages leave a choice, which no check can follow
        return
    for key in ("language", "only_language", "the_language"):
        for match in _SAYS[key].finditer(sentence.masked):
            if not negated(sentence.masked, match.end(), 25):
                name = write_name("language.is", {"code": _LANGUAGES[match["name"].casefold()]})
                yield from partly([name], _part_of(sentence.masked, match.end() - 1, match.end()))
                return


def _forbids(sentence: Sentence) -> Iterator[str | Partly]:
    masked = sentence.masked
    if _SAYS["in_cells"].search(masked) or not _ANY_THING.search(masked):
        return
    for thing, regex in _THINGS.items():
        spans = [match.span() for match in thing.finditer(masked) if forbidden(masked, *match.span())]
        if spans and not any(amount.unit in ("bullets", "exclamations", "hashtags") for amount in amounts(masked)):
            yield from partly([write_name("pattern.forbid", {"regex": regex})], _part_of(masked, *spans[0]))


def _citations(sentence: Sentence) -> Iterator[str]:
    """Hoffer's instructions about citations and tables."""
    text, masked = sentence.text, sentence.masked
    if _SAYS["in_cells"].search(masked) and _SAYS["no_breaks"].search(masked):
        yield "table.cells"
    url = _SAYS["urls"].search(masked)
    if url is not None and forbidden(masked, url.start(), url.end()):
        is_source = _SAYS["cite"].search(masked) is not None  # others are forbidden in answers that cite nothing, too
        yield "citation.no_source_urls" if is_source else write_name("pattern.forbid", {"regex": _ADDRESS})
    if _SAYS["cite"].search(masked) is None:
        if _SAYS["cite"].search(sentence.about):  # "Max three consecutive." after a sentence about citations
            yield from _citation_places(masked)
        return
    style = next((name for name, pattern in _STYLES.items() if pattern.search(text)), None)
    if style is not None and _SAYS["form"].search(masked):
        yield write_name("citation.format", {} if style == "any" else {"style": style})
    yield from _citation_places(masked)
    match = _SAYS["must_cite"].search(masked)
    if match is not None and not negated(masked, match.start()):
        yield "citation.required"


def _citation_places(masked: str) -> Iterator[str]:
    if _SAYS["place"].search(masked):
        after = _SAYS["after_stop"].search(masked) is not None
        yield write_name("citation.placement", {"after_stop": True} if after else {})
    if _SAYS["row"].search(masked):
        most = [amount.high for amount in amounts(masked) if amount.high]
        if most:
            yield write_name("citation.max_consecutive", {} if most[0] == 3 else {"at_most": most[0]})


def _platforms(sentence: Sentence) -> Iterator[str]:
    for name in ("slack", "web"):
        if _SAYS[f"on_{name}"].search(sentence.masked):
            yield f"platform.{name}"


_LISTS = 20  #: how many matches in one sentence are tried as the start of a list of words
_NO_WORDS = frozenset(_WORDED["no_words"])  #: words that are keywords only if they are quoted
_NAMING = ("word", "words", "phrase", "phrases", "term", "terms", "name", "names")
_ORDINALS = {word: number for number, word in enumerate(_WORDED["ordinals"], 1)}
_FAMILIES: tuple[Callable[[Sentence], Iterator[str | Partly]], ...] = (
    _citations,
    _platforms,
    _counts,
    _first_words,
    _letters,
    _keywords,
    _ends,
    _asks_back,
    _shapes,
    _cases,
    _languages,
    _forbids,
)
