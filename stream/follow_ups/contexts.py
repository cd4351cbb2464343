"""Contexts: what stands around a follow-up, as the rules ask for it; each part is looked at only when one does."""

import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import pairwise
from typing import Any

import re2

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.failures import Failures
from turnsignal.stream.text.patterns import Patterns, options
from turnsignal.stream.text.wordplay import words_of

HEAD = 600  #: characters of a text that are read: people react first and explain later
TAIL = 160  #: characters at the end of a response where a question to the user stands
CLOSING = 100  #: characters that a closing remark may have

_SUGGESTION = 160  #: characters of a response that may be one suggestion; "anything else?" then asks for another
#: What a response may show; the place in this tuple is the place in the set of signs.
SIGNS = ("asked", "confirm", "invited", "more", "offer", "service", "unknown")
_ASKED, _CONFIRM, _INVITED, _MORE, _OFFER, _SERVICE, _UNKNOWN = range(7)
_SUGGESTING = frozenset((_CONFIRM, _OFFER, _SERVICE))  #: signs that a no turns something down

_TABLE = tomllib.loads(files(__package__).joinpath("rules.toml").read_text(encoding="utf-8"))
_WORDS = {name: frozenset(words.split()) for name, words in _TABLE["vocabulary"].items()}
_ASKING, _VERBS, _SUBJECTS, _PRAISE, _AUXILIARY, _EMPTY, _WISHES, _POINTING = (
    _WORDS[name] for name in ("asking", "verbs", "subjects", "praise", "auxiliary", "empty", "wishes", "pointing")
)
_STOCK = _EMPTY | _WISHES  #: words that say nothing of a subject
_NEARBY = _POINTING | _WISHES  #: words of one who speaks of the answer, or of the question
#: Conditions that want the follow-up near its exchange: the one that each stands on, and how many words of its own a
#: message has that is about something else.
_NEAR = {"anew": ("answered", 3), "narrowed": ("unasked", 3), "reported": ("stated", 4)}
_TELLING_KINDS = frozenset(("told", "settled", "telling", "remote", "negated", "asserted"))
_STEM = 5  #: letters that two forms of a word share
_BRIEF = 8  #: words of an objection that need not say to what
#: Beginnings of prompts by people who tell of themselves, and greet.
_TELLING = ("i ", "i'", "ye", "no", "ok", "hi", "th")


def expanded(patterns: Sequence[str], words: Mapping[str, str]) -> str:
    """Join alternatives to one pattern, and write out the words that it names in braces."""
    pattern = "|".join(patterns)
    for name, text in words.items():
        pattern = pattern.replace("{" + name + "}", text)
    return pattern


_REMARK = {name: expanded(patterns, _TABLE["words"]) for name, patterns in _TABLE["remark"].items()}
_HARMLESS = re2.compile(_REMARK["harmless"].encode(), options())
#: What a follow-up may remark; the place in this tuple is the place in the set.
_DENIED, _ADVERSE, _NEGATED = range(3)
_REMARKS = Patterns([_REMARK["denied"], _REMARK["adverse"], _REMARK["negated"]])


