"""Failures: answers that are none, because they are empty, an error, a refusal, hand the question on, or say only "OK".

Why patterns: they are data (`failures.toml`), the same for the outcome of a conversation and for follow-up rules, they
cost microseconds, and a product adds what its own errors look like (`[conversations] failed` in the suite).

Why sentences: "I can't see your account, but the limit is under Settings" helps, "I can't see your account" does not.
So where a pattern matches at all, each sentence is looked at: one fails, and is there another that helps, or a part of
the same that makes up for it? An alternative does, what was reached in the end, what the user can do, and a question
that narrows. What only limits an answer before it ("I cannot give legal advice") fails by itself, and not behind one.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import NamedTuple

import re2

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.follow_ups.addenda import divided, unwrapped, without_footers
from turnsignal.stream.text.accents import without_accents
from turnsignal.stream.text.exemptions import Exemptions
from turnsignal.stream.text.patterns import Patterns, encode, options

VERSION = 16  #: raised when another answer counts as a failure, or as a question; part of the suite's fingerprint

#: what an answer that is none may be, for whoever reads that it failed
MEANING = 'empty, an error, a refusal, handed on, or no more than "OK"'

_OPENING = 300  #: characters at each end in which an answer says that it is none; a program's errors are no longer
_SURROUNDED = 1_500  #: characters of an answer that is none, with what a product puts around each
_PIECES = 24  #: sentences that are looked at, half of them at the end
_AWAITED = 10_000  #: answers of which is remembered, until their follow-up comes, whether they are none
_BRIEF = 24  #: characters that "okay" has at most, in any language and spelling
_WORDS = 3  #: of which a sentence has at least so many to be an answer beside a failure
_LAST = 2  #: sentences at the end of an answer of which one may ask for something
_LEAD = 12  #: words of a sentence that leads over to a question
_CHOICE = 6  #: words of what may be chosen as the answer to a question
_LEAST = 2  #: things of which one can be chosen
#: where one of several things to choose from begins, on lines of their own or in one
_ITEM = re.compile(r"(?m:^)[ \t]*(?:\d{1,2} ?[.):–-]|[-*•–])[ \t]+|(?<=\s)(?:\d{1,2}[.)]|[a-e]\))[ \t]+")
_ALTERNATIVES = re.compile(r",? (?:or|ou|o|of|oder|u) |, ")
_AHEAD = 5  #: words of a clause that says something before another of its sentence fails; fewer only lead over
#: an error that is quoted is being explained, who is sorry for a person refuses nothing, and some refusals are manners
_BESIDE = re.compile(
    r'"[^"]*(?:"|$)|“[^”]*(?:”|$)|„[^“”]*(?:[“”]|$)|«[^»]*(?:»|$)|‘[^‘\']*(?:\'|$)|`[^`]*(?:`|$)'
    r"|(?<![a-z0-9])'[^']*'(?![a-z0-9])|(?m:^\s*>.*$)"
    r"|\bsorry (?:to hear|for your|about your)[^.!?]*"
    r"|\b(?:can't|cannot) (?:wait|stress|emphasi[sz]e|imagine|help but|thank you|recommend)\b|\bcouldn't agree more"
)
#: an error that is shown before it is explained
_SHOWN_FIRST = re.compile(
    r"""\W{0,3}?(?:```[^`]*```|`[^`]*`|"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?:>[^\n]*\n?)+|\*\*[^*\n]*\*\*)"""
)
#: behind a word that points at a button or a menu, its name: emphasised, or with a capital letter amid a sentence
_POINTING = (
    r"(?:(?i:tap|click|press|choose|select|pick|tick|mark|option|button|called|appuye[zr]|choisi\w*|coche[zr]|bouton|toque"
    r"|marque|escolha|selecione|opção|botão|prema|scelga|tocchi|selezioni|clicchi|pulsante|voce|kies|klik|druk|knop"
    r"|wählen sie|wähle|drücken sie|pulse|elija|botón|opción)|on|under|sur|sous|em|su|op|onder|auf|unter|en)\s+|>\s*"
)
_NAME = (
    r"(?:\*{1,2}|_{1,2})[^*_\n]{1,60}(?:\*{1,2}|_{1,2})"
    r"|(?:I|Je|J['’]|Não|Nao|No|Non|Ich|Ik|Cannot|Can['’]t|Kein\w*|Geen)(?![^\W\d_])[^.,;:!?>()\[\]\n]{1,60}"
)
_NAMED = re.compile(rf"(?<!\w)({_POINTING})(?:{_NAME})")
_SENTENCE = re.compile(r"(?<=[.!?…;:])\s+|\n+|[。！？；]")
#: where a clause begins that may say the answer; behind "although" it is the one after the comma
_CLAUSE = re.compile(
    r",? (?=(?:but|however|yet|though|so|pero|aunque|mais|cependant|mas|porem|ma|tuttavia|maar|echter|dus)\b)"
    r"|, (?=(?:\S+ ){0,3}(?:aber|jedoch|doch|allerdings)\b)"
    r"|(?<=,) (?=(?:which|daher|asi que|por isso|donc|quindi|dat|die)\b)"
)
#: where a part of a sentence begins that may make up for what another part could not do
_PART = re.compile(r"[,;–—-]\s+|\s(?=(?:and|so|then) )")
_CONCESSION = re.compile(r"\W*(?:although|while|even though|obwohl|aunque|bien que|embora|anche se|sebbene|hoewel)\b")
_CONTRAST = re.compile(
    r"\W*(?:but|however|yet|though|although|still|that said|instead|so|aber|jedoch|doch|allerdings|stattdessen|pero"
    r"|sin embargo|aunque|mais|cependant|toutefois|mas|porem|contudo|ma|pero|tuttavia|maar|echter|dus)\b\W*"
)
#: a condition or an explanation: who says what to do about a failure does not fail
_EXPLAINED = re.compile(
    r"\W*(?:if|when|whenever|once|in case|wenn|falls|sobald|cuando|quand|lorsque|en cas de|quando|wanneer|indien"
    r"|si (?:el|la|los|las|no|su|tu|usted|hay|aparece|quieres?|queres|necesitas?|tienes?|tenes|le|les)"
    r"|si (?:l'\w+|vous|votre|c'est)"
    r"|se (?:o|a|os|as|il|lo|la|i|gli|l'\w+|non|nao|voce|precisa|vuole|tiver|quiser)"
    r"|als (?:de|het|een|u|uw|je|er|dit|dat)"
    r"|chi|wer|quien(?:es)?|quem|ce(?:ux|lles|lui|lle) qui|(?:any ?one|those|people|\w{3,20}s) who|whoever)\b"
    r"|\W*(?!i\b|we\b)[^.!?]*\b(?:means? (?:that|the|it|your|you|a|an|\d+)|usually means|bedeutet|heisst|significa"
    r"|signifie|veut dire|quiere decir|vuol dire|betekent|(?:is|are) caused by"
    r"|(?P<reason>because|weil|porque|parce que|perche|omdat))\b"
)
#: categories of punctuation, of spaces and of what is not seen
_SILENT = frozenset(("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Zs", "Zl", "Zp", "Cc", "Cf"))
_FILLERS = "\u115f\u1160\u3164\uffa0\u2800"  #: letters and signs that are drawn as nothing
_TABLE = tomllib.loads(files(__package__).joinpath("failures.toml").read_text(encoding="utf-8"))
_ENGLISH = (" the ", " and ", " you ", " your ", " this ")  #: words that no other language has, so no other is tried
_HARD, _SOFT = range(2)
_EVIDENCE = 0  #: the place of the signs of help that count in any sentence


