"""Conflicts: what the sentences of a prompt say against each other.

Two sentences may ask for the same check, one of them under a condition; for checks that no response could pass
together; or for words that a third forbids. All of that is for a person to decide.
"""

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, NamedTuple

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.conditions import condition, names_all, tells_of_a_text, without_no_conditions
from turnsignal.stream.prompts.edges import displaced
from turnsignal.stream.prompts.frames import framed
from turnsignal.stream.prompts.instructions import LANGUAGES, SAYS
from turnsignal.stream.prompts.literals import literal
from turnsignal.stream.prompts.parts import is_of_whole
from turnsignal.stream.prompts.polarity import denies, keeps_another_tongue, names_users_language
from turnsignal.stream.prompts.proposals import (
    ADDRESS,
    CAPITALS,
    EMOJIS,
    HASHTAGS,
    HTML,
    KIN,
    MARKDOWN,
    NAMED_THINGS,
    SINGLE,
    own_marker,
)
from turnsignal.stream.prompts.reading import Exemption, Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence
from turnsignal.stream.prompts.shown import holds_value, said_in, shown_in
from turnsignal.stream.prompts.wording import QUOTED, compile_pattern, mask, negated

_LISTED = 20  #: sentences that ask for one check
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt
_CONDITIONAL = ("only under a condition", "has an exception")
#: doubts of sentences that may ask for no such check, or for its opposite
_OTHERWISE = ("may be of what is quoted", "may forbid one way", "may mean the opposite")
_HELD = ("says more than its check", "may concern a part", "stands under")  #: doubts of what some answers have to keep
_OF_COUNTS = ("at_least", "at_most", "skip_markers")  #: parameters that say nothing of what is counted
_SAYS_IT = ("startend.", "pattern.require", "keywords.existence", "format.constrained_response")
_OF_USERS = compile_pattern(
    r"^\W*(?:the |your |our |all )?(?:users?|customers?|guests?|visitors?|students?|people|reviews?|posts)\b(?:['’]s?)?"
)


def merge(first: Proposal | None, second: Proposal) -> Proposal:
    """Merge two proposals of the same check: one that holds everywhere wins, unless the other names an exception."""
    if first is None:
        return second
    sentences = first.sentences if second.sentences[0] in first.sentences else first.sentences + second.sentences
    sentences = sentences[:_LISTED]
    doubts = [one.doubt for one in (first, second) if one.doubt is not None]
    excepted = next((doubt for doubt in doubts if doubt.startswith(_CONDITIONAL)), None)
    if len(doubts) == 1:
        sure = second if first.doubt is not None else first
        if doubts[0].startswith(_OTHERWISE):
            return sure
        return sure._replace(sentences=sentences, doubt=excepted)
    both = first.platforms and second.platforms
    platforms = tuple(dict.fromkeys(first.platforms + second.platforms)) if both else ()
    return Proposal(first.check, sentences, platforms, first.doubt)


def held_by_another(first: Proposal | None, second: Proposal) -> list[str]:
    """Return the sentences whose doubts are lost when two proposals of the same check are merged, with these doubts."""
    if first is None or (first.doubt is None) == (second.doubt is None):
        return []
    doubted, sure = (second, first) if first.doubt is None else (first, second)
    return [
        f"{sentence} (by itself its check is doubtful: {doubted.doubt})"
        for sentence in doubted.sentences
        if sentence not in sure.sentences
    ]


