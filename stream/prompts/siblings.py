"""Siblings: headings, labels and tags that sound general, and are one of several by what stands beside them.

"Text" above a list of rules narrows nothing, but beside "Voice" it is a channel; "Output" is the whole answer, but
beside "Log" a part of it. What stands below such a heading may not hold of every answer.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from turnsignal.stream.prompts.structure import HEADINGS, TAG, Above
from turnsignal.stream.prompts.wording import compile_pattern, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("siblings.toml").read_text(encoding="utf-8"))
_WORDS = {name: frozenset(words.split()) for name, words in _BUILT["words"].items()}
_KINDS = [(_WORDS[name], _WORDS[f"of_{name}"]) for name in _BUILT["kinds"]]
_SAYS = read_patterns(_BUILT["patterns"], **_BUILT["choices"])
_BESIDE_BOTH = 2  #: headings that "both" is about
_WORD = compile_pattern(r"[\pL\pN][\pL\pN'’-]*")


def several(above: Iterable[Above]) -> frozenset[int]:
    """Return the indices of headings and tags that a sibling of the same level shows to be one of several."""
    groups: dict[tuple[int, int], dict[str, list[int]]] = {}
    for index, one in enumerate(above):
        if one.level in HEADINGS or one.level == TAG:
            groups.setdefault((one.parent, one.level), {}).setdefault(one.label, []).append(index)
    return frozenset(
        index
        for (_, level), labels in groups.items()
        for label in counterparts(labels, are_headings=level in HEADINGS)
        for index in labels[label]
    )


def of_both(above: Iterable[Above]) -> frozenset[int]:
    """Return the indices of headings as "Both" that stand beside the two that they are about."""
    groups: dict[tuple[int, int], list[tuple[int, str]]] = {}
    for index, one in enumerate(above):
        if one.level in HEADINGS:
            groups.setdefault((one.parent, one.level), []).append((index, one.label.strip("*_: ")))
    both = ((group, [index for index, label in group if _SAYS["both"].fullmatch(label)]) for group in groups.values())
    return frozenset(indices[0] for group, indices in both if len(indices) == 1 and len(group) == _BESIDE_BOTH + 1)


def counterparts(labels: Iterable[str], *, are_headings: bool = False) -> frozenset[str]:
    """Return those of labels side by side that another of them shows to be one of several.

    are_headings: whether what stands below them may be long, so that "Steps" or "Notes" may be about the whole.
    """
    words = {label: _words(label) for label in labels}
    words = {label: named for label, named in words.items() if named}
    if len(words) < 2:
        return frozenset()
    alike: set[str] = set()
    for own, beside in _KINDS:  # "Voice" and "Text", "Standard" and "Premium"
        named = {label: one & own for label, one in words.items() if one & own and one <= own | beside}
        alike.update(named if len(set(named.values())) > 1 else ())
    others = _WORDS["beside"] if are_headings else _WORDS["beside"] | _WORDS["beside_labels"]
    kept = others.union(*(_WORDS[name] for name in ("beside_labels", "whole", "apart", "of_apart")))
    if any(one <= others or (one & _WORDS["apart"] and one <= kept) for one in words.values()):  # "Output" and "Log"
        alike.update(label for label, one in words.items() if one <= _WORDS["whole"])
    return frozenset(alike | _of_several_people(words))


def _of_several_people(labels: Mapping[str, object]) -> set[str]:
    """Return the labels of texts that are told apart by whose they are: "Agent message", "Customer message"."""
    matches = {label: _SAYS["whose"].fullmatch(label.strip("*_: ")) for label in labels}
    whose = {label: (one["whose"] or one["to"]).casefold() for label, one in matches.items() if one is not None}
    return set(whose) if len(set(whose.values())) > 1 else set()


def _words(label: str) -> frozenset[str]:
    words = (word[0].casefold() for word in _WORD.finditer(_SAYS["aside"].sub("", label)))
    return frozenset(word for word in words if word not in _WORDS["small"])