class Failures:
    """Tell answers that are none.

    more: patterns (RE2) of a product's own, in any case, looked for anywhere in the opening; exempt: texts that ought
    to be said, as `Exemptions` reads them, which are answers whatever they say. Raises ConfigError for a pattern that
    RE2 does not read.
    """

    def __init__(self, more: Iterable[str] = (), exempt: Iterable[str] = ()) -> None:
        self._exempt = Exemptions(exempt)
        own = [f"(?i:{_read(pattern)})" for pattern in more]
        self._own = Patterns(own, few=True) if own else None
        self._last = "", True
        self._known: dict[str, bool] = {}
        for section, name in (("patterns", "acknowledgement"), *(("beside", name) for name in _TABLE["beside"])):
            _table(section, name)  # compiled here, not while the first answer waits
        self._whole, self._courtesy = _table("patterns", "whole"), _table("beside", "courtesy")
        _answers(""), _answers("_elsewhere")

    def is_failing(self, response: str) -> bool:
        """Say whether an answer is empty, an error, a refusal, passed on to somebody else, or no more than "OK".

        >>> failures = Failures()
        >>> failures.is_failing("Internal error 500."), failures.is_failing("Error 500 means that the server failed.")
        (True, False)
        """
        before, failed = self._last
        if before is not response:  # the rules ask several times about one answer
            known = self._known.pop(response, None) if self._known else None
            if known is None:
                known = not self.exempts(response) and self._is_none(unwrapped(response.strip()))
            failed = known
            self._last = response, failed
        return failed

    def exempts(self, response: str) -> bool:
        """Say whether an answer is one that ought to be said, whatever it says.

        >>> Failures(exempt=["I can't help with that."]).is_failing("I can’t help with that.")
        False
        """
        return response in self._exempt

    def finds(self, response: str) -> bool:
        """Say whether a pattern of the product's own is found in the opening of an answer, exempt or not."""
        return self._own is not None and bool(self._own.match(encode(response[:_OPENING].casefold().replace("’", "'"))))

    def find_ahead(self, response: str) -> bool:
        """Like `is_failing`; keep the result until the follow-up's rules ask."""
        failed = self.is_failing(response)
        if len(self._known) >= _AWAITED:
            del self._known[next(iter(self._known))]
        self._known[response] = failed
        return failed

    def _is_none(self, text: str, *, names: bool = True) -> bool:
        """Say whether a text is no answer; names: whether it may have names of buttons, which say nothing of it."""
        if not ("a" <= text[:1].lower() <= "z" or any(_is_said(letter) for letter in text[:_OPENING])):
            return True
        if self.finds(text):
            return True
        opening = without_accents(text[:_OPENING])
        read = encode(opening)
        if len(text) <= _OPENING and (acknowledges(text) or (self._whole.match(read) and not _tells_of_error(opening))):
            return True
        failed = _kinds(opening, read)
        if failed and names and (unnamed := _NAMED.sub(r"\1x", text[:_SURROUNDED])) != text[:_SURROUNDED]:
            return self._is_none(unnamed + text[_SURROUNDED:], names=False)
        if not failed and len(text) <= _OPENING:
            return False
        polite = bool(self._courtesy.match(read))
        closing = without_accents(text[_OPENING:][-_OPENING:])
        if not failed and not (polite and _kinds(closing, encode(closing))):
            return False
        if _fails(opening, closing, polite=polite, unread=len(text) > 2 * _OPENING):
            return True
        bare = _without_addenda(text) if failed and len(text) <= _SURROUNDED else text
        return bare is not text and self._is_none(bare, names=names)


