"""Counts: the checks of what a sentence wants so many of: words, sentences, parts, or a word itself."""

from collections.abc import Iterator

from turnsignal.stream.names import Value, write_name
from turnsignal.stream.prompts.characters import character_limits
from turnsignal.stream.prompts.emoji_counts import emoji_counts
from turnsignal.stream.prompts.instructions import NO_WORDS, SAYS, Sentence, asked
from turnsignal.stream.prompts.leftover import RequestedCheck
from turnsignal.stream.prompts.paragraphs import MOST, at_least, more_than
from turnsignal.stream.prompts.wording import QUOTED, Amount, amounts, negated

_COUNTED = {
    "words": "length.number_words",
    "sentences": "length.number_sentences",
    "bullets": "format.number_bullet_lists",
    "highlights": "format.number_highlighted_sections",
    "placeholders": "content.number_placeholders",
    "capitals": "case.capital_word_frequency",
}
_AT_LEAST = frozenset({"highlights", "placeholders", "capitals"})  #: a plain number of these is a lower bound
_SMALL = ("words", "characters", "sentences")  #: units that a paragraph is made of
_OF_PARTS = frozenset(
    {"words", "characters", "sentences", "bullets", "sections", "paragraphs"}
)  #: an answer's, or a part's
#: unit → the kind of wording that it has in leftover.toml; the others are counts
_UNIT_KINDS = {
    "times": "letters",
    "exclamations": "letters",
    "hashtags": "hashtags",
    "emojis": "hashtags",
    "bullets": "bullets",
    "sections": "sections",
    "highlights": "sections",
    "placeholders": "sections",
}


def counts(sentence: Sentence) -> Iterator[RequestedCheck]:
    """Yield the checks of amounts."""
    whole: Amount | None = None
    for amount in amounts(sentence.masked):
        unit = amount.unit
        if SAYS["numbered"].search(sentence.masked[: amount.start]):
            continue  # "part 2" is a name
        if amount.exact and SAYS["stands_behind"].search(sentence.masked[: amount.start]):
            continue  # "after one sentence" says where something stands
        if SAYS["is_judged"].match(sentence.masked[amount.end :]):
            continue  # "answers under 20 words are rarely helpful" asks for none
        if SAYS["need_not_keep"].search(sentence.masked[: amount.start]):
            continue  # "you need not keep it under 60 words" asks for no more
        spans, doubt = [(amount.start, amount.end)], None
        joint = None if whole is None else SAYS["of_it"].match(sentence.masked[whole.end : amount.start])
        if whole is not None and joint is not None and not _are_of_one_text(sentence.masked, whole, joint[0], amount):
            spans, doubt = [(whole.end, amount.end)], f"concerns a part of the answer ({whole.unit.rstrip('s')})"
        elif unit in _OF_PARTS:
            doubt = "counts one part of several" if _is_summand(sentence.masked, amount) else None
            if SAYS["in_any_one"].search(sentence.masked[amount.start :]):
                doubt = f"may be of each {'list' if unit == 'bullets' else 'paragraph'}"
            whole = amount
        if _is_at_an_edge(sentence.masked[: amount.start]):
            doubt = doubt or "may be of how the answer begins or ends"
        if SAYS["uncounted"].search(sentence.masked[amount.end :]):
            doubt = doubt or "leaves a part of the answer out of the count"
        if SAYS["roughly"].search(sentence.masked[: amount.start]) or SAYS["or_so"].match(
            sentence.masked[amount.end :]
        ):
            doubt = doubt or "is no exact number"
        if amount.kind:
            doubt = doubt or f"may count only some of them ({amount.kind})"
        if unit == "times":
            spans += [match.span() for match in SAYS["word"].finditer(sentence.text)]
            spans += [match.span() for match in SAYS["capital_words"].finditer(sentence.masked)]
        elif unit == "sections":
            spans += [match.span() for match in SAYS["section"].finditer(sentence.text)]
            spans += [match.span() for match in QUOTED.finditer(sentence.text) if SAYS["section"].search(match[0])]
        marks = SAYS["marks_before"].search(sentence.masked[: amount.start]) if unit == "times" else None
        if marks is not None:  # "exclamation marks more than once"
            names = _named("keywords.letter_frequency", amount.bounds(), letter="!")
            yield from asked(names, "letters", (marks.start(), amount.end), doubt=doubt)
            continue
        for name in _counted(amount, unit, sentence):
            kind = "case" if name.startswith("case.") else _UNIT_KINDS.get(unit, "counts")
            yield from asked([name], kind, *spans, doubt=doubt)


