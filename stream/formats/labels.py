"""Labels of turns as people keep them: a lone id, numbers for ids, JSON in a text → the `truth` that a turn may carry.

A label that has no obvious reading is left out whole, and its turn is scored without it: of a list of ids with one that
cannot be read the rest would be measured as if it were all.
"""

import re
from collections import Counter
from typing import Any, get_type_hints

import msgspec

from turnsignal.stream.formats.answers import is_nothing
from turnsignal.stream.formats.protocol import Assumed
from turnsignal.stream.formats.values import nested
from turnsignal.stream.records.turns import LABELS, Truth

_KINDS = get_type_hints(Truth, include_extras=True)
_LISTS = ("agents", "doc_ids", "chunks")
_MOST = 10**18  #: of a number that names anything
_SEVERAL = re.compile(r"[,;|\n]")  #: in a lone text that may be one name, or some


def read_labels(value: object, assumed: Assumed, separator: str | None = None) -> dict[str, Any]:
    """Read the labels of one turn, those that can be read; separator: what stands between ids in one text, if known.

    >>> read_labels({"doc_ids": "d1", "agents": [{}], "reference": 5}, Counter())
    {'doc_ids': ['d1'], 'reference': '5'}
    """
    labels = nested(value)
    if not isinstance(labels, dict):
        if value not in (None, ""):
            assumed["truth that is no object of labels left out"] += 1
        return {}
    if separator is not None and isinstance(ids := labels.get("doc_ids"), str) and not isinstance(nested(ids), list):
        labels = {**labels, "doc_ids": [part for part in map(str.strip, ids.split(separator)) if part] or None}
    read = {name: _read_label(name, labels[name], assumed) for name in LABELS if name in labels}
    return {name: label for name, label in read.items() if label is not None}


def _read_label(name: str, given: Any, assumed: Assumed) -> Any:
    """Return a label as a turn may carry it; None where there is none, or none that can be read."""
    has_gaps = isinstance(given, list) and any(map(is_nothing, given))
    if not has_gaps and not _problem_of(name, given):
        return None if name in _LISTS and is_nothing(given) else given
    mended: Assumed = Counter()
    label = _listed(name, nested(given), mended) if name in _LISTS else _as_text(name, given, mended)
    if problem := _problem_of(name, label):
        assumed[f"truth.{name} that cannot be read ({problem}) left out"] += 1
        return None
    assumed.update(mended)
    return label


def _problem_of(name: str, label: Any) -> str:
    """Say why a turn does not take a label; "" where it does, or there is none."""
    try:
        msgspec.json.encode(msgspec.convert(label, _KINDS[name]))
    except msgspec.ValidationError as error:
        return str(error).partition(" - at ")[0].replace("Expected", "expected")
    except (ValueError, OverflowError, RecursionError) as error:  # half a letter, a number of thousands of digits
        return f"expected what can be written as JSON, got {type(error).__name__}"
    return ""


def _as_text(name: str, given: Any, mended: Assumed) -> Any:
    """Return a number as a text, and anything else as it is."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not -_MOST < given < _MOST:
        return given
    mended[f"a number as truth.{name} is a text"] += 1
    return str(given)


def _is_number(given: Any) -> bool:
    return type(given) is int and -_MOST < given < _MOST


def _listed(name: str, given: Any, mended: Assumed) -> Any:
    """Return a lone name as a list of one, and numbers as texts; None for a list of nothing but empty places."""
    if is_nothing(given):
        return None
    if _is_number(given) or (isinstance(given, str) and (name == "chunks" or not _SEVERAL.search(given))):
        mended[f"a lone value as truth.{name} is a list of one"] += 1
        given = [given]
    if not isinstance(given, list):
        return given
    items = [str(item) if _is_number(item) else item for item in given if not is_nothing(item)]
    if len(items) < len(given):
        mended[f"empty places in truth.{name} left out"] += 1
    if any(map(_is_number, given)):
        mended[f"numbers in truth.{name} are texts"] += 1
    return items or None