def settle(
    proposals: list[Proposal], placed: list[PlacedSentence], exempt: dict[str, Exemption], *, is_one_text: bool
) -> list[Proposal]:
    """Mark as doubtful what another sentence of the prompt contradicts; in time linear in the prompt.

    is_one_text: whether the prompt orders one text, whose source may be quoted in it.
    """
    proposals = _not_said(_in_own_form(proposals, placed), placed)
    proposals = _in_tags(_in_json(_of_users(_apart(proposals), placed)), placed)
    proposals = _in_own_markup(displaced(proposals, placed, exempt), placed)
    if is_one_text:
        return proposals
    proposals = framed(_of_other_texts(proposals, placed), placed)
    forbidding = [index for index, one in enumerate(proposals) if one.doubt is None and _forbids(one.check)]
    if not forbidding:
        return proposals
    own = {sentence for index in forbidding for sentence in proposals[index].sentences}
    own |= {one.sentence for one in exempt.values()}
    others = [one for one in placed if not one.is_heading and one.sentence not in own]
    quotes = _Passages((piece, one.sentence) for one in others for piece in shown_in(one.sentence))
    whole = _Passages((one.sentence, one.sentence) for one in others)
    asserted = [
        (SAYS["called_lists"].sub("¦", masked), one.sentence)
        for one in others
        for masked in _clauses(mask(one.sentence))
        if not denies(masked) and _OF_USERS.search(masked) is None
    ]
    asserting = _Passages(asserted)
    permitting = _Passages(one for one in asserted if SAYS["lets_say"].search(one[0]) is not None)
    for index in forbidding:
        other = _against(proposals[index].check, quotes, whole, asserting, permitting)
        other = other or _in_itself(proposals[index]) or _in_capitals(proposals[index], others)
        if other:
            _doubt(proposals, index, other)
    return proposals


def _clauses(masked: str) -> list[str]:
    """Return a sentence, and what a reason at its head leads to: "People love a joke, so one emoji is fine."."""
    leads = SAYS["hence"].search(masked)
    return [masked] if leads is None else [masked, str(leads["then"])]


class _Passages:
    """Pieces of a prompt as one text, one a line, so that each pattern runs once; with the sentences they are from."""

    def __init__(self, pieces: Iterable[tuple[str, str]]) -> None:
        self.lines: list[str] = []
        self.starts: list[int] = []
        self.sentences: list[str] = []
        at = 0
        for piece, sentence in pieces:
            self.lines.append(piece.replace("\n", " "))
            self.starts.append(at)
            self.sentences.append(sentence)
            at += len(self.lines[-1]) + 1
        self.text = "\n".join(self.lines)

    def sentence_at(self, offset: int) -> str:
        """Return the sentence that an offset of the text is from."""
        return self.sentences[max(0, bisect_right(self.starts, offset) - 1)]

    def first_match(self, pattern: Any) -> str:
        """Return the first sentence in which a pattern matches; "" if it matches in none."""
        match = pattern.search(self.text)
        return "" if match is None or not self.sentences else self.sentence_at(match.start())


class _Against(NamedTuple):
    sentence: str
    is_quote: bool


def _forbids(check: str) -> bool:
    return check.startswith(("keywords.forbidden_words", "pattern.forbid"))


def _against(
    check: str, quotes: _Passages, whole: _Passages, asserting: _Passages, permitting: _Passages
) -> _Against | None:
    """Return the sentence that says, asks for or permits what a check forbids; None if none does."""
    params = parse_name(check).params
    if check.startswith("keywords."):
        words = [word.casefold() for word in str(params["words"]).split("|")]
        quoting = next((one for word in words if (one := quotes.first_match(_as_words(word)))), "")
        if quoting:
            return _Against(quoting, True)
        letting = next((one for word in words if (one := permitting.first_match(_as_words(word)))), "")
        return _Against(letting, False) if letting else None
    regex = str(params["regex"])
    thing = NAMED_THINGS.get(regex)
    if thing is None and regex != ADDRESS:
        is_of_words = regex.startswith((r"\b(?:", "(?i)(?:"))  # see banned.py
        quoting = quotes.first_match(compile_pattern(f"(?-i:{regex})")) if is_of_words else ""
        return _Against(quoting, True) if quoting else None
    texts = whole if regex in (ADDRESS, EMOJIS, HASHTAGS, HTML) else quotes
    sentence = texts.first_match(compile_pattern(regex) if regex == ADDRESS else _compiled(regex))
    sentence = sentence or ("" if thing is None else asserting.first_match(thing))
    sentence = sentence or (asserting.first_match(KIN[regex]) if regex in KIN else "")
    return _Against(sentence, False) if sentence else None


