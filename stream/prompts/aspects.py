"""Aspects: what a rule is about, and the sentences that let some answers off it by words of the same aspect.

A let-off needs two things, wherever it stands: a case, a time, a kind of answer or a permission; and words of what the
rule is about, as its length, how it starts or ends, what must not be named, the sign or the shape that is asked for.
What only points back ("With children it's okay.") is of the rule right before.
"""

import tomllib
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from turnsignal.stream.names import Name, parse_name
from turnsignal.stream.prompts.characters import is_character_limit
from turnsignal.stream.prompts.conditions import condition, opens, platforms_in, without_clause
from turnsignal.stream.prompts.edges import is_first, is_last
from turnsignal.stream.prompts.literals import literal
from turnsignal.stream.prompts.paragraphs import counts_paragraphs
from turnsignal.stream.prompts.proposals import NAMED_THINGS
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence, names_a_case
from turnsignal.stream.prompts.wording import QUOTED, compile_pattern, mask, negated, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("aspects.toml").read_text(encoding="utf-8"))
_WORDS = {name: "".join(line.strip() for line in text.splitlines()) for name, text in _BUILT["words"].items()}
_SAYS = read_patterns(_BUILT["patterns"], **_WORDS)
_OF_ALL = frozenset(_BUILT["of_all"].split())
_SHAPES = ("format.json", "format.multiple_sections")
_BANS = ("pattern.forbid", "keywords.forbidden_words", "case.", "punctuation.no_comma")
_OF_WORDS = ("pattern.forbid", "keywords.forbidden_words")
_WANTS = ("pattern.require", "startend.", "keywords.existence")
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt


class _Other(NamedTuple):
    """A sentence that may let some answers off.

    main: without the case at its head, masked; is_some: whether it is of some answers; before: the sentence before it.
    """

    sentence: str
    masked: str
    main: str
    is_some: bool
    before: str
    platforms: tuple[str, ...]


_Reads = Callable[[_Other], object]  #: what reads a sentence: whether it lets answers off in some way


def relaxed(proposals: list[Proposal], placed: Sequence[PlacedSentence], exempt: Collection[str]) -> list[Proposal]:
    """Mark as doubtful what another sentence lets some answers off by words of its aspect.

    exempt: the sentences whose whole reply is prescribed, which no check is run on. In time linear in the prompt, each
    sentence being read once for each aspect; words that are banned are looked for in all.
    """
    if all(one.doubt is not None for one in proposals):
        return proposals
    others = list(_others(placed, exempt))
    letting: dict[_Reads, list[_Other]] = {}
    return [
        one._replace(doubt=f"has an exception (“{other[:_SHOWN]}{'…' if len(other) > _SHOWN else ''}”)")
        if one.doubt is None and (other := _letting_off(one, others, letting))
        else one
        for one in proposals
    ]


def is_users_choice(masked: str) -> bool:
    """Return whether a sentence lets users have something other than what the rules say: "Users may ask for more."."""
    return _SAYS["users_may"].search(masked) is not None


def _others(placed: Sequence[PlacedSentence], exempt: Collection[str]) -> Iterator[_Other]:
    before = ""
    for one in placed:
        masked = mask(one.sentence)
        if not one.is_heading and one.sentence not in exempt:
            is_some = one.doubt is not None or condition(masked, "")[1] is not None or opens(masked)
            is_some = is_some or names_a_case(one.sentence) or _SAYS["some"].search(masked) is not None
            is_some = is_some or _is_of_a_kind(masked)
            yield _Other(one.sentence, masked, _without_case(masked), is_some, before, platforms_in(masked))
        before = before if one.is_heading else one.sentence


def _without_case(masked: str) -> str:
    """Blank the case at a sentence's head, with or without a comma behind it."""
    match = _SAYS["case_denies"].match(masked)
    if match is None or _SAYS["of_the_verb"].fullmatch(match["case"].split()[-1]) is not None:
        return without_clause(masked)
    end = int(match.end(match.re.groupindex["case"]))
    return "¦" * end + masked[end:]


