"""Polarity: whether a sentence means what a check says, or its opposite, or only some answers.

A denial has a reach: the piece of a sentence between two commas, and the list that goes on from it. A check that
forbids is proposed without doubt only if exactly one plain denial reaches it, one that requires only if none does, and
a bound only if a denial is part of how it is worded. All else ("never omit …", "don't limit
yourself to …") is for a person.
"""

import tomllib
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from turnsignal.stream.prompts.characters import is_character_limit
from turnsignal.stream.prompts.leftover import RequestedCheck, Span
from turnsignal.stream.prompts.wording import amounts, compile_pattern, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("polarity.toml").read_text(encoding="utf-8"))
_WHOLE = frozenset(_BUILT["whole"].split())
_SAYS = read_patterns(_BUILT["patterns"], ANSWER=_BUILT["answer"], FORM=_BUILT["form"])
_TOPICS = {family: compile_pattern(topic) for family, topic in _BUILT["topics"].items()}
_NO_TOPICS = frozenset(word.rstrip("s") for word in _BUILT["no_topics"].split())
_ABOUT = {family: compile_pattern(topic) for family, topic in _BUILT["about"].items()}
_WORD = compile_pattern(r"[\pL\pN&/][\pL\pN'’/-]*")
_BOUNDS = (
    "length.number_",
    "format.number_",
    "content.number_",
    "keywords.frequency",
    "keywords.letter_frequency",
    "case.capital_word_frequency",
    "citation.max_consecutive",
    "format.multiple_sections",
)
_FORBIDS = (
    "pattern.forbid",
    "keywords.forbidden_words",
    "punctuation.no_comma",
    "citation.no_source_urls",
    "table.cells",
)
_NAMED = ("things", "links", "commas", "citations", "words")  #: kinds whose spans are what is forbidden
_BOUND_TO = ("slack", "web")  #: platforms that answers are told apart by
_OPPOSITE = "may mean the opposite"
_SHOWN = 80  #: characters of the next sentence in the reason for a doubt


def turned(masked: str, check: RequestedCheck) -> str | None:
    """Return why a check may be the opposite of what its sentence says; None if it is not.

    masked: the sentence, with dots for quoted text.
    """
    if not check.spans:
        return None
    text = _blank(_SAYS["neutral"], masked)
    if "```" in check.check:
        text = _blank(_SAYS["wrapped"], text)  # "do not wrap it in code fences"
    piece = text[slice(*_piece(text, check.spans[0][0]))]
    some = _SAYS["not_every"].search(piece)
    if some is not None:
        return f"may hold of some answers only ({some[0].casefold()})"
    permission = _SAYS["permission"].search(piece)
    if permission is not None:
        return _permitted(permission[0])
    contrast = _SAYS["contrast"].search(text)
    if contrast is not None and any(contrast.start() <= start < contrast.end() for start, _ in check.spans):
        return _reason(contrast[0].rstrip(" .!"))
    if is_bound(check.check) or check.kind in ("counts", "hashtags"):
        return _bounded(text, check.spans[0] if check.kind != "citations" else (0, len(text)))
    if not _forbids(masked, check):
        return _required(text, check)
    spans = check.spans if check.kind in ("things", "links") else check.spans[:1]
    spans = check.spans[1:] or spans if check.kind == "words" else spans
    return next((doubt for span in spans if (doubt := _denied(text, span, check))), None)


def reverses(doubt: str | None, masked: str, check: RequestedCheck) -> bool:
    """Return whether a doubtful check is the reverse of its sentence, so that it is of no use to anybody.

    "Never leave out the word …" forbids no word, and "we never shout or use more than one mark" asks for no two.
    """
    if doubt is None:
        return False
    if doubt.startswith(_OPPOSITE):
        return _SAYS["turns"].search(doubt.removeprefix(_OPPOSITE)) is not None
    if "at_least" not in check.check or "at_most" in check.check or not check.spans:
        return False
    start, end = check.spans[0]
    return _SAYS["above"].match(masked[start:end]) is not None and denies(masked[:start])


def narrowed(masked: str) -> tuple[tuple[str, ...], str | None]:
    """Return what kind of answers a sentence is about, as "SMS replies": the platform, or a reason for doubt."""
    match = _SAYS["narrow_platform"].search(masked) or _SAYS["narrow"].search(masked)
    kind = "" if match is None else match[1].casefold()
    if not kind or kind in _WHOLE or _SAYS["how_long"].match(masked) is not None:
        return (), None
    return ((kind,), None) if kind in _BOUND_TO else ((), f"may hold of some answers only ({kind})")


def denies(masked: str) -> bool:
    """Return whether anything is denied in a sentence."""
    return _SAYS["denial"].search(masked) is not None


