"""Logged otherwise: what tells, at one answer, that its log is written in another way than logs of answers are.

A client that keeps no state sends all messages so far with each request, and some log them each time; one that asks
again where the network failed logs the question and the answer once more. Nobody retypes a question within a second,
and nothing answers it in a tenth of one with the same words: that tells such a copy from a user who has to ask again.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from turnsignal.stream.citations.source_lists import source_lists
from turnsignal.stream.conversations.pairing import ASSISTANT, USER, KeptTurn, asked
from turnsignal.stream.records.turns import Document, Turn
from turnsignal.stream.statistics.directions import (
    ASKED_TWICE,
    HIDDEN,
    LISTED,
    LOGGED_AGAIN,
    LOWERED,
    MASKED,
    NAMED,
    RESUMED,
    SORTED,
)

#: a marker of a citation in which a part was masked; bounded, on texts of bounded size
_MASKED = re.compile(r"\[[^\[\]\n]{0,60}(?:<[A-Z_]{2,20}>|\*{3}|X{4}|#{3}|REDACTED|MASKED)[^\[\]\n]{0,40}\]")
#: what stands in the place of a text, or of its parts, where a log hides them
_HIDING = re.compile(
    r"<[a-z_ ]{2,20}>|\[[a-z_ ]{2,20}\]|\b(?:redacted|masked|hidden|removed|omitted|anonymi[sz]ed)\b|[*#•█▒]{3,}"
    r"|\b(?:x{3,}|[0-9a-f]{16,})\b",
    re.IGNORECASE,
)
_MARKERS = re.compile(r"\[[^\[\]\n]{1,200}\]|【[^【】\n]{1,200}】")
#: a footnote behind a word or the end of a sentence, as "km²" is none, and elements that hold one
_FOOTNOTE = re.compile(r"(?:[^\W\d_]{3}|[.!?,;:])\s?[¹²³⁴⁵⁶⁷⁸⁹]|<(?:cite|sup|ref)\b", re.IGNORECASE)
_LEAST_ID, _LEAST_TITLE = 3, 6  #: characters, from which on an id or a title stands in no text by chance
_LOOKED_FOR = 20  #: documents of an answer
_AT_ONCE = 1.0  #: seconds in which nobody reads an answer and writes the same question again
_FEW = 3  #: documents, from which on their order says something: of as many, one in six is sorted by chance
_COPIED = 0.1  #: seconds in which no answer is made


def figures_of_log(
    turn: Turn, kept: Sequence[KeptTurn], index: int, text: str, idle: float, *, cites: bool
) -> dict[str, float]:
    """Return the figures of an answer by which its log is told from another.

    kept: turns in their order; index: where the answer goes among them; text: of the answer, as it is kept; idle:
    seconds; cites: it is known to cite, so that a list of sources at its end hides nothing.
    """
    begin, end = asked(kept, index)
    figures: dict[str, float] = {
        ASKED_TWICE: end - begin > 1,
        RESUMED: is_resumed(kept, begin, end, idle),
        HIDDEN: begin < end and (is_hidden(kept[end - 1].text) or _is_said_before(kept[end - 1], kept[:begin])),
        MASKED: has_masked_markers(turn.text),
        LOGGED_AGAIN: is_logged_again(kept, begin, end, text, turn.time),
    }
    if turn.retrieved:
        figures[LOWERED] = turn.text.islower()
        figures[LISTED] = not cites and bool(source_lists(turn.text))
        figures[NAMED] = not cites and names_a_document(turn.text, turn.retrieved)
        if len(turn.retrieved) >= _FEW:
            figures[SORTED] = are_sorted([document.doc_id for document in turn.retrieved])
    return figures


def is_logged_again(kept: Sequence[KeptTurn], begin: int, end: int, text: str, time: float) -> bool:
    """Say whether an answer is to a question that its conversation had before, and which no user wrote twice.

    kept: turns in their order; begin, end: where the question stands among them; text, time: of the answer, as kept.

    >>> kept = [KeptTurn("1", USER, 0.0, "Open today?"), KeptTurn("2", ASSISTANT, 2.0, "Until six.")]
    >>> is_logged_again([*kept, KeptTurn("3", USER, 30.00, "Open today?")], 2, 3, "Until six.", 30.01)
    True
    >>> is_logged_again([*kept, KeptTurn("3", USER, 30.00, "Open today?")], 2, 3, "Until six.", 32.0)
    False
    """
    if begin == end:
        return False
    question, before = kept[end - 1], kept[:begin]
    if not _is_said_before(question, before):
        return False
    if before[-1].role == ASSISTANT and kept[begin].time - before[-1].time < _AT_ONCE:
        return True
    is_known = any(turn.role == ASSISTANT and turn.text == text for turn in before)
    return is_known and time - question.time < _COPIED


def _is_said_before(message: KeptTurn, before: Sequence[KeptTurn]) -> bool:
    return any(turn.role == USER and turn.text == message.text for turn in before)


def is_hidden(text: str) -> bool:
    """Say whether nothing of a message can be read, since its log leaves it out, masks it or keeps a digest of it.

    >>> is_hidden(""), is_hidden("[REDACTED]"), is_hidden("My card is <NUMBER>."), is_hidden("???")
    (True, True, False, False)
    """
    if not text or text.isspace():
        return True
    if text[0].isalnum() and not _HIDING.match(text):
        return False  # as nearly all are
    shown, hidings = _HIDING.subn("", text)
    return hidings > 0 and not any(map(str.isalnum, shown))


def is_rough(answered: float, asked: float) -> bool:
    """Say whether two times tell nothing of what passed between: of whole minutes, or one to the fraction of a second.

    >>> is_rough(120.0, 60.0), is_rough(121.0, 120.0), is_rough(120.25, 120.25), is_rough(121.0, 121.0)
    (True, False, True, False)
    """
    return answered % 60 == asked % 60 == 0 or (answered == asked and answered % 1 > 0)


def has_masked_markers(text: str) -> bool:
    """Say whether a log masked a part of a citation's marker, so that it names nothing any more.

    >>> has_masked_markers("It takes <NUM> days [kb-<NUM>]."), has_masked_markers("It takes <NUM> days [kb-4].")
    (True, False)
    """
    return "[" in text and _MASKED.search(text) is not None


def names_a_document(text: str, documents: Sequence[Document]) -> bool:
    """Say whether a text names a retrieved document where no marker stands: by its id, its title, or a footnote.

    >>> names_a_document("Put it out by seven (Source: doc_4).", [Document("doc_4")])
    True
    >>> names_a_document("Put it out by seven [doc_4].", [Document("doc_4")])
    False
    """
    if _FOOTNOTE.search(text) is not None:
        return True
    for document in documents[:_LOOKED_FOR]:
        title = document.title or ""
        if len(title) >= _LEAST_TITLE and any(before + title in text for before in ("(", "[", ": ")):
            return True
    bare = _MARKERS.sub(" ", text)
    return any(_stands_in(document.doc_id, bare) for document in documents[:_LOOKED_FOR])


def _stands_in(doc_id: str, text: str) -> bool:
    if len(doc_id) < _LEAST_ID or doc_id.isalpha() or doc_id.isdecimal():
        return False
    at = text.find(doc_id)
    end = at + len(doc_id)
    return at >= 0 and not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum())


def is_resumed(kept: Sequence[KeptTurn], begin: int, end: int, idle: float) -> bool:
    """Say whether a question came when its conversation had been idle, as where a user's thread never ends.

    begin, end: where its messages stand among the kept turns; idle: seconds.
    """
    return 0 < begin < end and kept[begin].time - kept[begin - 1].time > idle


def are_sorted(ids: Sequence[str]) -> bool:
    """Say whether ids stand in their own order, which no search has but by chance.

    >>> are_sorted(["a-1", "a-7", "b-2"]), are_sorted(["b-2", "a-1", "a-7"])
    (True, False)
    """
    return all(one < other for one, other in pairwise(ids))
