"""Statements: plain sentences that may be meant as instructions, because they tell how somebody is, acts or is treated.

"You are brief.", "You work in metric units.", "I prefer bullet points." and "Hedging is discouraged." order nothing in
words, and are listed. Who the assistant is, whom it helps and what it has ("You are Mia, the assistant of Acme.") is
not.
"""

import tomllib
from pathlib import Path

from turnsignal.stream.prompts.wording import read_patterns

_SAYS = read_patterns(
    tomllib.loads(Path(__file__).with_name("statements.toml").read_text(encoding="utf-8"))["patterns"]
)
_WHAT_IS = ("is_so", "wishes", "valued", "dealt_with", "comes_first", "verdict")
_PLAIN = (*_WHAT_IS, "in_lower_case", "arrow", "with_digits", "maxim")


def states_a_rule(masked: str, *, is_early: bool) -> bool:
    """Return whether a sentence may be meant as an instruction although it only states something.

    is_early: whether it is one of the first of its prompt, which say what the assistant is there for, unless they tell
    what it does beside that, "You also …", or how: "You review the code line by line.".
    """
    if _SAYS["is_somebody"].match(masked) is not None:
        return False
    if any(_SAYS[key].search(masked) is not None for key in _PLAIN):
        return True
    act = _SAYS["acts"].match(masked)
    if act is None or _SAYS["role"].match(masked[act.start(1) :]) is not None:
        return False
    is_role = is_early and _SAYS["early"].match(act[1]) is not None and _SAYS["adds"].search(masked) is None
    return not is_role or _SAYS["how"].search(masked[act.end() :]) is not None
