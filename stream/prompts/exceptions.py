"""Exceptions: sentences that let some answers off what another sentence of the prompt asks of all.

An exception may stand anywhere: in another section, behind a semicolon, before the rule. It denies or waives what the
check asks for, or it asks for something else in its place where only some answers are meant.
"""

import tomllib
from collections.abc import Collection
from pathlib import Path

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.characters import is_character_limit
from turnsignal.stream.prompts.conditions import condition, platforms_in, without_no_conditions
from turnsignal.stream.prompts.polarity import explains
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence
from turnsignal.stream.prompts.wording import mask, negated, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("exceptions.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"], OBJECT="".join(line.strip() for line in _BUILT["object"].splitlines()))
_WAIVERS: dict[str, tuple[str, ...]] = {kind: tuple(starts) for kind, starts in _BUILT["waivers"].items()}
_ASPECTS: dict[str, str] = _BUILT["aspects"]
_ASSERTED = ("json", "lower", "upper", "language")  #: kinds of which another thing is asked, and none denied
_SOME = ("only under a condition", "may hold of some answers only", "comes after a condition")
_QUESTIONED = r"\\?["  #: in the name of a check: a question mark, and what may stand behind it
_Waiver = tuple[str, tuple[str, ...]]
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt


def excepted(proposals: list[Proposal], placed: list[PlacedSentence], exempt: Collection[str]) -> list[Proposal]:
    """Mark as doubtful what another sentence lets some answers off; in time linear in the prompt.

    exempt: the sentences that prescribe a response, which may say in passing what it does without.
    """
    waiving = _waiving([one for one in placed if one.sentence not in exempt])
    rivals = _rivals(proposals)
    return [
        one
        if one.doubt is not None or (other := _other(one, waiving, rivals)) is None
        else one._replace(doubt=f"has an exception (“{other[:_SHOWN]}{'…' if len(other) > _SHOWN else ''}”)")
        for one in proposals
    ]


def waives(masked: str) -> bool:
    """Return whether a sentence says what it lets answers off: "as long as needed", "without a citation"."""
    return any(_SAYS[kind].search(masked) is not None for kind in _WAIVERS if kind not in _ASSERTED)


def _other(one: Proposal, waiving: dict[str, list[_Waiver]], rivals: dict[str, list[Proposal]]) -> str | None:
    """Return the sentence that holds the exception to a check, None if there is none."""
    kinds = [kind for kind, starts in _WAIVERS.items() if one.check.startswith(starts)]
    if is_character_limit(one.check):
        kinds.append("length")
    if _aspect(one.check) == "end" and _QUESTIONED in one.check:
        kinds.append("question")  # 'End with "Anything else?"'
    for sentence, platforms in (waiver for kind in kinds for waiver in waiving.get(kind, ())):
        if sentence not in one.sentences and not _are_apart(one.platforms, platforms):
            return sentence
    for rival in rivals.get(_aspect(one.check), ()):
        is_other = rival.check != one.check and rival.sentences[0] not in one.sentences
        if is_other and _wider(rival.check, one.check) and not _are_apart(one.platforms, rival.platforms):
            return rival.sentences[0]
    return None


def _waiving(placed: list[PlacedSentence]) -> dict[str, list[_Waiver]]:
    """Return the sentences that let something off, each with its platforms, by what it is."""
    waivers: dict[str, list[_Waiver]] = {}
    for one in placed:
        if one.is_heading or explains(mask(one.sentence)):
            continue
        masked = without_no_conditions(mask(one.read))
        for kind in _WAIVERS:
            denied = _SAYS[kind].search(masked)
            if denied is None or (kind in _ASSERTED and negated(masked, denied.start())):
                continue
            if _SAYS["leaves_out"].match(masked[denied.start() :]) is not None and negated(masked, denied.start()):
                continue  # "never leave the disclaimer out"
            if kind != "more" and _SAYS["more_than"].search(masked[denied.start() :]) is not None:
                continue  # a bound
            is_some = one.doubt is not None or condition(masked, "")[1] is not None
            if kind == "lists" and (not is_some or negated(masked, denied.start())):
                continue  # where all answers hold a list, the limit counts it
            if is_some or _SAYS["rest"].search(masked[denied.end() :]) is not None:
                waivers.setdefault(kind, []).append((one.sentence, platforms_in(masked)))
    return waivers


def _are_apart(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    return bool(first and second) and set(first).isdisjoint(second)


def _aspect(check: str) -> str:
    """Return what a check is about that an answer has one of, as its end; "" for none."""
    if check.startswith("pattern.require") and check.endswith(r"\\z')"):
        return "end"
    return next((aspect for start, aspect in _ASPECTS.items() if check.startswith(start)), "")


def _rivals(proposals: list[Proposal]) -> dict[str, list[Proposal]]:
    """Return what only some answers have to keep, by what they are about."""
    rivals: dict[str, list[Proposal]] = {}
    for one in proposals:
        aspect = _aspect(one.check)
        if aspect and one.doubt is not None and one.doubt.startswith(_SOME):
            rivals.setdefault(aspect, []).append(one)
    return rivals


def _wider(rival: str, check: str) -> bool:
    """Return whether an answer may keep a rival and break a check: always, but for bounds only if it lets more pass."""
    name, other = parse_name(check).params, parse_name(rival).params
    if "at_most" not in name and "at_least" not in name:
        return True
    most, least = name.get("at_most"), name.get("at_least")
    more, less = other.get("at_most", other.get("at_least")), other.get("at_least", 0)
    is_longer = most is not None and more is not None and float(more) > float(most)
    return is_longer or (least is not None and float(less) < float(least) and "at_most" in other)
