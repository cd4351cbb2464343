"""Earlier documents: those that a conversation's answers before this one retrieved, which it may cite as well.

Where search is a tool and its results stay in the history, a later answer rightly cites what an earlier search brought,
though its own turn logs other documents. A marker or an annotation that names one by its id, where it names no document
of its own answer, is a citation and no fault (reader.py); it has no rank among the documents of its answer, so that no
ranking is measured by it. Remembered are digests of the latest ones, four bytes each: one name in sixteen million that
names nothing is taken for an earlier document. Ids that only number the documents of their answer ("1", "2", …, or
"doc_1", "doc_2", …) are not remembered, as in the next answer they name others.
"""

import re
from collections import OrderedDict
from collections.abc import Sequence
from zlib import crc32

from turnsignal.stream.records.turns import Document, Turn

MOST = 64  #: documents that are remembered of a conversation
_BYTES = 4
_NUMBERED = re.compile(r"(.*?)0*(\d{1,4})", re.DOTALL)


def remember(earlier: bytes, documents: Sequence[Document]) -> bytes:
    """Add the documents of an answer to those that are remembered, as the latest; the oldest are dropped."""
    latest = documents[:MOST]
    if not latest or _are_places(latest):
        return earlier
    digests = dict.fromkeys([_digest(document.doc_id) for document in latest])
    kept = [earlier[at : at + _BYTES] for at in range(0, len(earlier), _BYTES)]
    return b"".join([*(digest for digest in kept if digest not in digests), *digests])[-MOST * _BYTES :]


def is_remembered(earlier: bytes, name: str) -> bool:
    """Say whether a name is the id of a document that is remembered."""
    return bool(earlier) and _digest(name) in earlier


class EarlierDocuments:
    """What the answers of conversations retrieved, for who reads their turns in the order of time.

    forgotten_after: seconds of silence after which a conversation is forgotten; most: conversations, the latest ones.
    """

    def __init__(self, forgotten_after: float, most: int) -> None:
        self._forgotten_after, self._most = forgotten_after, most
        # Conversation → the time of its last turn, and digests.
        self._known: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def before(self, turn: Turn) -> bytes:
        """Return what is remembered of its conversation when a turn comes."""
        last, earlier = self._known.get(turn.conversation_id, (turn.time, b""))
        return b"" if turn.time - last > self._forgotten_after else earlier

    def take(self, turn: Turn) -> None:
        """Take in a turn: what an answer retrieved is remembered, and whoever speaks keeps the conversation known."""
        earlier = self.before(turn)
        if turn.role == "assistant":
            earlier = remember(earlier, turn.retrieved)
        last, _ = self._known.pop(turn.conversation_id, (turn.time, b""))
        self._known[turn.conversation_id] = max(last, turn.time), earlier
        if len(self._known) > self._most:
            self._known.popitem(last=False)


def _are_places(documents: Sequence[Document]) -> bool:
    """Say whether ids are the places of their documents, behind one prefix, counted from 0 or from 1."""
    if len(documents) < 2:
        return documents[0].doc_id in ("0", "1")
    first = _NUMBERED.fullmatch(documents[0].doc_id)
    if first is None or first[2] not in ("0", "1"):
        return False
    prefix, start = first[1], int(first[2])
    for place, document in enumerate(documents[1:], start + 1):
        match = _NUMBERED.fullmatch(document.doc_id)
        if match is None or match[1] != prefix or int(match[2]) != place:
            return False
    return True


def _digest(doc_id: str) -> bytes:
    return crc32(doc_id.encode("utf-8", "surrogatepass")).to_bytes(_BYTES, "big")
