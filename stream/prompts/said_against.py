"""Said against: words that answers are to start with, end with or hold, which another rule of the prompt forbids.

'Write in lowercase only' and 'End with "Team Lumo"': nobody can tell which gives way, so a person decides.
What is asked for is put to the other checks as an answer of its own, so no rule for each pair is needed.
"""

from collections.abc import Sequence

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import Check, Result
from turnsignal.stream.citations.reader import citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence
from turnsignal.stream.prompts.shown import said_in
from turnsignal.stream.prompts.wording import compile_pattern, mask

_SAYS_IT = ("startend.end_checker", "pattern.require", "keywords.existence")
#: what a part of an answer breaks if the whole may not hold it
_FORBIDS = (
    "pattern.forbid",
    "keywords.forbidden_words",
    "case.",
    "punctuation.",
    "length.",
    "keywords.letter_frequency",
)
_READ = citation_reader()  # no check here looks at citations
_MOST = 50  #: checks on either side
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt
_VARIABLE = ("{", "}", "[", "]", "<", "$", "%")  #: signs of what a program fills in
#: values that a sentence shows: a code in capitals, a number with commas
_VALUES = {
    "case.lower": compile_pattern(r"(?-i:\b[A-Z]{2,}[-_]?\d+\b)"),
    "punctuation.no_comma": compile_pattern(r"\b\d{1,3}(?:,\d{3})+\b"),
}


def said_against(proposals: list[Proposal], placed: Sequence[PlacedSentence]) -> list[Proposal]:
    """Mark as doubtful what is to be said and what forbids it; in time linear in the prompt."""
    sure = [index for index, one in enumerate(proposals) if one.doubt is None]
    saying = [index for index in sure if proposals[index].check.startswith(_SAYS_IT)][:_MOST]
    forbidding = [index for index in sure if _forbids(proposals[index].check)][:_MOST]
    for index in forbidding:
        own = proposals[index]
        check = _parsed(own.check)
        if check is None:
            continue
        for other in saying:
            wanted = (sentence for sentence in proposals[other].sentences if sentence not in own.sentences)
            against = next((each for each in wanted if any(_breaks(check, words) for words in said_in(each))), None)
            if against is not None:
                proposals[index] = own._replace(doubt=f"contradicts “{against[:_SHOWN]}”")
                proposals[other] = proposals[other]._replace(doubt=f"contradicts “{own.sentences[0][:_SHOWN]}”")
        value = _VALUES.get(own.check)
        if value is not None and proposals[index].doubt is None:
            others = (one.sentence for one in placed if one.sentence not in own.sentences)
            shown = next((sentence for sentence in others if value.search(mask(sentence)) is not None), None)
            if shown is not None:
                proposals[index] = own._replace(doubt=f"another sentence shows what it forbids (“{shown[:_SHOWN]}”)")
    return proposals


def _forbids(check: str) -> bool:
    params = parse_name(check).params
    return check.startswith(_FORBIDS) and "at_least" not in params and not check.startswith("case.capital")


def _parsed(name: str) -> Check | None:
    """Return a check, None for one with bounds that are impossible, which is proposed to nobody."""
    try:
        return parse_check(name)
    except ConfigError:
        return None


def _breaks(check: Check, words: str) -> bool:
    if any(sign in words for sign in _VARIABLE):
        return False
    return check.check(Response(words, (), _READ)).result is Result.FAIL