def _tells_of_error(text: str) -> bool:
    """Say whether an answer that begins as an error goes on about it: it is the user's, and is explained."""
    shown = _SHOWN_FIRST.match(text)
    if shown is None:
        return _explains(text)
    sentences = _sentences(text[shown.end() :])
    return any(_explains(one) or (_failure(one) is None and _helps(one)[0]) for one in sentences)


def _explains(text: str) -> bool:
    return bool(_table("beside", "explains").match(encode(text)))


def _without_addenda(text: str) -> str:
    """Leave out what a product puts behind every answer; a note that helps is none of that."""
    bare = without_footers(text)
    kept, aside = divided(bare)
    return bare if aside and _table("beside", "help").match(encode(without_accents(aside))) else kept


def acknowledges(response: str) -> bool:
    """Say whether an answer says no more than "okay"."""
    return _says_only("acknowledgement", response, _BRIEF)


def praises(response: str) -> bool:
    """Say whether an answer says no more than "great"."""
    return _says_only("praise", response, _BRIEF)


def regrets(response: str) -> bool:
    """Say whether an answer says that it is sorry, and that it passes on what was said, and no more.

    >>> regrets("Sorry to hear that, I'll pass it on."), regrets("I'll pass your question on to a colleague.")
    (True, False)
    """
    return _says_only("regret", response, _OPENING)


def ends_idle(response: str) -> bool:
    """Say whether a line tells that a chat in which nobody wrote is over.

    >>> ends_idle("This chat timed out after 15 minutes of inactivity."), ends_idle("The request timed out.")
    (True, False)
    """
    return _says_only("idle", response, _OPENING)


