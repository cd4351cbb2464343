"""Everyday names: names that are words of any text, too, so that a ban of the name is none of the word.

"Do not mention competitors such as Asana, Monday or Trello" forbids no weekday, and "Zoom in" names nobody.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from turnsignal.stream.text.languages import is_frequent

_BUILT = tomllib.loads(Path(__file__).with_name("everyday_names.toml").read_text(encoding="utf-8"))
_NAMES = frozenset(_BUILT["names"].split())


def everyday(names: Sequence[str]) -> list[str]:
    """Return those of some names that are everyday words, too."""
    return [name for name in names if name.casefold() in _NAMES or is_frequent(name.casefold())]
