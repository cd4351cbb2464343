"""Row head: the fields with which every score record begins, in the order in which they are written."""

import msgspec


class RowHead(msgspec.Struct, gc=False, omit_defaults=True):
    """What a score record says of its conversation, release and suite before its scores."""

    schema: int
    conversation_id: str
    turn_id: str
    stage: str
    assistant: str | None
    version: str | None
    model: str | None
    platform: str | None
    time: float
    id: str
    suite: str
