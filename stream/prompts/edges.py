"""Edges and floors: what another sentence takes from how every answer starts, ends, or how long it is at least.

"End with a question" does not hold where another sentence puts hashtags on the last line; no least length does where
greetings get a short line; and neither where some answers are one thing only, or ask before anything is written. What
is said of the stories of a prompt for stories does not hold of its answers to other questions.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.characters import is_character_limit
from turnsignal.stream.prompts.conditions import condition, opens, without_clause
from turnsignal.stream.prompts.polarity import denies
from turnsignal.stream.prompts.reading import Exemption, Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence, names_a_case
from turnsignal.stream.prompts.wording import mask, negated, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("edges.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"], SAY=_BUILT["say"], TEXTS=_BUILT["texts"])
#: checks of what answers hold, which one that stops short does not
_ASKS = ("pattern.require", "keywords.existence", "citation.required", "content.")
#: … and what a word in capitals is not
_SHAPED = ("case.lower", "format.json")
_FEW = 3  #: words that are too few for a whole response
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt


def displaced(
    proposals: list[Proposal], placed: Sequence[PlacedSentence], exempt: dict[str, Exemption]
) -> list[Proposal]:
    """Mark as doubtful edges and floors that another sentence takes from some answers, in linear time."""
    prescribed = {one.sentence for one in exempt.values()}  # what is prescribed word for word is exempt as it is
    sentences = [(one.sentence, mask(one.sentence)) for one in placed if not one.is_heading]
    taking = {
        what: [sentence for sentence, masked in sentences if _says(what, masked) and sentence not in prescribed]
        for what in ("last", "first", "only", "asks_first", "short")
    }
    taking["stops"] = [
        one.sentence
        for one in placed
        if not one.is_heading and one.sentence not in prescribed and _stops(one, mask(one.sentence))
    ]
    taking["cut"] = [
        one.sentence
        for one in exempt.values()
        if len(one.text.split()) < _FEW and _SAYS["cut"].search(mask(one.sentence))
    ]
    taking["word"] = [
        one.sentence
        for one in placed
        if not one.is_heading and one.sentence not in prescribed and _is_a_word(one, mask(one.sentence))
    ]
    taking["only"] += [  # "Emergencies: drop everything above and give the number."
        sentence
        for sentence, masked in sentences
        if _SAYS["aside"].search(masked) is not None and sentence not in prescribed and names_a_case(sentence)
    ]
    is_maker = any(_SAYS["maker"].search(masked) is not None for _, masked in sentences)
    taking["other"] = [
        sentence
        for sentence, masked in sentences
        if _SAYS["something_else"].search(masked) is not None
        or (is_maker and _SAYS["other_questions"].search(masked) is not None)
    ]
    return [
        one._replace(doubt=doubt) if one.doubt is None and (doubt := _doubt(one, taking)) is not None else one
        for one in proposals
    ]


def puts(edge: str, masked: str) -> int:
    """Return where a sentence puts something at an edge of the answer, "first" or "last"; -1 if it does not."""
    match = _SAYS[edge].search(masked)
    return -1 if match is None else int(match.start())


def _says(what: str, masked: str) -> bool:
    if _SAYS[what].search(masked) is None:
        return False
    is_of_some = _SAYS["condition"].search(masked) is not None
    return not denies(masked) if what in ("last", "first") else what == "asks_first" or is_of_some


def _stops(one: PlacedSentence, masked: str) -> bool:
    """Return whether a sentence has some answers stop short, or be one thing alone, in a case named there or before."""
    if _SAYS["stops"].search(masked) is None or _SAYS["goes_on"].search(masked) is not None:
        return False
    return one.doubt is not None or _SAYS["condition"].search(masked) is not None or opens(masked)


def _is_a_word(one: PlacedSentence, masked: str) -> bool:
    """Return whether some answers are a word in capitals or a token, in a case named there or before: "… output NONE".

    A token may stand in quotation marks, as code does.
    """
    match = _SAYS["word_alone"].search(one.sentence)
    if match is None or _SAYS["form"].fullmatch(match["word"]) is not None:
        return False
    if negated(without_clause(masked), match.start()):
        return False  # "Never output NONE"
    is_of_some = one.doubt is not None or _SAYS["condition"].search(masked) is not None or opens(masked)
    return is_of_some or names_a_case(one.sentence)


def _doubt(proposal: Proposal, taking: dict[str, list[str]]) -> str | None:
    """Return why a check is doubtful by another sentence, None where no other takes anything from it."""
    check = proposal.check
    at_end, at_start = is_last(check), is_first(check)
    least = parse_name(check).params.get("at_least", 0)
    is_floor = check.startswith(("length.", "format.number_")) and float(least) > (
        1 if check.startswith("length.") else 0
    )
    if is_character_limit(check):
        at_start, is_floor = False, check.startswith("pattern.require")
    for edge in [name for name, is_asked in (("last", at_end), ("first", at_start)) if is_asked]:
        other = _other(taking[edge], proposal)
        if other and condition(mask(other), "")[1] is None:
            return f"something else is put {edge} in “{other[:_SHOWN]}”"
        if other:
            return f"has an exception (“{other[:_SHOWN]}”)"
    letting_off = [
        *(taking["cut"] if at_end else []),
        *(taking["only"] if at_end or at_start or is_floor else []),
        *(taking["stops"] if at_end or at_start or is_floor or check.startswith(_ASKS) else []),
        *(taking["word"] if at_end or at_start or is_floor or check.startswith((*_ASKS, *_SHAPED)) else []),
        *(taking["asks_first"] if at_end or is_floor else []),
        *(taking["short"] if is_floor else []),
        *(taking["other"] if _is_of_one_kind(proposal) else []),
    ]
    other = _other(letting_off, proposal)
    return f"has an exception (“{other[:_SHOWN]}”)" if other else None


def _is_of_one_kind(proposal: Proposal) -> bool:
    """Return whether a check may be of texts of one kind, and not of all answers: of their start, end or length."""
    shapes = ("length.", "format.number_", "punctuation.", *_ASKS, "startend.")
    is_shape = proposal.check.startswith(shapes) or is_character_limit(proposal.check)
    return is_shape and not any(_SAYS["of_answers"].search(mask(one)) is not None for one in proposal.sentences)


def _other(sentences: Sequence[str], proposal: Proposal) -> str:
    """Return the first sentence that does not ask for a check itself, "" without one."""
    return next((sentence for sentence in sentences if sentence not in proposal.sentences), "")


def is_last(check: str) -> bool:
    """Return whether a check, by its name, is of what an answer ends with."""
    return check.startswith("startend.end") or (check.startswith("pattern.require") and r"\z" in check)


def is_first(check: str) -> bool:
    """Return whether a check, by its name, is of what an answer starts with."""
    return check.startswith("startend.start") or (check.startswith("pattern.require") and r"\A" in check)
