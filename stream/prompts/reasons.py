"""Reasons: clauses that say why a rule holds, and take nothing from it.

"Your words are read aloud, so never use emojis" binds every answer as much as "Never use emojis" does. A clause is left
out only if it is plainly of all answers: it is about the answers, those who get them or what shows them, and it names
neither a case nor an amount nor anything that is quoted.
"""

import tomllib
from pathlib import Path

from turnsignal.stream.prompts.leftover import part_named
from turnsignal.stream.prompts.wording import amounts, mask, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("reasons.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(
    _BUILT["patterns"],
    **{key.upper(): "".join(line.strip() for line in _BUILT[key].splitlines()) for key in ("subject", "verb", "rule")},
)


def without_reason(sentence: str) -> str:
    """Leave the reason out of a sentence, before its rule or behind it; return it as it is if there is none."""
    for key in ("before", "therefore"):
        head = _SAYS[key].match(mask(sentence))
        if head is not None and _is_plain(head["reason"]) and not _asks(head["reason"]):
            sentence = sentence[head.end(_SAYS[key].groupindex["reason"]) :]
    who = _SAYS["who"].search(mask(sentence))
    is_who = who is not None and _SAYS["joined"].search(who[0]) is None and _is_plain(who[0])
    if who is not None and is_who and _SAYS["a_rule"].search(mask(sentence[: who.start()])) is not None:
        return f"{sentence[: who.start()].rstrip()}."
    behind = _SAYS["behind"].search(mask(sentence))
    if behind is not None and _is_reason(behind[0], sentence[: behind.start()]):
        sentence = f"{sentence[: behind.start()].rstrip()}."
    return sentence


def is_reason(label: str) -> bool:
    """Return whether a line above a list only says why its rules hold: "Since most learners are on a phone:"."""
    return _SAYS["alone"].match(label.rstrip(": ")) is not None and _is_plain(label) and not _asks(label)


def _is_reason(behind: str, rule: str) -> bool:
    """Return whether what stands behind a rule is its reason, and not what a label is followed by, or another rule."""
    is_rule = _SAYS["a_rule"].search(mask(rule)) is not None and _SAYS["is_told"].search(mask(rule)) is None
    if not is_rule or not _is_plain(behind) or amounts(behind):
        return False
    return _SAYS["own_rule"].search(behind) is None or _SAYS["becomes"].search(behind) is not None


def _asks(reason: str) -> bool:
    """Return whether a reason says how answers are, and not what becomes of them."""
    return _SAYS["asks"].search(reason) is not None and _SAYS["becomes"].search(reason) is None


def _is_plain(reason: str) -> bool:
    return _SAYS["narrows"].search(reason) is None and not part_named(reason)