def _are_of_one_text(masked: str, first: Amount, joint: str, second: Amount) -> bool:
    """Return whether the second of two amounts is of the same text as the first, and of no part of it.

    "120 words in two paragraphs" are all words, and so are those of "one paragraph of 40 words", if the answer is that.
    """
    if first.unit in _SMALL and second.unit == "paragraphs":
        return joint.strip(" ,") == "in" and (second.low or 0) > 1
    is_one = first.low == first.high == 1 and first.unit in ("paragraphs", "sentences") and second.unit in _SMALL
    return is_one and SAYS["whole_as"].search(masked[: first.start]) is not None


def _is_at_an_edge(before: str) -> bool:
    """Return whether an amount is what an answer starts or ends with; before: the sentence up to it."""
    edge = SAYS["edge_of"].search(before)
    return edge is not None and SAYS["of_whole"].search(edge["beside"]) is None


def _is_summand(masked: str, amount: Amount) -> bool:
    """Return whether a plain number is one of several that make up the answer: "one sentence and three bullets"."""
    others = [
        other for other in amounts(masked) if other.exact and other.unit in _OF_PARTS and other.unit != amount.unit
    ]
    return amount.exact and any(
        SAYS["plus"].search(masked[min(amount.end, other.end) : max(amount.start, other.start)]) for other in others
    )


def _counted(amount: Amount, unit: str, sentence: Sentence) -> Iterator[str]:
    if unit in ("sections", "number") and SAYS["highlight"].search(sentence.masked):
        unit = "highlights"
    if unit == "number" and SAYS["capital_words"].search(sentence.masked):
        unit = "capitals"
    if unit in _COUNTED:
        if unit == "words" and amount.exact:
            return  # "a 200 word essay" is not meant as an exact number of words
        bounds: dict[str, Value] = amount.bounds()
        if amount.exact and unit in _AT_LEAST:
            del bounds["at_most"]
        is_cap = unit == "sentences" and "at_most" in bounds  # a list's "1." is none that a limit means
        more: dict[str, Value] = {"by_spaces": True} if unit == "words" else {"skip_markers": True} if is_cap else {}
        yield from _named(_COUNTED[unit], bounds, **more)
    elif unit == "characters":
        is_only = SAYS["only"].match(sentence.masked[amount.start :]) is not None  # "shows only 280 characters"
        yield from () if amount.exact else character_limits(amount._replace(low=None) if is_only else amount)
    elif unit == "exclamations":
        yield from _named("keywords.letter_frequency", amount.bounds(), letter="!")
    elif unit == "hashtags":
        yield from _named("keywords.letter_frequency", amount.bounds(), letter="#")
    elif unit == "emojis":
        yield from emoji_counts(amount)
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
    if low is not None and 1 < low <= MOST:
        yield write_name("pattern.require", {"regex": at_least(low)})
    if high is not None and 0 < high <= MOST:
        yield write_name("pattern.forbid", {"regex": more_than(high)})


def _sections(amount: Amount, sentence: Sentence) -> Iterator[str]:
    marked = SAYS["section"].search(sentence.text)
    splitter = marked[1] if marked is not None else sentence.splitter
    if splitter and amount.low:
        yield write_name("format.multiple_sections", {"at_least": amount.low, "splitter": splitter})
    elif "***" in sentence.text:
        yield from _named("length.number_paragraphs", amount.bounds())


def _times(amount: Amount, sentence: Sentence) -> Iterator[str]:
    if SAYS["capital_words"].search(sentence.masked):
        bounds: dict[str, Value] = amount.bounds()
        if amount.exact:
            del bounds["at_most"]
        yield from _named("case.capital_word_frequency", bounds)
        return
    before = [match for match in SAYS["word"].finditer(sentence.text) if match.start() < amount.start]
    for match in before[-1:] or list(SAYS["word"].finditer(sentence.text))[:1]:
        word = next(part for part in match.groups()[1:] if part)
        if match[1].casefold() in ("letter", "character"):
            if len(word) == 1:
                yield from _named("keywords.letter_frequency", amount.bounds(), letter=word)
        elif word.casefold() not in NO_WORDS:
            yield from _named("keywords.frequency", amount.bounds(), word=word)


def letters(sentence: Sentence) -> Iterator[RequestedCheck]:
    """Yield the checks of letters that must not appear."""
    if any(amount.unit == "times" for amount in amounts(sentence.masked)):
        return
    for match in SAYS["word"].finditer(sentence.text):
        letter = next(part for part in match.groups()[1:] if part)
        if (
            match[1].casefold() in ("letter", "character")
            and len(letter) == 1
            and negated(sentence.masked, match.start())
        ):
            name = write_name("keywords.letter_frequency", {"at_most": 0, "letter": letter})
            yield from asked([name], "letters", match.span())
