"""Wording: numbers, negations and lists in the sentences of a prompt.

Prompts come from strangers, so everything runs on RE2, in linear time. Unclear wording is ignored: a check that nobody
asked for costs more trust than a missing check.
"""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import re2

from turnsignal.stream.names import Value
from turnsignal.stream.prompts.numerals import NUMBER, is_decimal, is_negative, is_often, read_number

MAX_WORDS = 30  #: words read from one list

_BUILT = tomllib.loads(Path(__file__).with_name("wording.toml").read_text(encoding="utf-8"))
_LEAVES_NONE_OUT = frozenset(_BUILT["leaves_none_out"].split())
VERBS = "".join(line.strip() for line in _BUILT["verbs"].splitlines())  #: which an order begins with, for a pattern

_OPTIONS = re2.Options()
_OPTIONS.case_sensitive = False
_OPTIONS.log_errors = False

#: relation → what to add to the number for the lower and the upper bound; None: no such bound
_RELATIONS: dict[str, tuple[int | None, int | None]] = {
    "at or above|at or over|equal to or above|equal to or more than|more than or equal to|greater than or equal to"
    "|above or equal to": (0, None),
    "at or below|at or under|to or below|to or under|equal to or below|equal to or less than|less than or equal to"
    "|fewer than or equal to|below or equal to|up to and including": (None, 0),
    "at least|no fewer than|no less than|not fewer than|not less than|a minimum of|minimum of|minimum|min": (0, None),
    "more than|longer than|over|above": (1, None),
    "at most|no more than|not more than|no longer than|up to|a maximum of|maximum of|maximum|max|within|not exceed"
    "|not exceeding|limited to|limit of|limit to|exceeding|exceed|not over|not longer than"
    "|fit into|fit in|fits into|fits in": (
        None,
        0,
    ),
    "fewer than|less than|under|below|shorter than": (None, -1),
    "exactly|precisely|only|just": (0, 0),
}
_AFTER: dict[str, tuple[int | None, int | None]] = {
    r"or more|\+|at least|at the least|at the very least|minimum|min|or longer": (0, None),
    "or fewer|or less|at most|at the most|at the very most"
    "|max|maximum|as a maximum|as the maximum|as a limit|or shorter|tops"
    "|is the limit|is the maximum|is the max|is the upper limit"
    "|are the limit|are the maximum|is your limit|is our limit": (None, 0),
}
_ALL_RELATIONS = "|".join(sorted("|".join(_RELATIONS).split("|"), key=len, reverse=True))
_AFTERS = "|".join(_AFTER)

#: unit → how it is written; the first match wins, so the longer wording comes first
UNITS = {
    "capitals": r"(?:words?|terms?) (?:or \w+ )?(?:\w+ )?(?:(?:with|in|are|be|have) ){0,3}(?:all[ -])?"
    r"(?:capital letters|caps|uppercase|capitals)"
    r"|(?:all[ -](?:caps|capital)|uppercase|fully capitali[sz]ed|capitali[sz]ed|capital) words?",
    "highlights": r"highlighted (?:text )?(?:sections?|phrases?|parts?)|(?:italic|bold)(?:i[sz]ed|ed)? (?:text )?\w+",
    "words": r"words?",
    "characters": r"characters?|chars?",
    "sentences": r"sentences?",
    "paragraphs": r"paragraphs?",
    "bullets": r"(?:bullet(?:ed)?[ -]?(?:points?|lists?|items?)|bullets|bulleted list items?)",
    "sections": r"(?:text )?sections?|parts?",
    "placeholders": r"placeholders?",
    "citations": r"(?:consecutive |adjacent )?(?:citations?|references?|sources?|markers?)",
    "exclamations": r"exclamation (?:marks?|points?)",
    "hashtags": r"hash ?tags?",
    "emojis": r"emojis?|emoticons?",
    "times": r"times?",
}


def compile_pattern(pattern: str) -> Any:
    """Compile RE2 syntax, either case."""
    return re2.compile(pattern, _OPTIONS)


def read_patterns(table: dict[str, str], **words: str) -> dict[str, Any]:
    """Compile a table of patterns that are broken into lines; words: placeholder → the text that replaces it."""
    patterns = {}
    for name, text in table.items():
        pattern = "".join(line.strip() for line in text.splitlines())
        for word, meant in words.items():
            pattern = pattern.replace(word, meant)
        patterns[name] = compile_pattern(pattern)
    return patterns