def _says_only(what: str, response: str, most: int) -> bool:
    """Say whether an answer of so many characters at most is of a kind. what: the name of its patterns."""
    text = response.strip()
    return len(text) <= most and bool(_table("patterns", what).match(encode(without_accents(text))))


def hands_over(response: str) -> bool:
    """Say whether an answer that is none puts the user through to somebody.

    >>> hands_over("I've put you through to Sam."), hands_over("One moment, please.")
    (True, False)
    """
    return bool(_table("beside", "handed").match(encode(without_accents(response[:_OPENING]))))


def refuses(response: str) -> bool:
    """Say whether an answer that is none declines, or says that it has nothing, and is no error and no hand-off.

    >>> refuses("I can't share that."), refuses("Internal error 500."), refuses("We couldn't connect to the server.")
    (True, False, False)
    """
    text = response.strip()
    read = encode(without_accents(text[:_OPENING]))
    if _table("patterns", "whole").match(read) or hands_over(text):
        return False
    return bool(_table("beside", "declines").match(read)) and not _table("beside", "breaks").match(read)


def asks_back(response: str) -> bool:
    """Say whether an answer only asks something back, with the answers to choose from behind it.

    >>> asks_back("Happy to help. Which terminal do you have?"), asks_back("Fees are on page 3. Did that help?")
    (True, False)
    >>> asks_back("To find your account I need your customer number."), asks_back("You need your customer number.")
    (True, False)
    >>> asks_back("Enter your staff number."), asks_back("Enter your staff number at the door.")
    (True, False)
    """
    text = response.strip()
    if len(text) <= _OPENING and _offers_choice(without_accents(text)):
        return True
    asking, mark, behind = text[-_OPENING - 1 :].rpartition("?")
    if not mark:
        return len(text) <= _OPENING and _asks_without_a_mark(_sentences(without_accents(text)))
    if len(asking) >= _OPENING or any(len(line.split()) > _CHOICE for line in behind.splitlines()):
        return False
    return all(map(_leads_over, _sentences(without_accents(asking + mark))))


def demands(response: str) -> bool:
    """Say whether one of the last sentences of an answer asks for something without a question mark, or all of it does.

    >>> demands("Odd. Please paste the full stack trace."), demands("Please restart the router.")
    (True, False)
    """
    text = response.strip()
    end = without_accents(text[-_OPENING:])
    sentences = _sentences(end)
    if any(map(_requests, sentences[-_LAST:])):
        return True
    return len(text) <= _OPENING and (_asks_without_a_mark(sentences) or _offers_choice(end))


def _requests(sentence: str) -> bool:
    """Say whether a sentence asks for something; what is to be copied into a file is none of ours."""
    read = encode(sentence)
    if _table("beside", "requests").match(read):
        return True
    if not _table("beside", "shows").match(read):
        return False
    return bool(_table("beside", "to_us").match(read)) or not _table("beside", "placed").match(read)


def _asks_without_a_mark(sentences: Sequence[str]) -> bool:
    asks = False
    for sentence in sentences:
        if _requests(sentence) or _table("beside", "enters").match(encode(sentence)):
            asks = True
        elif not _leads_over(sentence):
            return False  # as most answers are after their first sentence
    return asks


def _offers_choice(text: str) -> bool:
    """Say whether a text asks which of a few things is meant, and lists them ("Pick one: 1) IT 2) HR")."""
    before, *items = _ITEM.split(text)
    marked = bool(items)
    if not marked:  # "Choose: mobile, train or something else."
        before, _, listed = text.partition(": ")
        items = _ALTERNATIVES.split(listed.rstrip(" ."))
    if len(items) < _LEAST or any(not 0 < len(item.split()) <= _CHOICE for item in items):
        return False
    *first, last = _sentences(before) or [""]
    if not all(map(_leads_over, first)):
        return False
    if marked and items[-1].rstrip().endswith("?"):  # steps with a question behind them are none to choose from
        return last != "" and not any(_table("beside", "help").match(encode(one)) for one in (last, *items))
    return bool(_table("beside", "choosing").match(encode(last)))


def _leads_over(sentence: str) -> bool:
    """Say whether a sentence asks something, or leads over to a question."""
    read = encode(sentence)
    signs = _table("beside", "help").match(read)
    if sentence.endswith((":", "?")):
        return _EVIDENCE not in signs
    words = len(sentence.split())
    leads = words < _WORDS or (words <= _LEAD and _table("beside", "lead").match(read))
    return not signs and bool(leads or _table("beside", "filler").match(read))


