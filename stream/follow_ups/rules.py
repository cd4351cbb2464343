"""Follow-ups: the user's next message, read by rules as a judgement of the answer before it.

Why rules: they cost microseconds, need no key, and say why. The patterns are data (`rules.toml`) and run on
RE2, in time linear in a message's length. How often each rule is right was counted on
messages that it was not made from; that is its confidence, and where it is low, or no rule says anything, the next step
of the cascade (an LLM judge) is asked.

The labels of `FollowUp` are Hoffer's: those that need a clarification against natural continuation; beside them thanks,
new_topic and other.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import re2

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.follow_ups.closings import replies_to_closing, without_closing
from turnsignal.stream.follow_ups.contexts import (
    CLOSING,
    HEAD,
    SIGNS,
    TAIL,
    Context,
    condition,
    expanded,
    with_all_letters,
    without_suppositions,
)
from turnsignal.stream.follow_ups.failures import Failures
from turnsignal.stream.records.scores import Unscored
from turnsignal.stream.text.client_labels import without_labels
from turnsignal.stream.text.languages import is_english, is_read, may_be_read
from turnsignal.stream.text.patterns import NEVER, Patterns, encode, options
from turnsignal.stream.text.quoted_lines import own_words
from turnsignal.stream.text.wordplay import insists, rewords, spelled_as, swaps_detail, words_of

_SURE = 5  #: words, all unknown, from which on a message is in another language
_FEW_ROWS = 30  #: below which the rows of a table are scanned for at once
_ADDING = ("and", "also")  #: words before a question that is asked beside the one before
_FEW_BEHIND = 3  #: words with a swear word, of which the others say too little
_FEW = 4  #: words of a message that may ask the prompt again though most are misspelt

VERSION = 34  #: raised when a rule changes what it says; part of the suite's fingerprint
ASKS_FOR_A_PERSON = "The user asks for a person."  #: what the row says by which that is read


class FollowUp(StrEnum):
    """Say what a follow-up does with the answer before it.

    Each label is one row: its word; what the answer is worth under the strict policy, 0–1 (correction is Hoffer's
    example, the others are a choice placed around it); whether it asks for clarification; and what the answer is
    worth under the precision policy where that differs: a new constraint alone is no complaint there, and counts as
    strict only with a hint of an error.
    """

    strict: float
    clarification: bool
    precision: float

    def __new__(
        cls, word: str, strict: float = 0.0, clarification: bool = False, precision: float | None = None
    ) -> "FollowUp":
        """Make a label of its row."""
        label = str.__new__(cls, word)
        label._value_ = word
        label.strict, label.clarification = strict, clarification
        label.precision = strict if precision is None else precision
        return label

    CORRECTION = "correction", 0.2, True  #: "No, I meant X"
    ADJUSTMENT = "adjustment", 0.35, True, 0.75  #: "Can you search for Y instead?"
    REPEAT = "repeat", 0.2, True  #: the prompt again, or a reminder that it was not answered
    MISUNDERSTANDING = "misunderstanding", 0.2, True  #: one side did not understand the other
    FRUSTRATION = "frustration", 0.0, True
    MORE_DETAIL = "more_detail", 0.85
    RELATED = "related", 0.9
    REFORMAT = "reformat", 0.8
    BUILDING = "building", 0.95
    THANKS = "thanks", 1.0
    NEW_TOPIC = "new_topic", 0.8
    OTHER = "other", 0.7  #: an answer to the assistant with a no in it, or nothing that a rule recognises


CLARIFICATIONS = frozenset(label for label in FollowUp if label.clarification)
#: Weak readings: a complaint that is found without the closing question overrides them.
_WEAK = frozenset((FollowUp.OTHER, FollowUp.RELATED, FollowUp.NEW_TOPIC))
DEFAULT_STRICT: Mapping[FollowUp, float] = {label: label.strict for label in FollowUp}
DEFAULT_PRECISION: Mapping[FollowUp, float] = {label: label.precision for label in FollowUp}


@dataclass(slots=True, frozen=True)
class FollowUpReading:
    """What a follow-up says of the answer.

    strict, precision: values 0–1 under the two policies, None where nothing is known; confidence: 0–1, how often the
    deciding rule is right; clarification: whether the label asks for clarification under the strict policy;
    explanation: one plain sentence; decided_by: `rules` or `classifier`; unscored: why nothing is known; closes:
    whether the user takes leave, so that no answer is expected; bare: whether it is no more than a reply to what the
    answer asked last, where it did; goes_on: whether the user was read as going on or as thanking, `other` says
    neither; wants_person: whether the user asks for a person; clarification_free: 1 unless a clarification was read, 0
    if one was, None where the message could not be read at all.
    """

    label: FollowUp
    strict: float | None
    precision: float | None
    confidence: float
    clarification: bool
    explanation: str
    decided_by: str
    unscored: Unscored | None = None
    closes: bool = False
    bare: bool = False
    goes_on: bool = field(init=False, repr=False, compare=False)
    wants_person: bool = field(init=False, repr=False, compare=False)
    clarification_free: float | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Work out once what is asked of a reading for every message that it is given to."""
        goes_on = self.strict is not None and not self.clarification and self.label is not FollowUp.OTHER
        free = None if self.unscored not in (None, Unscored.NO_SIGNAL) else 0.0 if self.clarification else 1.0
        object.__setattr__(self, "goes_on", goes_on)
        object.__setattr__(self, "wants_person", self.explanation == ASKS_FOR_A_PERSON)
        object.__setattr__(self, "clarification_free", free)

    def __hash__(self) -> int:
        return hash(self.explanation)  # of which there is one for each rule