AMOUNT = compile_pattern(
    rf"(?:\b(?P<relation>{_ALL_RELATIONS})\.?\s+)?(?:the\s+)?"
    rf"(?:between\s+)?\b(?P<n>{NUMBER})(?:\s?(?:-|–|to|or|and)\s?(?P<m>{NUMBER}))?\b"
    rf"(?P<mid>\s?\+|\s+or\s+(?:more|fewer|less))?"
    rf"(?:[\s-]+(?:[\w'-]+\s+){{0,2}}?(?:{'|'.join(f'(?P<{name}>{unit})' for name, unit in UNITS.items())})\b|\b)"
    rf"(?:\s*[,(]?\s*(?P<after>{_AFTERS})\b)?"
)
_NUMBER_NEXT = compile_pattern(rf"\s+{NUMBER}\b")
_N, _M, _MID, _RELATION, _AFTERWORD = (AMOUNT.groupindex[name] - 1 for name in ("n", "m", "mid", "relation", "after"))
_UNIT_GROUPS = [(name, AMOUNT.groupindex[name] - 1) for name in UNITS]
NOT = compile_pattern(
    r"\b(?:not|never|no|without|avoids?|avoiding|refrains? from|(?:do|does|must|should|ca|wo)n['’]?t|cannot|neither|nor"
    r"|omit|skip|exclude|free of|leave out|forbidden|stay away from|nothing|nowhere)\b"
)
_AFTERWARDS = compile_pattern(
    r"^[^.;,]{0,30}\b(?:(?:is|are|be)(?: strictly)? (?:not|never|forbidden|prohibited|banned)|aren['’]?t|isn['’]?t|"
    r"(?:must|should|may|can|shall)(?:n['’]?t| not|not| never)|cannot)\b"
)
#: text in quotation marks of any kind; single marks count only after a space, because others are apostrophes
QUOTED = compile_pattern(
    r"\"([^\"\n]{1,300})\"|[“”„]([^\"“”\n]{1,300})[\"”]|`([^`\n]{1,300})`|(?:^|[\s(\[,:])['‘]([^'‘’\n]{1,80})['’]"
)


@lru_cache(maxsize=4096)  # every reader of a sentence masks it anew
def mask(text: str) -> str:
    """Replace quoted text by as many dots, so that it is not read as an instruction."""
    masked: str = QUOTED.sub(_dots, text)
    return masked


def _dots(quote: Any) -> str:
    """Return dots for a quote, behind the character before a single mark, which belongs to it for `QUOTED` alone."""
    lead: str = quote[0][:1] if quote[0][0] in " \t\n([,:" else ""
    return lead + "·" * (len(quote[0]) - len(lead))


class Amount(NamedTuple):
    """How many of a unit a sentence asks for: at least `low`, at most `high`, each None if it is not said.

    exact: a plain number, without a relation or a range; start, end: the offsets of the words in the sentence; kind:
    words before the unit that may say which of the units are counted, as "example" in "two example sentences".
    """

    unit: str
    low: int | None
    high: int | None
    exact: bool
    start: int
    end: int
    kind: str = ""

    def bounds(self) -> dict[str, Value]:
        """Return the parameters of a check that counts; empty if every count would pass."""
        bounds: dict[str, Value] = {}
        if self.low:
            bounds["at_least"] = self.low
        if self.high is not None:
            bounds["at_most"] = self.high
        return bounds


@lru_cache(maxsize=16)
def amounts(text: str) -> tuple[Amount, ...]:
    """Find the amounts in a sentence; "at least 100 and at most 300 words" is one amount with two bounds."""
    read: list[Amount] = []
    match = AMOUNT.search(text)
    while match is not None:
        # In "min 20, max 40 words" and "one sentence, at most 125 characters" the relation is the next number's.
        is_next = match[_AFTERWORD + 1] and (match[_RELATION + 1] or _NUMBER_NEXT.match(text[match.end() :]))
        end = match.start(_AFTERWORD + 1) if is_next else match.end()
        amount = _amount(match, text, end)
        both = _both(read[-1], amount, text) if read and amount is not None else None
        if both is not None:
            read[-1] = both
        elif amount is not None:
            read.append(amount)
        match = AMOUNT.search(text, end)
    return tuple(read)


