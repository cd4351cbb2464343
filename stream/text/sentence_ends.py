"""Sentence ends: how many sentences a text has, as people count them.

Source: Kiss and Strunk 2006 (punkt), with fixed lists of short forms and of words that begin sentences instead of
trained ones.
"""

import re
import tomllib
from importlib.resources import files

from turnsignal.stream.text.languages import is_frequent

_LISTS = tomllib.loads(files(__package__).joinpath("sentence_ends.toml").read_text(encoding="utf-8"))
_TITLES, _NAMES, _NUMBERS, _SHORTENED = (
    frozenset(_LISTS[key].split()) for key in ("titles", "names", "numbers", "shortened")
)
#: a run of stops that ends a word; possessive and anchored at the run's begin, so that "......" costs one pass
_STOP = re.compile(r"(?<![.!?])[.!?]++(?=([\"'”’)\]*_}]*+)\s++[\"'“‘(\[*_]*+(\S\w{0,20}))")
_INITIALS = re.compile(r"[^\W\d_]{1,2}(?:\.[^\W\d_]{1,2})+")
_LONGEST = 12  #: characters; longer words are no short forms
_SHORT = 5  #: letters; what is as short, and goes on in lower case, may be a short form that no list has: "12 lbs. and"


def count_sentences(text: str, *, skip_markers: bool = False) -> int:
    """Count sentences; text after the last full stop is one; skip_markers: whether the "1." of an item is none."""
    text = text.strip()
    if not text:
        return 0
    # Of a text in small letters, sentences begin with one, too.
    is_cased = next(filter(str.isalpha, text), "").isupper()
    count = 1
    for stop in _STOP.finditer(text):
        closing, follower = stop[1], stop[2]
        goes_on = follower[0].islower()
        if stop[0].startswith("..") and goes_on:
            continue
        if stop[0] != ".":
            count += not (closing and goes_on and is_cased)
            continue
        is_marker = skip_markers and text[stop.start() - 1].isdecimal() and _marks_item(text, stop.start())
        count += not (is_marker or _continues(text, stop.start(), follower, is_cased=is_cased))
    return count


def _marks_item(text: str, at: int) -> bool:
    """Say whether the full stop at `at` belongs to the number of an item: nothing else stands before it on its line."""
    begin = max(0, at - _LONGEST)
    _, newline, line = text[begin:at].rpartition("\n")
    return (bool(newline) or begin == 0) and line.strip(" \t-*+•>").isdecimal()


def _continues(text: str, at: int, follower: str, *, is_cased: bool) -> bool:
    """Say whether the sentence goes on after the full stop at `at`, before the word `follower`."""
    if at == 0 or text[at - 1].isspace():
        return is_cased and follower.islower()  # the sign itself is meant: "Press Ctrl + . to open it."
    words = text[max(0, at - _LONGEST) : at].split()
    last = words[-1].lstrip("([\"'“‘*_").lower()
    if last in _TITLES or (len(last) == 1 and last.isalpha() and last != "i"):
        return True
    if last in _NAMES or _INITIALS.fullmatch(last) is not None:
        return not (follower[0].isupper() and _begins_sentences(follower.lower()))
    if last in _NUMBERS and follower[0].isdecimal():
        return True
    if last in _SHORTENED:
        return not follower[0].isupper() or follower.lower() in _SHORTENED
    if not (is_cased and follower.islower() and last.isalpha() and len(last) <= _SHORT):
        return False
    return not is_frequent(last) or (len(words) > 1 and words[-2].isdecimal())


def _begins_sentences(word: str) -> bool:
    return is_frequent(word) and word not in _SHORTENED
