"""Stand-ins: replies that some questions get in place of an answer, and that keep nothing which only answers can.

A fallback where the sources are silent, a text that is prescribed, a persona that is dropped, a short line for thanks:
none of them cites, starts, ends or is as long as answers are. What such a reply keeps as well stays: limits and bans.
"""

import tomllib
from collections.abc import Collection, Sequence
from pathlib import Path

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.characters import is_character_limit
from turnsignal.stream.prompts.conditions import case_end, names_all
from turnsignal.stream.prompts.fillers import is_filler
from turnsignal.stream.prompts.placeholders import with_holes
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence, names_a_case
from turnsignal.stream.prompts.wording import QUOTED, compile_pattern, mask, negated, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("stand_ins.toml").read_text(encoding="utf-8"))
_WORDS = {name: "".join(line.strip() for line in text.splitlines()) for name, text in _BUILT["words"].items()}
_SAYS = read_patterns(_BUILT["patterns"], **_WORDS)
_OF_ALL = frozenset(_BUILT["of_all"].split())
_THEIRS = frozenset(("the", "their", "user", "user's", "your", "answer", "answers", "reply", "replies"))
_REQUIRED = tuple(_BUILT["required"])  #: starts of the names of checks that only an answer keeps
_OF_PRODUCT = tuple(_BUILT["of_product"])
_FEW = 3  #: words that are too few for a reply that stands by itself, where only "say" tells that they are one
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt


def replaced(proposals: list[Proposal], placed: Sequence[PlacedSentence], exempt: Collection[str]) -> list[Proposal]:
    """Mark as doubtful what a reply in place of an answer would fail; in time linear in the prompt.

    exempt: the sentences whose whole reply is prescribed, which no check is run on.
    """
    others = [one for one in placed if not one.is_heading and one.sentence not in exempt]
    standing = [one.sentence for one in others if _stands_in(one.sentence) or _is_reply_in_a_row(one)]
    refusing = [one.sentence for one in others if _refuses(mask(one.sentence))]
    asking = [one.sentence for one in others if _asks_back(mask(one.sentence))]
    filling = [one.sentence for one in others if _fills(one)]
    if not standing and not refusing and not asking and not filling:
        return proposals
    return [
        one._replace(doubt=f"has an exception (“{other[:_SHOWN]}{'…' if len(other) > _SHOWN else ''}”)")
        if one.doubt is None and (other := _other(one, standing, refusing, asking, filling))
        else one
        for one in proposals
    ]


def _stands_in(sentence: str) -> bool:
    """Return whether a sentence gives some questions another reply than an answer."""
    masked = mask(sentence)
    if _SAYS["still"].search(masked) is not None:
        return False
    return (
        _falls_back(masked)
        or _is_prescribed(sentence, masked)
        or _drops_the_act(masked)
        or _SAYS["two_texts"].search(masked) is not None
        or _SAYS["no_question"].search(masked) is not None
        or _is_brief_for_some(masked)
        or _is_little(sentence, masked)
        or _is_instead(sentence, masked)
        or _is_alone(sentence, masked)
        or (_SAYS["exact_word"].search(masked) is not None and _is_of_some(sentence, masked))
        or (_SAYS["brief_refusal"].search(masked) is not None and _is_of_some(sentence, masked))
    )


def _is_reply_in_a_row(one: PlacedSentence) -> bool:
    """Return whether a cell of a table holds the reply for what its row is about: `Angry | "I hear you."`."""
    is_quote = _SAYS["quote_alone"].fullmatch(mask(one.sentence)) is not None
    return is_quote and _SAYS["row_of_replies"].search(one.doubt or "") is not None


def _falls_back(masked: str) -> bool:
    """Return whether a sentence says what to do where an answer is not to be had: "If the sources are silent, …"."""
    match = _SAYS["falls_back"].search(masked)
    if match is not None:
        return not negated(match["before"], len(match["before"]))
    return _SAYS["falls_back_when"].search(masked) is not None


def _is_prescribed(sentence: str, masked: str) -> bool:
    """Return whether a sentence gives the words of a reply in some case: 'Answer STOP with "You are out."'."""
    match = _SAYS["answers_it"].search(masked) or _SAYS["gets_it"].search(masked)
    what = [] if match is None else match["what"].casefold().split()
    if what and what[0] != "in" and _OF_ALL.isdisjoint(what):
        return True
    match = _SAYS["says_it"].search(masked)
    if match is None or not _is_of_some(sentence, masked) or negated(masked, match.start()):
        return False
    quote = next((one[0] for one in QUOTED.finditer(sentence) if one.end() > match.start()), "")
    is_whole = len(quote.split()) >= _FEW or with_holes(quote.strip('"“”')) is None
    return is_whole and _SAYS["within"].search(masked[match.end() :]) is None


def _is_brief_for_some(masked: str) -> bool:
    """Return whether a sentence gives some questions a word or a line: "Yes/no questions get a one-liner."."""
    match = _SAYS["brief_for"].search(masked)
    if match is None:
        return False
    kinds = (match["what"] or match["which"]).casefold().replace("/", " ").split()[:-1]
    return not (_OF_ALL | _THEIRS).issuperset(kinds)


