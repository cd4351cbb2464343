"""Asked again: what answers that ask something back lead to, told by what the user replied to.

Who asks for an order number and gets it has to do something with it. The same words once more say that nothing read the
reply; other words may ask for something else. A reply may be a bare number, which is small talk elsewhere, and what
comes behind it is due all the same.
"""

from collections.abc import Sequence

from turnsignal.stream.conversations.pairing import ASSISTANT, KeptTurn, asked
from turnsignal.stream.follow_ups.failures import asks_back
from turnsignal.stream.reports.answer_edges import named
from turnsignal.stream.statistics.directions import ASKS_AGAIN, ONLY_ASKS

_READ = 300  #: characters at the end of an answer, where it asks


def figures_of_asking(
    kept: Sequence[KeptTurn], index: int, text: str, *, back: bool, wants_answer: bool
) -> dict[str, float]:
    """Return the figures of an answer that tell whether an answer comes of what is asked back.

    kept: turns in their order; index: where the answer goes among them; text: of the answer, as it is kept; back: it
    only asks something back; wants_answer: the user asks for something, or the answer fails. None of what nobody is
    due an answer to.

    >>> from turnsignal.stream.conversations.pairing import USER
    >>> kept = [KeptTurn("1", ASSISTANT, 0.0, "Which number?"), KeptTurn("2", USER, 9.0, "48213")]
    >>> figures_of_asking(kept, 2, "Which number?", back=True, wants_answer=False)
    {'only_asks_back': True, 'asks_back_again': True}
    >>> figures_of_asking(kept, 2, "It comes at 5.", back=False, wants_answer=False)
    {'only_asks_back': False, 'asks_back_again': False}
    """
    replied_to = _replied_to(kept, index)
    if not wants_answer and not asks_back(replied_to):
        return {}
    return {ONLY_ASKS: back, ASKS_AGAIN: back and _words(replied_to) == _words(text)}


def _replied_to(kept: Sequence[KeptTurn], index: int) -> str:
    """Return what the assistant said last before the messages that an answer is to, "" where it said nothing."""
    begin, end = asked(kept, index)
    return kept[begin - 1].text if 0 < begin < end and kept[begin - 1].role == ASSISTANT else ""


def _words(text: str) -> str:
    """Return what tells one question from another: citations, numbers and capitals do not."""
    return named(text.strip()[-_READ:], 0)
