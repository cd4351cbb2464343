"""Instructions: what a call's system prompt says, by which one program's calls are told from another's."""

import re
from functools import lru_cache

from turnsignal.stream.formats.protocol import Call

_READ = 200  #: characters of the instructions
_SAME = 0.8  #: of their words, that instructions with other dates have in common
_HELD = 1_024  #: instructions whose lasting part is held
_WORDS = re.compile(r"[^\W\d_]+")
_SENTENCES = re.compile(r"(?<=[.!?:])\s+|\n\s*")


def instructions_of(call: Call) -> str:
    """Return the beginning of what a call's system prompt says, empty without one."""
    return call.inputs[0].text[:_READ] if call.inputs and call.inputs[0].role == "system" else ""


@lru_cache(maxsize=_HELD)
def lasting(instructions: str) -> str:
    """Return instructions without the sentences that hold numbers, such as a date; the whole where all of them do.

    >>> lasting("You are Ada. It is Monday, 2 March, 14:05. Be kind.")
    'You are Ada. Be kind.'
    """
    sentences = _SENTENCES.split(instructions)
    if len(instructions) == _READ and len(sentences) > 1:
        sentences.pop()  # it is cut, elsewhere beside another date
    return " ".join(text for text in sentences if not any(map(str.isdigit, text))) or instructions


def ask(call: Call) -> None:
    """Have a call ask what its instructions do, where nothing else is said and they end as a prompt does: "Answer:".

    Rails send theirs so; instructions of one who greets first end otherwise.
    """
    if len(call.inputs) == 1 and call.inputs[0].role == "system" and call.inputs[0].text.rstrip().endswith(":"):
        call.inputs[0].role = "user"


def are_others(call: Call, other: Call) -> bool:
    """Say whether calls have other instructions; a date in them makes no others."""
    own, others = instructions_of(call), instructions_of(other)
    if own == others:
        return False
    words, other_words = (set(_WORDS.findall(text)) for text in (own, others))
    return len(words & other_words) < _SAME * len(words | other_words)
