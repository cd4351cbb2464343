"""Small talk: what a user says that asks for nothing, so that whatever is answered need not come out of documents.

Thanks, greetings, consent, ratings, leave and the pings of a monitor. A product may answer them or not, and log them or
not; neither says anything of how it answers questions.
"""

from collections.abc import Sequence

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.pairing import ASSISTANT, TOGETHER, KeptTurn, asked, exchange
from turnsignal.stream.follow_ups.commands import obeys
from turnsignal.stream.follow_ups.contexts import CLOSING
from turnsignal.stream.follow_ups.failures import acknowledges
from turnsignal.stream.follow_ups.rules import FollowUpRules
from turnsignal.stream.follow_ups.sentences import WORDS
from turnsignal.stream.text.wordplay import words_of


def is_small_talk(kept: Sequence[KeptTurn], rules: FollowUpRules) -> bool:
    """Say whether the last messages of a user ask for nothing; kept: turns before the answer, which may be others."""
    begin, end = asked(kept, len(kept))
    text = TOGETHER.join([turn.text for turn in kept[begin:end]])
    if not text or len(text) > CLOSING or "?" in text:
        return False
    words = words_of(text.casefold())
    if all(word in WORDS["small_talk"] or not any(map(str.isalpha, word)) for word in words):
        return True
    answered = next((at for at in range(begin - 1, -1, -1) if kept[at].role == ASSISTANT), None)
    try:
        return rules.takes_leave(Exchange("", "", text) if answered is None else exchange(kept, answered, text))
    except Exception:  # a rule that fails is our bug, and no reason to take a question for none
        return False


def suffices(response: str, kept: Sequence[KeptTurn], rules: FollowUpRules) -> bool:
    """Say whether no more than an "OK" is an answer: to a command, and to small talk; kept: turns before the answer."""
    if not acknowledges(response):
        return False
    begin, end = asked(kept, len(kept))
    return is_small_talk(kept, rules) or obeys(response, TOGETHER.join([turn.text for turn in kept[begin:end]]))
