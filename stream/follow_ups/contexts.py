"""Contexts: what stands around a follow-up, as the rules ask for it; each part is looked at only when one does."""

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

import re2

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.follow_ups.closings import (
    asks_alone,
    asks_for_more,
    asks_to_end,
    asks_to_rate,
    asks_whether_it_helped,
    checks_in,
    ends_asking,
    offers,
)
from turnsignal.stream.follow_ups.failures import Failures, asks_back, demands
from turnsignal.stream.follow_ups.sentences import (
    TABLE,
    WORDS,
    claims,
    closes_asking,
    inquires,
    inverts,
    opened,
    requests,
    seeks_somebody,
    swaps,
    tells,
)
from turnsignal.stream.text.languages import is_frequent
from turnsignal.stream.text.patterns import Patterns, encode, options
from turnsignal.stream.text.wordplay import words_of

HEAD = 600  #: characters of a text that are read: people react first and explain later
TAIL = 160  #: characters at the end of a response where a question to the user stands
CLOSING = 100  #: characters that a closing remark may have

_CONFESSION = 45  #: characters of a message that may say no more than that the user made a mistake
_SUGGESTION = 160  #: characters of a response that may be one suggestion; "anything else?" then asks for another
#: What a response may show; the place in this tuple is the place in the set of signs.
SIGNS = ("asked", "confirm", "instructs", "invited", "more", "offer", "service", "unknown")
_ASKED, _CONFIRM, _INSTRUCTS, _INVITED, _MORE, _OFFER, _SERVICE, _UNKNOWN = range(8)
_SUGGESTING = frozenset((_CONFIRM, _OFFER, _SERVICE))  #: signs that a no turns something down

#: a word character in a pattern, or a class that has it
_WORD_CHARACTERS = re2.compile(r"(\[(?:[^\]\\]|\\.)*?\\w(?:[^\]\\]|\\.)*\]|\\w)")
_EMPTY = WORDS["empty"]
_STOCK = _EMPTY | WORDS["wishes"]  #: words that say nothing of a subject
_NEARBY = WORDS["pointing"] | WORDS["wishes"]  #: words of one who speaks of the answer, or of the question
#: words that point at the answer in what somebody tells of oneself
_AIMED = WORDS["pointing"] - WORDS["unaimed"]
_REFERRING = _AIMED | WORDS["referring"]
#: what has none of these in it, and none of the words that begin a summary, may be held against the answer
_COMMENTS = WORDS["praise"] | WORDS["musing"]
_OWN = frozenset(("my", "our"))
#: Words by which a follow-up begins to speak of what the assistant did, and of the answer; and what may stand before.
_OF_ASSISTANTS = frozenset(("you", "you're", "your"))
_OF_ANSWERS = _OF_ASSISTANTS | {"that", "that's", "thats", "this", "these", "those", "it", "it's", "its", "still"}
_HELD = _OF_ASSISTANTS | {"answer", "answers", "yours"}  #: with one of these, what is said may be of the answer
_NAYS = ("no", "nah")
_STEM = 5  #: letters that two forms of a word share
_WHOLE = 4  #: words of a statement that names what it is of; who leaves that out means the answer ("came out burnt")
_NEW = 3  #: words with a subject by which a statement is of something new; one fewer of who tells of oneself
_ITS_OWN = WORDS["owning"] | WORDS["ceased"]  #: "my radio", "the radio is silent no more"
_MANY = 6  #: words with a subject, from which on one that is shared may be so by chance
_BRIEF = 8  #: words of an objection that need not say to what
#: Beginnings of prompts by people who tell of themselves, and greet.
_TELLING = ("i ", "i'", "ye", "no", "ok", "hi", "th")


def expanded(patterns: Sequence[str], words: Mapping[str, str]) -> str:
    """Join alternatives to one pattern for case-folded text, and write out the words that it names in braces."""
    pattern = "|".join(patterns).replace("ß", "ss")  # as case-folding does
    for name, text in words.items():
        pattern = pattern.replace("{" + name + "}", text)
    return pattern