def _in_itself(proposal: Proposal) -> _Against | None:
    """Return the check's own sentence if it wants said what it forbids: 'Greet with "Hello!", no exclamation marks'."""
    regex = str(parse_name(proposal.check).params.get("regex", ""))
    if regex not in NAMED_THINGS:
        return None
    pattern = _compiled(regex)
    asking = (one for one in proposal.sentences if any(pattern.search(piece) is not None for piece in said_in(one)))
    sentence = next(asking, None)
    return None if sentence is None else _Against(sentence, True)


def _in_capitals(proposal: Proposal, others: list[PlacedSentence]) -> _Against | None:
    """Return the sentence that shows values in capitals, where a check forbids words in capitals."""
    if str(parse_name(proposal.check).params.get("regex", "")) != CAPITALS:
        return None
    pattern = _compiled(CAPITALS)
    holding = (one.sentence for one in others if holds_value(pattern, one.sentence))
    sentence = next(holding, None)
    return None if sentence is None else _Against(sentence, True)


def _as_words(words: str) -> Any:
    """Return a pattern for words that are no parts of others: "he" is not in "the"."""
    return compile_pattern(rf"(?:^|[^\pL\pN]){literal(words)}(?:$|[^\pL\pN])")


def _compiled(regex: str) -> Any:
    """Return the pattern of what a check forbids; where it takes several, of a single one."""
    regex = SINGLE.get(regex, regex)
    return compile_pattern(f"(?-i:{regex})" if not regex.startswith("(?") else regex)


def _doubt(proposals: list[Proposal], index: int, other: _Against) -> None:
    shown = other.sentence[:_SHOWN]
    forbidding = proposals[index]
    shows = "the sentence itself" if other.sentence in forbidding.sentences else "another sentence"
    why = f'{shows} quotes it ("{shown}")' if other.is_quote else f"contradicts “{shown}”"
    proposals[index] = forbidding._replace(doubt=why)
    for number, one in enumerate(proposals):
        if one.doubt is None and one.check.startswith(_SAYS_IT) and other.sentence in one.sentences:
            proposals[number] = one._replace(doubt=f"contradicts “{forbidding.sentences[0][:_SHOWN]}”")


def _of_users(proposals: list[Proposal], placed: list[PlacedSentence]) -> list[Proposal]:
    """Mark a language as doubtful where a sentence asks for the language of the user."""
    if not any(one.doubt is None and one.check.startswith("language.") for one in proposals):
        return proposals
    other = next((one for one in placed if names_users_language(without_no_conditions(mask(one.sentence)))), None)
    kept = [one.sentence for one in placed if not one.is_heading and keeps_another_tongue(mask(one.sentence))]
    answered, made = _named_in(placed, "answered_in"), _named_in(placed, "made_in")
    for at, one in enumerate(proposals):
        if one.doubt is not None or not one.check.startswith("language."):
            continue
        codes = (sentence for code, sentence in answered.items() if f"code={code})" not in one.check)
        against = other.sentence if other is not None else next(codes, None)
        makes = (sentence for code, sentence in made.items() if f"code={code})" not in one.check)
        others = (sentence for sentence in kept if sentence not in one.sentences)
        if against is None and (beside := next(makes, None) or next(others, None)) is not None:
            proposals[at] = one._replace(doubt=f"another language is used in “{beside[:_SHOWN]}”")
        if against is not None:
            is_some = other is None and condition(mask(against), "")[1] is not None
            what = "has an exception (“{}”)" if is_some else "contradicts “{}”"
            proposals[at] = one._replace(doubt=what.format(against[:_SHOWN]))
    return proposals