class _Sentence(NamedTuple):
    """A sentence beside others: the kind of failure that it tells of, and whether it helps, clearly or perhaps.

    limits: whether its failure only limits what stands before it; answers: whether a sentence before a limit answers;
    specific: whether it helps, and could not have been written before anybody read the question; exact: whether it has
    a figure; unanswered: whether its failure is that somebody will answer later, or nobody.
    """

    failure: int | None
    helps: bool
    clearly: bool
    limits: bool = False
    answers: bool = False
    specific: bool = False
    exact: bool = False
    unanswered: bool = False


def _fails(opening: str, closing: str, *, polite: bool, unread: bool) -> bool:
    """Say whether an answer fails and nothing in it helps.

    polite: whether it begins with thanks; unread: whether it has a middle that is in neither opening nor closing.
    """
    texts = [opening, closing] if unread else [opening + closing]
    sentences = [sentence for text in texts for sentence in _read_all(_sentences(text))]
    kinds = (_HARD,) if polite and unread else (_HARD, _SOFT)
    first = next((at for at, sentence in enumerate(sentences) if sentence.failure in kinds), None)
    if first is None:
        return False
    hard = any(sentence.failure == _HARD for sentence in sentences)
    if unread and not hard:
        return False
    before, behind = sentences[:first], sentences[first:]
    if any(sentence.answers for sentence in before) and all(
        sentence.limits for sentence in behind if sentence.failure is not None
    ):
        return False
    if polite:
        unanswered = any(sentence.unanswered for sentence in behind)
        helped = any(one.clearly or (one.specific and (one.exact or not unanswered)) for one in before)
    else:
        helped = any(sentence.clearly or sentence.helps for sentence in before)
    return not (
        helped or any(one.clearly or (one.helps and not hard and not (polite and one.unanswered)) for one in behind)
    )


def _sentences(text: str) -> list[str]:
    """Split what is not quoted into sentences; all of it where nothing stands outside of the quotation marks."""
    plain = _BESIDE.sub(" ", text)
    if not any(map(str.isalnum, plain)):
        plain = text.strip(" \"“”„«»`'")
    sentences = [sentence for sentence in _SENTENCE.split(plain) if any(map(str.isalnum, sentence))]
    half = _PIECES // 2
    return sentences if len(sentences) <= 2 * half else sentences[:half] + sentences[-half:]


def _sentence(text: str) -> _Sentence:
    """Read one sentence; where it fails, a clause of it may help all the same."""
    failure = _failure(text)
    if failure is None:
        helps, clearly = _helps(text)
        clearly = clearly or (helps and _CONTRAST.match(text) is not None)
        specific = helps and not _table("beside", "boilerplate").match(encode(text))
        answers, exact = helps or not _only_opens(text), any(map(str.isdigit, text))
        return _Sentence(None, helps, clearly, answers=answers, specific=specific, exact=exact)
    if _is_explained(text):
        return _Sentence(None, helps=False, clearly=False)
    clauses = _CLAUSE.split(text)
    if _CONCESSION.match(text):
        clauses = [part for clause in clauses for part in clause.split(", ", 1)]
    failures = [_failure(clause) for clause in clauses]
    limits, unanswered = (bool(_table("beside", name).match(encode(text))) for name in ("caveat", "unanswered"))
    if any(map(_makes_up, _parts(text))):
        return _Sentence(failure, helps=True, clearly=failure == _SOFT, limits=limits, unanswered=unanswered)
    if failures.count(None) == len(clauses):
        return _Sentence(failure, helps=False, clearly=False, limits=limits, unanswered=unanswered)
    first = failures.index(next(failed for failed in failures if failed is not None))
    helps = any(
        failed is None
        and len(clause.split()) >= (_WORDS if at > first else _AHEAD)
        and _helps(_CONTRAST.sub("", clause, count=1))[0]
        for at, (clause, failed) in enumerate(zip(clauses, failures, strict=True))
    )
    return _Sentence(failure, helps, helps, limits, unanswered=unanswered)


def _read_all(texts: Sequence[str]) -> list[_Sentence]:
    """Read sentences one by one; what a colon leads over to is read with what stands before it where neither fails."""
    read = [_sentence(text) for text in texts]
    for at, (text, following) in enumerate(pairwise(texts), 1):
        leads = text.endswith(":") and not following.endswith("?") and read[at - 1].failure is read[at].failure is None
        if leads and not read[at].helps:
            read[at] = _sentence(f"{text} {following}")
    return read