def with_all_letters(pattern: str) -> str:
    r"""Let word characters (`\w`) of a pattern be letters of any language, where RE2 means those of ASCII.

    All that is beyond ASCII, punctuation too: a class of letters alone makes reading twice as slow.

    >>> print(with_all_letters(r"\w+ [\w-]"))
    [\w\x{80}-\x{10FFFF}]+ [\w\x{80}-\x{10FFFF}-]
    """
    parts = _WORD_CHARACTERS.split(pattern)
    for at, part in enumerate(parts):
        if at % 2:
            text = part.replace(r"\w", r"\w\x{80}-\x{10FFFF}")
            parts[at] = text if text.startswith("[") else f"[{text}]"
    return "".join(parts)


_REMARK = {name: expanded(patterns, TABLE["words"]) for name, patterns in TABLE["remark"].items()}
_HARMLESS = re2.compile(_REMARK["harmless"].encode(), options())
_BIDING = re2.compile(with_all_letters(_REMARK["biding"]).encode(), options())
_SUPPOSED = re2.compile(with_all_letters(_REMARK["supposed"]).encode(), options())
_FAILED_STEP = re2.compile(with_all_letters(_REMARK["failed_step"]).encode(), options())
_RESTATED = re2.compile(with_all_letters(_REMARK["restated"]).encode(), options())
_ANNOUNCED = re2.compile(with_all_letters(_REMARK["announced"]).encode(), options())
#: What a follow-up may remark; the place in this tuple is the place in the set.
_DENIED, _ADVERSE, _NEGATED = range(3)
_REMARKS = Patterns([_REMARK["denied"], _REMARK["adverse"], _REMARK["negated"]])
#: What it may tell that is no remark on the answer, or is one all the same; likewise.
_DONE_WRONG, _WONDERING, _WRONG_FIRST = range(3)
_TELLS = Patterns([with_all_letters(_REMARK[name]) for name in ("done_wrong", "wondering", "wrong_first")])


def without_suppositions(follow_up: str) -> str:
    """Return a message, case-folded, without what it asks on a condition, which says nothing of the answer ([remark]).

    A step that was taken and failed is no condition, however it is said.

    >>> without_suppositions("thanks. what if it does not work?"), without_suppositions("if i press it nothing happens")
    ('thanks', 'if i press it nothing happens')
    """
    read = encode(follow_up)
    if not _SUPPOSED.search(read) or _FAILED_STEP.search(read):
        return follow_up
    return str(_SUPPOSED.sub(b" ", read).decode("utf-8", "replace")).strip()


