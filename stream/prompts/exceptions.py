"""Exceptions: sentences that let some answers off what another sentence of the prompt asks of all.

An exception may stand anywhere: in another section, behind a semicolon, before the rule. It denies or waives what the
check asks for, or it asks for something else in its place where only some answers are meant.
"""

import tomllib
from collections.abc import Collection
from pathlib import Path

from turnsignal.stream.names import Value, parse_name
from turnsignal.stream.prompts.characters import is_character_limit, most_characters
from turnsignal.stream.prompts.conditions import condition, platforms_in, without_clause, without_no_conditions
from turnsignal.stream.prompts.leftover import Span
from turnsignal.stream.prompts.polarity import explains
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence
from turnsignal.stream.prompts.wording import amounts, mask, negated, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("exceptions.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(
    _BUILT["patterns"],
    OBJECT="".join(line.strip() for line in _BUILT["object"].splitlines()),
    **{key.upper(): _BUILT[key] for key in ("lengthy", "longer", "text", "may", "gets", "bound")},
)
_WAIVERS: dict[str, tuple[str, ...]] = {kind: tuple(starts) for kind, starts in _BUILT["waivers"].items()}
_ASPECTS: dict[str, str] = _BUILT["aspects"]
#: kinds of which another thing is asked, and none denied
_ASSERTED = ("again", "json", "talk", "lower", "upper", "language", "room", "recipients")
_ALWAYS = (
    "room",
    "recipients",
    "talk",
    "again",
    "enough",
)  #: kinds that let something off whether or not a case is named
_TALKED = ("json", "talk")  #: kinds of which another shape of answer is asked
_OF_CAPS = ("room", "recipients", "more")  #: kinds that let something off what has an upper bound, and nothing else
#: how the name of a check begins → units of which more than it allows is longer
_UNITS = {
    "length.number_words": ("words",),
    "length.number_sentences": ("sentences", "paragraphs"),
    "length.number_paragraphs": ("paragraphs",),
}
_SOME = ("only under a condition", "may hold of some answers only", "comes after a condition")
_QUESTIONED = r"\\?["  #: in the name of a check: a question mark, and what may stand behind it
_Waiver = tuple[str, tuple[str, ...]]
_UNITS_OF_TEXT = frozenset(unit for units in _UNITS.values() for unit in units) | {"characters"}
#: a unit, how many of it at most, the sentence that names it, and its platforms
_Length = tuple[str, int, str, tuple[str, ...]]
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt


def excepted(proposals: list[Proposal], placed: list[PlacedSentence], exempt: Collection[str]) -> list[Proposal]:
    """Mark as doubtful what another sentence lets some answers off; in time linear in the prompt.

    exempt: the sentences that prescribe a response, which may say in passing what it does without.
    """
    waiving = _waiving([one for one in placed if one.sentence not in exempt])
    lengths = _lengths(placed, {sentence for one in proposals if _is_of_others(one) for sentence in one.sentences})
    rivals = _rivals(proposals)
    return [
        one
        if one.doubt is not None or (other := _other(one, waiving, rivals, lengths)) is None
        else one._replace(doubt=f"has an exception (“{other[:_SHOWN]}{'…' if len(other) > _SHOWN else ''}”)")
        for one in proposals
    ]


def waives(masked: str) -> bool:
    """Return whether a sentence says what it lets answers off: "as long as needed", "without a citation"."""
    return any(_SAYS[kind].search(masked) is not None for kind in _WAIVERS if kind not in _ASSERTED)


def _other(
    one: Proposal, waiving: dict[str, list[_Waiver]], rivals: dict[str, list[Proposal]], lengths: list[_Length]
) -> str | None:
    """Return the sentence that holds the exception to a check, None if there is none."""
    kinds = [kind for kind, starts in _WAIVERS.items() if one.check.startswith(starts)]
    kinds = [kind for kind in kinds if kind not in _OF_CAPS or _has_most(one.check)]
    if is_character_limit(one.check):
        kinds += ["length", *(_OF_CAPS if _has_most(one.check) else ())]
    if _aspect(one.check) == "end" and _QUESTIONED in one.check:
        kinds.append("question")  # 'End with "Anything else?"'
    for sentence, platforms in (waiver for kind in kinds for waiver in waiving.get(kind, ())):
        if sentence not in one.sentences and not _are_apart(one.platforms, platforms):
            return sentence
    longer = _longer(one, lengths)
    if longer is not None:
        return longer
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
        read = without_no_conditions(mask(one.read))
        whole = without_no_conditions(mask(one.sentence))  # "as much room as they need" gives no reason
        for kind in _WAIVERS:
            masked = whole if kind == "room" else read
            match = _SAYS[kind].search(masked)
            if match is not None and _lets_off(kind, one, masked, match.span()):
                waivers.setdefault(kind, []).append((one.sentence, platforms_in(masked)))
        if _SAYS["breaks"].search(mask(one.sentence)) is not None:
            waivers.setdefault("room", []).append((one.sentence, platforms_in(whole)))
    return waivers


