"""Question language: whether an answer is in the language of the message that it answers.

Both have to be told surely, and to be of one language each, before an answer is of another one. A user who asks for a
translation, names a language, or has written in the answer's language before gets what was asked for, as far as anybody
can tell.
"""

from collections.abc import Sequence
from enum import StrEnum

from turnsignal.stream.conversations.pairing import ASKED, GAP_USER, TOGETHER, USER, KeptTurn
from turnsignal.stream.text.spoken_languages import WHOLE, LanguageWeights, are_close, glance, names_language, read

_SURE = 2.5  #: words that speak for the answer's language, from which on it may be another one
_FOREIGN = 0.2  #: of another language beside it, as a share of these: beyond, a text is of both
_WORD = 0.9  #: a word that only one language has, give or take


class Match(StrEnum):
    """Say how the language of an answer fits; only the first two are scored."""

    SAME = "same"
    OTHER = "other"
    UNASKED = "unasked"  #: no message of a user that could be read stands before it
    UNTOLD = "untold"  #: question or answer is too short, no prose, of several languages, or of one that is not known
    MIXED = "mixed"  #: there is something of one's language in the other, or they are hard to tell apart
    ASKED_FOR = "asked_for"  #: a user names a language, asks for a translation, or has written in the answer's

    @property
    def value_of_answer(self) -> float | None:
        """1 in the question's language, 0 in another one, None where that is not known."""
        return 1.0 if self is Match.SAME else 0.0 if self is Match.OTHER else None


def match_languages(kept: Sequence[KeptTurn], time: float, answer: str) -> Match:
    """Compare the language of an answer with that of the message before it.

    kept: the turns of the conversation that are remembered, without the answer; time: the answer's event time.
    """
    question = _question(kept, time)
    if question is None:
        return Match.UNASKED
    asked = glance(question)
    if not asked and len(question) <= WHOLE:
        return Match.UNTOLD
    answered = glance(answer)
    if asked and asked == answered:
        return Match.SAME
    spoken, replied = read(question), read(answer)
    if not spoken.code or not replied.code:
        return Match.UNTOLD
    if spoken.code == replied.code:
        return Match.SAME
    if _are_mixed(spoken, replied):
        return Match.MIXED
    if any(_asks_for(replied.code, turn.text) for turn in kept if turn.role in ASKED):
        return Match.ASKED_FOR
    return Match.OTHER


def _question(kept: Sequence[KeptTurn], time: float) -> str | None:
    """Return the messages right before an answer, joined; None where there is none, or one that could not be read."""
    end = len(kept)
    if end == 1 and kept[0].role == USER and kept[0].time <= time:
        return kept[0].text  # as most are
    while end and (kept[end - 1].time > time or kept[end - 1].role not in ASKED):
        end -= 1
    begin = end
    while begin and kept[begin - 1].role in ASKED:
        begin -= 1
    if begin == end or any(turn.role == GAP_USER for turn in kept[begin:end]):
        return None
    return kept[begin].text if end - begin == 1 else TOGETHER.join([turn.text for turn in kept[begin:end]])


def _are_mixed(spoken: LanguageWeights, replied: LanguageWeights) -> bool:
    """Say whether question and answer are not of one language each, surely enough to tell them apart."""
    asks, says = spoken.code, replied.code
    return (
        are_close(asks, says)
        or replied.weight(says) < _SURE
        or replied.weight(asks) > _FOREIGN * replied.weight(says)
        or spoken.weight(says) > max(_WORD, _FOREIGN * spoken.weight(asks))
    )


def _asks_for(code: str, message: str) -> bool:
    """Say whether a message is in the language of an answer, or names a language."""
    return names_language(message) or read(message).code == code