def _only_opens(text: str) -> bool:
    """Say whether a sentence does no more than begin: greets, thanks, regrets, or says that it is understood."""
    read = encode(text)
    return acknowledges(text) or any(_table("beside", name).match(read) for name in ("opener", "courtesy"))


def _is_explained(text: str) -> bool:
    """Say whether a failure is only a condition, or has a reason; one that is a failure, too, explains nothing."""
    explained = _EXPLAINED.match(text)
    if explained is None or explained["reason"] is None:
        return explained is not None
    return _failure(text[: explained.start("reason")]) is None or _failure(text[explained.end() :]) is None


def _parts(text: str) -> list[str]:
    """Split a sentence where a part may make up for another; a question goes on to its end."""
    if text.endswith("?"):
        return [text[before.end() :] for before in _PART.finditer(text)]
    return _PART.split(text)[1:]


def _makes_up(part: str) -> bool:
    """Say whether a part of a sentence makes up for another: by what there is or to do, by how it ended, by a guess."""
    if _failure(part) is not None:
        return False
    read = encode(part)
    if part.endswith("?"):
        return bool(_table("beside", "narrowing").match(read))
    if _table("beside", "filler").match(read):
        return _ends_well(read)
    does = any(sign != _EVIDENCE for sign in _table("beside", "help").match(read))
    return does or bool(_table("beside", "instead").match(read)) or _ends_well(read)


def _ends_well(read: bytes) -> bool:
    """Say whether what was asked for was reached in the end, or something near it."""
    return bool(_table("beside", "ended").match(read)) and not _table("beside", "undone").match(read)


def _failure(text: str) -> int | None:
    """Return the kind of failure that a sentence tells of, the worst one."""
    shown = _kinds(text, encode(text))
    return _HARD if _HARD in shown else _SOFT if _SOFT in shown else None


def _helps(text: str) -> tuple[bool, bool]:
    """Say whether a sentence without a failure may be an answer, and whether it clearly is."""
    read = encode(text)
    helps, filler = _table("beside", "help"), _table("beside", "filler")
    signs = helps.match(read)
    if _EVIDENCE in signs:
        return True, True
    if text.endswith("?"):
        return bool(_table("beside", "narrowing").match(read)), False
    if _ends_well(read):
        return True, bool(signs)
    if text.endswith(":") or filler.match(read):
        return False, False
    return len(text.split()) >= _WORDS, bool(signs)


def _is_said(letter: str) -> bool:
    """Say whether a character says something: no space, no punctuation, nothing invisible."""
    return letter not in _FILLERS and unicodedata.category(letter) not in _SILENT


def _kinds(text: str, read: bytes) -> set[int]:
    """Say which kinds of failures a text shows; read: the text as RE2 reads it."""
    patterns, kinds = _answers("")
    shown = {kinds[place] for place in patterns.match(read)}
    for word in _ENGLISH:
        if word in text:
            return shown
    patterns, kinds = _answers("_elsewhere")
    return shown | {kinds[place] for place in patterns.match(read)}


@cache
def _answers(where: str) -> tuple[Patterns, tuple[int, ...]]:
    """Compile the patterns of failures, with the kind of each; 30 ms, once in a process."""
    by_kind = [_spelled("patterns", kind + where) for kind in ("hard", "soft")]
    places = tuple(kind for kind, patterns in enumerate(by_kind) for _ in patterns)
    return Patterns([pattern for patterns in by_kind for pattern in patterns]), places


@cache
def _table(section: str, name: str) -> Patterns:
    return Patterns(_spelled(section, name), few=True)


def _spelled(section: str, name: str) -> list[str]:
    """Write out the words that patterns name in braces."""
    patterns: list[str] = _TABLE[section][name]
    for word, text in _TABLE["words"].items():
        patterns = [pattern.replace("{" + word + "}", text) for pattern in patterns]
    return patterns


def _read(pattern: str) -> str:
    try:
        re2.compile(pattern, options())
    except re2.error as error:
        msg = f"expected a pattern that RE2 reads, got {pattern!r}: {error}"
        raise ConfigError(msg) from None
    return pattern
