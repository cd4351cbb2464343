"""The work of one turn, as a function: state and record in, state and outputs out.

It is what the peers call and what the plain loop calls, made of the very steps that the score worker takes. Only the
batching is the worker's own: it restores and snapshots a conversation once per batch, the peers once per turn.
"""

from load import Turn

from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.wire import OutputRecord
from turnsignal.stream.suite import Suite

PACK = 500  #: turns between two packed series records, about what the worker's batches hold per partition


class OneTurn(PartitionProcessor):
    """Work through single turns of conversations that somebody else keeps."""

    def __init__(self, suite: Suite | None = None) -> None:
        super().__init__(suite or Suite())
        self._left = PACK

    def __call__(
        self, state: bytes | None, key: bytes, raw: bytes, offset: int, timestamp: int
    ) -> tuple[bytes, list[OutputRecord]]:
        """Take in one turn; return the conversation's new snapshot and what is to be written."""
        self.store = {} if state is None else {key: state}
        self._live = {}
        self._on_turn(Turn(offset, key, raw, timestamp))
        conversation = self._live[key]
        assert conversation is not None, "a conversation of the bench is never forgotten"
        output = self._output
        self._left -= 1
        if self._left:
            outputs, output.outputs = output.outputs, []
        else:
            outputs, self._output, self._left = output.finish(), self._new_output(), PACK
        return conversation.snapshot(), outputs
