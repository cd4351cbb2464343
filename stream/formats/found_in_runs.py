"""Found in runs: what a search got that is logged as a step of a run, for the answers that come after it in the run.

{"parentId": "r1", "type": "tool", "input": {"query": "pay"}, "output": [{"id": "kb-1", "text": …}]}
{"parentId": "r1", "type": "llm", "input": [{"role": "user", …}], "output": "By card."}            has kb-1
"""

from typing import Any

from turnsignal.stream.formats.documents import once
from turnsignal.stream.formats.protocol import Call

_KEPT = 10_000  #: runs whose documents are remembered; of more, those that came longest ago are forgotten


class FoundInRuns:
    """The documents of runs whose calls are read one by one, and not as traces."""

    def __init__(self) -> None:
        self._documents: dict[str, list[dict[str, Any]]] = {}

    def takes(self, call: Call) -> bool:
        """Take in the next call of a log: keep what a search got, or give it to an answer; True for a search."""
        if call.within is None:
            return False
        if call.kind != "retrieval":
            call.documents = call.documents or self._documents.get(call.within, [])
            return False
        self._documents[call.within] = once([*self._documents.pop(call.within, []), *call.documents])
        if len(self._documents) > _KEPT:
            del self._documents[next(iter(self._documents))]
        return True