def _is_of_a_kind(masked: str) -> bool:
    """Return whether a sentence is about a kind of answers or people, and not about all: "Recipes are …"."""
    matches = (_SAYS[key].search(masked) for key in ("subject", "object"))
    return any(match is not None and not _OF_ALL.issuperset(match["what"].casefold().split()) for match in matches)


def _letting_off(one: Proposal, others: Sequence[_Other], letting: dict[_Reads, list[_Other]]) -> str:
    """Return the first sentence that lets some answers off a check, "" without one.

    letting: for each way of it, the sentences that do so of some check; filled as they are asked for.
    """
    own = set(one.sentences)
    for reads, is_of_it in _ways(one):
        if reads not in letting:
            letting[reads] = [other for other in others if reads(other)]
        for other in letting[reads]:
            is_apart = one.platforms and other.platforms and set(one.platforms).isdisjoint(other.platforms)
            if other.sentence not in own and not is_apart and (is_of_it is None or is_of_it(other)):
                return other.sentence
    return ""


def _ways(one: Proposal) -> Iterator[tuple[_Reads, _Reads | None]]:
    """Yield what tells whether a sentence lets answers off a check: whether it does of any, and whether of this one."""
    name, check = parse_name(one.check), one.check
    regex = str(name.params.get("regex", ""))
    thing = NAMED_THINGS.get(regex) if name.family == "pattern.forbid" else None
    is_edge = not is_character_limit(check)
    is_counted = not is_edge or counts_paragraphs(regex) or check.startswith(("length.", "format.number_"))
    is_most = (is_counted and check.startswith("pattern.forbid")) or "at_most" in name.params
    is_least = float(name.params.get("at_least", 0)) > 1
    is_pieces = counts_paragraphs(regex) and check.startswith("pattern.require")
    if is_counted and is_most:
        yield _lengthens, None
    if name.family == "length.number_sentences" and is_most:
        most = int(name.params["at_most"])
        yield _sentences_given, lambda other: _sentences_given(other) > most
    if is_edge and is_first(check):
        yield _starts_otherwise, None
    if is_edge and is_last(check):
        yield _ends_otherwise, None
    if check.startswith(_SHAPES):
        yield _tells, None
    if is_pieces or (is_least and check.startswith("format.")):
        yield _tells_little, None
    if is_least or check.startswith(_WANTS):
        yield _is_spared, lambda other: other.before in one.sentences
    if check.startswith(_WANTS) and any(_SAYS["links"].search(sentence) is not None for sentence in one.sentences):
        yield _spares_links, None
    if check.startswith(_BANS):
        yield _is_permitted, lambda other: other.before in one.sentences
    if check.startswith("case."):
        yield _is_aside, None
    if thing is not None:
        sign = compile_pattern(f"(?-i:{regex})")
        yield _signs_a_name, lambda other: sign.search(_SAYS["signed_name"].search(other.sentence)[0]) is not None
    elif check.startswith(_OF_WORDS) and not is_counted:
        words = _banned(name)
        yield _lets_name, None
        yield _is_any, lambda other: _is_spoken_of(words, other)
    yield (
        _users_choose,
        lambda other: _may_have(other, thing, is_near=other.before in one.sentences, is_length=is_most),
    )


def _lengthens(other: _Other) -> bool:
    if _SAYS["wished"].search(other.masked) is not None and not negated(other.masked, len(other.masked)):
        return True
    if _SAYS["asks_length"].search(other.sentence) is not None:
        return True
    return other.is_some and _does("length", other)


def _starts_otherwise(other: _Other) -> bool:
    return _SAYS["greets_by_name"].search(other.masked) is None and _is_edge("start", "hail", other)


def _ends_otherwise(other: _Other) -> bool:
    return _SAYS["part_ends"].search(other.main) is None and _is_edge("end", "farewell", other)


