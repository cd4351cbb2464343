"""Proposals: which checks a sentence of a prompt asks for.

There is one function for each family of wording. It gets the sentence twice: as written, and with quoted text masked,
so that an example in quotation marks is not read as an instruction.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

from turnsignal.stream.names import Value, write_name
from turnsignal.stream.prompts.counted import of_counted
from turnsignal.stream.prompts.counts import counts, letters
from turnsignal.stream.prompts.emoji_counts import ANY_EMOJI
from turnsignal.stream.prompts.instructions import LANGUAGES, SAYS, WORDED, Sentence, asked
from turnsignal.stream.prompts.leftover import RequestedCheck, Span, doubts, unchecked
from turnsignal.stream.prompts.lines import lines
from turnsignal.stream.prompts.named_links import named_links
from turnsignal.stream.prompts.named_sections import named_sections
from turnsignal.stream.prompts.narrower import only_some
from turnsignal.stream.prompts.openers import openers
from turnsignal.stream.prompts.phrases import TAIL, edge_phrases, stopped
from turnsignal.stream.prompts.placeholders import placeholder_in
from turnsignal.stream.prompts.polarity import reaches, reverses, turned
from turnsignal.stream.prompts.portions import portion
from turnsignal.stream.prompts.qualified import qualifies
from turnsignal.stream.prompts.vocabulary import keywords, otherwise
from turnsignal.stream.prompts.wording import (
    QUOTED,
    amounts,
    compile_pattern,
    forbidden,
    negated,
    read_patterns,
)

_STYLES = read_patterns(WORDED["styles"])
_ANY_THING = compile_pattern(rf"\b(?:{'|'.join(WORDED['forbidden'])})\b")
_AROUND = " ,;:.!?"  #: signs around a clause
_DISPLAYED = r"\$\$[^$]*\$\$|\\\[[^?]*?\\\]|```[^`]*```"  #: a formula or code on its own, which a question may be about
#: two or more answers to choose from, by letters or numbers: "A) Mars"
_OPTIONS = rf"(?:\b(?:\pL|\d{{1,2}})[.):][*_]*[ \t]+[^\n?]+?{TAIL}){{2,}}"
#: a question at the end; what follows it may be displayed, or to choose from
_ASKED = rf"\?{TAIL}(?:(?:{_DISPLAYED}){TAIL})*(?:{_OPTIONS})?\z"
#: … that the answer itself asks: a title in quotation marks, or in italics within a sentence, asks nothing
_ASKS_ITSELF = rf"\?(?:[^\pL\pN?\"'”’»“*_]{TAIL})?\z|(?:\A|[.!?\n])[^\pL\pN*_]*[*_]+[^*_\n]*\?[*_]+{TAIL}\z"
ADDRESS = r"(?i)https?://|\bwww\."  #: pattern of a check that forbids addresses
#: patterns of checks that forbid emojis, hashtags, HTML, Markdown, and words in capitals
EMOJIS: str = WORDED["forbidden"]["emojis?|emoticons?"]
_CODE = r"`|(?m)^(?: {4}|\t)[ \t]*\S"  #: code as Markdown shows it: in backticks, or indented
HASHTAGS: str = WORDED["forbidden"]["hash ?tags?"]
HTML: str = WORDED["forbidden"]["(?:raw |inline )?html(?: tags?| markup)?"]
MARKDOWN: str = WORDED["forbidden"]["markdown(?: formatting| syntax)?"]
CAPITALS: str = next(regex for words, regex in WORDED["forbidden"].items() if words.startswith("all[ -]caps"))
_THINGS = {compile_pattern(rf"\b(?:{words})\b"): pattern for words, pattern in WORDED["forbidden"].items()}
#: pattern of a check that forbids → what the words for its thing are
NAMED_THINGS = {pattern: words for words, pattern in _THINGS.items()}
#: pattern of a check that forbids several → the pattern of a single one
SINGLE = {WORDED["forbidden"][thing]: pattern for thing, pattern in WORDED["single"].items()}
#: pattern of a check that forbids → what words for things that it finds, too, look like
KIN = {WORDED["forbidden"][thing]: compile_pattern(words) for thing, words in WORDED["kin"].items()}
KIN[ADDRESS] = SAYS["gives_links"]


class AskedFor(NamedTuple):
    """What a sentence asks for: the names of checks, each with why it is doubtful or None, and what has no check."""

    checks: dict[str, str | None]
    unchecked: list[str]


def propose(sentence: Sentence) -> AskedFor:
    """Return the checks that a sentence asks for, in the order of `_FAMILIES`, and its rules that none accounts for."""
    requested = [check for family in _FAMILIES for check in family(sentence)]
    signs = [match.span() for match in QUOTED.finditer(sentence.text) if not any(map(str.isalnum, match[0]))]
    proposed: dict[str, str | None] = {}
    for check, doubt in zip(requested, doubts(sentence.masked, requested, signs, sentence.scope), strict=True):
        doubt = doubt or turned(sentence.masked, check) or _placeholder(sentence.text, check)
        doubt = doubt or only_some(sentence.masked, check) or of_counted(sentence.masked, check)
        doubt = doubt or qualifies(sentence.masked, check, sentence.scope.product)
        doubt = doubt or portion(sentence.masked, check, is_one_text=bool(sentence.scope.product))
        if not reverses(doubt, sentence.masked, check):
            proposed[check.check] = proposed.get(check.check, doubt) and doubt
    clauses = unchecked(sentence.masked, requested, signs, sentence.scope) if proposed else []
    return AskedFor(proposed, [sentence.text[slice(*clause)].strip(_AROUND) for clause in clauses])


def _placeholder(text: str, check: RequestedCheck) -> str | None:
    """Return a doubt if what is to be said holds a placeholder, as "Hi {{name}}", which answers fill in."""
    if check.kind not in ("words", "edges", "choice", "letters"):
        return None
    if check.check.startswith(("keywords.forbidden", "pattern.forbid")):
        holes = (match[0] for quote in QUOTED.finditer(text) if (match := SAYS["placeholder"].search(quote[0])))
    else:
        quotes = (placeholder_in(quote[0], is_choice=check.kind == "choice") for quote in QUOTED.finditer(text))
        holes = (one for one in quotes if one)
    held = next(holes, None)
    return None if held is None else f"may hold a placeholder ({held})"


def _asks_back(sentence: Sentence) -> Iterator[RequestedCheck]:
    match = SAYS["end_question"].search(sentence.masked)
    if match is not None:
        about = SAYS["about"].match(sentence.masked[match.end() :])
        end = match.end() + (0 if about is None else about.end())
        is_forbidden = negated(sentence.masked, match.start())
        kind = "pattern.forbid" if is_forbidden else "pattern.require"
        name = write_name(kind, {"regex": _ASKS_ITSELF if is_forbidden else _ASKED})
        yield from asked([name], "question", (match.end() - 8, end))


def _first_words(sentence: Sentence) -> Iterator[RequestedCheck]:
    match = SAYS["first_word"].search(sentence.text)
    if match is None or not sentence.paragraphs:
        return
    which = next(part for part in (match["a"], match["b"]) if part).casefold()
    nth = sentence.paragraphs if which == "last" else _ORDINALS.get(which) or int(which.rstrip("sthndr") or 0)
    if 1 <= nth <= sentence.paragraphs:
        params: dict[str, Value] = {"nth": nth, "paragraphs": sentence.paragraphs, "word": match["word"]}
        yield from asked([write_name("length.nth_paragraph_first_word", params)], "device", match.span())


def _shapes(sentence: Sentence) -> Iterator[RequestedCheck]:
    masked = sentence.masked
    for name, key, forbids in (
        ("format.json", "json", False),
        ("startend.quotation", "quotation", False),
        ("punctuation.no_comma", "commas", True),
    ):
        match = SAYS[key].search(masked)
        if match is not None and forbidden(masked, *match.span()) == forbids:
            last = match.start() if key == "commas" else match.end() - 1
            about = SAYS["keyed"].match(masked[match.end() :]) if key == "json" else None
            end = last + 1 if about is None else match.end() + about.end()
            other = key == "json" and SAYS["beside_json"].search(SAYS["nothing_else"].sub("", masked)) is not None
            yield from asked([name], key, (last, end), doubt="names another form beside it" if other else None)
    angular = SAYS["angular"].search(masked)
    if angular is not None or "<<" in sentence.text:
        at = sentence.text.find("<<") if angular is None else angular.start()
        yield from asked(["format.title"], "marks", (at, at + 1), *_bracketed(sentence.text))
    six = SAYS["six"].search(masked)
    if "******" in sentence.text or six is not None:
        at = sentence.text.find("******") if six is None else six.start()
        yield from asked(["combination.two_responses"], "device", (at, at + 1))
    match = SAYS["postscript"].search(sentence.text)
    if match is not None and not negated(masked, match.start()):
        marker = SAYS["marker"].search(sentence.text)
        name = "P.P.S" if marker is not None and marker[0].upper().startswith("P.P") else "P.S."
        check = write_name("content.postscript", {} if name == "P.S." else {"marker": name})
        yield from asked([check], "device", match.span())
    match = SAYS["choice"].search(masked)
    if match is not None and not negated(masked, match.end()):
        quotes = list(QUOTED.finditer(sentence.text))
        options = [next(part for part in quote.groups() if part) for quote in quotes]
        if not quotes:
            yield from _labels(masked, match.start())
        is_edge = bool(quotes) and SAYS["begins_or_ends"].search(masked[: quotes[0].start()]) is not None
        if len(options) > 1 and not is_edge and not any("|" in option for option in options):
            check = _chosen(list(dict.fromkeys(options)))
            spans = [(match.start(), match.start() + 1), *(quote.span() for quote in quotes)]
            more = "asks for more than the choice" if SAYS["and_more"].search(masked[quotes[-1].end() :]) else None
            yield from asked([check], "choice", *spans, doubt=more or otherwise(masked))


def _emojis(sentence: Sentence) -> Iterator[RequestedCheck]:
    match = SAYS["with_emoji"].search(sentence.masked)
    if match is not None and not negated(sentence.masked, match.start() + 1):
        name = write_name("pattern.require", {"regex": ANY_EMOJI})
        yield from asked([name], "things", match.span())


def _code(sentence: Sentence) -> Iterator[RequestedCheck]:
    match = SAYS["with_code"].search(sentence.masked)
    if match is not None and not negated(sentence.masked, match.start() + 1):
        name = write_name("pattern.require", {"regex": _CODE})
        yield from asked([name], "things", match.span())


def _labels(masked: str, at: int) -> Iterator[RequestedCheck]:
    """Yield the check for one of several labels that are not quoted: "one of these labels: ALLOW, REVIEW, BLOCK"."""
    match = SAYS["labels"].search(masked)
    if match is None or match.start() < at:
        return
    labels = [label for label in SAYS["label_break"].split(match["labels"]) if label]
    if len(labels) > 1 and all(SAYS["label"].fullmatch(label) for label in labels):
        spans = [(at, at + 1), match.span(SAYS["labels"].groupindex["labels"])]
        yield from asked([_chosen(list(dict.fromkeys(labels)))], "choice", *spans, doubt=otherwise(masked))


def _chosen(options: list[str]) -> str:
    """Return the check for one of several answers; a label of one word is written in either case: "Yes."."""
    if any(" " in option.strip() for option in options):
        return write_name("format.constrained_response", {"options": "|".join(options)})
    return write_name("pattern.require", {"regex": rf"(?i)(?:\A|\W)(?:{'|'.join(map(stopped, options))})(?:\W|\z)"})


def _bracketed(text: str) -> Iterator[Span]:
    yield from (match.span() for match in islice(SAYS["bracketed"].finditer(text), _LISTS))


def _cases(sentence: Sentence) -> Iterator[RequestedCheck]:
    masked = sentence.masked
    if SAYS["capital_words"].search(masked) and SAYS["all_words"].search(masked) is None:
        return
    upper, lower = SAYS["upper"].search(masked), SAYS["lower"].search(masked)
    for name, match in (("case.upper", upper), ("case.lower", lower)):
        no = match is not None and forbidden(masked, *match.span())
        if match is not None and not (no and reaches(masked, match.end() - 1)):
            doubt = "comes after something that is forbidden" if no else None
            yield from asked([name], "case", (match.end() - 1, match.end()), doubt=doubt)
            return
    if upper is not None:
        return  # "not in capital letters": small letters alone are not asked for
    for pattern, name in ((SAYS["any_upper"], "case.lower"), (SAYS["any_lower"], "case.upper")):
        match = pattern.search(masked)
        if match is not None and SAYS["for_emphasis"].search(masked[match.end() :]) is not None:
            return  # capitals are not forbidden elsewhere
        if match is not None and forbidden(masked, *match.span()):
            yield from asked([name], "case", (match.end() - 1, match.end()))
            return


def _languages(sentence: Sentence) -> Iterator[RequestedCheck]:
    names = {match[1].casefold() for match in SAYS["any_language"].finditer(sentence.masked)}
    if len({LANGUAGES[name] for name in names}) != 1:  # two languages leave a choice, which no check can follow
        return
    for key in ("language", "only_language", "the_language"):
        for match in SAYS[key].finditer(sentence.masked):
            is_quoted = "·" in match[0]  # 'use "ss" in German'
            if not is_quoted and not negated(sentence.masked, match.end(), 25):
                name = write_name("language.is", {"code": LANGUAGES[match["name"].casefold()]})
                yield from asked([name], "language", match.span(SAYS[key].groupindex["name"]))
                return


def _forbids(sentence: Sentence) -> Iterator[RequestedCheck]:
    masked = SAYS["reason"].sub(lambda reason: "¦" * len(reason[0]), sentence.masked)
    if SAYS["in_cells"].search(masked) or not _ANY_THING.search(masked):
        return
    named: list[Span] = []
    for thing, regex in _THINGS.items():
        things = [match.span() for match in thing.finditer(masked)]
        things = [(start, end) for start, end in things if not any(first <= start < last for first, last in named)]
        named += things  # "numbered lists" are not all lists
        spans = [span for span in things if _forbids_thing(masked, *span) and not _is_counted(masked, span)]
        if spans:
            name = write_name("pattern.forbid", {"regex": regex} | ({} if regex in _IN_CODE else {"skip_code": True}))
            doubt = None if len(spans) == len(things) else "names it in another sense, too"
            yield from asked([name], "things", *spans, doubt=doubt)


def _is_counted(masked: str, thing: Span) -> bool:
    """Return whether an amount is of a thing that is forbidden: "no more than two hashtags"."""
    counted = [one for one in amounts(masked) if one.unit in ("bullets", "exclamations", "hashtags", "emojis")]
    often = (one for one in amounts(masked) if one.unit == "times" and one.start > thing[0])
    marks = (SAYS["marks_before"].search(masked[: one.start]) for one in often)
    is_often = any(match is not None and match.start() <= thing[0] for match in marks)
    if is_often or any(one.start < thing[1] and thing[0] < one.end for one in counted):
        return True
    behind = (masked[thing[1] : one.start] for one in counted if one.start >= thing[1])
    return any(SAYS["holds"].match(between) is not None for between in behind)


def _forbids_thing(masked: str, start: int, end: int) -> bool:
    """Return whether the words at [start, end) are what is forbidden: not where, nor what something else is said of."""
    if negated(masked, start):
        before = masked[:start]
        is_put_in = SAYS["put_in"].search(before) is not None and not masked[start:end].startswith("paren")
        return SAYS["place_of"].search(before) is None or is_put_in
    return forbidden(masked, start, end) and SAYS["banned"].match(masked[end:]) is not None


def _citations(sentence: Sentence) -> Iterator[RequestedCheck]:
    """Hoffer's instructions about citations and tables."""
    text = sentence.text
    masked = SAYS["counted_in"].sub(lambda phrase: " " * len(phrase[0]), sentence.masked)  # counted, not asked for
    cells = SAYS["in_cells"].search(masked)
    if cells is not None and SAYS["no_breaks"].search(masked):
        yield from asked(["table.cells"], "citations", cells.span())
    cite = SAYS["cite"].search(masked)
    url = SAYS["urls"].search(masked)
    if url is not None and _forbids_thing(masked, *url.span()):
        is_source = cite is not None  # others are forbidden in answers that cite nothing, too
        name = "citation.no_source_urls" if is_source else write_name("pattern.forbid", {"regex": ADDRESS})
        yield from asked([name], "links", url.span())
    if cite is None:
        if SAYS["cite"].search(sentence.about):  # "Max three consecutive." after a sentence about citations
            yield from asked(_citation_places(masked), "citations", *_counted_spans(masked))
        return
    spans = [cite.span(), *_counted_spans(masked), *(match.span() for match in QUOTED.finditer(text))]
    style = next((name for name, pattern in _STYLES.items() if pattern.search(text)), None)
    if style is not None and SAYS["form"].search(masked):
        name = write_name("citation.format", {} if style == "any" else {"style": style})
        yield from asked([name], "citations", *spans)
    yield from asked(_citation_places(masked), "citations", *spans)
    match = SAYS["must_cite"].search(masked)
    is_against = match is not None and SAYS["must_not_cite"].search(match[0]) is not None
    if match is not None and not is_against and not negated(masked, match.start()):
        used = SAYS["cites_what_is_used"].search(masked) if SAYS["of_all"].search(masked) is None else None
        used = used or (None if SAYS["of_answers"].search(masked) else SAYS["of_claims"].search(masked))
        doubt = None if used is None else f"only under a condition ({used[0].casefold()} …)"
        yield from asked(["citation.required"], "citations", *spans, doubt=doubt)


