"""Fillers: what stands in a section or field that has nothing to hold: 'If there are no decisions, write "None"'.

Such words are prescribed for a part of the answer, and are no answer.
"""

import tomllib
from pathlib import Path

from turnsignal.stream.prompts.wording import compile_pattern, read_patterns

_SAYS = read_patterns(tomllib.loads(Path(__file__).with_name("fillers.toml").read_text(encoding="utf-8"))["patterns"])
_WORD = compile_pattern(r"[\pL\pN]{4,}")


def is_filler(text: str, masked: str, heading: str) -> bool:
    """Return whether a text that a sentence prescribes fills a part of the answer.

    It is written, and not answered; and it is a usual word for nothing, or the part that is empty has a heading of its
    own. masked: the sentence, with dots for quoted text; heading: the words of the headings above.
    """
    if _SAYS["written"].search(masked) is None or _SAYS["answered"].search(masked) is not None:
        return False
    empty = _SAYS["empty"].search(masked)
    headed = _stems(heading) & _stems("" if empty is None else empty["what"])
    return bool(headed) or _SAYS["nothing"].fullmatch(text.strip()) is not None


def _stems(text: str) -> set[str]:
    return {word[0].casefold().rstrip("s") for word in _WORD.finditer(text)}
