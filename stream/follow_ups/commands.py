"""Commands: what a user tells the assistant to do, to which "OK" is an answer, where to a question it is none.

Regret is one to who only tells of something, and asks nothing.
"""

from collections.abc import Sequence

from turnsignal.stream.follow_ups.contexts import CLOSING
from turnsignal.stream.follow_ups.failures import acknowledges, regrets
from turnsignal.stream.follow_ups.sentences import WORDS, opened, tells
from turnsignal.stream.text.wordplay import words_of

#: at the end of a command without a verb
_BEHIND = frozenset(("on", "off", "please", "pls", "bitte", "an", "aus", "ein", "aan", "uit"))
_DENYING = frozenset(("not", "no", "never", "nicht", "kein", "keine", "pas", "non", "niet", "geen", "não"))
#: who asks so for something that the assistant does, commands it; the first words of a request
_MAY = frozenset(("can", "could", "would", "will", "kannst", "könntest", "können", "könnten", "würdest", "puedes"))
_MAY |= {
    "podrías",
    "puede",
    "peux",
    "pourrais",
    "pouvez",
    "pourriez",
    "puoi",
    "potresti",
    "pode",
    "podes",
    "kun",
    "kunt",
}
_YOU = frozenset(("you", "u", "du", "sie", "tu", "vous", "je", "você"))
_FEW = 5  #: words of a command that names a device and a number


def obeys(response: str, prompt: str) -> bool:
    """Say whether an answer says that what its prompt commands is done, in no more than an "OK".

    >>> obeys("OK", "Turn on the hall lights"), obeys("OK", "How do I turn on the lights"), obeys("OK", "It is dark")
    (True, False, False)
    """
    return acknowledges(response) and _commands(prompt.strip("¿¡ \t\n").casefold())


def regrets_remark(response: str, prompt: str) -> bool:
    """Say whether an answer regrets what its prompt tells of, and passes it on; who asks gets none by that.

    >>> sorry = "Sorry, I'll pass it on."
    >>> [regrets_remark(sorry, prompt) for prompt in ("This city is so loud", "Where is it?", "I want a refund")]
    [True, False, False]
    """
    text = prompt.casefold()
    words = opened(text)
    if not words or "?" in text or not tells(words) or words[0] in WORDS["commands"]:
        return False
    return WORDS["requesting"].isdisjoint(words_of(text)) and regrets(response)


def is_enough(response: str, prompt: str) -> bool:
    """Say whether an answer that says nothing is enough: "OK" to a command, or regret to who asks nothing."""
    return obeys(response, prompt) or regrets_remark(response, prompt)


def _commands(text: str) -> bool:
    """Say whether a text is short, asks nothing but to do it, denies nothing, and begins or ends as a command does."""
    if len(text) > CLOSING:
        return False
    words, begun = words_of(text), opened(text)
    while begun and begun[0] in WORDS["called"]:
        begun = opened(" ".join(begun[1:]))
    if not begun or not _DENYING.isdisjoint(words) or "n't" in text:
        return False
    if _asks_to(begun):
        return True
    if "?" in text or not WORDS["verbs"].isdisjoint(words):
        return False
    if begun[0] in WORDS["commands"]:  # "order 4711" names one
        return not (len(begun) == 2 and begun[1][:1].isdigit())
    if begun[0] in WORDS["asking"] | WORDS["subjects"] | WORDS["oneself"]:
        return False
    return words[-1] in _BEHIND or _sets_a_device(begun)


def _asks_to(begun: Sequence[str]) -> bool:
    """Say whether somebody asks the assistant to do what assistants do ("could you lock the door?")."""
    if _MAY.isdisjoint(begun[:2]):
        return False
    rest = [word for word in begun if word not in _MAY | _YOU | {"please", "bitte"}]
    return bool(rest) and (rest[0] in WORDS["commands"] or not WORDS["doing"].isdisjoint((rest[0], rest[-1])))


def _sets_a_device(begun: Sequence[str]) -> bool:
    """Say whether a few words name a device and a number ("kitchen lights 40%")."""
    is_set = any(word[:1].isdigit() for word in begun[-2:])
    return len(begun) <= _FEW and is_set and not WORDS["devices"].isdisjoint(begun)
