"""Follow-ups: the user's next message, read by rules as a judgement of the answer before it.

Why rules: they cost microseconds, need no key, and say why. The patterns are data (`follow_ups.toml`) and sit in two
RE2 sets, so a message is scanned at most twice, in time linear in its length, however many there are. (In one set their
states multiply: texts that all differ ran its automaton out of memory and cost 50 µs instead of 5.) Where a rule is
unsure its confidence says so, and the next step of the cascade (an LLM judge) need be asked about few messages.

The labels are S0's: clarification needed (correction, adjustment, repeat, misunderstanding, frustration) against
natural continuation (more_detail, related, reformat, building); beside them thanks, new_topic and other.
"""

import string
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from typing import Any, Literal

import re2

from stream.errors import ConfigError
from stream.exchanges import Exchange

VERSION = 2  #: raised when a rule changes what it says; part of the suite's fingerprint
HEAD = 600  #: characters of a text that are read: people react first and explain later
TAIL = 160  #: characters at the end of a response where a question to the user stands
CLOSING = 100  #: characters that a closing remark may have


class FollowUp(StrEnum):
    """Say what a follow-up does with the answer before it."""

    CORRECTION = "correction"  #: "No, I meant X"
    ADJUSTMENT = "adjustment"  #: "Can you search for Y instead?"
    REPEAT = "repeat"  #: the prompt again, or a reminder that it was not answered
    MISUNDERSTANDING = "misunderstanding"  #: one side did not understand the other
    FRUSTRATION = "frustration"
    MORE_DETAIL = "more_detail"
    RELATED = "related"
    REFORMAT = "reformat"
    BUILDING = "building"
    THANKS = "thanks"
    NEW_TOPIC = "new_topic"
    OTHER = "other"  #: empty, emoji only, unreadable, or an answer to the assistant with a no in it


CLARIFICATIONS = frozenset(
    (FollowUp.CORRECTION, FollowUp.ADJUSTMENT, FollowUp.REPEAT, FollowUp.MISUNDERSTANDING, FollowUp.FRUSTRATION)
)

#: Values 0–1 under the strict policy; correction is S0's example, the others are a choice placed around it.
DEFAULT_STRICT: Mapping[FollowUp, float] = {
    FollowUp.CORRECTION: 0.2,
    FollowUp.ADJUSTMENT: 0.35,
    FollowUp.REPEAT: 0.2,
    FollowUp.MISUNDERSTANDING: 0.2,
    FollowUp.FRUSTRATION: 0.0,
    FollowUp.MORE_DETAIL: 0.85,
    FollowUp.RELATED: 0.9,
    FollowUp.REFORMAT: 0.8,
    FollowUp.BUILDING: 0.95,
    FollowUp.THANKS: 1.0,
    FollowUp.NEW_TOPIC: 0.8,
    FollowUp.OTHER: 0.7,
}

#: Under the precision policy a new constraint alone is no complaint; with a hint of an error it counts as strict.
DEFAULT_PRECISION: Mapping[FollowUp, float] = {**DEFAULT_STRICT, FollowUp.ADJUSTMENT: 0.75}


@dataclass(slots=True, frozen=True)
class Reading:
    """What a follow-up says of the answer.

    strict, precision: values 0–1 under the two policies; confidence: 0–1, how sure the deciding step is;
    clarification: whether the label asks for clarification under the strict policy; explanation: one plain sentence;
    decided_by: `rules` or `classifier`.
    """

    label: FollowUp
    strict: float
    precision: float
    confidence: float
    clarification: bool
    explanation: str
    decided_by: str


#: What a response may show; the place in this tuple is the place in the set of signs.
_SIGNS = ("asked", "confirm", "invited", "more", "offer", "failed")
_ASKED, _CONFIRM, _INVITED, _MORE, _OFFER, _FAILED = range(6)

#: A message that begins with one of these asks, or asks for something.
_ASKING = frozenset(
    "who whom whose what what's whats when where where's which why how how's hows can could would will should may shall"
    " show give tell list write explain add make put".split()
)
#: With one of these behind it, so does one of those.
_VERBS = frozenset("is are was were do does did has have had am".split())
_SUBJECTS = frozenset("you u i we they he she it there the a an my your our their this these those any anyone all".split())

#: Punctuation becomes blanks before words are split: half the cost of a pattern for words.
_BLANKS = str.maketrans(dict.fromkeys(string.punctuation + "“”„«»¿¡…–—。，、？！：；（）", " "))