def own_marker(text: str) -> str:
    """Return a marker of citations that a sentence shows and that is of no known style; "" if it shows none."""
    if SAYS["cite"].search(text) is None or any(pattern.search(text) for pattern in _STYLES.values()):
        return ""
    shown = SAYS["marker_shown"].search(text)
    return "" if shown is None else str(shown[0])


def _counted_spans(masked: str) -> list[Span]:
    return [(0, 0), *((amount.start, amount.end) for amount in amounts(masked))]


def _citation_places(masked: str) -> Iterator[str]:
    bounded = [one for one in amounts(masked) if one.unit in ("citations", "number") and not one.exact]
    place = SAYS["place"].search(masked)
    if place is not None and not negated(masked, place.start()):
        is_counted = any(place.start() < one.end and one.start < place.end() for one in bounded)
        if not is_counted:  # "put no more than one citation after each sentence" says how many, and not where
            after = SAYS["after_stop"].search(masked) is not None and SAYS["before_stop"].search(masked) is None
            yield write_name("citation.placement", {"after_stop": True} if after else {})
    most = [amount.high for amount in amounts(masked) if amount.high] if SAYS["row"].search(masked) else []
    if SAYS["of_each_claim"].search(masked):  # they stand behind it, in a row
        most += [one.high for one in bounded if one.high]
    if most:
        yield write_name("citation.max_consecutive", {} if most[0] == 3 else {"at_most": most[0]})


def _platforms(sentence: Sentence) -> Iterator[RequestedCheck]:
    for name in ("slack", "web"):
        match = SAYS[f"on_{name}"].search(sentence.masked)
        if match is not None:
            yield from asked([f"platform.{name}"], "platforms", (match.start(), match.start() + 1))


_IN_CODE = frozenset(
    WORDED["forbidden"][thing] for thing in WORDED["in_code"]
)  #: patterns of what code may not hold either
_LISTS = 20  #: how many brackets in one sentence are looked at
_ORDINALS = {word: number for number, word in enumerate(WORDED["ordinals"], 1)}
_FAMILIES: tuple[Callable[[Sentence], Iterator[RequestedCheck]], ...] = (
    _citations,
    _platforms,
    counts,
    _first_words,
    letters,
    keywords,
    edge_phrases,
    _asks_back,
    _shapes,
    _cases,
    _languages,
    _forbids,
    _emojis,
    openers,
    lines,
    named_links,
    named_sections,
    _code,
)