def _both(first: Amount, second: Amount, text: str) -> Amount | None:
    """Merge a lower and an upper bound if only one of them names the unit; None if they do not belong together."""
    between = text[first.end : second.start]
    if second.unit == "number" and _stretches(first, second) and _STRETCHED.fullmatch(between):
        return first._replace(high=second.high, exact=False, end=second.end)
    if "number" not in (first.unit, second.unit) or not _AND.fullmatch(between):
        return None
    low, high = first.low if second.low is None else second.low, second.high if first.high is None else first.high
    if low is None or high is None or (low, high) in ((first.low, first.high), (second.low, second.high)):
        return None
    return Amount(
        second.unit if first.unit == "number" else first.unit,
        low,
        high,
        False,
        first.start,
        second.end,
        first.kind or second.kind,
    )


def _stretches(first: Amount, second: Amount) -> bool:
    """Return whether an amount lets another be larger: "one or two sentences, three at most"."""
    return first.high is not None and second.low is None and second.high is not None and second.high > first.high


def _amount(match: Any, text: str, end: int) -> Amount | None:
    groups = match.groups()
    count, more = groups[_N], groups[_M]
    unit = next((name for name, group in _UNIT_GROUPS if groups[group]), "")
    last = (_M if more else _N) + 1
    before = text[: match.start(_N + 1)]
    if is_decimal(before, text[match.end(last) :]) or is_negative(before):
        return None
    unit, kind = _said_of(unit, match, text, last)
    if not unit:
        is_related = groups[_RELATION] or (groups[_AFTERWORD] and end == match.end())
        unit = "times" if is_often(count) else "number" if is_related else ""
    if not unit or (unit != "times" and is_often(count)):
        return None
    n = read_number(count)
    behind = groups[_AFTERWORD] if end == match.end() else None
    relation, after = _plain(groups[_RELATION]), _plain(behind or groups[_MID])
    before = text[max(0, match.start() - 60) : match.start()]
    adds = _adds(relation, after, before)
    if adds is not None and relation and _is_unclear(adds, text[: match.start()]):
        return None
    if more:
        is_kept = not relation and not after and _KEPT.search(before) is not None
        least, most = sorted((n, read_number(more)))
        lowest, highest = _bounded(least, most, None if is_kept else adds)
        return Amount(unit, lowest, highest, False, match.start(), end, kind)
    lowest, highest = (None if add is None else n + add for add in adds or (0, 0))
    return Amount(unit, lowest, highest, adds is None, match.start(), end, kind)


def _bounded(low: int, high: int, adds: tuple[int | None, int | None] | None) -> tuple[int | None, int | None]:
    """Return the bounds of a range; one that is a bound itself, "two or three sentences at most", has no other."""
    if adds is None or None not in adds:
        return low, high
    return (None, high) if adds[0] is None else (low, None)


def _said_of(unit: str, match: Any, text: str, last: int) -> tuple[str, str]:
    """Return the unit of a number, and the words between them that may say which of its units are counted.

    last: the group of the number that stands before the unit.
    """
    if not unit:
        return "", ""
    start = next(match.start(group + 1) for name, group in _UNIT_GROUPS if name == unit)
    words = text[match.end(last) : start].replace("+", " ").strip(" -").split()
    if not _BETWEEN.isdisjoint(word.casefold() for word in words):
        return "", ""  # "numbers below ten as words"
    if unit in _WHOLE_UNITS:
        words = [word for word in words if word.casefold().strip(",-") not in _LEAVES_NONE_OUT]
        return unit, " ".join(words)
    return unit, ""


def _adds(relation: str, after: str, before: str) -> tuple[int | None, int | None] | None:
    """Return what the words around a number add to it for the lower and the upper bound; None without such words."""
    if not relation:
        if after:
            return _looked_up(_AFTER, after)
        return (None, 0) if _LIMIT.search(before) else None
    adds = _looked_up(_RELATIONS, relation)
    # "do not use more than": a negation reaches its bound only within the same clause.
    nearest = _PAUSE.split(_EVER.sub("never", before[-40:]))[-1]
    nearest = _THAT_ARE_NOT.sub("", nearest)
    if adds == (0, 0) or relation.startswith("no"):
        return adds
    if negated(nearest, len(nearest)) or _IS_NOT.search(nearest) is not None:
        return _turned(*adds)
    return (1, None) if relation == "exceed" and _OUGHT.search(nearest) is not None else adds