def is_bound(check: str) -> bool:
    """Return whether a check, by its name, is of an amount."""
    return is_character_limit(check) or (
        check.startswith(_BOUNDS) and not check.startswith("keywords.letter_frequency(at_most=0")
    )


def explains(masked: str) -> bool:
    """Return whether a sentence gives a reason, or says what users do, and so lets no answer off."""
    return _SAYS["explains"].search(masked) is not None


def names_users_language(masked: str) -> bool:
    """Return whether a sentence speaks of the language of the user, whichever that is."""
    return _SAYS["users_language"].search(masked) is not None


def keeps_another_tongue(masked: str) -> bool:
    """Return whether a sentence has some words, or some answers, in another language than all others."""
    return _SAYS["other_tongue"].search(masked) is not None and not denies(masked)


def let_off(check: str, sentence: str, text: str, masked: str, languages: frozenset[str], thing: Any) -> str | None:
    """Return why the sentence right after a check's own makes it doubtful; None if it does not.

    It is about the same thing, or refers back to it, and permits or exempts something; or it says of the same thing
    what holds in some case. sentence: the check's own; text: the next, and masked; languages: the codes of those
    that it names; thing: a pattern of the words for what the check forbids, or None.
    """
    if check == "format.json" and _SAYS["fenced"].search(masked) is not None:
        return None
    if explains(masked):
        return None
    bare = _blank(_SAYS["forbids_too"], masked)
    topic = next((pattern for family, pattern in _TOPICS.items() if check.startswith(family)), None)
    again = topic is not None and _SAYS["conditional"].search(bare) is not None and topic.search(text) is not None
    if thing is not None or check.startswith(("case.lower", "case.upper", "format.json")):
        words: Any = thing or topic
        again = again or (words.search(masked) is not None and _SAYS["denial"].search(masked) is None)
    if _forbids_something(check) and _SAYS["denial"].search(masked) is None:  # "Birthdays deserve one."
        again = again or _SAYS["has_one"].search(masked) is not None
    if is_bound(check):  # "If they conflict, use up to 10."
        numbers = [one for one in amounts(masked) if one.unit == "number"]
        is_bare = any(_SAYS["ends_there"].match(masked[one.end :]) is not None for one in numbers)
        again = again or (is_bare and _SAYS["conditional"].search(bare) is not None)
    if check.startswith("language."):
        others = any(f"code={code})" not in check for code in languages)
        others = others and (_SAYS["denial"].search(masked) is None or _SAYS["conditional"].search(masked) is not None)
        again = others or _SAYS["other_language"].search(masked) is not None
    more = next((pattern for family, pattern in _ABOUT.items() if check.startswith(family)), None)
    about_it = (
        _SAYS["goes_back"].search(_blank(_SAYS["expletive"], masked)) is not None
        or any(pattern is not None and pattern.search(masked) is not None for pattern in (thing, topic, more))
        or _shares(sentence, masked)
    )
    if check.startswith("keywords.forbidden_words") and _SAYS["substitute"].search(masked) is not None:
        return None
    if again or (about_it and _SAYS["exempts"].search(bare) is not None):
        shown = f'("{text[:_SHOWN]}{"…" if len(text) > _SHOWN else ""}")'
        is_part = not again and _SAYS["continued"].search(masked) is not None
        if is_part and check.startswith("pattern.require(regex='(?i)\\\\A"):
            return None  # what an answer starts with stays its start, whatever follows
        return f"is followed by more {shown}" if is_part else f"has an exception in the next sentence {shown}"
    return None


def allows(check: str, masked: str, thing: Any, others: Iterable[Any]) -> bool:
    """Return whether a sentence right behind a ban or a limit allows something: "Hearts are allowed."

    thing: a pattern of the words for what the check forbids, or None; others: those for what other checks do, which
    let nothing off.
    """
    match = _SAYS["allows"].search(_blank(_SAYS["forbids_too"], masked))
    if match is None or not (_forbids_something(check) or is_bound(check)):
        return False
    what = match["what"] or ""
    if _SAYS["allows_nothing"].search(what) is not None or _SAYS["of_manner"].search(what) is not None:
        return False
    if thing is not None and thing.search(what) is not None:
        return True
    is_link = "https?" not in check and _SAYS["links"].search(what) is not None
    return not is_link and not any(one.search(what) for one in others)


def _shares(sentence: str, after: str) -> bool:
    """Return whether two sentences share a word that says what they are about."""
    topics = [
        {word[0].casefold().rstrip("s") for word in _WORD.finditer(text) if len(word[0]) > 3}
        for text in (sentence, after)
    ]
    return bool((topics[0] & topics[1]) - _NO_TOPICS)


def reaches(masked: str, at: int) -> bool:
    """Return whether a denial stands in the same piece of a sentence as offset `at`."""
    start, end = _piece(masked, at)
    return _SAYS["denial"].search(masked[start:end]) is not None


