"""Small talk: what a user says that asks for nothing, so that whatever is answered need not come out of documents.

Thanks, greetings, consent, ratings, leave and the pings of a monitor. A product may answer them or not, and log them or
not; neither says anything of how it answers questions. No list has all that people wish one another, so what is
answered with no more than a courtesy is small talk, too, unless it is a question or opens the conversation.
"""

from collections.abc import Sequence

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.pairing import ASKED, ASSISTANT, TOGETHER, KeptTurn, asked, exchange, last_answer
from turnsignal.stream.follow_ups.closings import asks_whether_it_helped
from turnsignal.stream.follow_ups.commands import is_enough
from turnsignal.stream.follow_ups.contexts import CLOSING, TAIL, expanded
from turnsignal.stream.follow_ups.failures import acknowledges, demands, ends_idle, praises
from turnsignal.stream.follow_ups.leaving import expects_no_answer, leaves_in_words
from turnsignal.stream.follow_ups.openings import only_opens, passes_over
from turnsignal.stream.follow_ups.rules import FollowUpRules
from turnsignal.stream.follow_ups.sentences import TABLE, WORDS, opened, tells
from turnsignal.stream.text.client_labels import without_labels
from turnsignal.stream.text.patterns import Patterns, encode
from turnsignal.stream.text.quoted_lines import own_words
from turnsignal.stream.text.wordplay import words_of

_NOTHING = WORDS["greeting"] | WORDS["small_talk"]
_FEW = 5  #: words of who says that it works, and no more
_COURTESY = 160  #: characters of an answer to thanks and wishes
_OPENING = 300  #: characters in which a first message says what it is about
_RECALLS = Patterns([expanded(["{recall}"], TABLE["words"])])
_RETURNS = Patterns(
    [expanded([r"^{gap}*(?:{filler}{gap}+)*{returned}(?:{gap}+(?:{returned}|{filler}))*{gap}*$"], TABLE["words"])]
)


def is_small_talk(kept: Sequence[KeptTurn], rules: FollowUpRules, answer: str = "") -> bool:
    """Say whether the last messages of a user ask for nothing; kept: turns before the answer, which may be others.

    answer: what comes out of no documents.
    """
    begin, end = asked(kept, len(kept))
    text = TOGETHER.join([own_words(turn.text) for turn in kept[begin:end]])
    before = next((turn.text for turn in reversed(kept[:begin]) if turn.role in ASKED), "")
    text, _ = without_labels(text, own_words(before))
    if not text or len(text) > CLOSING or "?" in text:
        return False
    words = words_of(text.casefold())
    if not words:
        return False  # a text that was hidden ("***") may have asked anything
    if all(word in _NOTHING or not any(map(str.isalpha, word)) for word in words):
        return True
    answered = last_answer(kept[:begin])
    if answered is None:
        return expects_no_answer(Exchange("", "", text), rules)
    around = exchange(kept, answered, text)
    if _returns(answer) or expects_no_answer(around, rules):
        return True
    return (acknowledges(answer) or praises(answer)) and accepts(around, rules)


def asks(text: str) -> bool:
    """Say whether a message asks something; what people write in several messages they often do not."""
    words = opened(text.casefold())
    return "?" in text or (bool(words) and not tells(words))


def ignores(response: str, kept: Sequence[KeptTurn], rules: FollowUpRules) -> bool:
    """Say whether an answer only greets and asks what it can do, though its user asked; kept: turns before it."""
    if not only_opens(response):
        return False
    begin, end = asked(kept, len(kept))
    text = TOGETHER.join([own_words(turn.text) for turn in kept[begin:end]])
    return passes_over(response, text) and not is_small_talk(kept, rules, response)


def accepts(around: Exchange, rules: FollowUpRules) -> bool:
    """Say whether a few words behind an answer ask nothing and complain of nothing: a courtesy is enough for them.

    No list has all words by which people say that it works ("habs", "im in"). What the answer asked for is none.

    >>> rules, step = FollowUpRules(), "Press Reset."
    >>> [accepts(Exchange("", step, text), rules) for text in ("habs", "where is that", "no, the other one")]
    [True, False, False]
    """
    text = around.follow_up
    if not words_of(text.casefold()) or len(opened(text.casefold())) > _FEW or asks(text):
        return False
    asking = around.response[-TAIL:]
    if demands(asking) or ("?" in asking and not asks_whether_it_helped(asking)):
        return False
    try:
        return not rules.read(around).clarification
    except Exception:  # a rule that fails is our bug, and no reason to believe that an answer is none
        return True


def _returns(answer: str) -> bool:
    """Say whether an answer returns thanks or a wish, and says no more."""
    text = answer.strip(" \t\n¡")
    return 0 < len(text) <= _COURTESY and bool(_RETURNS.match(_read(text)))


def is_reply(text: str, rules: FollowUpRules) -> bool:
    """Say whether a text thanks or takes leave, as what stands behind an answer does, and no first message.

    >>> is_reply("Thanks, that worked!", FollowUpRules()), is_reply("Good morning!", FollowUpRules())
    (True, False)
    """
    text = own_words(text)
    if len(text) > CLOSING or "?" in text or all(word in WORDS["greeting"] for word in words_of(text.casefold())):
        return False
    return leaves_in_words(Exchange("", "", text), rules)


def recalls(text: str) -> bool:
    """Say whether a first message begins with what the assistant said another time ("Yesterday you told me that …").

    >>> recalls("u said ur open sunday, i came and its closed"), recalls("When are you open on Sunday?")
    (True, False)
    """
    return bool(_RECALLS.match(_read(own_words(text)[:_OPENING])))


def complains(text: str, rules: FollowUpRules) -> bool:
    """Say whether a first message reads as a complaint: of the world, as no answer stands before it, or in swear words.

    >>> complains("The app does not work!!", FollowUpRules()), complains("When are you open?", FollowUpRules())
    (True, False)
    """
    return rules.read(Exchange("", "", text)).clarification


def _read(text: str) -> bytes:
    """Return a text as patterns read it."""
    return encode(text.casefold().replace("’", "'"))


def suffices(response: str, kept: Sequence[KeptTurn], rules: FollowUpRules) -> bool:
    """Say whether no more than that is due.

    An "OK" to a command or a thanks, a closing line behind an answer or those, regret to who states and asks nothing.

    kept: turns before the answer.
    """
    if ends_idle(response):
        return bool(kept) and (kept[-1].role == ASSISTANT or is_small_talk(kept, rules))
    begin, end = asked(kept, len(kept))
    text = TOGETHER.join([turn.text for turn in kept[begin:end]])
    return is_enough(response, text) or (acknowledges(response) and is_small_talk(kept, rules, response))
