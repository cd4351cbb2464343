"""Conditions: whether a sentence holds of every answer, by what it says and by the one that opens its paragraph.

A check is active only where nothing makes it depend on the question, the length of the answer or who is meant.
"""

import tomllib
from pathlib import Path
from typing import Any

from turnsignal.stream.prompts.headings import GENERAL, kind_of
from turnsignal.stream.prompts.polarity import narrowed
from turnsignal.stream.prompts.wording import read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("conditions.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"], PLATFORM="|".join(_BUILT["platforms"]), ANSWER=_BUILT["answer"])
_HEADED = read_patterns({"headed": _BUILT["patterns"]["headed"]}, PLATFORM="|".join(_BUILT["heading_platforms"]))


def condition(sentence: str, heading: str) -> tuple[tuple[str, ...], str | None]:
    """Return the platforms on which a sentence holds, and why its checks are doubtful, if they are.

    sentence: with quoted text masked; heading: what stands above it.
    """
    masked = without_no_conditions(sentence)
    platforms = platforms_in(masked)
    unless = _SAYS["unless"].search(masked)
    if unless is not None:
        return (), f"only under a condition ({unless[0].casefold()} …)"
    exception = _SAYS["exception"].search(masked)
    if exception is not None:
        return (), f"has an exception ({exception[0].casefold()} …)"
    under = _SAYS["if"].search(masked)
    if under is not None and not platforms:
        return (), f"only under a condition ({under[0].casefold()} …)"
    some = _SAYS["some_answers"].search(masked)
    if some is not None:
        return (), f"may hold of some answers only ({some[0].strip().casefold()})"
    others = _SAYS["others"].search(masked) or _past(masked)
    if others is not None:
        return (), f"may say what others do ({others[0].strip().casefold()})"
    if not platforms:
        platforms = tuple(dict.fromkeys(match[1].casefold() for match in _HEADED["headed"].finditer(heading)))
    return (platforms, None) if platforms else narrowed(masked)


def _past(masked: str) -> Any:
    """Return where a sentence tells what was done; in an order, "the sources used" tells nothing."""
    match = _SAYS["past"].search(_SAYS["participle"].sub("¦", masked))
    return None if match is None or _SAYS["ordered"].search(match[0]) is not None else match


def without_no_conditions(masked: str) -> str:
    """Leave out of a sentence what sounds like a condition and is none: "even if …", "no other … is allowed"."""
    plain: str = _SAYS["no_condition"].sub("", _SAYS["no_other"].sub("", masked))
    return plain


def platforms_in(masked: str) -> tuple[str, ...]:
    """Return the platforms that a sentence names as those that it holds on."""
    plain = _SAYS["all_shown"].sub("", masked)
    return tuple(dict.fromkeys(match[1].casefold() for match in _SAYS["platform"].finditer(plain)))


def goes_back(masked: str) -> bool:
    """Return whether a sentence is about the one before it: "The only exception is …"."""
    return _SAYS["goes_back"].search(masked) is not None and _SAYS["consequence"].search(masked) is None


def without_clause(masked: str) -> str:
    """Blank the condition at a sentence's head: what it denies is about the user's case, not about the answer."""
    blanked: str = _SAYS["clause"].sub(lambda clause: "¦" * len(clause[0]), masked, 1)
    return blanked


def opens(masked: str) -> bool:
    """Return whether the sentences after this one, in its paragraph, may hold only in the case that it names."""
    if _SAYS["for_example"].search(masked) is not None:
        return False
    if _SAYS["phase"].search(masked) is not None or _SAYS["question"].search(masked) is not None:
        return True
    match = _SAYS["opens"].search(without_no_conditions(masked))
    return match is not None and kind_of(match[0].strip(",: ")) != GENERAL


def case_end(masked: str) -> int:
    """Return where what is done in a case begins that a sentence names first, "In an emergency, …"; 0 without one."""
    match = _SAYS["opens"].search(masked) if opens(masked) else None
    return 0 if match is None else int(match.end())


def falls_back(masked: str) -> bool:
    """Return whether a sentence says what to answer when nothing is known."""
    return _SAYS["falls_back"].search(masked) is not None


def keeps_the_answer(masked: str) -> bool:
    """Return whether a sentence says how the answer is to be kept, which after a fallback is any answer."""
    return _SAYS["of_the_answer"].search(masked) is not None


def tells_of_a_text(masked: str) -> bool:
    """Return whether a sentence tells how a text of its own is written, which those after it may be about."""
    match = _SAYS["of_a_text"].match(masked)
    return match is not None and _SAYS["whole"].search(match["text"]) is None


def begins_anew(masked: str) -> bool:
    """Return whether a sentence gives a rule of its own, so that an earlier condition within a paragraph is over."""
    return _SAYS["anew"].search(masked) is not None


def names_all(masked: str) -> bool:
    """Return whether a sentence says that it holds of all answers."""
    return _SAYS["all_answers"].search(masked) is not None
