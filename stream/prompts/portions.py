"""Portions: whether a sentence names several parts or tasks, so that a limit in it binds one of them.

"Write a post with a hook in all caps and a story" asks for no post in capitals, and "answer in one sentence and give an
example" for more than one sentence. A lower bound is no matter of that: what a part has at least, the whole has, too.
"""

import tomllib
from pathlib import Path

from turnsignal.stream.prompts.bounds import is_least
from turnsignal.stream.prompts.leftover import RequestedCheck
from turnsignal.stream.prompts.wording import read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("portions.toml").read_text(encoding="utf-8"))
_CHOICES = {
    name.upper(): "".join(line.strip() for line in choice.splitlines()) for name, choice in _BUILT["choices"].items()
}
_SAYS = read_patterns(_BUILT["patterns"], **_CHOICES)
_LIMITS = ("counts", "bullets", "letters", "case", "commas", "things", "links")
_SIZES = ("counts", "bullets")  #: kinds that what is added to a text exceeds
_FORBIDS = ("keywords.forbidden_words", "pattern.forbid")


def portion(masked: str, check: RequestedCheck, *, is_one_text: bool) -> str | None:
    """Return why a check may bind one of several parts or tasks that its sentence names; None if it names one.

    masked: the sentence, with dots for quoted text; is_one_text: whether the prompt orders one text.
    """
    is_limit = check.kind in _LIMITS or (check.kind == "words" and check.check.startswith(_FORBIDS))
    if not check.spans or not (is_limit or check.kind == "language") or is_least(check.check):
        return None
    start, end = check.spans[0]
    before, behind = masked[:start], masked[end:]
    if is_limit and is_one_text and (part := _part_before(before, behind)):
        return f"may concern a part of the answer ({part})"
    is_added_to = check.kind in _SIZES or (is_one_text and check.kind in ("case", "language"))
    if not is_added_to:
        return None
    each = _SAYS["each"].match(behind)
    if each is not None and _SAYS["of_answers"].search(each["each"]) is None:
        return f"may concern a part of the answer ({each['each'].casefold()})"
    if _SAYS["whole"].search(before) is not None:
        return None
    added = _SAYS["task_behind"].search(behind) or (_SAYS["part_behind"].match(behind) if is_one_text else None)
    if added is None or _SAYS["measured"].search(added["more"]) is not None:
        return None
    return f"asks for more beside it ({added['more'].strip().casefold()} …)"


def _part_before(before: str, behind: str) -> str:
    """Return the part or the task right before a limit, as "hook"; "" if the limit is of the whole."""
    bracket = _SAYS["in_brackets"].search(before)
    if bracket is not None:
        listed = _SAYS["goes_on"].match(behind) is not None or _SAYS["joined"].search(bracket["before"]) is not None
        return str(bracket["part"]).casefold() if listed else ""
    match = _SAYS["attached"].search(before)
    if match is not None and _SAYS["loose"].match(match["how"]) and _SAYS["topic"].search(before[: match.start()]):
        match = None
    match = match or _SAYS["task_before"].search(before)
    if match is None or _SAYS["manner"].search(match["part"]) is not None:
        return ""
    return str(match["part"]).strip().casefold()