def _named_in(placed: list[PlacedSentence], wording: str) -> dict[str, str]:
    """Return the codes of the languages that sentences want something in, each with the first such sentence."""
    named: dict[str, str] = {}
    for one in placed:
        masked = mask(one.sentence)
        if one.is_heading or denies(masked) or (condition(masked, "")[1] or "").startswith("may say what others"):
            continue
        for match in SAYS[wording].finditer(masked):
            language = next(filter(None, match.groups()))
            named.setdefault(LANGUAGES[language.casefold()], one.sentence)
    return named


def _in_json(proposals: list[Proposal]) -> list[Proposal]:
    """Mark as doubtful what an answer in JSON starts and ends with, and its length: that is of a value in it."""
    json = next((one for one in proposals if one.doubt is None and one.check == "format.json"), None)
    if json is None:
        return proposals
    why = f"may be about a part of the JSON (“{json.sentences[0][:_SHOWN]}”)"
    return [one._replace(doubt=why) if one.doubt is None and _is_of_text(one.check) else one for one in proposals]


def _not_said(proposals: list[Proposal], placed: list[PlacedSentence]) -> list[Proposal]:
    """Mark as doubtful that answers say what another sentence wants left out: 'Never end complaints with "Bye"'."""
    left_out: dict[str, str] = {}
    for one in placed:
        masked = mask(one.read)
        for quote in QUOTED.finditer(one.read):
            if negated(masked, quote.start()):
                left_out.setdefault(quote[0].strip().casefold(), one.sentence)
    for at, saying in enumerate(proposals):
        if saying.doubt is None and saying.check.startswith(("startend.", "pattern.require", "keywords.existence")):
            quotes = (quote[0].strip().casefold() for own in saying.sentences for quote in QUOTED.finditer(own))
            other = next((left_out[quote] for quote in quotes if quote in left_out), None)
            if other is not None and other not in saying.sentences:
                proposals[at] = saying._replace(doubt=f"has an exception (“{other[:_SHOWN]}”)")
    return proposals


def _in_own_form(proposals: list[Proposal], placed: list[PlacedSentence]) -> list[Proposal]:
    """Mark as doubtful that answers cite where the prompt shows a marker that is not read as a citation."""
    shown = next((marker for one in placed if not one.is_heading and (marker := own_marker(one.sentence))), "")
    if not shown:
        return proposals
    why = f"may cite in a form of its own ({shown})"
    return [
        one._replace(doubt=why) if one.doubt is None and one.check.startswith("citation.") else one for one in proposals
    ]


def _in_own_markup(proposals: list[Proposal], placed: list[PlacedSentence]) -> list[Proposal]:
    """Mark a ban of Markdown as doubtful where answers use a markup that shares its signs, as Slack's or WhatsApp's."""
    other = next((one.sentence for one in placed if SAYS["own_markup"].search(mask(one.sentence)) is not None), None)
    if other is None:
        return proposals
    why = f"another markup shares signs with it (“{other[:_SHOWN]}”)"
    return [
        one._replace(doubt=why) if one.doubt is None and parse_name(one.check).params.get("regex") == MARKDOWN else one
        for one in proposals
    ]


def _in_tags(proposals: list[Proposal], placed: list[PlacedSentence]) -> list[Proposal]:
    """Mark as doubtful what an answer that is put in a tag starts and ends with, and its length: there may be more."""
    tagged = next((one for one in placed if SAYS["put_in_tags"].search(one.sentence) is not None), None)
    if tagged is None:
        return proposals
    hides = SAYS["thinks"].search(tagged.sentence) is not None  # bans may be of what is shown only
    why = f"may be about what stands in a tag (“{tagged.sentence[:_SHOWN]}”)"
    return [
        one._replace(doubt=why)
        if one.doubt is None and (_is_of_text(one.check) or _is_of_shown(one.check, hides=hides))
        else one
        for one in proposals
    ]


def _is_of_shown(check: str, *, hides: bool) -> bool:
    """Return whether a check may be of what is shown alone: thoughts hold lists and words, and hardly an emoji."""
    if not _forbids(check):
        return check.startswith("keywords.")
    return hides and parse_name(check).params.get("regex") != EMOJIS


