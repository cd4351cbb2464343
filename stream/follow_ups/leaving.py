"""Leaving: whether a message expects no answer, be it a user's words, a rating, or what a program writes for the user.

Widgets write down as a user's message that the window was closed, and which stars were given. Nobody waits for an
answer to either.
"""

import re

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.follow_ups.contexts import CLOSING
from turnsignal.stream.follow_ups.rules import FollowUpRules

_WHO, _CHAT = "(?:user|customer|visitor|client)", "(?:chat|session|conversation|window|widget)"
#: what a program writes down in a user's place: "[user left the chat]", "chat closed by user", "END_SESSION"
_EVENT = re.compile(
    r"[\[(<*][^\[\]()<>*\n]{0,40}\b(?:left|closed|ended|disconnected|minimi[sz]ed|went (?:away|offline)"
    r"|is (?:away|idle|inactive|offline))\b[^\[\]()<>*\n]{0,40}[\])>*]"
    rf"|{_CHAT}(?: was| has been)? (?:closed|ended|left) by (?:the )?{_WHO}\.?"
    rf"|(?:the )?{_WHO}(?: has)? (?:left|closed|ended|disconnected)(?: (?:from )?the {_CHAT})?\.?"
    rf"|(?:end|close|leave|exit)_{_CHAT}|[a-z0-9_]{{0,40}}_(?:opened|closed|ended|left|clicked|dismissed|minimi[sz]ed)",
    re.IGNORECASE,
)
_NUMBER = r"(?:10|\d(?:[.,]5)?)"
_RATED = r"(?:(?:my|user|customer|chat)[ _])?(?:rating|rated|score|stars?|csat|nps|feedback|bewertung|valoraci[oó]n)"
_STARS = r"(?:stars?|sterne?|estrellas?|étoiles?|stelle|sterren|estrelas?)"
#: which stars were given, said as such: "4/5", "Rating: 5", "csat=4", "★★★★☆"
_RATING = re.compile(
    rf"{_RATED}\W{{1,3}}{_NUMBER}(?: ?(?:/|of|out of) ?(?:5|10))?(?: {_STARS})?"
    rf"|{_NUMBER} ?(?:/|of|out of) ?(?:5|10)(?: {_STARS})?|[★☆⭐🌟✩✭\ufe0f ]{{1,20}}",
    re.IGNORECASE,
)
_NUMBERED = re.compile(rf"({_NUMBER})(?:[ -]?{_STARS})?", re.IGNORECASE)  #: which may be a reply as well


def expects_no_answer(around: Exchange, rules: FollowUpRules) -> bool:
    """Say whether a message expects no answer, given the answer before it.

    >>> [expects_no_answer(Exchange("", "Press Reset.", text), FollowUpRules()) for text in ("4/5", "5", "[user left]")]
    [True, True, True]
    """
    text = around.follow_up.strip()
    if 0 < len(text) <= CLOSING and (
        _EVENT.fullmatch(text) or _RATING.fullmatch(text) or _rates(text, around.response)
    ):
        return True
    return leaves_in_words(around, rules)


def leaves_in_words(around: Exchange, rules: FollowUpRules) -> bool:
    """Say whether a user's words thank or take leave."""
    try:
        return rules.takes_leave(around)
    except Exception:  # a rule that fails is our bug, and no reason to keep an answer waiting for ever
        return False


def _rates(text: str, response: str) -> bool:
    """Say whether a number is a rating, and no reply: a question may ask for one, and a menu lists what to choose."""
    number = _NUMBERED.fullmatch(text)
    return number is not None and "?" not in response and number[1] not in re.findall(r"\d+", response)
