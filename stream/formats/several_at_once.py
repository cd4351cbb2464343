"""Several at once: messages one a record that nothing names, taken for one conversation, and show that they are many.

user       How do I pay?        one conversation    Whoever writes twice gets one answer. Where as many answers
user       Where is it?         another one         follow one another as questions do, several people ask at once.
assistant  By card.             the first one
assistant  On its way.          the other one       And no prompt, or greeting, begins one again and again.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from turnsignal.stream.formats.messages import role_of
from turnsignal.stream.formats.protocol import Assumed
from turnsignal.stream.formats.values import first

SEVERAL = "messages one a record, taken for one conversation, look like several"
_OFTEN = 5  #: times that questions, and answers, follow one another,
_SHARE = 0.03  #: in this share of the questions at least,
_MORE = 0.05  #: and by this share of them there may be more answers, or fewer
_BEGINNINGS = 3  #: times that a prompt, or a greeting, comes that begins the first conversation


def look_like_several(messages: Sequence[dict[str, Any]]) -> bool:
    """Say whether messages seem to be of several conversations, in the order in which they stand."""
    speeches = [(role_of(first(each, "role", "type")), str(_text_of(each))) for each in messages if _is_said(each)]
    if speeches and speeches[0][0] != "user" and speeches.count(speeches[0]) >= _BEGINNINGS:
        return True
    spoken = [role for role, _ in speeches if role in ("user", "assistant")]
    follows = Counter(role for before, role in pairwise(spoken) if before == role)
    turns = Counter(spoken)
    is_even = abs(turns["user"] - turns["assistant"]) <= _MORE * turns["user"]
    return is_even and min(follows["user"], follows["assistant"]) >= max(_OFTEN, _SHARE * turns["user"])


def doubt_several(assumed: Assumed) -> list[str]:
    """Subtract these messages from the counts, and say what tells their conversations apart."""
    if not (n := assumed.pop(SEVERAL, 0)):
        return []
    doubt = (
        f"{n:,} {SEVERAL}: questions follow one another, and so do their answers, or what a conversation begins with "
        "comes again and again; export the conversation's id with each message, as conversation_id or session_id"
    )
    return [doubt]


def _text_of(message: dict[str, Any]) -> Any:
    return first(message, "content", "text", "data")


def _is_said(message: dict[str, Any]) -> bool:
    """Say whether a message is none on the way to an answer, as calls of tools and their results are."""
    return not message.get("tool_calls") and _text_of(message) is not None
