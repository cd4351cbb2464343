"""Vocabulary: the checks for words that a sentence lists, to be said or not.

Words in quotation marks count as they are; others only where each of them can be nothing but a word.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.banned import are_names, banned
from turnsignal.stream.prompts.everyday_names import everyday
from turnsignal.stream.prompts.instructions import NO_WORDS, SAYS, WORDED, Sentence, asked
from turnsignal.stream.prompts.leftover import RequestedCheck, Span
from turnsignal.stream.prompts.literals import spaced
from turnsignal.stream.prompts.wording import QUOTED, amounts, compile_pattern, forbidden, listed, mask, negated

_OTHERWISE = "says what to use rather than something else"
_PLACED = "says in which place or sense"
_SINGLE = "a single letter may be a number or stand for something else"
_ADDRESS = "is about how somebody is addressed"
_ADDRESSES = compile_pattern(
    r"^\W*(?:(?:please|always|only)\s+)*(?:address|(?:call|refer to|speak (?:to|of|about)|talk (?:to|about))\s+"
    r"(?:(?:the|our|your|all)\s+)?(?:yourself|them|people|everyone|users?|customers?|guests?|visitors?|clients?|callers?"
    r"|readers?|members?|patients?|students?|players?|employees?|buyers?|sellers?|drivers?|colleagues?))\b"
)
#: "Refer to donors as “friends”, never as “sources”.": the word may stand elsewhere, in its own sense; a name may not
_REFERS = compile_pattern(r"^\W*(?:(?:please|always|only|you)\s+)*(?:call|refer to)\s+[^·]{1,60}\bas\b")
#: pronouns that people are addressed by, and that stand for others, too
_PRONOUNS = frozenset(
    [
        *("du", "dich", "dir", "ihr", "sie", "ihnen", "tu", "te", "toi", "vous", "lei", "voi", "tú"),
        *("usted", "ustedes", "vos", "vosotros", "você", "jij", "u"),
    ]
)
_IN_CODE = "may be meant as code, and not as a word of the answer"
#: what says of words in backticks that they are words: "the word `cheap`"
_AS_WORDS = compile_pattern(r"\b(?:words?|phrases?|terms?|expressions?|say(?:s|ing)?|mention(?:s|ing)?)\b")
_EVERYDAY = "is an everyday word, too"
_MONTH = "is the name of a month, too"
_MONTHS = frozenset({"may", "march", "august"})
_PHRASE = 3  #: words that code hardly is
_LISTS = 20  #: how many matches in one sentence are tried as the start of a list of words
_SOUNDS = frozenset({"um", "uh", "er", "hmm", "ah", "oh"})
_SPOKEN = frozenset({"say", "saying", "use", "using"})
_FORM = compile_pattern(rf"\b(?:{'|'.join(WORDED['forbidden'])}|json|xml|csv|yaml|latex|urls?|caps)\b")
_USED = frozenset({"use", "write", "run", "output", "generate", "include"})  #: verbs that are not of speaking
_VERBS = frozenset({"word", "phrase", "term", "name"})  #: of the nouns below, those that are verbs, too
_NAMING = ("word", "words", "phrase", "phrases", "term", "terms", "name", "names")


#: the comma of "Well," as the last word of a list is a part of it, and says where it stands
_NOTHING = compile_pattern(r"^[^·]{0,60}\bnothing\b")  #: 'mention nothing about "refunds"'
_SAID_BEFORE = compile_pattern(r"\pL,[\"”]\W*$")


def keywords(sentence: Sentence) -> Iterator[RequestedCheck]:
    """Yield the checks of words that a sentence lists."""
    masked = sentence.masked
    if SAYS["capital_words"].search(masked):
        return
    contrast = SAYS["contrast"].search(masked)
    if contrast is not None and not negated(masked, contrast.start()):
        yield from _contrasted(sentence.text, contrast)
        return
    written = SAYS["not_written"].search(masked)
    if written is not None and not any(amount.start <= written.start() for amount in amounts(masked)):
        start = written.end() - 1
        end = start + len(SAYS["until"].split(masked[start:], 1)[0])
        words = _words(sentence.text[start:end], "")
        if words:
            yield from _prohibited(words, sentence.text, written.span(), *_spans(words, sentence.text, start, end))
            return
    answered = SAYS["answered"].search(masked)
    if answered is not None:
        start = answered.end() - 1
        words = _words(sentence.text[start : start + len(SAYS["until"].split(masked[start:], 1)[0])], "")
        if words and all(len(word.split()) > 1 for word in words):  # "never answer "yes"" forbids no other yes
            yield from _prohibited(
                words, sentence.text, answered.span(), *_spans(words, sentence.text, start, len(masked))
            )
            return
    named = SAYS["names_names"].search(masked)
    if named is not None and any(map(str.islower, masked)):  # in a line of capitals nothing tells names from topics
        yield from _named(named)
        return
    for match in islice(SAYS["list"].finditer(masked), _LISTS):
        if SAYS["no_list"].search(SAYS["each_answer"].sub("", masked[max(0, match.start() - 40) : match.start()])):
            continue
        if any(amount.start <= match.start() < amount.end for amount in amounts(masked)):
            continue  # the words are counted, not named
        if SAYS["of_given"].search(masked[: match.end()]) is not None:
            continue
        end = match.end() + len(SAYS["until"].split(masked[match.end() :], 1)[0])
        if SAYS["often"].search(masked[match.end() : end + 25]):
            continue  # a word with a number of times is a frequency
        rest = sentence.text[match.end() : end]
        if rest.lstrip().casefold().startswith(("the letter", "the character")):
            continue  # counted as a letter
        if match[0].rstrip().endswith(" of") or SAYS["naming"].search(rest):
            continue  # "include the words …": the list begins later
        is_verb = SAYS["verb_before"].search(masked[: match.start()]) is not None
        words = _words(rest, "" if is_verb and match["what"].casefold() in _VERBS else match["what"])
        no = forbidden(masked, match.start(), end) or _NOTHING.match(masked[match.start() : end]) is not None
        if not words or (not no and SAYS["example"].search(match[0])):
            continue
        if not no and SAYS["choice"].search(masked):
            return  # one of them is enough
        if no or SAYS["asks"].search(masked[: match.end()]):
            if not no and match["what"].casefold().startswith("us") and _AS_WORDS.search(masked) is None:
                words = [word for word in words if not _is_code(word, sentence.text)]  # "use *bold*, `code`"
                if not words:
                    return
            filler = SAYS["as_filler"].search(masked)
            spans = [match.span(), *_spans(words, sentence.text, match.end(), end)]
            spans += [] if filler is None else [filler.span()]
            either = "leaves a choice" if not no and SAYS["either"].search(masked[match.end() : end]) else None
            if not no and match["what"].casefold().startswith("us") and SAYS["in_a_way"].search(masked[match.end() :]):
                either = "says which of several forms to use"  # 'the formal "usted"'
            elif not no and match[0].strip().casefold() in ("use", "using") and " " not in "".join(words):
                either = "may say how something is called"  # 'use "you"'
            elif not no and any(_is_number(word) for word in words):
                either = "may be written in another form"  # "514-555-0190"
            elif no and (
                (filler is None and SAYS["as_a"].search(masked) is not None)
                or _SAID_BEFORE.search(sentence.text[: end + 1])
            ):
                either = _PLACED  # 'never use "please" as the first word'
            elif not no and _is_habit(masked, match[0]):
                either = "may say how to speak"  # 'be polite: say "please"'
            doubt = either or otherwise(masked)
            if no:
                yield from _prohibited(words, sentence.text, *spans, doubt=doubt, is_filler=filler is not None)
                return
            name = write_name("keywords.existence", {"words": "|".join(words)})
            yield from asked([name], "words", *spans, doubt=doubt)
            return


def _contrasted(text: str, match: Any) -> Iterator[RequestedCheck]:
    """Yield the check for the words that others are to stand for: 'say "guests", never "customers"'.

    'Use "claim" and never "case"' is of what a thing is called, as with "not"; "in this case" is none of it.
    """
    words = _words(text[slice(*match.span(SAYS["contrast"].groupindex["other"]))], "")
    if words and all(not any(map(str.isdigit, word)) for word in words):
        wanted = {_letters(next(filter(None, quote.groups()))) for quote in QUOTED.finditer(text[match.start() :])}
        is_spelling = len(wanted.difference(map(_letters, words))) < 1
        is_plain = match["how"].casefold() == "never" or (is_spelling and match["how"].casefold().endswith("never"))
        yield from _prohibited(words, text, match.span(), doubt=None if is_plain else _OTHERWISE)


def _letters(word: str) -> str:
    """Return a word as it sounds, however it is spelt: "e-mail" and "Email" are one."""
    return "".join(sign for sign in word.casefold() if sign.isalnum())


def _named(match: Any) -> Iterator[RequestedCheck]:
    """Yield the check for proper names that must not be mentioned, as they are written: "never mention Trellix".

    What must not be used may still be spoken of, as DELETE where SQL is written.
    """
    names = [name for name in SAYS["name_break"].split(match["names"]) if name]
    is_used = match["how"].casefold() in _USED
    if is_used and (len(names) < 2 or not all(map(str.isupper, names)) or _FORM.search(match["names"])):
        return  # "never use Markdown"
    spoken_of = "may be spoken of" if is_used else None
    also_words = everyday(names)
    for listed_names, doubt in (([one for one in names if one not in also_words], None), (also_words, _EVERYDAY)):
        if listed_names:
            regex = "|".join(map(spaced, listed_names))
            name = write_name("pattern.forbid", {"regex": rf"\b(?:{regex})\b"})
            spans = ((match.start(), match.start() + 1), match.span())
            yield from asked([name], "words", *spans, doubt=spoken_of or doubt)


def _prohibited(
    words: list[str], text: str, *spans: Span, doubt: str | None = None, is_filler: bool = False
) -> Iterator[RequestedCheck]:
    """Yield the checks for words that a sentence forbids; text: the sentence; is_filler: whether only as a filler.

    Words in backticks are doubtful where nothing says that they are words: code may not use `any`, and prose may. A
    single letter is doubtful: "I" is forbidden as a pronoun, and stands in "World War I" and "i.e.", too. So is a word
    that names a month, a name that is an everyday word, one that somebody is addressed by, and a filler that is an
    ordinary word elsewhere, as "Well"; "basically" is none.
    """
    single = [word for word in words if len(word) == 1]
    coded = [] if _AS_WORDS.search(mask(text)) else [word for word in words if _is_code(word, text)]
    coded = [word for word in coded if word not in single]
    ordinary = [word for word in words if is_filler and word not in {*single, *coded} and _is_ordinary(word, text)]
    longer = [word for word in words if word not in {*single, *coded, *ordinary}]
    also_words = everyday(longer) if are_names(longer, text) else []
    longer = [word for word in longer if word not in also_words]
    named = {word.casefold() for word in longer}
    other = _MONTH if named & _MONTHS else None
    refers = _REFERS.search(text) is not None and all(map(str.islower, longer))
    other = _ADDRESS if named & _PRONOUNS or refers or _ADDRESSES.search(text) is not None else other
    yield from asked(banned(longer, text), "words", *spans, doubt=doubt or other)
    yield from asked(banned(also_words, text), "words", *spans, doubt=doubt or _EVERYDAY)
    yield from asked(banned(ordinary, text), "words", *spans, doubt=doubt or _PLACED)
    yield from asked(banned(coded, text), "words", *spans, doubt=doubt or _IN_CODE)
    yield from asked(banned(single, text), "words", *spans, doubt=doubt or _SINGLE)


def _is_ordinary(word: str, text: str) -> bool:
    """Return whether a filler is one word that may stand anywhere; adverbs in "-ly", "um" and "Great!" always fill."""
    if len(word.split()) > 1 or word.casefold() in _SOUNDS:
        return False
    return not word.casefold().endswith("ly") and f"{word}!" not in text


def _is_code(word: str, text: str) -> bool:
    """Return whether a word stands in backticks, as code does; three words or more are a phrase."""
    return f"`{word}`" in text and len(word.split()) < _PHRASE


def _is_number(word: str) -> bool:
    """Return whether a word is a number in groups, as that of a telephone."""
    return not any(map(str.isalpha, word)) and sum(map(str.isdigit, word)) > 3


def _is_habit(masked: str, listing: str) -> bool:
    """Return whether words may be for whenever they fit, as nothing says that every answer holds them."""
    is_placed = any(SAYS[key].search(masked) is not None for key in ("each_answer", "at_an_edge"))
    return listing.split()[-1].casefold().strip(":") in _SPOKEN and not is_placed


def otherwise(masked: str) -> str | None:
    """Return a doubt where a sentence says what to use rather than something else."""
    return _OTHERWISE if SAYS["or_not"].search(masked) else None


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
    if noun.casefold() == "names" and len(candidates) == 1 and candidates[0][0].islower() and not candidates[0][1]:
        return []  # "dish names stay in Italian": the word is a verb
    bare = [_is_bare_word(word, noun) for word, quoted in candidates if not quoted]
    if len(bare) == len(candidates) and not all(bare):
        return []
    return [word for word, quoted in candidates if quoted or _is_bare_word(word, noun)]


def _is_bare_word(word: str, noun: str) -> bool:
    if word.casefold() in NO_WORDS or not word.replace("-", "").replace("'", "").replace("’", "").isalnum():
        return False
    return len(word.split()) == 1 and noun.casefold().endswith(_NAMING)