def _of_other_texts(proposals: list[Proposal], placed: list[PlacedSentence]) -> list[Proposal]:
    """Mark as doubtful how something starts and ends where a sentence beside it tells how a text of its own is made."""
    rules = [one for one in placed if not one.is_heading]
    telling = {one.heading: one.sentence for one in rules if tells_of_a_text(mask(one.sentence))}
    if not telling:
        return proposals
    own = {one.sentence: one.heading for one in placed}
    for at, one in enumerate(proposals):
        if one.doubt is None and one.check.startswith(("startend.end", "pattern.require")):
            beside = next((telling[own[each]] for each in one.sentences if own.get(each) in telling), None)
            if beside is not None and not any(names_all(mask(each)) for each in one.sentences):
                proposals[at] = one._replace(doubt=f"may be about something else (“{beside[:_SHOWN]}”)")
    return proposals


def _is_of_text(check: str) -> bool:
    edges = (check.startswith("pattern.") and check.endswith((r"\z')", r"\s*\z')"))) or r"\A" in check
    return edges or check.startswith(("startend.", "length.", "format.number_bullet"))


def _apart(proposals: list[Proposal]) -> list[Proposal]:
    """Mark as doubtful the proposals that no response could satisfy together on one platform."""
    groups: dict[str, list[int]] = {}
    parsed = [parse_name(proposal.check) for proposal in proposals]
    for index, name in enumerate(parsed):
        others = {key: value for key, value in name.params.items() if key not in _OF_COUNTS}
        if "at_least" in name.params or "at_most" in name.params:
            groups.setdefault(f"{name.family} {others}", []).append(index)
        elif name.family.startswith(("case.upper", "case.lower", "language.is")):
            groups.setdefault(name.family.partition(".")[0], []).append(index)
    for group in groups.values():
        _mark_group(proposals, [parsed[index].params for index in group], group)
    return proposals


def _mark_group(proposals: list[Proposal], params: list[dict[str, Any]], group: list[int]) -> None:
    doubtful = {index for index in group if proposals[index].doubt is not None}
    for number, index in enumerate(group[:50]):
        for other_number, other in enumerate(group[:50]):
            proposal, rival = proposals[index], proposals[other]
            apart = proposal.platforms and rival.platforms and not set(proposal.platforms) & set(rival.platforms)
            if index == other or apart or proposal.doubt is not None:
                continue
            is_part = other in doubtful
            if is_part and not ((rival.doubt or "").startswith(_HELD) and "forbids it" not in (rival.doubt or "")):
                continue
            low, high = params[number].get("at_least", 0), params[other_number].get("at_most")
            low_2, high_2 = params[other_number].get("at_least", 0), params[number].get("at_most")
            high = None if is_part else high  # a part may be shorter than the whole, and not longer
            unbounded = "at_least" not in params[number] and "at_most" not in params[number]
            unbounded = unbounded and not is_part
            if (high is not None and low > high) or (high_2 is not None and low_2 > high_2) or unbounded:
                proposals[index] = proposal._replace(doubt=f"contradicts {rival.check}")
            elif not is_part and _may_be_of_a_part(proposal, params[number], rival, params[other_number]):
                proposals[index] = proposal._replace(doubt=f"another limit stands in “{rival.sentences[0][:_SHOWN]}”")


def _may_be_of_a_part(proposal: Proposal, own: dict[str, Any], rival: Proposal, other: dict[str, Any]) -> bool:
    """Return whether one of two limits of one kind is of something else, and it may be the first.

    The looser one holds whatever the other is about, if it says that it is of the answer.
    """
    keys = [key for key in ("at_least", "at_most") if key in own and key in other and own[key] != other[key]]
    if not keys or proposal.platforms != rival.platforms:
        return False
    is_looser = all((own[key] > other[key]) == (key == "at_most") for key in keys)
    return not is_looser or not any(is_of_whole(mask(sentence)) for sentence in proposal.sentences)
