"""Closings: what an answer asks last, whether it helped or whether there is anything else.

Why apart from the other signs of an answer: a product adds such a question to each of its answers, and then "yes" and
"no" say whether the answer served, or take leave, where after any other question they are answers.
"""

import re

import re2

from turnsignal.stream.follow_ups.sentences import TABLE
from turnsignal.stream.text.patterns import options

_PARTS = re.compile(r"[.!?¿\n]+")


def _compiled(name: str) -> "re2._Regexp[bytes]":
    return re2.compile("|".join(TABLE["closing"][name]).encode(), options())


_HELPED, _MORE, _CHOICE = map(_compiled, ("helped", "more", "choice"))


def asks_whether_it_helped(end: str) -> bool:
    """Say whether the last question at the end of an answer is whether the answer served ("Did that help?").

    end: the last characters of the answer; where they have no question, "let me know if it worked" is one.

    >>> asks_whether_it_helped("Press Reset. Did that help?"), asks_whether_it_helped("Press Reset. Do you see it?")
    (True, False)
    """
    question = _last_question(end)
    return bool(_HELPED.search(question)) and not _MORE.search(question)


def asks_for_more(end: str) -> bool:
    """Say whether the last question at the end of an answer is whether there is anything else."""
    return bool(_MORE.search(_last_question(end)))


def ends_asking(end: str) -> bool:
    """Say whether nothing but the answers to choose from follows the last question ("Did that help? Yes / No")."""
    mark, behind = end.casefold().rpartition("?")[1:]
    return mark != "" and bool(_CHOICE.fullmatch(behind.encode("utf-8", "replace")))


def _last_question(end: str) -> bytes:
    """Return the last sentence with a question mark, or all of it where none has one."""
    before, mark, _ = end.casefold().replace("’", "'").rpartition("?")
    question = _PARTS.split(before)[-1] if mark else end.casefold()
    return question.encode("utf-8", "replace")
