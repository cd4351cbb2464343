"""Plain lines: the rules of a prompt that is written without bullets and full stops, one on each line in lower case."""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from turnsignal.stream.prompts.wording import read_patterns

MAX_LINES = 20  #: of one sentence, at most, that are looked at

_SAYS = read_patterns(
    tomllib.loads(Path(__file__).with_name("plain_lines.toml").read_text(encoding="utf-8"))["patterns"]
)


def is_rule_after(lines: Sequence[str], line: str) -> bool:
    """Return whether a line is a rule of its own below others, where all begin small and none has a full stop.

    lines: those of the sentence so far, the last of which does not go on. What stands below a case holds in it, unless
    it says "always" or "never", or the case ends with the words of its reply.
    """
    if len(lines) > MAX_LINES or not line[:1].islower():
        return False
    is_opener = _SAYS["opener_line"].search(lines[0]) is not None
    if not is_opener and not (lines[0][:1].islower() and _is_rule_or_case(lines[0])):
        return False  # a sentence that is wrapped begins with a capital
    cases = [_SAYS["case_line"].search(one) is not None for one in lines if _SAYS["case"].match(one) is not None]
    is_over = _SAYS["anew"].match(line) is not None or _SAYS["closed_case"].search(lines[-1]) is not None
    if cases and not (all(cases) and is_over):
        return False  # "for refunds", which those below are about
    return _is_rule_or_case(line)


def _is_rule_or_case(line: str) -> bool:
    return any(_SAYS[key].search(line) is not None for key in ("rule_line", "setting_line", "case_line"))