def _forbids(masked: str, check: RequestedCheck) -> bool:
    if check.check.startswith(("case.lower", "case.upper")):
        start, end = check.spans[0]
        own = masked[max(0, start - 20) : end].casefold()
        lower = max(own.rfind("lower"), own.rfind("small")) > max(own.rfind(sign) for sign in ("upper", "cap"))
        return lower == check.check.startswith("case.upper")
    return _forbids_something(check.check)


def _forbids_something(check: str) -> bool:
    return check.startswith((*_FORBIDS, "keywords.letter_frequency(at_most=0"))


def _bounded(text: str, span: Span) -> str | None:
    start, end = span
    before, after = text[_piece(text, start)[0] : start], text[end : _piece(text, max(start, end - 1))[1]]
    denials = [match[0] for match in _SAYS["denial"].finditer(before)]
    if (start, end) == (0, len(text)):  # of citations, which may be named after the amount
        after, denials = "", [match[0] for match in _SAYS["denial"].finditer(_blank(_SAYS["bound"], text))]
    elif len(denials) == 1 and _SAYS["compares"].search(text[start:end]) is not None:
        denials = [
            match[0] for match in _SAYS["degree"].finditer(before.casefold().rpartition(denials[0].casefold())[2])
        ]
    back = _SAYS["taken_back"].search(after)
    return _reason(denials[-1] if denials else "" if back is None else back[0])


def _required(text: str, check: RequestedCheck) -> str | None:
    start, end = check.spans[0]
    if check.kind == "citations":
        match = _SAYS["denial"].search(_blank(_SAYS["bound"], text))
        return _reason("" if match is None else match[0])
    before = _SAYS["denial"].search(text[_piece(text, start)[0] : start])
    rest = text[end : _piece(text, max(start, end - 1))[1]]
    match = before or _SAYS["taken_back"].search(rest) or _SAYS["sparing"].search(_blank(_SAYS["all_the_time"], rest))
    return _reason("" if match is None else match[0])


def _denied(text: str, span: Span, check: RequestedCheck) -> str | None:
    """Return why it is unclear whether the words of a check are forbidden."""
    start, end = span
    own = _piece(text, start)
    denying = _denying(text)
    earlier = [piece for piece in denying if piece[0] <= own[0]]
    later = [piece for piece in denying if piece[0] > own[0]]  # "emojis, headings and tables are forbidden"
    piece = earlier[-1] if earlier else later[0] if later else own
    permission = _SAYS["permission"].search(text[slice(*piece)])
    if permission is not None:  # "You need not use headings, bold or tables."
        return _permitted(permission[0])
    denials = list(_SAYS["denial"].finditer(text[slice(*piece)]))
    if earlier and piece != own:
        fresh = text[piece[1] : start if check.kind in _NAMED else own[1]]
        match = _SAYS["anew"].search(fresh)
        match = match or (_SAYS["complement"].match(text[end:]) if check.kind in _NAMED else None)
        if match is not None:
            return _reason(match[0])
    if len(denials) != 1:
        return _reason(" … ".join(match[0] for match in denials[:2]) or "no denial")
    at = piece[0] + denials[0].end()
    between = text[at:start] if at <= start and check.kind != "citations" else ""
    rest = text[end : own[1]]
    match = _SAYS["degree"].search(between) or _SAYS["sparing"].search(rest) or _SAYS["instead"].search(rest)
    if match is None and check.kind == "things":  # "never bold the word …"
        match = _SAYS["object"].search(text[end:])
    if match is None and check.kind == "case":
        match = _SAYS["one_word"].search(text[slice(*own)])
        if check.check == "case.upper" and (
            _SAYS["lowercase_letters"].search(text[max(0, end - 20) : end]) is None
            or _SAYS["placed_in"].search(between[:-10]) is not None
        ):
            return _reason(denials[0][0])
    return _reason("" if match is None else match[0])


def _piece(text: str, at: int) -> Span:
    """Return the piece of a sentence that offset `at` is in; it ends with the sign or word that ends it."""
    return next((piece for piece in _pieces(text) if at < piece[1]), (0, len(text)))


@lru_cache(maxsize=16)
def _pieces(text: str) -> list[Span]:
    return list(pairwise([0, *(match.end() for match in _SAYS["piece"].finditer(text)), len(text)]))


@lru_cache(maxsize=16)
def _denying(text: str) -> list[Span]:
    return [piece for piece in _pieces(text) if _SAYS["denial"].search(text[slice(*piece)]) is not None]


def _blank(pattern: Any, text: str) -> str:
    blanked: str = pattern.sub(lambda match: "¦" * len(match[0]), text)
    return blanked


def _permitted(words: str) -> str:
    return f"leaves it open ({words.casefold()})"


def _reason(words: str) -> str | None:
    return f"{_OPPOSITE} ({words.casefold()})" if words else None
