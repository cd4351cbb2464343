"""Emoji counts: the checks of at least and at most so many emojis.

What is shown as one counts as one: a flag is two signs, a family several with joiners between them, and a skin colour
belongs to the sign before it.
"""

from collections.abc import Iterator

from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.instructions import WORDED
from turnsignal.stream.prompts.wording import Amount

_SIGN = (
    r"[\x{1F200}-\x{1F3FA}\x{1F400}-\x{1FAFF}\x{231A}\x{231B}\x{23E9}-\x{23F3}\x{2614}\x{2615}\x{2648}-\x{2653}"
    r"\x{26A1}\x{26BD}\x{26D4}\x{2705}\x{270A}\x{270B}\x{2728}\x{274C}-\x{2757}\x{2795}-\x{2797}\x{2B50}\x{2B55}]"
)
_LETTER = r"[\x{1F1E6}-\x{1F1FF}]"  #: two of these are a flag
_OTHER = rf"[^\x{{200D}}{_LETTER[1:-1]}{_SIGN[1:-1]}]"
_NONE = rf"(?:{_OTHER}|\x{{200D}}{_SIGN}|\x{{200D}}{_OTHER})*"  #: what is no emoji of its own
_ONE = rf"(?:{_SIGN}|{_LETTER}{{2}})"
#: pattern of one emoji or more, and of what a person counts as one beside them: signs of texts, ":tada:", ":-)"
ANY_EMOJI: str = WORDED["forbidden"]["emojis?|emoticons?"] + r"|[\x{2600}-\x{27BF}]|:[a-z][a-z\d_+-]*:|[:;]-?[)(D]"
_MOST = 12  #: emojis that a pattern counts; its size grows with them


def emoji_counts(amount: Amount) -> Iterator[str]:
    """Yield the checks for at least and at most so many emojis; a plain number is the most: "one emoji per message"."""
    least, most = 0 if amount.exact else amount.low or 0, amount.high
    if least == 1:
        yield write_name("pattern.require", {"regex": ANY_EMOJI})
    elif 1 < least <= _MOST:
        yield write_name("pattern.require", {"regex": rf"\A{_NONE}(?:{_ONE}{_NONE}){{{least}}}"})
    if most is not None and 0 < most <= _MOST:
        yield write_name("pattern.forbid", {"regex": rf"\A{_NONE}(?:{_ONE}{_NONE}){{{most}}}{_ONE}"})