def _lets_off(kind: str, one: PlacedSentence, masked: str, span: Span) -> bool:
    """Return whether a sentence lets some answers off what a kind of waiver names at [start, end)."""
    start, end = span
    is_denied = negated(masked, start)
    if kind in _ASSERTED and negated(without_clause(masked), start):  # "If you cannot help, say so in plain English."
        return False
    if kind in _OF_CAPS and _is_given(masked):
        return False  # "Users may write up to 300 words"
    if kind in _TALKED and _SAYS["of_a_value"].search(masked) is not None:
        return False  # "Write the summary field in one sentence"
    if kind in _ALWAYS:
        return True
    if kind == "quoted":
        return not is_denied
    if _SAYS["leaves_out"].match(masked[start:]) is not None and is_denied:
        return False  # "never leave the disclaimer out"
    if kind != "more" and _SAYS["more_than"].search(masked[start:]) is not None:
        return False  # a bound
    is_some = one.doubt is not None or condition(masked, "")[1] is not None
    if kind == "lists" and (not is_some or is_denied):
        return False  # where all answers hold a list, the limit counts it
    return is_some or _SAYS["rest"].search(masked[end:]) is not None


def _has_most(check: str) -> bool:
    """Return whether a check has an upper bound."""
    return check.startswith("pattern.forbid") or "at_most" in parse_name(check).params


def _is_given(masked: str) -> bool:
    """Return whether a sentence is about what the assistant is given: "Users may write up to 300 words"."""
    return _SAYS["given"].search(_SAYS["in_a_case"].sub("", without_clause(masked))) is not None


def _is_of_others(one: Proposal) -> bool:
    """Return whether a check may be of what others write: the answers to a quiz, those of a rival."""
    return (one.doubt or "").startswith(("may be about other answers", "may say what others"))


def _lengths(placed: list[PlacedSentence], others: Collection[str]) -> list[_Length]:
    """Return the lengths that sentences name for what the assistant writes; of what it is given, none.

    others: the sentences that may be about what others write.
    """
    lengths: list[_Length] = []
    for one in placed:
        masked = mask(one.sentence)
        bare = None if one.is_heading else _SAYS["bare"].search(masked)
        if bare is not None and not negated(masked, bare.start()):
            platforms = condition(masked, one.heading)[0]
            lengths += [(unit, int(bare["n"]), one.sentence, platforms) for unit in ("words", "characters")]
        named = [] if one.is_heading else [each for each in amounts(masked) if each.unit in _UNITS_OF_TEXT]
        is_given = bool(named) and (_is_given(masked) or _SAYS["beforehand"].search(one.heading) is not None)
        if not named or is_given or one.sentence in others or explains(masked):
            continue
        for each in named:
            if not (each.exact and negated(masked, each.start)):  # "do not write 300 words"
                longest = max(each.low or 0, each.high or 0)
                lengths.append((each.unit, longest, one.sentence, condition(masked, one.heading)[0]))
    return lengths


def _longer(one: Proposal, lengths: list[_Length]) -> str | None:
    """Return the sentence that names a greater length than a check allows: "Tutorials: 200-400 words"; else None."""
    most: Value | None = most_characters(one.check)
    units = next((units for start, units in _UNITS.items() if one.check.startswith(start)), ())
    if most is not None:
        units = ("characters",)
    elif units:
        most = parse_name(one.check).params.get("at_most")
    if most is None:
        return None
    longer = (
        sentence
        for unit, longest, sentence, platforms in lengths
        if unit in units and longest > float(most)
        if sentence not in one.sentences and not _are_apart(one.platforms, platforms)
    )
    return next(longer, None)


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
