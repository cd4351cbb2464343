"""Raw code: answers that are code and nothing else, in which the signs of Markdown mean other things.

A comment begins as a heading does, and a subtraction on a line of its own as a list. "No Markdown" in such a prompt
forbids the fences around the code. Where code is written beside prose, "No semicolons" may be of either.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from turnsignal.stream.names import write_name
from turnsignal.stream.prompts.instructions import WORDED
from turnsignal.stream.prompts.proposals import MARKDOWN
from turnsignal.stream.prompts.wording import read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("raw_code.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"], **_BUILT["words"])
_SIGNS = ("semi-?colons?",)  #: of statements, as a prompt forbids them
_NO_MARKDOWN = write_name("pattern.forbid", {"regex": MARKDOWN})
_OF_CODE = {write_name("pattern.forbid", {"regex": WORDED["forbidden"][key], "skip_code": True}) for key in _SIGNS}
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt
_NO_FENCES = write_name("pattern.forbid", {"regex": WORDED["forbidden"]["code (?:blocks?|fences?)"]})


def is_raw_code(rules: Iterable[str]) -> bool:
    """Return whether a prompt wants code alone; rules: its sentences, masked."""
    return any(_SAYS["raw"].search(one) is not None and _SAYS["beside"].search(one) is None for one in rules)


def of_code(asked: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return the checks of a sentence about raw code: a ban of Markdown is one of code fences."""
    return {_NO_FENCES if name == _NO_MARKDOWN else name: doubt for name, doubt in asked.items()}


def code_written(rules: Iterable[str]) -> str | None:
    """Return the sentence of a prompt that has code written, None if there is none; rules: its sentences, masked."""
    return next((one for one in rules if _SAYS["writes"].search(one) is not None), None)


def of_statements(check: str, writing: str | None) -> str | None:
    """Return why a ban of a sign may be of code; None if it is not. writing: the sentence that has code written."""
    return f"may be of code (“{writing[:_SHOWN]}”)" if writing is not None and check in _OF_CODE else None
