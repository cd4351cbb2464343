"""Headings: whether what stands above a sentence lets it hold of every answer.

A heading, label or tag that is known to be general ("Style", "Your answers must:") narrows nothing. One that forbids
turns what stands below it, and one of examples makes it no instruction. Whatever else stands above narrows: unknown
words may name a part of the answer, some of the answers, or a text that is none.
"""

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from turnsignal.stream.prompts.leftover import without_parts
from turnsignal.stream.prompts.reasons import is_reason
from turnsignal.stream.prompts.siblings import of_both, several
from turnsignal.stream.prompts.structure import Above
from turnsignal.stream.prompts.titles import MAX_HEADING, PLAIN
from turnsignal.stream.prompts.wording import compile_pattern, mask, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("headings.toml").read_text(encoding="utf-8"))
_GENERAL = frozenset(_BUILT["general"].split())
_PARTS = frozenset(_BUILT["parts"].split())
_SAYS = read_patterns(_BUILT["patterns"])
_WORD = compile_pattern(r"[\pL\pN&/][\pL\pN'’/-]*")

_SAID = frozenset(_BUILT["said"].split())
_ASPECTS = frozenset(_BUILT["aspects"].split())
_WHOLE = frozenset({"answer", "text", "message"})  #: parts as a label alone, the whole before a word for its aspect
_SERIES = frozenset(_BUILT["series"].split())
GENERAL, FORBIDS, EXAMPLE, UNKNOWN = "general", "forbids", "example", "unknown"


class Surroundings(NamedTuple):
    """What all that stands above a block makes of it.

    heading: the words above, outermost first; narrow: the innermost that is not known to be general, "" if there is
    none; forbids: the innermost that forbids; is_example: whether it stands in an example; holds: whether the next
    above says what every answer holds, as "Mandatory elements of each reply".
    """

    heading: str = ""
    narrow: str = ""
    forbids: str = ""
    is_example: bool = False
    holds: bool = False


def surroundings(above: list[Above], product: str = "", title: int = -1) -> list[Surroundings]:
    """Return what each of those that stand above makes of what stands below it.

    product: words for the text that the prompt orders; title: the index of the heading that names the whole prompt.
    """
    read: list[Surroundings] = []
    words = frozenset(product.split()) - {"it"}
    one_of_several, both = several(above), of_both(above)
    for index, one in enumerate(above):
        outer = read[one.parent] if one.parent >= 0 else Surroundings()
        kind = kind_of(one.label, words)
        kind = UNKNOWN if kind == GENERAL and index in one_of_several else GENERAL if index in both else kind
        label = one.label.strip("*_: ")
        if kind == GENERAL and _SAYS["resets"].fullmatch(label) is not None:
            outer = Surroundings(is_example=outer.is_example)  # "General rules:" is not of the section above it
        is_named = one.level <= PLAIN or _SAYS["platform"].fullmatch(label) is not None
        is_bot = index == title and _SAYS["title"].search(label) is not None
        shown = without_parts(label) if is_bot else label  # "bot for field technicians" is of no field
        heading = f"{outer.heading} {shown}"[-MAX_HEADING:].strip() if is_named else outer.heading
        read.append(
            Surroundings(
                heading,
                outer.narrow if kind != UNKNOWN or (index == title and index not in one_of_several) else label,
                label if kind == FORBIDS else outer.forbids,
                outer.is_example or kind == EXAMPLE,
                kind == GENERAL and _SAYS["holds"].search(label) is not None,
            )
        )
    return read


def title_of(above: list[Above]) -> int:
    """Return the index of the heading that names the whole prompt, as "Acme's assistant"; -1 if there is none."""
    if above and above[0].level > 1 and _SAYS["title"].search(above[0].label) is not None:
        return 0 if any(one.parent == 0 for one in above) else -1
    first = [index for index, one in enumerate(above) if one.level == 1]
    if first != [0]:
        return -1
    is_over_all = len(above) == 1 and _SAYS["title"].search(above[0].label) is not None
    return 0 if is_over_all or any(one.level > 1 for one in above) else -1


