"""Commands: what a user tells the assistant to do, to which "OK" is an answer, where to a question it is none."""

from turnsignal.stream.follow_ups.contexts import CLOSING
from turnsignal.stream.follow_ups.failures import acknowledges
from turnsignal.stream.follow_ups.sentences import WORDS, opened
from turnsignal.stream.text.wordplay import words_of

_BEHIND = frozenset(("on", "off", "please", "pls", "bitte"))  #: at the end of a command without a verb
_DENYING = frozenset(("not", "no", "never", "nicht", "kein", "keine", "pas", "non", "niet", "geen", "não"))


def obeys(response: str, prompt: str) -> bool:
    """Say whether an answer says that what its prompt commands is done, in no more than an "OK".

    >>> obeys("OK", "Turn on the hall lights"), obeys("OK", "How do I turn on the lights"), obeys("OK", "It is dark")
    (True, False, False)
    """
    return acknowledges(response) and _commands(prompt.strip().casefold())


def _commands(text: str) -> bool:
    """Say whether a text is short, asks nothing, denies nothing, and begins or ends as a command does."""
    if len(text) > CLOSING or "?" in text:
        return False
    words, begun = words_of(text), opened(text)
    if not begun or not _DENYING.isdisjoint(words) or "n't" in text or not WORDS["verbs"].isdisjoint(words):
        return False
    if begun[0] in WORDS["commands"]:
        return True
    return begun[0] not in WORDS["asking"] | WORDS["subjects"] | WORDS["oneself"] and words[-1] in _BEHIND
