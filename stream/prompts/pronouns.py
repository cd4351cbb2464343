"""Pronouns: exceptions that do not repeat what they are to, as "Goodbyes go without it" or "Product names keep it".

What they lift is the nearest rule before them that they can be to: one that asks for something goes "without it", one
that forbids something "keeps it". It need not be the sentence right before, but what is far is not meant by "it".
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.characters import is_character_limit
from turnsignal.stream.prompts.conditions import without_no_conditions
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence
from turnsignal.stream.prompts.wording import mask, negated, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("pronouns.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"], SUBJECT=_BUILT["subject"], IT=_BUILT["it"])
_LIFTS: dict[str, tuple[str, ...]] = {kind: tuple(starts) for kind, starts in _BUILT["lifts"].items()}
_NO_SUBJECTS = frozenset(_BUILT["no_subjects"].split())
_BOUNDS = {"more": "at_most", "fewer": "at_least"}  #: kind → the bound that it lifts
_NEAR = 3  #: sentences back that a pronoun may reach
_SHOWN = 80  #: characters of the exception in the reason for a doubt


def taken_back(proposals: list[Proposal], placed: Sequence[PlacedSentence]) -> list[Proposal]:
    """Mark as doubtful what a sentence behind it takes back for some answers; in time linear in the prompt."""
    asking: dict[str, list[int]] = {}
    for at, proposal in enumerate(proposals):
        for sentence in proposal.sentences:
            asking.setdefault(sentence, []).append(at)
    for at, one in enumerate(placed):
        kind = "" if one.is_heading else _kind(one)
        for earlier in reversed(placed[max(0, at - _NEAR) : at] if kind else ()):
            meant = [index for index in asking.get(earlier.sentence, ()) if _is_lifted(kind, proposals[index].check)]
            for index in meant:
                proposal = proposals[index]
                shown = one.sentence[:_SHOWN] + ("…" if len(one.sentence) > _SHOWN else "")
                proposals[index] = proposal._replace(doubt=proposal.doubt or f"has an exception (“{shown}”)")
            if meant:
                break
    return proposals


def _kind(one: PlacedSentence) -> str:
    """Return what an exception lets some answers do, a key of `lifts`; "" for a sentence that is none."""
    masked = without_no_conditions(mask(one.read))
    for kind in _LIFTS:
        match = _SAYS[kind].search(masked)
        if match is None or negated(masked, match.start()):
            continue
        subject = next(filter(None, match.groups()), "")
        if _NO_SUBJECTS.isdisjoint(subject.casefold().replace(",", " ").split()):
            return kind
    return ""


def _is_lifted(kind: str, check: str) -> bool:
    if kind in _BOUNDS:
        return _BOUNDS[kind] in parse_name(check).params or (kind == "more" and is_character_limit(check))
    return check.startswith(_LIFTS[kind])