@dataclass(slots=True, frozen=True)
class _Rule:
    """One row of a table, with the reading that it gives."""

    when: str
    reading: Reading


class _Table:
    """Rows whose patterns are matched in one scan; the first row that holds wins."""

    __slots__ = ("_patterns", "_rules")

    def __init__(self, patterns: Sequence[str], rules: Sequence[_Rule]) -> None:
        self._rules = rules
        self._patterns = re2.Set.SearchSet(_options())
        for pattern in patterns:
            self._patterns.Add(pattern)
        self._patterns.Compile()

    def read(self, follow_up: bytes, context: "_Context") -> Reading | None:
        """Return the reading of the first row that matches and whose condition holds."""
        for place in sorted(self._patterns.Match(follow_up) or ()):
            rule: _Rule = self._rules[place]
            if context.holds(rule.when):
                return rule.reading
        return None


class FollowUpRules:
    """Read follow-ups by deterministic rules, surest first.

    strict, precision: values 0–1 by label, as the suite has them; labels left out keep their default.
    Raises ConfigError for an unknown label or a value outside 0–1.
    """

    def __init__(
        self,
        strict: Mapping[str, float] | None = None,
        precision: Mapping[str, float] | None = None,
    ) -> None:
        self.strict = _values("strict", DEFAULT_STRICT, strict)
        self.precision = _values("precision", DEFAULT_PRECISION, precision)
        table = tomllib.loads(files("stream").joinpath("follow_ups.toml").read_text(encoding="utf-8"))
        self._clarifying = self._table(table["clarifying"], table["words"])
        self._continuing = self._table(table["continuing"], table["words"])
        self._signs = re2.Set.SearchSet(_options())
        for name in _SIGNS:
            self._signs.Add(table["response"][name])
        self._signs.Compile()
        self._empty_words = frozenset(table["vocabulary"]["empty"].split())
        self._question_words = frozenset(table["vocabulary"]["questions"].split())
        self._pointers = frozenset(table["vocabulary"]["pointers"].split())
        label = FollowUp
        self._empty = self.reading(label.OTHER, 0.9, "The follow-up is empty.")
        self._wordless = self.reading(label.OTHER, 0.6, "The follow-up has no words to judge by.")
        self._foreign = self.reading(label.OTHER, 0.2, "The follow-up is in a language that the rules do not read.")
        self._shouted = self.reading(label.FRUSTRATION, 0.6, "The user shouts.")
        self._same = self.reading(label.REPEAT, 0.95, "The user asks the same question again.")
        self._nearly_same = self.reading(label.REPEAT, 0.8, "The user asks nearly the same question again.")
        self._part = self.reading(label.REPEAT, 0.6, "The user says again what they asked for.")
        self._insisting = self.reading(label.REPEAT, 0.8, "The user stresses a word of the question.")
        self._changed = self.reading(label.REPEAT, 0.55, "The user asks the question again with a detail added.")
        self._related = self.reading(label.RELATED, 0.6, "The user goes on with what the conversation is about.")
        self._pointing = self.reading(label.RELATED, 0.5, "The user goes on, without a sign of a problem.")
        self._elsewhere = self.reading(label.NEW_TOPIC, 0.5, "The follow-up shares no words with the exchange.")

    def read(self, exchange: Exchange) -> Reading:
        """Read one follow-up; never raises, and looks at a bounded part of each text.

        Clarifying rules go first, then repetition of the prompt, then continuing rules, then shared vocabulary.
        Readings are shared between calls.
        """
        follow_up = _plain(exchange.follow_up)
        if not follow_up:
            return self._empty
        text = _encode(follow_up)
        context = _Context(follow_up, exchange, self._signs)
        reading = self._clarifying.read(text, context)
        if reading is not None:
            return reading
        if _shouts(exchange.follow_up[:HEAD]) and not exchange.prompt[:HEAD].isupper():
            return self._shouted
        words = self._words(follow_up)
        reading = self._repetition(follow_up, words, exchange, context) or self._continuing.read(text, context)
        if reading is not None:
            return reading
        return self._by_vocabulary(follow_up, words, exchange)

    def reading(
        self, label: FollowUp, confidence: float, explanation: str, *, hint: bool = True, decided_by: str = "rules"
    ) -> Reading:
        """Attach the suite's values to a label; hint: whether an adjustment comes with a hint of an error."""
        strict, precision = self.strict[label], self.precision[label]
        if label is FollowUp.ADJUSTMENT and hint:
            precision = min(strict, precision)
        return Reading(label, strict, precision, confidence, label in CLARIFICATIONS, explanation, decided_by)

    def _repetition(
        self, follow_up: str, words: frozenset[str], exchange: Exchange, context: "_Context"
    ) -> Reading | None:
        """Tell whether the follow-up asks the prompt again, unchanged or with a detail added.

        A detail exchanged for another ("define X", "define Y") is a new question of the same kind, no repetition;
        neither is the detail that the assistant asked for, nor a "yes" or "thanks" said twice.
        """
        prompt = _plain(exchange.prompt)
        asks = "?" in follow_up
        if follow_up == prompt and (asks or len(words) > 1):
            return self._same
        if asks and len(words) > 1 and follow_up == _plain(exchange.before):
            return self._same
        known = [word for word in words if word in prompt]
        if len(known) < len(words) and len(known) < 2:
            return None  # cheaper than splitting the prompt, and true of most follow-ups
        asked = self._words(prompt)
        if _insists(exchange.follow_up, exchange.prompt, asked):
            return self._insisting
        kind, before = self._question_word(follow_up), self._question_word(prompt)
        alike = kind == before or kind not in self._question_words or (not asks and context.holds("unasked"))
        words = frozenset(_spelled_as(word, asked) for word in words)
        shared = len(words & asked)
        if shared < 2 or not alike:
            return None
        if shared >= 0.8 * len(asked) and shared >= 0.8 * len(words):
            return self._nearly_same
        if shared == len(words) and 2 * shared >= len(asked) and context.holds("stated"):
            return self._part
        lost, added = len(asked) - shared, len(words) - shared
        detailed = kind == before and lost <= len(asked) // 4 and added <= 4
        return self._changed if detailed and context.holds("unasked") else None

    def _by_vocabulary(self, follow_up: str, words: frozenset[str], exchange: Exchange) -> Reading:
        """Fall back on what the follow-up shares with the exchange; words are looked up, so nothing long is split."""
        if not words:
            return self._pointing if any(letter.isalpha() for letter in follow_up) else self._wordless
        for text in (exchange.prompt[:HEAD].casefold(), exchange.response[: 4 * HEAD].casefold()):
            for word in words:
                if word in text:
                    return self._related
        if not follow_up.isascii() and sum(letter > "\u024f" for letter in follow_up) > len(follow_up) / 2:
            letters = any(letter.isalpha() for letter in follow_up)
            return self._foreign if letters else self._wordless
        if len(words) < 3 or not self._pointers.isdisjoint(follow_up.split()):
            return self._pointing
        return self._elsewhere

    def _words(self, text: str) -> frozenset[str]:
        return frozenset(text.translate(_BLANKS).split()) - self._empty_words

    def _question_word(self, text: str) -> str:
        """Find the word that makes a question of its kind: a question word, or else the first word."""
        words = text[:CLOSING].translate(_BLANKS).split()
        return next((word for word in words if word in self._question_words), words[0] if words else "")

    def _table(self, rows: Sequence[Mapping[str, Any]], words: Mapping[str, str]) -> _Table:
        """Spell the patterns out and attach the suite's values to each row."""
        patterns, rules = [], []
        for row in rows:
            pattern = "|".join(f"(?:{part})" for part in row["patterns"])
            for name, text in words.items():
                pattern = pattern.replace("{" + name + "}", text)
            patterns.append(pattern)
            label = FollowUp(row["label"])
            hint = row.get("hint", label is not FollowUp.ADJUSTMENT)
            reading = self.reading(label, row["confidence"], row["says"], hint=hint)
            rules.append(_Rule(row.get("when", "always"), reading))
        return _Table(patterns, rules)


