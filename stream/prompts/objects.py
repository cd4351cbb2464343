"""Objects: what a clause makes that is not the answer, so that what is said next may be of it alone.

"Write commit messages in English and without emojis" forbids emojis in commit messages. A clause without a verb of its
own goes on about what the clause before makes, and so does one that says "it" or "there"; "use" and "include" make
nothing, and what is forbidden behind them is of the answer.
"""

import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from turnsignal.stream.prompts.wording import compile_pattern, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("objects.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(
    _BUILT["patterns"],
    **{name.upper(): _BUILT[name] for name in ("texts", "keeps", "places", "stops")},
)
_ANSWER = frozenset(_BUILT["answer"].split())
_WORD = compile_pattern(r"[\pL\pN][\pL\pN'’/-]*")


def object_made(clause: str, left: Collection[str], behind: str = "it") -> str:
    """Return what a clause makes, as "commit messages", if the clause behind it may be about that; else "".

    clause: its words, with dots for quoted text; left: those that nothing accounts for; behind: the clause that
    follows.
    """
    match = _SAYS["made"].search(clause)
    if match is None or not _goes_on(match, behind):
        return ""
    made = _SAYS["stop"].split(match["object"], 1)[0].strip().removesuffix(" of")
    words = [word[0] for word in _WORD.finditer(made)]
    heads = {word.casefold() for word in (words[-2:] if match["keep"] else words[-1:])}  # "keep things simple"
    if not words or not heads.isdisjoint(_ANSWER) or words[-1].casefold().endswith("ly"):
        return ""
    return "" if set(words).isdisjoint(left) else made


def _goes_on(made: Any, behind: str) -> bool:
    """Return whether a clause may be about what the one before it makes."""
    if any(_SAYS[key].search(behind) is not None for key in ("with", "of_it")):
        return True
    if _SAYS["no"].search(behind) is not None:
        return made["place"] is None
    return made["text"] is not None
