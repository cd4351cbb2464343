"""Pointers: exceptions that name the rule that they lift, by its number or by what it is about.

"Ignore rules 2 and 3 when …", "Legal questions are exempt from the length limit", "Recipes are the exception." The rule
may stand anywhere in the prompt, and the sentence right before need not be it.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.conditions import without_no_conditions
from turnsignal.stream.prompts.exceptions import waives
from turnsignal.stream.prompts.proposals import NAMED_THINGS
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence
from turnsignal.stream.prompts.wording import compile_pattern, mask, negated, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("pointers.toml").read_text(encoding="utf-8"))
_WORDS = {name: "".join(line.strip() for line in text.splitlines()) for name, text in _BUILT["words"].items()}
_SAYS = read_patterns(_BUILT["patterns"], **_WORDS)
_SUBJECTS = {start: compile_pattern(words) for start, words in _BUILT["subjects"].items()}
_NUMBER = compile_pattern(r"\d{1,3}")
_RANGE = compile_pattern(r"(\d{1,3})\s?(?:-|–|to|through)\s?#?(\d{1,3})")
_MOST = 99  #: the largest number of a rule
_NEAR = 3  #: sentences back that "this rule" may be
_SHOWN = 80  #: characters of the pointing sentence in the reason for a doubt


class _LiftedRules(NamedTuple):
    at: int
    sentence: str
    target: str


def points(masked: str) -> bool:
    """Return whether a sentence says itself which rules it lifts, or is for all: it is not of the one before alone."""
    text = without_no_conditions(masked)
    return any(_SAYS[key].search(text) is not None for key in ("lifts", "is_lifted", "exception"))


def lifted(proposals: list[Proposal], placed: list[PlacedSentence]) -> list[Proposal]:
    """Mark as doubtful what a sentence lifts by its number or topic; in time linear in the prompt for each pointer."""
    pointers = [
        _LiftedRules(at, one.sentence, target)
        for at, one in enumerate(placed)
        if not one.is_heading
        for target in _targets(mask(one.sentence))
    ][:_MOST]
    for pointer in pointers:
        meant = _meant(pointer, proposals, placed)
        shown = pointer.sentence[:_SHOWN] + ("…" if len(pointer.sentence) > _SHOWN else "")
        proposals = [
            one._replace(doubt=f"has an exception (“{shown}”)") if one.check in meant and one.doubt is None else one
            for one in proposals
        ]
    return proposals


def _targets(masked: str) -> Iterator[str]:
    """Yield the words for the rules that a sentence lifts; "" where it says "the exception", and not to what."""
    text = without_no_conditions(masked)
    is_named = False
    for key in ("lifts", "is_lifted", "from"):
        for match in _SAYS[key].finditer(text):
            is_named = True
            at = match.start()
            if key == "is_lifted" or not (negated(text, at) or _SAYS["is_asked_to"].search(text[:at])):
                yield match["rules"]
    if not is_named and _SAYS["exception"].search(text) is not None and _SAYS["no_exception"].search(text) is None:
        yield from () if waives(text) else ("",)


def _meant(pointer: _LiftedRules, proposals: list[Proposal], placed: list[PlacedSentence]) -> set[str]:
    """Return the checks that a pointer lifts."""
    if not pointer.target:
        heading = placed[pointer.at].heading
        near = {one.sentence for one in placed[: pointer.at] if one.heading == heading}
        near = near if any(near.intersection(one.sentences) for one in proposals) else set()
        return _asked_by(near or {one.sentence for one in placed[: pointer.at]}, proposals)
    if _SAYS["by_number"].search(pointer.target) is not None:
        numbers = _numbers(pointer.target, placed)
        known = {one.sentence for one in placed if one.number in numbers and one.sentence != pointer.sentence}
        return _asked_by(known or {one.sentence for one in placed}, proposals)  # of rules that are not numbered: any
    if _SAYS["all_rules"].fullmatch(pointer.target) is not None:
        return {one.check for one in proposals}
    if _SAYS["this_rule"].fullmatch(pointer.target) is not None:
        return _asked_right_before(pointer.at, proposals, placed)
    named = {one.check for one in proposals if _is_about(one.check, pointer.target)}
    return named or _asked_by({one.sentence for one in placed if _is_headed(one, pointer.target)}, proposals)


def _asked_right_before(at: int, proposals: list[Proposal], placed: list[PlacedSentence]) -> set[str]:
    """Return the checks of the last sentences before a pointer that any is read from, at most _NEAR back."""
    for one in reversed(placed[max(0, at - _NEAR) : at]):
        meant = _asked_by({one.sentence}, proposals)
        if meant or one.is_heading:
            return meant
    return set()


def _asked_by(sentences: set[str], proposals: list[Proposal]) -> set[str]:
    return {one.check for one in proposals if sentences.intersection(one.sentences)}


def _numbers(target: str, placed: list[PlacedSentence]) -> set[int]:
    """Return the numbers that stand in "rules 1, 3 and 5", "rules 2–4" or "the second rule"."""
    numbers = {int(match[0]) for match in _NUMBER.finditer(target)}
    for match in _RANGE.finditer(target):
        numbers.update(range(int(match[1]), min(int(match[2]), _MOST) + 1))
    words = [word.casefold() for word in target.split()]
    numbers.update(at for at, word in enumerate(_BUILT["ordinals"], 1) if word in words)
    return numbers | ({max(one.number for one in placed)} if "last" in words else set())


def _is_about(check: str, target: str) -> bool:
    """Return whether a check is of what the words "the emoji rule" or "the word limit" name."""
    name = parse_name(check)
    thing = NAMED_THINGS.get(str(name.params.get("regex", ""))) if name.family == "pattern.forbid" else None
    starts = (words.search(target) is not None for start, words in _SUBJECTS.items() if check.startswith(start))
    return any(starts) or (thing is not None and thing.search(target) is not None)


def _is_headed(one: PlacedSentence, target: str) -> bool:
    """Return whether a sentence stands under a heading that a rule is named by: "the formatting rules"."""
    topics = {word for word in target.casefold().split() if word not in _BUILT["no_topics"]}
    return not topics.isdisjoint(one.heading.casefold().split())