class _Context:
    """What stands around a follow-up; each part is looked at only when a rule asks."""

    __slots__ = ("_exchange", "_follow_up", "_signs", "_tail")

    def __init__(self, follow_up: str, exchange: Exchange, signs: Any) -> None:
        self._follow_up, self._exchange, self._signs = follow_up, exchange, signs
        self._tail: list[int] | None = None

    def holds(self, when: str) -> bool:
        """Say whether a rule's condition holds; the words are explained in `follow_ups.toml`."""
        if when == "always":
            return True
        if when == "closing":
            return len(self._follow_up) <= CLOSING and "?" not in self._follow_up
        if when == "unasking":
            return "?" not in self._follow_up
        if when in ("stated", "objected"):
            if not self._states() or (when == "objected" and not self._objects()):
                return False
        if when == "failed":
            return _FAILED in self._find(self._exchange.response[:HEAD])
        if self._tail is None:
            self._tail = self._find(self._exchange.response[-TAIL:])
        tail = self._tail
        if when == "uninvited":
            return _INVITED not in tail
        if when == "proposed":
            return (_ASKED in tail or _OFFER in tail) and _INVITED not in tail and _MORE not in tail
        if when == "offered" and _OFFER in tail:
            return True
        if when == "answered" and "?" not in self._exchange.prompt[:HEAD]:
            return False
        asked = _ASKED in tail and _CONFIRM not in tail
        return asked is (when == "asked")

    def _states(self) -> bool:
        """Say whether the follow-up asks nothing: no question mark, no question word in front."""
        if "?" in self._follow_up:
            return False
        words = self._follow_up[:CLOSING].split(maxsplit=2)
        return words[0] not in _ASKING and not (words[0] in _VERBS and len(words) > 1 and words[1] in _SUBJECTS)

    def _objects(self) -> bool:
        """Say whether a statement can be held against the answer: something was asked, and nobody tells of themselves."""
        prompt = self._exchange.prompt[:HEAD]
        words = self._follow_up[:CLOSING].split(maxsplit=2)
        if len(words) < 2 or words[0] in ("i", "we") or prompt[:2].casefold() in ("i ", "i'", "ye", "no", "ok", "hi", "th"):
            return False
        return "?" in prompt or not prompt[:1].islower()

    def _find(self, text: str) -> list[int]:
        return self._signs.Match(_encode(text.casefold())) or []