@dataclass(slots=True, frozen=True)
class _Rule:
    """One row of a table, with the reading that it gives; despite_closing: whether a closing question hides it not."""

    holds: Callable[[Context], bool]
    reading: FollowUpReading
    despite_closing: bool = False


class _Table:
    """Rows of patterns; the first row that matches and holds wins."""

    __slots__ = ("_others", "_patterns", "_rules")

    def __init__(self, patterns: Sequence[str], others: Sequence[str], rules: Sequence[_Rule]) -> None:
        self._rules = rules
        self._patterns = _compiled(tuple(patterns))
        self._others = tuple(others)  # compiled with the first message that may need them: most traffic is English

    def match(self, follow_up: bytes, *, english: bool) -> list[int]:
        """Return the indices of the rows whose patterns match, in order."""
        indices = self._patterns.match(follow_up)
        if not english and (others := _compiled(self._others).match(follow_up)):
            return sorted([*indices, *others])
        return indices

    def read(
        self, indices: Sequence[int], context: "Context", *, despite_closing: bool = False
    ) -> FollowUpReading | None:
        """Return the reading of the first row of those whose condition holds.

        despite_closing: look only at rows that a closing question does not hide.
        """
        for index in indices:
            rule = self._rules[index]
            if (rule.despite_closing or not despite_closing) and rule.holds(context):
                return rule.reading
        return None