def _is_unclear(adds: tuple[int | None, int | None], before: str) -> bool:
    """Return whether a denial further before a bound may turn it into its opposite; before: the sentence up to it.

    "Do not ramble and write more than 100 words" wants no long answer, and "nothing you write should be shorter than 20
    words" no short one.
    """
    if adds not in (_MORE, _FEWER):
        return False
    clause = _STOP.split(before)[-1]
    return _SUBJECT_DENIED.search(clause) is not None or (adds == _MORE and _ACT_DENIED.search(clause) is not None)


def _plain(words: str | None) -> str:
    return " ".join((words or "").casefold().split())


def _looked_up(table: dict[str, tuple[int | None, int | None]], word: str) -> tuple[int | None, int | None]:
    return next(adds for words, adds in table.items() if word in words.replace("\\", "").split("|"))


def negated(text: str, at: int, reach: int = 60) -> bool:
    """Return whether a negation in the same clause comes before offset `at`, so that the sentence forbids it."""
    before = text[max(0, at - reach) : at]
    denials = [denial.end() for denial in NOT.finditer(before) if not _NO_DENIAL.match(before[denial.end() :])]
    last = max(denials, default=-1)
    return last >= 0 and not _TURN.search(before[last:]) and not _begins_anew(before, last, text[at : at + 20])


def _begins_anew(before: str, denied: int, after: str) -> bool:
    """Return whether an instruction of its own begins behind a denial: 'no emojis, sign with "Ada"'.

    "Do not" may deny several verbs, "no" denies none, and a verb that comes again begins a contrast: "don't use bold,
    use bullets". denied: where the last denial ends; after: the text that follows.
    """
    rest = before[denied:] + _FIRST_WORD.match(after)[0]
    verb = _NEW_VERB.search(rest)
    if _NOUN_DENIED.search(before[:denied]) is not None:
        return verb is not None or _NEW_EDGE.search(rest) is not None
    if verb is None:
        return False
    first = _FIRST_WORD.match(before[denied:].lstrip())[0].casefold()
    return bool(first) and first == verb["verb"].casefold()


def forbidden(text: str, start: int, end: int) -> bool:
    """Return whether a sentence forbids the words at [start, end): "no …" before them, "… are not allowed" after."""
    after = text[end : end + 60].lstrip()
    return negated(text, start) or (not after.startswith(("and ", "but ")) and _AFTERWARDS.search(after) is not None)


def listed(text: str) -> list[tuple[str, bool]]:
    """Return the words of a list, each once: (word, whether it is in quotation marks)."""
    words: dict[str, bool] = {}
    end = 0
    for quote in [*QUOTED.finditer(text), None]:
        bare = text[end : len(text) if quote is None else quote.start()]
        pieces = _COMMAS.split(bare.split(".")[0].split(";")[0])
        for word in pieces[1:] if end and pieces[0].strip() else pieces:  # right after a quote is no word of the list
            words.setdefault(word.strip(_AROUND), False)
        if quote is not None:
            words[_quoted(next(part for part in quote.groups() if part))] = True
            end = quote.end()
    return [(word, quoted) for word, quoted in words.items() if word and "|" not in word][:MAX_WORDS]


def _quoted(word: str) -> str:
    """Return a word without the signs around it, but with one that belongs to it: ":innen", ".net"."""
    bare = word.strip(_AROUND)
    at = word.find(bare)
    return f"{word[at - 1]}{bare}" if bare and at > 0 and word[at - 1] in ":." and bare[0].isalpha() else bare


