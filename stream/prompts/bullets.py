"""Bullets: a number of bullets as a check that counts them however an answer marks them.

IFEval counts lines that begin with `*` or `-`. Models write `•` and `–`, too, and an owner who asks for three bullets
means any of them; so only a prompt that names the mark gets IFEval's check.
"""

from collections.abc import Iterable, Iterator

from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.repetitions import repetitions
from turnsignal.stream.prompts.wording import compile_pattern

_FAMILY = "format.number_bullet_lists"
_NAMES_THE_MARK = compile_pattern(
    r"\bmarkdown bullet|\bbullet(?:ed|s)?\b[^.\n]{0,60}(?:\b(?:markdown|asterisks?|hyphens?|dash(?:es)?|stars?)\b"
    r"|[\"“`'‘:(]\s*[*-][\s\"”`'’)])"
)
_BULLET = r"^[ \t]*(?:[-*+–][ \t]+|[•‣◦▪●][ \t]*)\S.*?"


def any_bullets(proposals: Iterable[Proposal], prompt: str) -> Iterator[Proposal]:
    """Yield proposals, with patterns for bullets of any kind unless the prompt names the mark."""
    is_named = _NAMES_THE_MARK.search(prompt) is not None
    for one in proposals:
        if one.check.startswith(_FAMILY) and not is_named:
            yield from (one._replace(check=check) for check in repetitions(one.check, _BULLET))
        else:
            yield one