class FollowUpRules:
    """Read follow-ups by deterministic rules, surest first.

    strict, precision: values 0–1 by label, as the suite has them; labels left out keep their default; failures: tells
    answers that are none.
    Raises ConfigError for an unknown label or a value outside 0–1.
    """

    def __init__(
        self,
        strict: Mapping[str, float] | None = None,
        precision: Mapping[str, float] | None = None,
        failures: Failures | None = None,
    ) -> None:
        self.failures = Failures() if failures is None else failures
        self.strict = _values("strict", DEFAULT_STRICT, strict)
        self.precision = _values("precision", DEFAULT_PRECISION, precision)
        table, self._measured = _load("rules.toml"), _load("confidences.toml")
        self._clarifying = self._table(table["clarifying"], table["words"])
        self._continuing = self._table(table["continuing"], table["words"])
        self._signs = re2.Set.SearchSet(options())
        for name in SIGNS:
            self._signs.Add(table["response"][name])
        self._signs.Compile()
        self._oaths = frozenset(table["vocabulary"]["oaths"].split())
        self._empty_words = frozenset(table["vocabulary"]["empty"].split())
        self._question_words = frozenset(table["vocabulary"]["questions"].split())
        self._stock_words = self._empty_words | self._question_words | frozenset(table["vocabulary"]["wishes"].split())
        label = FollowUp
        self._empty = self._silent(Unscored.NOT_APPLICABLE, "The follow-up is empty.")
        self._unknown = self._silent(Unscored.NO_SIGNAL, "No rule recognises the follow-up.")
        self._foreign = self._silent(Unscored.LANGUAGE, "The follow-up is in a language that the rules do not read.")
        self._shouted = self.reading(label.FRUSTRATION, "The user shouts.")
        self._same = self.reading(label.REPEAT, "The user asks the same question again.")
        self._nearly_same = self.reading(label.REPEAT, "The user asks nearly the same question again.")
        self._reworded = self.reading(label.REPEAT, "The user asks the question again in other words.")
        self._part = self.reading(label.REPEAT, "The user says again what they asked for.")
        self._insisting = self.reading(label.REPEAT, "The user stresses a word of the question.")
        self._changed = self.reading(label.REPEAT, "The user asks the question again with a detail added.")

    def read(self, exchange: Exchange) -> FollowUpReading:
        """Read one follow-up; never raises, and looks at a bounded part of each text.

        The language goes first, then clarifying rules, then repetition of the prompt, then continuing rules. What none
        of them recognises is unscored: most such messages go on, but which ones nobody can tell. Readings are shared
        between calls.
        """
        exchange = _unquoted(exchange)
        follow_up = _plain(exchange.follow_up)
        if not follow_up:
            return self._empty
        spoken = words_of(follow_up)
        if not is_read(follow_up, spoken):
            return self._foreign
        if spoken and spoken[0] in self._oaths and (meant := self._behind_oath(exchange, spoken)) is not None:
            return meant
        text = encode(follow_up)
        context = Context(follow_up, exchange, self._signs, self.failures)
        english = is_english(spoken)
        clarifying = self._clarifying.match(text, english=english)
        reading = self._clarifying.read(clarifying, context)
        if reading is not None and reading.clarification and not reading.wants_person:
            clarifying, reading = self._stated(exchange, follow_up, clarifying, reading)
        if reading is not None:
            return reading
        if _shouts(exchange.follow_up[:HEAD]) and not exchange.prompt[:HEAD].isupper():
            return self._shouted
        words = frozenset(spoken) - self._empty_words
        reading = self._repetition(follow_up, words, exchange, context)
        reading = reading or self._continuing.read(self._continuing.match(text, english=english), context)
        if clarifying and (reading is None or reading.label in _WEAK):
            reading = self._despite_closing(exchange, follow_up, clarifying) or reading
        return reading or (self._unknown if self._may_read(spoken, exchange) else self._foreign)

    def _behind_oath(self, exchange: Exchange, spoken: Sequence[str]) -> FollowUpReading | None:
        """Read what stands behind a swear word; None where that does not say that no complaint is meant."""
        folded = exchange.follow_up.casefold()
        at = folded.find(spoken[0]) + len(spoken[0])
        if len(folded) != len(exchange.follow_up) or len(spoken) == 1 or spoken[1] in self._oaths:
            return None
        rest = exchange.follow_up[at:].lstrip(" ,.!:-")
        meant = self.read(Exchange(exchange.prompt, exchange.response, rest, exchange.before))
        if meant.closes or (len(spoken) > _FEW_BEHIND and meant.strict is not None):
            return meant
        asks = "?" in rest or spoken[1] in self._question_words
        return self._unknown if len(spoken) > _FEW_BEHIND and meant.strict is None and asks else None

    def _stated(
        self, exchange: Exchange, follow_up: str, indices: list[int], reading: FollowUpReading
    ) -> tuple[list[int], FollowUpReading | None]:
        """Look for a complaint in what a message states, where it supposes something, too ("what if it is not there?").

        indices: of the clarifying rows that match all of it; reading: what they say. Returns both for what is stated.
        """
        stated = without_suppositions(follow_up)
        if stated == follow_up:
            return indices, reading
        words = words_of(stated)
        if not words:
            return [], None
        indices = self._clarifying.match(encode(stated), english=is_english(words))
        meant = self._clarifying.read(indices, Context(stated, exchange, self._signs, self.failures))
        return indices, meant if meant is not None and meant.clarification else None

    def _despite_closing(self, exchange: Exchange, follow_up: str, indices: Sequence[int]) -> FollowUpReading | None:
        """Read a complaint of what an answer says although that ends in a closing question ("Shall I also send it?").

        indices: of the clarifying rows that match. None where the answer asks nothing so, or the message replies to it.
        """
        response = without_closing(exchange.response, TAIL)
        if response == exchange.response or replies_to_closing(follow_up):
            return None
        without = Exchange(exchange.prompt, response, exchange.follow_up, exchange.before)
        context = Context(follow_up, without, self._signs, self.failures)
        return self._clarifying.read(indices, context, despite_closing=True)

    def replies(self, exchange: Exchange) -> bool:
        """Say whether `read` takes a follow-up for what may reply to a question at the end of the answer."""
        return Context(_plain(exchange.follow_up), exchange, self._signs, self.failures).asked()

    def takes_leave(self, exchange: Exchange) -> bool:
        """Say whether `read` finds that a follow-up takes leave."""
        return self.read(exchange).closes

    def reading(
        self,
        label: FollowUp,
        explanation: str,
        *,
        hint: bool = True,
        decided_by: str = "rules",
        closes: bool = False,
        bare: bool = False,
    ) -> FollowUpReading:
        """Attach the suite's values to a label; hint: whether an adjustment comes with a hint of an error."""
        strict, precision = self.strict[label], self.precision[label]
        if label is FollowUp.ADJUSTMENT and hint:
            precision = min(strict, precision)
        clarification = label in CLARIFICATIONS
        confidence = self._confidence(explanation, clarification)
        return FollowUpReading(
            label, strict, precision, confidence, clarification, explanation, decided_by, closes=closes, bare=bare
        )

    def _confidence(self, rule: str, clarification: bool) -> float:
        """Look up how often a rule was right; one that was never seen is taken for the average of its kind."""
        measured = self._measured["rules"].get(rule, {}).get("confidence")
        return float(measured or self._measured["clarifying" if clarification else "continuing"])

    def _repetition(
        self, follow_up: str, words: frozenset[str], exchange: Exchange, context: "Context"
    ) -> FollowUpReading | None:
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
        known = sum([word in prompt for word in words])
        if known < 2 and (known == 0 or len(words) > _FEW):
            return None  # cheaper than splitting the prompt, and true of most follow-ups
        asked = self._words(prompt)
        shared = len(words & asked)
        if shared and insists(exchange.follow_up[:HEAD], exchange.prompt[:HEAD] + exchange.response[: 2 * HEAD], asked):
            return self._insisting
        if shared < len(words) <= min(2 * known + 1, shared + 2):
            words = frozenset([spelled_as(word, asked) for word in words])
            shared = len(words & asked)
        if asks and self._rewords(follow_up, prompt) and context.unasked():
            return self._reworded
        if shared < 2:
            return None
        kind, before = self._question_word(follow_up), self._question_word(prompt)
        if kind != before and kind in self._question_words and (asks or context.asked()):
            return None
        if shared >= 0.8 * len(asked) and shared >= 0.8 * len(words):
            return self._nearly_same
        if shared == len(words) and 2 * shared >= len(asked) and context.stated():
            return self._part
        lost, added = len(asked) - shared, len(words) - shared
        detailed = kind == before and lost <= len(asked) // 4 and added <= 4
        if detailed and lost and swaps_detail(self._subjects(follow_up), self._subjects(prompt)):
            return None
        return self._changed if detailed and (shared > 2 or context.stating()) and context.unasked() else None

    def _rewords(self, follow_up: str, prompt: str) -> bool:
        """Tell whether a question of the same kind has most words of the prompt, in other forms or another order."""
        if self._question_word(follow_up)[:3] != self._question_word(prompt)[:3]:  # by three letters: "who", "whose"
            return False
        return words_of(follow_up)[0] not in _ADDING and rewords(self._subjects(follow_up), self._subjects(prompt))

    def _subjects(self, text: str) -> list[str]:
        """Return the words that have a subject, in their order."""
        return [word for word in words_of(text) if word not in self._stock_words]

    def _may_read(self, words: Sequence[str], exchange: Exchange) -> bool:
        """Say whether a message that no rule recognises may be in a language that is read, as what it stands beside."""
        if may_be_read(words):
            return True
        around = f"{exchange.prompt[:HEAD]} {exchange.response[: 4 * HEAD]}".casefold()
        if not is_read(around, words_of(around)):
            return False
        return sum([word.isalpha() for word in words]) < _SURE or any(word in around for word in words)

    def _silent(self, reason: Unscored, explanation: str, *, closes: bool = False) -> FollowUpReading:
        return FollowUpReading(FollowUp.OTHER, None, None, 0.0, False, explanation, "rules", reason, closes, closes)

    def _words(self, text: str) -> frozenset[str]:
        return frozenset(words_of(text)) - self._empty_words

    def _question_word(self, text: str) -> str:
        """Find the word that makes a question of its kind: a question word, or else the first word."""
        words = words_of(text[:CLOSING])
        return next((word for word in words if word in self._question_words), words[0] if words else "")

    def _table(self, rows: Sequence[Mapping[str, Any]], words: Mapping[str, str]) -> _Table:
        """Spell the patterns out and attach the suite's values to each row."""
        written: dict[str, list[str]] = {"patterns": [], "others": []}
        rules = []
        for row in rows:
            for key, patterns in written.items():
                pattern = expanded(_alternatives(row, key), words)
                patterns.append(with_all_letters(pattern) if key == "others" else pattern)
            label = FollowUp(row["label"])
            hint = row.get("hint", label is not FollowUp.ADJUSTMENT)
            closes = row.get("closes", label is FollowUp.THANKS)
            if row.get("signal", True):
                bare = row.get("bare", closes)
                reading = self.reading(label, row["says"], hint=hint, closes=closes, bare=bare)
            else:
                reading = self._silent(Unscored.NO_SIGNAL, row["says"], closes=closes)
            rules.append(_Rule(condition(row.get("when", "always")), reading, row.get("despite_closing", False)))
        return _Table(**written, rules=rules)