def conversation_outcome(
    clarifications: int, last_was_clarification: bool
) -> Literal["resolved", "clarified", "abandoned"]:
    """Say how a conversation ended.

    clarifications: how many follow-ups asked for clarification; last_was_clarification: whether the last one did.
    Nobody ever had to clarify: `resolved`, a success and no missing data (S0).
    """
    if last_was_clarification:
        return "abandoned"
    return "clarified" if clarifications else "resolved"


def _plain(text: str) -> str:
    return text[:HEAD].casefold().replace("\u2019", "'").replace("`", "'").strip()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "replace")  # a lone surrogate becomes "?", which RE2 can read


def _shouts(text: str) -> bool:
    return text.isupper() and "!" in text and len(text) > 12


def _insists(follow_up: str, prompt: str, asked: frozenset[str]) -> bool:
    """Say whether one word of the prompt comes again in capitals, in a message that is not all in capitals."""
    if follow_up[:HEAD].isupper() or follow_up.islower():
        return False
    stressed = [word for word in follow_up[:HEAD].translate(_BLANKS).split() if len(word) > 2 and word.isupper()]
    return any(word.casefold() in asked and word not in prompt for word in stressed)


def _spelled_as(word: str, asked: frozenset[str]) -> str:
    """Return the word that was asked with and that this one misspells by a letter, or the word itself."""
    if word in asked or len(word) < 4:
        return word
    for other in asked:
        if other[0] == word[0] and abs(len(other) - len(word)) <= 1 and len(other) > 3 and _nearly(word, other):
            return other
    return word


def _nearly(one: str, other: str) -> bool:
    """Say whether two words differ by a letter: one added, lost, changed, or two exchanged."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    left, right = one[start : len(one) - end], other[start : len(other) - end]
    return max(len(left), len(right)) <= 1 or (len(left) == 2 and left == right[::-1])


def _options() -> Any:
    options = re2.Options()
    options.max_mem = 64 << 20
    options.dot_nl = True
    options.log_errors = False
    return options


def _values(name: str, defaults: Mapping[FollowUp, float], given: Mapping[str, float] | None) -> dict[FollowUp, float]:
    values = dict(defaults)
    for key, value in (given or {}).items():
        if key not in set(FollowUp) or not 0 <= value <= 1:
            labels = ", ".join(FollowUp)
            msg = f"{name} values of follow-ups must be label = 0 to 1, label one of {labels}; got {key} = {value!r}"
            raise ConfigError(msg)
        values[FollowUp(key)] = float(value)
    return values
