"""Proposals: which checks a sentence of a prompt asks for.

There is one function for each family of wording. It gets the sentence twice: as written, and with quoted text masked,
so that an example in quotation marks is not read as an instruction.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import re2

from turnsignal.stream.names import Value, write_name
from turnsignal.stream.prompts.leftover import RequestedCheck, Scope, Span, doubts
from turnsignal.stream.prompts.polarity import reaches, turned
from turnsignal.stream.prompts.wording import (
    QUOTED,
    Amount,
    amounts,
    compile_pattern,
    forbidden,
    listed,
    negated,
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
_OF_PARTS = frozenset({"words", "sentences", "bullets", "sections", "paragraphs"})  #: an answer's, or a part's
#: unit → the kind of wording that it has in leftover.toml; the others are counts
_UNIT_KINDS = {
    "times": "letters",
    "exclamations": "letters",
    "hashtags": "letters",
    "bullets": "bullets",
    "sections": "sections",
    "highlights": "sections",
    "placeholders": "sections",
}
_OTHERWISE = "says what to use rather than something else"
_BLANK = r"\n[ \t]*\n\s*\S"  #: an empty line between two paragraphs, and the second paragraph's first character

_WORDED = tomllib.loads(Path(__file__).with_name("proposals.toml").read_text(encoding="utf-8"))
LANGUAGES: dict[str, str] = _WORDED["languages"]  #: name → code
_SAYS = read_patterns(_WORDED["patterns"], LANGUAGE="|".join(LANGUAGES))
_STYLES = read_patterns(_WORDED["styles"])
_ANY_THING = compile_pattern(rf"\b(?:{'|'.join(_WORDED['forbidden'])})\b")
ADDRESS = r"(?i)https?://|\bwww\."  #: pattern of a check that forbids addresses
EMOJIS: str = _WORDED["forbidden"]["emojis?|emoticons?"]  #: pattern of a check that forbids emojis
_THINGS = {compile_pattern(rf"\b(?:{words})\b"): pattern for words, pattern in _WORDED["forbidden"].items()}
#: pattern of a check that forbids → what the words for its thing are
NAMED_THINGS = {pattern: words for words, pattern in _THINGS.items()}


class Sentence(NamedTuple):
    """One sentence of a prompt.

    text: as written; masked: the same length, with quoted text replaced by dots; dividers: what the prompt wants
    between paragraphs: `***`, or an empty line; paragraphs: how many the prompt asks for, 0 if it does not say;
    splitter: the word that sections must begin with, as in "Section X"; about: the headings above and the sentence
    before, which may hold the subject; scope: what narrows the sentence.
    """

    text: str
    masked: str
    dividers: str = "\n\n"
    paragraphs: int = 0
    splitter: str = ""
    about: str = ""
    scope: Scope = Scope()


def propose(sentence: Sentence) -> dict[str, str | None]:
    """Return the checks that a sentence asks for, in the order of `_FAMILIES`: name → why it is doubtful, or None."""
    requested = [asked for family in _FAMILIES for asked in family(sentence)]
    signs = [match.span() for match in QUOTED.finditer(sentence.text) if not any(map(str.isalnum, match[0]))]
    proposed: dict[str, str | None] = {}
    for asked, doubt in zip(requested, doubts(sentence.masked, requested, signs, sentence.scope), strict=True):
        doubt = doubt or turned(sentence.masked, asked) or _placeholder(sentence.text, asked)
        proposed[asked.check] = proposed.get(asked.check, doubt) and doubt
    return proposed


def _placeholder(text: str, asked: RequestedCheck) -> str | None:
    """Return a doubt if what is to be said holds a placeholder, as "Hi {{name}}", which answers fill in."""
    if asked.kind not in ("words", "edges", "choice", "letters"):
        return None
    held = (_SAYS["placeholder"].search(quote[0]) for quote in QUOTED.finditer(text))
    match = next((match for match in held if match is not None), None)
    return None if match is None else f"holds a placeholder ({match[0]})"


def _asked(names: Iterable[str], kind: str, *spans: Span, doubt: str | None = None) -> Iterator[RequestedCheck]:
    yield from (RequestedCheck(name, spans, kind, doubt) for name in names)


def _counts(sentence: Sentence) -> Iterator[RequestedCheck]:
    whole: Amount | None = None
    for amount in amounts(sentence.masked):
        unit = amount.unit
        if _SAYS["numbered"].search(sentence.masked[: amount.start]):
            continue  # "part 2" is a name
        spans, doubt = [(amount.start, amount.end)], None
        if whole is not None and _SAYS["of_it"].match(sentence.masked[whole.end : amount.start]):
            spans, doubt = [(whole.end, amount.end)], f"concerns a part of the answer ({whole.unit.rstrip('s')})"
        elif unit in _OF_PARTS:
            doubt = "counts one part of several" if _is_summand(sentence.masked, amount) else None
            whole = amount
        if unit == "times":
            spans += [match.span() for match in _SAYS["word"].finditer(sentence.text)]
            spans += [match.span() for match in _SAYS["capital_words"].finditer(sentence.masked)]
        elif unit == "sections":
            spans += [match.span() for match in _SAYS["section"].finditer(sentence.text)]
            spans += [match.span() for match in QUOTED.finditer(sentence.text) if _SAYS["section"].search(match[0])]
        for name in _counted(amount, unit, sentence):
            kind = "case" if name.startswith("case.") else _UNIT_KINDS.get(unit, "counts")
            yield from _asked([name], kind, *spans, doubt=doubt)


def _is_summand(masked: str, amount: Amount) -> bool:
    """Return whether a plain number is one of several that make up the answer: "one sentence and three bullets"."""
    others = [
        other for other in amounts(masked) if other.exact and other.unit in _OF_PARTS and other.unit != amount.unit
    ]
    return amount.exact and any(
        _SAYS["plus"].search(masked[min(amount.end, other.end) : max(amount.start, other.start)]) for other in others
    )


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


def _letters(sentence: Sentence) -> Iterator[RequestedCheck]:
    if any(amount.unit == "times" for amount in amounts(sentence.masked)):
        return
    for match in _SAYS["word"].finditer(sentence.text):
        letter = next(part for part in match.groups()[1:] if part)
        if (
            match[1].casefold() in ("letter", "character")
            and len(letter) == 1
            and negated(sentence.masked, match.start())
        ):
            name = write_name("keywords.letter_frequency", {"at_most": 0, "letter": letter})
            yield from _asked([name], "letters", match.span())


def _keywords(sentence: Sentence) -> Iterator[RequestedCheck]:
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
        if rest.lstrip().startswith("of ") or _SAYS["naming"].search(rest):
            continue  # "include the words …": the list begins later
        words = _words(rest, match["what"])
        no = forbidden(masked, match.start(), end)
        if not words or (not no and _SAYS["example"].search(match[0])):
            continue
        if not no and _SAYS["choice"].search(masked):
            return  # one of them is enough
        if no or _SAYS["asks"].search(masked[: match.end()]):
            name = write_name("keywords.forbidden_words" if no else "keywords.existence", {"words": "|".join(words)})
            spans = [match.span(), *_spans(words, sentence.text, match.end(), end)]
            either = "leaves a choice" if not no and _SAYS["either"].search(masked[match.end() : end]) else None
            if not no and match["what"].casefold().startswith("us") and _SAYS["in_a_way"].search(masked[match.end() :]):
                either = "says which of several forms to use"  # 'the formal "usted"'
            yield from _asked([name], "words", *spans, doubt=either or _otherwise(masked))
            return


def _otherwise(masked: str) -> str | None:
    return _OTHERWISE if _SAYS["or_not"].search(masked) else None


def _spans(words: Iterable[str], text: str, start: int, end: int) -> Iterator[Span]:
    """Yield where words stand between two offsets, quotation marks included."""
    yield from (quote.span() for quote in QUOTED.finditer(text[:end], max(0, start - 1)))
    for word in words:
        at = text.find(word, start, end)
        if at >= 0:
            yield at, at + len(word)


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


def _ends(sentence: Sentence) -> Iterator[RequestedCheck]:
    for pattern, at_end in ((_SAYS["end"], True), (_SAYS["start"], False)):
        for match in pattern.finditer(sentence.masked):
            before = sentence.masked[max(0, match.start() - 30) : match.end()]
            quotes = _alternatives(sentence, match.end() - 1)
            if not quotes or quotes[0].start() - match.end() > 30 or _SAYS["of_a_part"].search(before):
                continue
            phrases = [next(part for part in quote.groups() if part).strip() for quote in quotes]
            if not all(phrases):
                continue
            phrase = "|".join(re2.escape(one) for one in phrases)
            phrase = f"(?:{phrase})" if len(phrases) > 1 else phrase
            if negated(sentence.masked, match.start()):
                edge = rf"{phrase}\W*\z" if at_end else rf"\A\W*{phrase}(?:\W|\z)"
                name = write_name("pattern.forbid", {"regex": f"(?i){edge}"})
            elif at_end and len(phrases) == 1:
                name = write_name("startend.end_checker", {"phrase": phrases[0]})
            else:
                edge = rf"{phrase}\W*\z" if at_end else rf"\A\s*{phrase}"
                name = write_name("pattern.require", {"regex": f"(?i){edge}"})
            yield from _asked([name], "edges", (match.start(), match.start() + 1), *(quote.span() for quote in quotes))
            break


def _alternatives(sentence: Sentence, start: int) -> list[Any]:
    """Return the first quoted text from an offset on, with those that follow it as its alternatives."""
    quotes: list[Any] = []
    for quote in QUOTED.finditer(sentence.text, start):
        if quotes and not _SAYS["alternative"].fullmatch(sentence.masked[quotes[-1].end() : quote.start()]):
            break
        quotes.append(quote)
    return quotes


def _asks_back(sentence: Sentence) -> Iterator[RequestedCheck]:
    match = _SAYS["end_question"].search(sentence.masked)
    if match is not None:
        about = _SAYS["about"].match(sentence.masked[match.end() :])
        end = match.end() + (0 if about is None else about.end())
        kind = "pattern.forbid" if negated(sentence.masked, match.start()) else "pattern.require"
        name = write_name(kind, {"regex": r"\?[\"”’')\]*_]*\s*\z"})
        yield from _asked([name], "question", (match.end() - 8, end))


def _first_words(sentence: Sentence) -> Iterator[RequestedCheck]:
    match = _SAYS["first_word"].search(sentence.text)
    if match is None or not sentence.paragraphs:
        return
    which = next(part for part in (match["a"], match["b"]) if part).casefold()
    nth = sentence.paragraphs if which == "last" else _ORDINALS.get(which) or int(which.rstrip("sthndr") or 0)
    if 1 <= nth <= sentence.paragraphs:
        params: dict[str, Value] = {"nth": nth, "paragraphs": sentence.paragraphs, "word": match["word"]}
        yield from _asked([write_name("length.nth_paragraph_first_word", params)], "device", match.span())


def _shapes(sentence: Sentence) -> Iterator[RequestedCheck]:
    masked = sentence.masked
    for name, key, forbids in (
        ("format.json", "json", False),
        ("startend.quotation", "quotation", False),
        ("punctuation.no_comma", "commas", True),
    ):
        match = _SAYS[key].search(masked)
        if match is not None and forbidden(masked, *match.span()) == forbids:
            last = match.start() if key == "commas" else match.end() - 1
            about = _SAYS["keyed"].match(masked[match.end() :]) if key == "json" else None
            end = last + 1 if about is None else match.end() + about.end()
            other = key == "json" and _SAYS["beside_json"].search(masked) is not None
            yield from _asked([name], key, (last, end), doubt="names another form beside it" if other else None)
    angular = _SAYS["angular"].search(masked)
    if angular is not None or "<<" in sentence.text:
        at = sentence.text.find("<<") if angular is None else angular.start()
        yield from _asked(["format.title"], "marks", (at, at + 1), *_bracketed(sentence.text))
    six = _SAYS["six"].search(masked)
    if "******" in sentence.text or six is not None:
        at = sentence.text.find("******") if six is None else six.start()
        yield from _asked(["combination.two_responses"], "device", (at, at + 1))
    match = _SAYS["postscript"].search(sentence.text)
    if match is not None and not negated(masked, match.start()):
        marker = _SAYS["marker"].search(sentence.text)
        name = "P.P.S" if marker is not None and marker[0].upper().startswith("P.P") else "P.S."
        check = write_name("content.postscript", {} if name == "P.S." else {"marker": name})
        yield from _asked([check], "device", match.span())
    match = _SAYS["choice"].search(masked)
    if match is not None and not negated(masked, match.end()):
        quotes = list(QUOTED.finditer(sentence.text))
        options = [next(part for part in quote.groups() if part) for quote in quotes]
        if len(options) > 1 and not any("|" in option for option in options):
            check = write_name("format.constrained_response", {"options": "|".join(dict.fromkeys(options))})
            spans = [(match.start(), match.start() + 1), *(quote.span() for quote in quotes)]
            more = "asks for more than the choice" if _SAYS["and_more"].search(masked[quotes[-1].end() :]) else None
            yield from _asked([check], "choice", *spans, doubt=more or _otherwise(masked))


def _bracketed(text: str) -> Iterator[Span]:
    yield from (match.span() for match in islice(_SAYS["bracketed"].finditer(text), _LISTS))


def _cases(sentence: Sentence) -> Iterator[RequestedCheck]:
    masked = sentence.masked
    if _SAYS["capital_words"].search(masked) and _SAYS["all_words"].search(masked) is None:
        return
    upper, lower = _SAYS["upper"].search(masked), _SAYS["lower"].search(masked)
    for name, match in (("case.upper", upper), ("case.lower", lower)):
        no = match is not None and forbidden(masked, *match.span())
        if match is not None and not (no and reaches(masked, match.end() - 1)):
            doubt = "comes after something that is forbidden" if no else None
            yield from _asked([name], "case", (match.end() - 1, match.end()), doubt=doubt)
            return
    for pattern, name in ((_SAYS["any_upper"], "case.lower"), (_SAYS["any_lower"], "case.upper")):
        match = pattern.search(masked)
        if match is not None and forbidden(masked, *match.span()):
            yield from _asked([name], "case", (match.end() - 1, match.end()))
            return


def _languages(sentence: Sentence) -> Iterator[RequestedCheck]:
    names = {match[1].casefold() for match in _SAYS["any_language"].finditer(sentence.masked)}
    if len({LANGUAGES[name] for name in names}) != 1:  # two languages leave a choice, which no check can follow
        return
    for key in ("language", "only_language", "the_language"):
        for match in _SAYS[key].finditer(sentence.masked):
            is_quoted = "·" in match[0]  # 'use "ss" in German'
            if not is_quoted and not negated(sentence.masked, match.end(), 25):
                name = write_name("language.is", {"code": LANGUAGES[match["name"].casefold()]})
                yield from _asked([name], "language", match.span(_SAYS[key].groupindex["name"]))
                return


def _forbids(sentence: Sentence) -> Iterator[RequestedCheck]:
    masked = sentence.masked
    if _SAYS["in_cells"].search(masked) or not _ANY_THING.search(masked):
        return
    for thing, regex in _THINGS.items():
        spans = [match.span() for match in thing.finditer(masked) if _forbids_thing(masked, *match.span())]
        if spans and not any(amount.unit in ("bullets", "exclamations", "hashtags") for amount in amounts(masked)):
            name = write_name("pattern.forbid", {"regex": regex})
            doubt = None if len(spans) == len(list(thing.finditer(masked))) else "names it in another sense, too"
            if any(_ANY_THING.match(masked[end:].lstrip()) for _, end in spans):
                doubt = "names it as a kind of something else"  # "bold headings"
            yield from _asked([name], "things", *spans, doubt=doubt)


def _forbids_thing(masked: str, start: int, end: int) -> bool:
    """Return whether the words at [start, end) are what is forbidden: not where, nor what something else is said of."""
    if negated(masked, start):
        before = masked[:start]
        is_put_in = _SAYS["put_in"].search(before) is not None and not masked[start:end].startswith("paren")
        return _SAYS["place_of"].search(before) is None or is_put_in
    return forbidden(masked, start, end) and _SAYS["banned"].match(masked[end:]) is not None


def _citations(sentence: Sentence) -> Iterator[RequestedCheck]:
    """Hoffer's instructions about citations and tables."""
    text, masked = sentence.text, sentence.masked
    cells = _SAYS["in_cells"].search(masked)
    if cells is not None and _SAYS["no_breaks"].search(masked):
        yield from _asked(["table.cells"], "citations", cells.span())
    cite = _SAYS["cite"].search(masked)
    url = _SAYS["urls"].search(masked)
    if url is not None and forbidden(masked, url.start(), url.end()):
        is_source = cite is not None  # others are forbidden in answers that cite nothing, too
        name = "citation.no_source_urls" if is_source else write_name("pattern.forbid", {"regex": ADDRESS})
        yield from _asked([name], "links", url.span())
    if cite is None:
        if _SAYS["cite"].search(sentence.about):  # "Max three consecutive." after a sentence about citations
            yield from _asked(_citation_places(masked), "citations", *_counted_spans(masked))
        return
    spans = [cite.span(), *_counted_spans(masked), *(match.span() for match in QUOTED.finditer(text))]
    style = next((name for name, pattern in _STYLES.items() if pattern.search(text)), None)
    if style is not None and _SAYS["form"].search(masked):
        name = write_name("citation.format", {} if style == "any" else {"style": style})
        yield from _asked([name], "citations", *spans)
    yield from _asked(_citation_places(masked), "citations", *spans)
    match = _SAYS["must_cite"].search(masked)
    if match is not None and not negated(masked, match.start()):
        yield from _asked(["citation.required"], "citations", *spans)