def _alternatives(row: Mapping[str, Any], key: str) -> Sequence[str]:
    """Return the patterns of a row; raises ConfigError for none and for an empty one, as that matches every message."""
    given: Sequence[str] = row.get(key, (NEVER,))
    if given and all(given):
        return given
    msg = f"rule {row['says']!r} ({row['label']}): expected {key} that hold something each, got {list(given)}"
    msg += ": every message would match; leave out the key or the row"
    raise ConfigError(msg)


@cache
def _compiled(patterns: tuple[str, ...]) -> Patterns:
    """Compile the expressions of a table: 0.1 s, so once in a process, as they are the same under every suite."""
    return Patterns(patterns, few=len(patterns) < _FEW_ROWS)


@cache
def _load(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _unquoted(exchange: Exchange) -> Exchange:
    """Leave out what messages quote of answers, as e-mail does beneath each reply, and what logs and clients add."""
    prompt, follow_up, before = map(own_words, (exchange.prompt, exchange.follow_up, exchange.before))
    before, _ = without_labels(before, follow_up)
    prompt, follow_up = without_labels(prompt, follow_up)
    if follow_up is exchange.follow_up and prompt is exchange.prompt and before is exchange.before:
        return exchange  # as nearly all are
    return Exchange(prompt, exchange.response, follow_up, before)


def _plain(text: str) -> str:
    return text[:HEAD].casefold().replace("\u2019", "'").replace("`", "'").strip()


def _shouts(text: str) -> bool:
    return text.isupper() and "!" in text and len(text) > 12


def _values(name: str, defaults: Mapping[FollowUp, float], given: Mapping[str, float] | None) -> dict[FollowUp, float]:
    values = dict(defaults)
    for key, value in (given or {}).items():
        if key not in set(FollowUp) or not 0 <= value <= 1:
            labels = ", ".join(FollowUp)
            msg = f"{name} values of follow-ups must be label = 0 to 1, label one of {labels}; got {key} = {value!r}"
            raise ConfigError(msg)
        values[FollowUp(key)] = float(value)
    return values