@lru_cache(maxsize=4096)  # items of a list and labels at their heads come again
def kind_of(label: str, product: frozenset[str] = frozenset(), *, is_label: bool = False) -> str:
    """Return what a heading, label or tag makes of what stands below it.

    is_label: whether it stands at a sentence's head, as in "Details: at least 100 words", where it may name a part.
    """
    general = _GENERAL - _PARTS if is_label else _GENERAL
    masked = mask(label.strip("*_: "))
    if _SAYS["example"].search(masked) is not None:
        return EXAMPLE
    plain = _SAYS["neutral"].sub(" ", masked)
    words = [word[0].casefold().replace("’", "'") for word in _WORD.finditer(plain)]
    if _SAYS["need_not"].search(plain) is not None or _SAYS["groups"].search(plain) is not None:
        return UNKNOWN
    denials = len(_SAYS["forbids"].findall(plain))
    general = general | _SAID if denials else general
    left = [word for word in words if word not in general and word not in product and not word.isdigit()]
    bare = masked.strip(" ,.:;!–—-")
    if _SAYS["medium"].fullmatch(bare) is not None or is_reason(masked):
        return GENERAL
    if _SAYS["law"].fullmatch(bare) is not None:
        return GENERAL
    if not words and _SAYS["neutral"].fullmatch(bare) is not None and not bare[-1:].isdigit():
        return GENERAL  # "At all times"; but "Step 4" is one of several
    if not is_label and _SAYS["yours"].fullmatch(bare) is not None:
        return GENERAL
    if is_label and len(words) > 1 and words[-1] in _ASPECTS and words[-1] in _GENERAL:
        left = [word for word in left if word not in _WHOLE]  # "Answer length: …" is of no part
    if left or not words or _is_one_of_several(words) or ("·" in masked and _SAYS["named"].search(masked) is None):
        return UNKNOWN
    if not denials:
        return GENERAL
    return FORBIDS if denials == 1 and _SAYS["both"].search(plain) is None else UNKNOWN


def leads_in(sentence: str) -> bool:
    """Return whether a sentence only introduces what stands below it: "You must:"."""
    return sentence.endswith(":") and kind_of(sentence) in (GENERAL, FORBIDS)


def _is_one_of_several(words: list[str]) -> bool:
    """Return whether a label names one of several parts: "A", "Part 2"."""
    named = [word for word in words if word not in _SERIES]
    is_series = len(named) < len(words) and bool(named)
    return (is_series or not words[0].isdigit()) and all(len(word) == 1 or word.isdigit() for word in named or words)


def keeps(item: str) -> bool:
    """Return whether an item is a rule of its own, which nobody forbids: "Keep it under 60 words"."""
    return _SAYS["keeps"].search(item) is not None


def orders(item: str) -> bool:
    """Return whether an item begins with a verb, as a rule does: "use emojis"."""
    return _SAYS["verb"].search(item) is not None


def held(item: str) -> str:
    """Return an item of a list of what every answer holds as a sentence: "A line" → "Every answer must include …"."""
    is_rule = _SAYS["denied"].search(mask(item)) is not None or keeps(item) or orders(item)
    return item if is_rule else f"Every answer must include {item[:1].lower()}{item[1:]}"


def joined(forbids: str, item: str) -> str:
    """Return an item of a list of what is forbidden as one sentence: "Never" and "use emojis" → "Never use emojis"."""
    if _SAYS["denied"].search(mask(item)) is not None or keeps(item):
        return item
    if orders(item) and _SAYS["avoid"].search(forbids) is None:
        return f"Never {item[:1].lower()}{item[1:]}"
    return f"Avoid {item[:1].lower()}{item[1:]}"