def _is_little(sentence: str, masked: str) -> bool:
    """Return whether a sentence gives some messages less than an answer: "If they thank you, a smile is enough."."""
    masked = _SAYS["yes_or_no"].sub("yes", masked)
    gets = _SAYS["only_gets"].search(masked)
    if gets is not None and _is_of_some_kind(gets["what"]):
        return True
    at = next((match.start() for key in ("enough", "little") if (match := _SAYS[key].search(masked))), -2)
    begins = case_end(masked)
    return at >= begins - 1 and _is_in_a_case(sentence, masked) and not negated(masked[begins:], max(0, at - begins))


def _is_alone(sentence: str, masked: str) -> bool:
    """Return whether a sentence gives some messages one thing and nothing else, or a reply without additions."""
    matches = (_SAYS[key].search(masked) for key in ("answered_by", "bare"))
    if any(match is not None and (not match["what"] or _is_of_some_kind(match["what"])) for match in matches):
        return True
    return _SAYS["alone"].search(masked) is not None and (
        _is_in_a_case(sentence, masked) or _SAYS["in_a_case"].match(masked) is not None
    )


def _is_instead(sentence: str, masked: str) -> bool:
    """Return whether a sentence has something done in a case in place of an answer, and not a word for another."""
    match = _SAYS["instead"].search(masked)
    if match is None or _SAYS["a_word_instead"].search(masked) is not None:
        return False
    return not match[0].startswith(",") or _is_in_a_case(sentence, masked)


def _is_of_some_kind(what: str) -> bool:
    """Return whether the subject of a sentence is some messages, or people, and not all of them: "Greetings"."""
    words = what.casefold().replace("/", " ").split()
    return _OF_ALL.isdisjoint(words[:1]) and not (_OF_ALL | _THEIRS).issuperset(words) and not names_all(what)


def _is_in_a_case(sentence: str, masked: str) -> bool:
    """Return whether a sentence names a case, at its head or behind what is done in it."""
    return case_end(masked) > 0 or names_a_case(sentence) or _SAYS["case_behind"].search(masked) is not None


def _drops_the_act(masked: str) -> bool:
    match = _SAYS["drops_the_act"].search(masked)
    if match is not None and not negated(masked, match.start()):
        return True
    return _SAYS["keeps_the_act"].search(masked) is not None


def _is_of_some(sentence: str, masked: str) -> bool:
    return _SAYS["case"].search(masked) is not None or names_a_case(sentence)


def _refuses(masked: str) -> bool:
    """Return whether a sentence wants a refusal, which may start and end as answers do."""
    match = _SAYS["refuses"].search(masked)
    return match is not None and not negated(masked, match.start())


def _asks_back(masked: str) -> bool:
    """Return whether a sentence wants a question back, or another text, in place of what the prompt is for."""
    match = _SAYS["asks_back"].search(masked) or _SAYS["another_text"].search(masked)
    return match is not None and not negated(masked, match.start())


def _fills(one: PlacedSentence) -> bool:
    """Return whether a sentence prescribes what stands in an empty part, or in place of an answer: it does not say."""
    quote = next((str(next(filter(None, quote.groups()))) for quote in QUOTED.finditer(one.sentence)), "")
    masked = mask(one.sentence)
    return bool(quote) and _SAYS["case"].search(masked) is not None and is_filler(quote, masked, one.heading)


def _other(
    one: Proposal,
    standing: Sequence[str],
    refusing: Sequence[str],
    asking: Sequence[str],
    filling: Sequence[str],
) -> str:
    """Return the first sentence whose reply may fail a check, "" without one."""
    is_cited = one.check.startswith("citation.required")
    is_required = is_cited or _is_required(one.check)
    if not is_required and not one.check.startswith(_OF_PRODUCT):
        return ""
    is_answered = is_cited or one.check.startswith("length.")  # a refusal greets and signs, and is short
    every = _SAYS["of_every" if is_required else "of_every_form"]
    is_of_every = any(every.search(mask(sentence)) is not None for sentence in one.sentences)
    sentences = [
        *(standing if is_required else ()),
        *(refusing if is_answered else ()),
        *(asking if is_answered or not is_of_every else ()),
        *(filling if is_required and not is_of_every else ()),
    ]
    return next((other for other in sentences if other not in one.sentences and not _keeps(other, one.check)), "")


def _is_required(check: str) -> bool:
    """Return whether a check asks for something to be there: a start, an end, a phrase, so many words."""
    if is_character_limit(check):
        return check.startswith("pattern.require")
    return check.startswith(_REQUIRED) or int(parse_name(check).params.get("at_least", 0)) > 1


def _keeps(sentence: str, check: str) -> bool:
    """Return whether the reply that a sentence gives keeps a check itself: it holds the words, or cites, too."""
    if check.startswith("citation."):
        return _SAYS["cites"].search(mask(sentence)) is not None
    regex = parse_name(check).params.get("regex") if check.startswith("pattern.require") else None
    pattern = None if regex is None else compile_pattern(str(regex))
    quotes = (next(part for part in quote.groups() if part) for quote in QUOTED.finditer(sentence))
    return pattern is not None and any(pattern.search(quote) is not None for quote in quotes)