def _counted_spans(masked: str) -> list[Span]:
    return [(0, 1), *((amount.start, amount.end) for amount in amounts(masked))]


def _citation_places(masked: str) -> Iterator[str]:
    if _SAYS["place"].search(masked):
        after = _SAYS["after_stop"].search(masked) is not None
        yield write_name("citation.placement", {"after_stop": True} if after else {})
    if _SAYS["row"].search(masked):
        most = [amount.high for amount in amounts(masked) if amount.high]
        if most:
            yield write_name("citation.max_consecutive", {} if most[0] == 3 else {"at_most": most[0]})


def _platforms(sentence: Sentence) -> Iterator[RequestedCheck]:
    for name in ("slack", "web"):
        match = _SAYS[f"on_{name}"].search(sentence.masked)
        if match is not None:
            yield from _asked([f"platform.{name}"], "platforms", (match.start(), match.start() + 1))


_LISTS = 20  #: how many matches in one sentence are tried as the start of a list of words
_NO_WORDS = frozenset(_WORDED["no_words"])  #: words that are keywords only if they are quoted
_NAMING = ("word", "words", "phrase", "phrases", "term", "terms", "name", "names")
_ORDINALS = {word: number for number, word in enumerate(_WORDED["ordinals"], 1)}
_FAMILIES: tuple[Callable[[Sentence], Iterator[RequestedCheck]], ...] = (
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