class Context:
    """What stands around a follow-up; each part is looked at only when a rule asks."""

    __slots__ = (
        "_around",
        "_demands",
        "_exchange",
        "_failures",
        "_follow_up",
        "_new",
        "_remarks",
        "_signs",
        "_tail",
        "_tells",
    )

    def __init__(self, follow_up: str, exchange: Exchange, signs: Any, failures: Failures) -> None:
        self._follow_up, self._exchange, self._signs, self._failures = follow_up, exchange, signs, failures
        self._around: str | None = None
        self._new: bool | None = None
        self._demands: bool | None = None
        self._tail: list[int] | None = None
        self._remarks: frozenset[int] | None = None
        self._tells: frozenset[int] | None = None

    def always(self) -> bool:
        """Whatever stands around it."""
        return True

    def asked(self) -> bool:
        """The response ended in a question, and not in one that it asks of whatever it answered ("did that help?").

        Nor in "correct?". "Please paste the log." asks, too. Of one who comes back the day after, "not yet" says
        nothing of the answer.
        """
        tail = self._end()
        if _ASKED not in tail or _CONFIRM in tail:
            return _ASKED not in tail and self._demanded()
        if self.checked():
            return checks_in(self._exchange.response) and self._bides()
        return not (self._comments() and self.parting())

    def _bides(self) -> bool:
        """Say whether the follow-up puts off what an answer asks for ([remark]), and does not speak of the answer."""
        return _BIDING.search(encode(self._follow_up)) is not None and _HELD.isdisjoint(words_of(self._follow_up))

    def unasked(self) -> bool:
        """The response did not end in a question (else "no" answers it and rejects nothing)."""
        return not self.asked()

    def plain(self) -> bool:
        """The response did not end in a question of any kind, nor in a suggestion."""
        return "?" not in self._exchange.response[-TAIL:] and _OFFER not in self._end() and not self._demanded()

    def accomplished(self) -> bool:
        """Like plain and content: what is done now was neither asked for nor complained of."""
        return self.plain() and self.content()

    def uninvited(self) -> bool:
        """The response did not ask for changes ("anything else?")."""
        return _INVITED not in self._end()

    def contrasted(self) -> bool:
        """Like uninvited, and a not stands against a word ("the song, not the film"), not a verb ("is not a song")."""
        return self.uninvited() and self._contrasts()

    def _answered(self) -> bool:
        """Like unasked, and the prompt had a question: wanting something after small talk is a first request."""
        return "?" in self._exchange.prompt[:HEAD] and not self.asked()

    def answering(self) -> bool:
        """Like unasked, and the response did not say that it could not help: there is something to doubt."""
        return not self.asked() and not self.failed()

    def offered(self) -> bool:
        """The response did not end in a question, or it ended in a suggestion; and the follow-up claims something."""
        return self.claiming() and (
            _OFFER in self._end() or (not self.asked() and (self._concerns() or not self.explained()))
        )

    def proposed(self) -> bool:
        """The response ended in a question or a suggestion, and not in "anything else?" or "shall I go on?"."""
        tail = self._end()
        return (_ASKED in tail or _OFFER in tail) and _INVITED not in tail and _MORE not in tail

    def passing(self) -> bool:
        """Like proposed, behind an answer to what was no request, and the follow-up has no word of the prompt."""
        prompt, response = self._exchange.prompt[:HEAD].casefold(), self._exchange.response
        if not self.proposed() or asks_alone(response) or self._echoes(prompt):
            return False
        return "?" in prompt or not requests(prompt)

    def suggested(self) -> bool:
        """The response ended in a suggestion, offered to do something with it, or asked whether it had understood.

        A no to any other question is an answer.
        """
        tail = self._end()
        return not _SUGGESTING.isdisjoint(tail) and _INVITED not in tail and _MORE not in tail

    def checked(self) -> bool:
        """The response ended by asking whether it helped ("did that help?")."""
        return asks_whether_it_helped(self._exchange.response[-TAIL:])

    def concluded(self) -> bool:
        """Like checked, and said nothing behind it ("if not, tell me more"): who answers no has answered."""
        return self.checked() and ends_asking(self._exchange.response[-TAIL:])

    def parting(self) -> bool:
        """The response ended in "anything else?", or offered something beside its answer: a no takes leave."""
        end = self._exchange.response[-TAIL:]
        return (asks_for_more(end) or offers(end)) and not asks_to_end(end)

    def ending(self) -> bool:
        """The response ended by asking whether the conversation may be closed."""
        return asks_to_end(self._exchange.response[-TAIL:])

    def graded(self) -> bool:
        """The response ended by asking for a rating."""
        return asks_to_rate(self._exchange.response[-TAIL:])

    def failed(self) -> bool:
        """The response was none: it could not help, or is an error (`failures.toml`)."""
        return self._failures.is_failing(self._exchange.response)

    def retried(self) -> bool:
        """Like failed, and if the assistant did not know, the follow-up has a word of the prompt."""
        known = _UNKNOWN not in self._find(self._exchange.response[:HEAD])
        return self.failed() and (known or self._echoes(self._exchange.prompt[:HEAD]))

    def abandoned(self) -> bool:
        """Like stating, and the response was none."""
        return self.stating() and self.failed()

    def suggestive(self) -> bool:
        """Like unasked, and the response is as short as a suggestion, or ends in one."""
        return not self.asked() and (_OFFER in self._end() or not self.explained())

    def quoted(self) -> bool:
        """Like unasked, and a number in the follow-up stands in the response."""
        numbers = frozenset(word for word in words_of(self._follow_up) if word.isdecimal())
        return not self.asked() and not numbers.isdisjoint(words_of(self._exchange.response[: 2 * HEAD]))

    def drafted(self) -> bool:
        """The prompt wanted a text to be written, or put into other words."""
        return not WORDS["drafting"].isdisjoint(words_of(self._exchange.prompt[:CLOSING].casefold()))

    def scoped(self) -> bool:
        """Like unasked, and the beginning is a statement that has a word of the response."""
        return not self.asked() and self.telling() and self._echoes(self._exchange.response[: 2 * HEAD])

    def explained(self) -> bool:
        """The response is longer than a suggestion."""
        return len(self._exchange.response) > _SUGGESTION

    def asking(self) -> bool:
        """The follow-up has a question mark."""
        return "?" in self._follow_up

    def closing(self) -> bool:
        """The follow-up is short and asks nothing."""
        return len(self._follow_up) <= CLOSING and "?" not in self._follow_up

    def denied(self) -> bool:
        """The follow-up asks nothing, and denies that the answer served ([remark]; harmless phrases taken out).

        Of something new nothing is denied.

        After a response that is no more than a question it tells what is asked for ("is the light on?").
        """
        if self._follow_up.endswith("?") or not self.telling() or _DENIED not in self._remarked():
            return False
        response = self._exchange.response
        return not (self.asked() and (asks_alone(response) or asks_back(response))) and not self._is_new()

    def unquestioned(self) -> bool:
        """Like closing, and the response did not end in anything that a no replies to."""
        return self.closing() and (not self.asked() or self.checked())

    def content(self) -> bool:
        """Like closing, and nothing in the follow-up is denied, adverse or negated."""
        return self.closing() and not self._remarked()

    def succeeded(self) -> bool:
        """The follow-up has no question mark, and nothing in it is denied or adverse."""
        return "?" not in self._follow_up and not {_DENIED, _ADVERSE} & self._remarked()

    def unopposed(self) -> bool:
        """The follow-up asks, or nothing in it is denied or adverse."""
        return not self.stating() or not {_DENIED, _ADVERSE} & self._remarked()

    def settled(self) -> bool:
        """Nothing in the follow-up is denied, adverse or negated."""
        return not self._remarked()

    def owned(self) -> bool:
        """Like succeeded, asks for nothing anew ([remark]), and speaks of no assistant: a mistake is the user's own."""
        if not self.succeeded() or not _HELD.isdisjoint(words_of(self._follow_up)):
            return False
        return _RESTATED.search(encode(self._follow_up)) is None

    def confessed(self) -> bool:
        """Like owned, and hardly a word is beside it."""
        return len(self._follow_up) <= _CONFESSION and self.owned()

    def righted(self) -> bool:
        """Like owned, and nothing in it is negated."""
        return self.owned() and _NEGATED not in self._remarked()

    def stating(self) -> bool:
        """The follow-up asks nothing, whatever the response ended in: no question mark, no question word in front."""
        return "?" not in self._follow_up and self.telling()

    def telling(self) -> bool:
        """The follow-up begins as a statement does, whatever stands before it ("and", "thanks")."""
        words = opened(self._follow_up[:CLOSING])
        return not words or tells(words)

    def claiming(self) -> bool:
        """A sentence of the follow-up is a statement that supposes nothing ("if it is wrong")."""
        return claims(self._follow_up)

    def addressed(self) -> bool:
        """Like claiming, or the follow-up is said to the assistant ("you")."""
        return self.claiming() or not WORDS["address"].isdisjoint(words_of(self._follow_up))

    def requested(self) -> bool:
        """Like uninvited, and something is stated, or asked of the assistant."""
        return self.uninvited() and requests(self._follow_up)

    def wanted(self) -> bool:
        """The follow-up tells, or asks for somebody ("can I"), and not whom the user will ask elsewhere ([remark])."""
        return seeks_somebody(self._follow_up[:CLOSING]) and _ANNOUNCED.search(encode(self._follow_up)) is None

    def remote(self) -> bool:
        """Like stating, and no word points at the answer or at what became of it ("it", "still", "tried")."""
        return self.stating() and _NEARBY.isdisjoint(words_of(self._follow_up))

    def stated(self) -> bool:
        """Like unasked, and the follow-up asks nothing: neither a question mark nor a question word or request."""
        return self.stating() and not self.asked()

    def countered(self) -> bool:
        """Like unasked, and the follow-up claims something of others than oneself and does not end in a question."""
        if self.asked() or self._ends_asking() or self._tells_of_deeds():
            return False
        return self.telling() and self.claiming()

    def grudging(self) -> bool:
        """Like stated, and without a word of praise."""
        return self.stated() and _COMMENTS.isdisjoint(words_of(self._follow_up))

    def concerning(self) -> bool:
        """Like stated, and neither of oneself alone nor of something new."""
        if not self.stated() or self._tells_of_deeds():
            return False
        return self._concerns() and not closes_asking(self._follow_up) and not self._is_new()

    def objected(self) -> bool:
        """Like stated, to an answer to a question, and not about oneself."""
        return self.stating() and self._objects() and not self.asked()

    def negated(self) -> bool:
        """Like objected, a negation is left when the harmless ones are taken out, and nothing new is told of."""
        if not self.objected() or _NEGATED not in self._remarked():
            return False
        return not self._tells_of_new() and not self._tells_of_deeds()

    def asserted(self) -> bool:
        """Like objected, and it has a word of the exchange."""
        return self.objected() and self._echoes(self._exchange.prompt[:HEAD] + self._exchange.response[: 2 * HEAD])

    def anew(self) -> bool:
        """Like answered, and the follow-up has a word of the exchange, or few of its own.

        A request that stands for itself is the next one, not the last one said better.
        """
        return self._answered() and not self._strays(3)

    def narrowed(self) -> bool:
        """Like unstraying, and something is asked of the assistant, or stated."""
        return self.unstraying() and requests(self._follow_up)

    def unstraying(self) -> bool:
        """Like unasked, in the same way."""
        return not self.asked() and not self._strays(3)

    def swapped(self) -> bool:
        """Like unasked, and what stands behind "instead of" is a word of the response; "what is X with" asks on."""
        if self.asked() or inquires(self._follow_up[:CLOSING]):
            return False
        return swaps(self._follow_up, self._exchange.response[: 2 * HEAD].casefold())

    def mistaken(self) -> bool:
        """Like unasked, without a question at its end, and it names what only the prompt has, and only the response."""
        words = words_of(self._follow_up)
        if self.asked() or self._follow_up.endswith("?") or not _COMMENTS.isdisjoint(words):
            return False
        sides = [self._only_in(word) for word in words if _is_subject(word)]
        return True in sides and False in sides

    def misnamed(self) -> bool:
        """Like unasked, and the last word is a subject of the response alone."""
        words = words_of(self._follow_up)
        return not self.asked() and _is_subject(words[-1]) and self._only_in(words[-1]) is True

    def reported(self) -> bool:
        """Like concerning, in the same way: what happened elsewhere says nothing of the answer."""
        return self.concerning() and not self._strays(4)

    def pasted(self) -> bool:
        """Like stated, and it is the text of an error, or one that is told of something in the exchange."""
        return self.stated() and not self._tells_of_new()

    def followed(self) -> bool:
        """The follow-up has nothing of the user's own that is new ("my last bill")."""
        return WORDS["owning"].isdisjoint(words_of(self._follow_up)) or not self._is_new()

    def _ends_asking(self) -> bool:
        """Say whether the follow-up ends in a question, with a mark or in words that need none ([remark]).

        Who says first that the answer is wrong complains, whatever is asked behind that.
        """
        if self._follow_up.endswith("?"):
            return True
        return _WONDERING in self._told() and _WRONG_FIRST not in self._told()

    def _tells_of_deeds(self) -> bool:
        """Say whether the follow-up tells what the user did or did not do wrong, or what changed there ([remark])."""
        return _DONE_WRONG in self._told()

    def _told(self) -> frozenset[int]:
        """Find what the follow-up tells beside remarks."""
        if self._tells is None:
            self._tells = frozenset(_TELLS.match(encode(self._follow_up)))
        return self._tells

    def _comments(self) -> bool:
        """Say whether the follow-up speaks of the answer before all else: who wants more, or no more, does not.

        Behind a no, only what is said to the assistant does: "no, it is for me" answers the question.
        """
        words = opened(self._follow_up[:CLOSING])
        aimed = _OF_ASSISTANTS if self._follow_up.startswith(_NAYS) else _OF_ANSWERS
        return words[:1] != [] and words[0] in aimed and WORDS["sufficing"].isdisjoint(words[1:])

    def _concerns(self) -> bool:
        """Say whether a statement may concern the answer; who tells of oneself speaks of advice, or points at it."""
        words = words_of(self._follow_up)
        oneself = WORDS["oneself"]
        mine = words[:1] != [] and (words[0] in oneself or not _OWN.isdisjoint(words))
        if not mine or not oneself.isdisjoint(words_of(self._exchange.prompt[:HEAD].casefold())):
            return True
        response = self._exchange.response[: 2 * HEAD]
        return not _AIMED.isdisjoint(words) or self._echoes(response) or _INSTRUCTS in self._find(response)

    def _demanded(self) -> bool:
        """Say whether the response asks for something without a question mark; several rules ask that."""
        if self._demands is None:
            self._demands = demands(self._exchange.response)
        return self._demands

    def _end(self) -> Collection[int]:
        """Return what the end of the response shows."""
        if self._tail is None:
            self._tail = self._find(self._exchange.response[-TAIL:])
        return self._tail

    def _remarked(self) -> frozenset[int]:
        """Find what the follow-up remarks, without the negations that say nothing of the answer."""
        if self._remarks is None:
            self._remarks = frozenset(_REMARKS.match(_HARMLESS.sub(b" ", encode(self._follow_up))))
        return self._remarks

    def _objects(self) -> bool:
        """Say whether a statement can be held against the answer: something was asked, and it is not about oneself."""
        prompt = self._exchange.prompt[:HEAD]
        words = words_of(self._follow_up)
        if (
            len(words) < 2
            or words[0] in WORDS["summing"]
            or words[:2] in (["they", "say"], ["they", "said"])
            or opened(self._follow_up)[:1] == ["if"]
            or not _COMMENTS.isdisjoint(words)
            or (self._follow_up[-1] == "!" and (words[0] not in WORDS["subjects"] or words[0] == "that"))
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
        return self._shared(words) < (2 if len(words) > _MANY else 1)

    def _shared(self, words: Sequence[str]) -> int:
        """Return how many words, but short ones, the exchange has in some form."""
        if self._around is None:
            known = self._exchange
            text = " ".join((known.before[:HEAD], known.prompt[:HEAD], known.response[: 2 * HEAD])).casefold()
            self._around = f" {text} {' '.join(words_of(text))}"  # the words again, each behind a blank
        stems = [word[: min(_STEM, len(word) - 1)] for word in words if len(word) > 3]
        # Three letters stand in the middle of anything.
        return sum([(stem if len(stem) == _STEM else f" {stem}") in self._around for stem in stems])

    def _is_new(self) -> bool:
        """Say whether a statement is of something that is nowhere in the exchange, and points at nothing in it.

        The next problem that somebody brings to a help desk ("no sound in my meeting") reads as a complaint does, and
        is none of the answer before. What answers show ("the page") and how it fails are words of no problem.
        """
        if self._new is None:
            self._new = self._says_what_is_new()
        return self._new

    def _says_what_is_new(self) -> bool:
        known = self._exchange
        words = words_of(self._follow_up)
        if len(words) < _WHOLE or not (known.prompt and known.response) or not _REFERRING.isdisjoint(words):
            return False
        own = [word for word in words if _is_subject(word) and word not in WORDS["shown"] and not word.isdecimal()]
        least = _NEW - (words[0] in WORDS["oneself"]) if _ITS_OWN.isdisjoint(words) else 1
        return len(own) >= least and not self._shared(own)

    def _tells_of_new(self) -> bool:
        """Like _is_new, and it begins as one tells of things ("the", "my"): fragments and texts of errors do not."""
        words = opened(self._follow_up[:CLOSING])
        return words[:1] != [] and words[0] in WORDS["determiners"] and self._is_new()

    def _contrasts(self) -> bool:
        """Say whether a "not" in the follow-up stands behind something else than a verb that it belongs to."""
        words = words_of(self._follow_up)
        if inverts(self._follow_up[:CLOSING]):  # "is a whale not a fish": the verb stands in front
            return any(f"{mark} not " in self._follow_up for mark in ",;:-–.")
        return any(one == "not" and before not in WORDS["auxiliary"] for before, one in pairwise(words))

    def _only_in(self, word: str) -> bool | None:
        """Say whether a word is of the response alone (True), of the prompt alone (False), or of both or neither."""
        stem = word[: max(_STEM, len(word) - 2)]
        asked = stem in self._exchange.prompt[:HEAD].casefold()
        given = stem in self._exchange.response[: 4 * HEAD].casefold()
        return None if asked is given else given

    def _find(self, text: str) -> list[int]:
        return self._signs.Match(encode(text.casefold())) or []


def _is_subject(word: str) -> bool:
    return len(word) > 3 and word not in _STOCK and not is_frequent(word)


#: The words of `when` in `rules.toml`: all that a context can be asked; what each asks stands in its docstring.
CONDITIONS: Mapping[str, Callable[[Context], bool]] = {
    name: ask for name, ask in vars(Context).items() if callable(ask) and not name.startswith("_")
}


def condition(word: str) -> Callable[[Context], bool]:
    """Return the condition that a rule names in `when`; raises ConfigError for a word that is none."""
    if word not in CONDITIONS:
        msg = f"when of a rule for follow-ups must be one of {', '.join(CONDITIONS)}; got {word!r}"
        raise ConfigError(msg)
    return CONDITIONS[word]