class Context:
    """What stands around a follow-up; each part is looked at only when a rule asks."""

    __slots__ = ("_exchange", "_failures", "_follow_up", "_remarks", "_signs", "_tail")

    def __init__(self, follow_up: str, exchange: Exchange, signs: Any, failures: Failures) -> None:
        self._follow_up, self._exchange, self._signs, self._failures = follow_up, exchange, signs, failures
        self._tail: list[int] | None = None
        self._remarks: frozenset[int] | None = None

    def holds(self, when: str) -> bool:
        """Say whether a rule's condition holds; the words are explained in `rules.toml`."""
        if when == "always":
            return True
        if when in _NEAR:
            like, own = _NEAR[when]
            return self.holds(like) and not self._strays(own)
        if when in _TELLING_KINDS:
            return self._tells_as(when)
        if when == "closing":
            return len(self._follow_up) <= CLOSING and "?" not in self._follow_up
        if when == "denied":
            return not self._follow_up.endswith("?") and self._tells() and _DENIED in self._remarked()
        if when == "unopposed" and not self._states():
            return True
        if when == "succeeded" and "?" in self._follow_up:
            return False
        if when in ("succeeded", "unopposed"):
            return not {_DENIED, _ADVERSE} & self._remarked()
        if when == "content":
            return self.holds("closing") and not self._remarked()
        if when == "explained":
            return len(self._exchange.response) > _SUGGESTION
        if when == "answering":
            return self.holds("unasked") and not self.holds("failed")
        if when in ("stated", "objected") and not self._states():
            return False
        if when == "objected" and not self._objects():
            return False
        if when == "failed":
            return self._failures.is_failing(self._exchange.response)
        if when == "retried":
            known = _UNKNOWN not in self._find(self._exchange.response[:HEAD])
            failed = self._failures.is_failing(self._exchange.response)
            return failed and (known or self._echoes(self._exchange.prompt[:HEAD]))
        if self._tail is None:
            self._tail = self._find(self._exchange.response[-TAIL:])
        tail = self._tail
        if when in ("uninvited", "contrasted"):
            return _INVITED not in tail and (when == "uninvited" or self._contrasts())
        if when == "proposed":
            return (_ASKED in tail or _OFFER in tail) and _INVITED not in tail and _MORE not in tail
        if when == "suggested":
            return not _SUGGESTING.isdisjoint(tail) and _INVITED not in tail and _MORE not in tail
        if when == "offered" and _OFFER in tail:
            return True
        if when == "answered" and "?" not in self._exchange.prompt[:HEAD]:
            return False
        asked = _ASKED in tail and _CONFIRM not in tail
        return asked is (when == "asked")

    def _tells_as(self, when: str) -> bool:
        """Say whether one of the conditions holds that ask how the follow-up is told."""
        if when == "told":
            return self._states()
        if when == "telling":
            return self._tells()
        if when == "remote":
            return self._states() and _NEARBY.isdisjoint(words_of(self._follow_up))
        if when == "negated":
            return self.holds("objected") and _NEGATED in self._remarked()
        if when == "asserted":
            return self.holds("objected") and self._echoes(
                self._exchange.prompt[:HEAD] + self._exchange.response[: 2 * HEAD]
            )
        return not self._remarked()

    def _remarked(self) -> frozenset[int]:
        """Find what the follow-up remarks, without the negations that say nothing of the answer."""
        if self._remarks is None:
            self._remarks = frozenset(_REMARKS.match(_HARMLESS.sub(b" ", encode(self._follow_up))))
        return self._remarks

    def _states(self) -> bool:
        """Say whether the follow-up asks nothing: no question mark, no question word in front."""
        return "?" not in self._follow_up and self._tells()

    def _tells(self) -> bool:
        """Say whether the follow-up begins as a statement does."""
        words = self._follow_up[:CLOSING].split(maxsplit=2)
        return words[0] not in _ASKING and not (words[0] in _VERBS and len(words) > 1 and words[1] in _SUBJECTS)

    def _objects(self) -> bool:
        """Say whether a statement can be held against the answer: something was asked, and it is not about oneself."""
        prompt = self._exchange.prompt[:HEAD]
        words = words_of(self._follow_up)
        if (
            len(words) < 2
            or words[0] in ("i", "we")
            or not _PRAISE.isdisjoint(words)
            or (self._follow_up[-1] == "!" and words[0] not in _SUBJECTS)
            or prompt[:2].casefold() in _TELLING
            or ("?" not in prompt and prompt[:1].islower())
        ):
            return False
        brief = len(words) <= _BRIEF and words[0] not in ("my", "our")
        return brief or self._echoes(self._exchange.response[: 2 * HEAD])

    def _echoes(self, text: str) -> bool:
        """Say whether the follow-up has a word with a subject from a text: who objects says to what."""
        text = text.casefold()
        words = words_of(self._follow_up)
        return any(len(word) > 3 and word not in _EMPTY and word in text for word in words)

    def _strays(self, own: int) -> bool:
        """Say whether the follow-up is of something else: `own` words with a subject, and none of the exchange's."""
        words = [word for word in words_of(self._follow_up) if len(word) > 2 and word not in _STOCK]
        if len(words) < own:
            return False
        known = self._exchange
        around = " ".join((known.before[:HEAD], known.prompt[:HEAD], known.response[: 2 * HEAD])).casefold()
        return not any(word[: min(_STEM, len(word) - 1)] in around for word in words if len(word) > 3)

    def _contrasts(self) -> bool:
        """Say whether a "not" in the follow-up stands behind something else than a verb that it belongs to."""
        words = words_of(self._follow_up)
        return any(one == "not" and before not in _AUXILIARY for before, one in pairwise(words))

    def _find(self, text: str) -> list[int]:
        return self._signs.Match(encode(text.casefold())) or []


def encode(text: str) -> bytes:
    """Encode for RE2, which reads bytes."""
    return text.encode("utf-8", "replace")  # a lone surrogate becomes "?", which RE2 can read
