"""Fragments: rules without a subject, which go on about what the sentence before them is of.

"Be friendly. At most 120 words." is of the answer; "Users can upload files. At most 500 words." is not, and neither is
what is said behind a message for a tool, or behind a persona that is one of several.
"""

import tomllib
from collections.abc import Collection, Iterable
from pathlib import Path

from turnsignal.stream.prompts.leftover import is_anew, makes_beside
from turnsignal.stream.prompts.wording import read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("fragments.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"], PEOPLE=_BUILT["people"])


def is_fragment(masked: str) -> bool:
    """Return whether a rule has no subject, and so does not say what it is of: "No links.", "At most 20 words."."""
    return _SAYS["fragment"].search(masked) is not None and _SAYS["answer"].search(masked) is None


def is_predicate(masked: str) -> bool:
    """Return whether an item of a list is said of the line above it: "has no emojis" below "The reply:"."""
    return _SAYS["predicate"].search(masked) is not None


def is_of_other_text(fragment: str, before: str, made: Collection[str]) -> bool:
    """Return whether a fragment may be of a text that is no answer: of users, of documents, for a tool.

    before: the sentence that it may go on about; made: words for what the assistant is there to write. Behind what the
    assistant is able to do, "Never …" is of its answers again.
    """
    if is_anew(fragment) and _SAYS["able"].search(before) is not None:
        return False
    if any(_SAYS[key].search(before) is not None for key in ("of_users", "of_tools")) or makes_beside(before):
        return True
    match = _SAYS["of_inputs"].search(before)
    return match is not None and match["thing"].casefold() not in made


def personas(rules: Iterable[str]) -> frozenset[str]:
    """Return the names of the personas that a prompt gives its assistant, where there are several."""
    listed = (match[0] for rule in rules if (match := _SAYS["personas"].search(rule)) is not None)
    return frozenset(name[0] for text in listed for name in _SAYS["name"].finditer(text))


def is_of_persona(sentence: str, names: Collection[str]) -> bool:
    """Return whether a sentence begins with the name of a persona: "Max: at most 20 words", "Lily is brief."."""
    first = _SAYS["name"].search(sentence)
    return first is not None and first[0] in names and not any(map(str.isalnum, sentence[: first.start()]))