_AROUND = " \t.,;:!?\"'“”‘’`[]()"  #: characters around a word that are not part of it
_STRETCHED = compile_pattern(r"\s*[,(]\s*(?:(?:or|but|and|with)\s+)?")
#: words that cannot come between a number and its unit: "numbers below ten as words"
_BETWEEN = frozenset({"as", "of", "to", "for", "from", "by", "about", "per", "is", "are"})
#: units that an answer is made of, so that a word before them may leave others uncounted: "three closing sentences"
_WHOLE_UNITS = frozenset({"words", "sentences", "paragraphs", "bullets", "exclamations", "hashtags"})
_NO_DENIAL = compile_pattern(
    r"\s+(?:forget|hesitate|fail|only|just|matter|but|else|other|except|besides|beyond|more|less|apart|aside|outside)\b"
)
_LIMIT = compile_pattern(
    r"\b(?:limit|limited|cap|capped|restrict|keep|maximum|max)\b[^.;]{0,40}\b(?:to|of|is|at|:)\s*$|limit:\s*$"
)
#: "keep to 2-4 sentences", "keep it short: 2-4 sentences": a range with both bounds
_KEPT = compile_pattern(r"\bkeep\b[^.;,]{0,40}(?:\b(?:to|at)|:)\s*$")
_TURN = compile_pattern(
    r"[.;:]|\b(?:but|instead|rather|except|unless|only|must|should|always|and (?:use|write|include|keep)"
    r"|(?:more|fewer|less|longer|shorter) than)\b"
)
_NEW_VERB = compile_pattern(
    r"[,;]\s+(?:and\s+|then\s+|but\s+)?(?P<verb>use|write|keep|begin|start|end|finish|close|sign|open|say|give|answer|reply|respond|greet|put|cite"
    r"|include|add|mention|contain|return|output|print|send|ask|tell|refer|redirect|apologi[sz]e|escalate)\b"
)
#: 'no headings and start with "Hello"': "no" denies a thing, and what an answer starts or ends with is none
_NEW_EDGE = compile_pattern(
    r"\band\s+(?:then\s+|always\s+)?(?:begin|start|open|end|finish|close|conclude|sign)s?"
    r"(?:$|(?:\s+[\w'’-]+){0,4}?\s+(?:with|by|as|off)\b)"
)
_NOUN_DENIED = compile_pattern(r"\b(?:no|without|free of|zero)$")
_FIRST_WORD = compile_pattern(r"[\pL'’]*")
_PAUSE = compile_pattern(r",| and |\s[–—-]+\s|[(:;—–]")
#: "messages that are not urgent below 50 words": that denies which messages; "that are not longer than" is a bound
_THAT_ARE_NOT = compile_pattern(
    r"\b(?:that|which|who)\s+(?:(?:is|are|was|were)(?:\s+not|n['’]t)\s+(?:\w+ly\s+|much\s+|any\s+)*[\w'’-]+"
    r"|(?:do|does|did)(?:\s+not|n['’]t)\s+(?:need|require|want|concern|involve|ask|expect|relate)\b).*$"
)
_EVER = compile_pattern(
    r"\bnever,? ever\b,?|(?:,\s*)?\b(?:under any circumstances?|in any (?:case|event)|at any (?:time|point)|ever)\b,?"
)
_MORE, _FEWER = (1, None), (None, -1)  #: what "more than" and "fewer than" add to their number
#: "isn't longer than", "aren't to be longer than"
_IS_NOT = compile_pattern(
    r"\b(?:is|are|was|were)n['’]?t(?:\s+(?:to|be|have|get|allowed|permitted|supposed|meant|ever|any|much|\w+ly))*\s*$"
)
_OUGHT = compile_pattern(r"\b(?:must|should|shall|always|ha(?:s|ve) to|needs? to|ought to|to)\s+$")
_STOP = compile_pattern(r"[;:.]|\b(?:but|instead|rather|although|though|however|whereas)\b")
#: what denies that anything is so: "Nothing you write should be", "never should it be"
_SUBJECT_DENIED = compile_pattern(
    r"(?:^|,|\b(?:that|and|sure|ensure)\s)\W*(?:no|none|nothing|nobody|neither|not (?:an?|one))\b(?:\s+[\w'’-]+){0,9}?"
    r"\s+(?:must|should|shall|ought|may|can|will)\b|\bnever\s+(?:must|should|shall|may|can|will|is|are)\b"
)
_ACT_DENIED = compile_pattern(r"\b(?:not|never|avoid(?:s|ing)?|refrain\w*|cannot|nor|stop|forbidden)\b|n['’]t\b")
_AND = compile_pattern(r"[,;(\s]*(?:(?:and|but|yet|though)\b)?\s*(?:(?:do |should |must )?(?:not|never))?\s*")
_COMMAS = compile_pattern(r"\s*,\s*(?:and |or )?|(?:^|\s+)(?:and|or)(?:\s+|$)")


def _turned(low: int | None, high: int | None) -> tuple[int | None, int | None]:
    """Negate a bound: not more than n (n + 1 or more) is at most n; not fewer than n (at most n − 1) is at least n."""
    if high is None:
        return None, (low or 0) - 1
    return (None, high) if high == 0 else (high + 1, None)