def _is_edge(edge: str, words: str, other: _Other) -> bool:
    """Return whether a sentence has some answers start or end otherwise; words: how what is said there begins."""
    if _SAYS["no_second"].search(other.masked) is not None:
        return True
    if not other.is_some or not _does(edge, other):
        return False
    match = _SAYS[edge].search(other.main)
    if "·" not in match[0]:
        return True
    if "instead" in match[0].casefold():
        at = match.start() + match[0].index("·")
        return "·" not in other.masked[:at]  # 'If they write "wifi", say "Wi-Fi" instead.'
    quotes = (next(filter(None, quote.groups())) for quote in QUOTED.finditer(other.sentence))
    return any(_SAYS[words].search(quote) is not None for quote in quotes)


def _tells(other: _Other) -> bool:
    """Return whether somebody is told something in words, in a case: "…, tell the user", and no value of a shape."""
    return _is_in_words(other) and _does("speech", other)


def _tells_little(other: _Other) -> bool:
    """Return whether somebody gets a word or a question in a case: "…, say you're welcome"."""
    return _is_in_words(other) and _does("small_speech", other)


def _is_in_words(other: _Other) -> bool:
    is_value = _SAYS["in_shape"].search(other.main) is not None or _SAYS["of_more"].search(other.main) is not None
    return other.is_some and not is_value


def _sentences_given(other: _Other) -> int:
    """Return how many sentences a reply has that is given in a case, with what is to be added to it; 0 without one."""
    match = _SAYS["given_and_more"].search(other.main) if other.is_some else None
    if match is None or negated(other.main, match.end() - 1):
        return 0
    given = other.sentence[slice(*match.span(match.re.groupindex["quote"]))].strip("\"“”„'‘’` ")
    return max(1, len(_SAYS["sentence_end"].findall(given))) + 1


def _is_spared(other: _Other) -> bool:
    return _SAYS["spared"].search(other.masked) is not None


def _spares_links(other: _Other) -> bool:
    """Return whether some answers hold no link: "decline without any links", "The first answer has no link."."""
    return other.is_some and _SAYS["without_links"].search(other.masked) is not None


def _is_permitted(other: _Other) -> bool:
    return _SAYS["permits_it"].search(other.main) is not None or _is_aside(other)


def _is_aside(other: _Other) -> bool:
    return _SAYS["aside"].search(other.main) is not None


def _signs_a_name(other: _Other) -> bool:
    """Return whether a name is shown with a sign: "Our brand is written Yum! with the mark."."""
    return _SAYS["signed_name"].search(other.sentence) is not None


def _lets_name(other: _Other) -> bool:
    return other.is_some and _does("named", other)


def _users_choose(other: _Other) -> bool:
    return is_users_choice(other.masked)


def _is_any(_: _Other) -> bool:
    return True


def _banned(name: Name) -> Any:
    """Return the pattern of the words that a check forbids."""
    if name.family.startswith("pattern."):
        return compile_pattern(f"(?-i:{name.params['regex']})")
    return compile_pattern(rf"\b(?:{'|'.join(map(literal, str(name.params['words']).split('|')))})\b")


def _is_spoken_of(words: Any, other: _Other) -> bool:
    """Return whether a sentence has something spoken of that banned words are the name of."""
    match = words.search(other.main)
    if match is None:
        return False
    before = other.main[: match.start()]
    verb = _SAYS["speaks"].search(before)
    is_said = verb is not None and _SAYS["not_so"].search(verb["between"]) is None
    return (is_said or _SAYS["ours"].search(before) is not None) and not negated(other.main, len(before))


def _may_have(other: _Other, thing: Any, *, is_near: bool, is_length: bool) -> bool:
    """Return whether users may have what a check forbids, or more than it allows; is_near: right behind its own."""
    what = _SAYS["users_may"].search(other.masked)["what"]
    if thing is not None and thing.search(what) is not None:
        return True
    is_of_it = is_near or (is_length and _SAYS["longer"].search(what) is not None)
    return is_of_it and _SAYS["asks_more"].search(what) is not None


def _does(what: str, other: _Other) -> bool:
    """Return whether a sentence does what a pattern finds, and does not forbid it."""
    match = _SAYS[what].search(other.main)
    return match is not None and not negated(other.main, match.end() - 1)
