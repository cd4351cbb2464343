"""Forgotten conversations: what was written about them before somebody asked for it is not sent to a judge any more."""

from typing import NamedTuple

SLACK = 10.0  #: seconds by which clocks may differ, and for which the score worker may still write what it has read

_SAME = 1.0  #: seconds within which requests about a conversation are one, which is asked for in every partition


def is_forgotten(asked: float, time: float) -> bool:
    """Whether what was written, or said, at a time is to be forgotten; a conversation may come back after it.

    asked: when that was, in seconds since 1970.
    """
    return time <= asked + SLACK


class ForgetRequest(NamedTuple):
    """A request. asked: when, in seconds since 1970."""

    conversation_id: str
    asked: float


class ForgottenConversations:
    """The requests that are known, shared by all partitions of a worker."""

    def __init__(self) -> None:
        self._newest: dict[str, ForgetRequest] = {}
        self._all: list[ForgetRequest] = []

    def add(self, conversation_id: str, asked: float) -> None:
        """Take a request in; one that a known request covers, but for a part of the slack, is no other."""
        known = self._newest.get(conversation_id)
        if known is not None and asked <= known.asked + _SAME:
            return
        request = ForgetRequest(conversation_id, asked)
        self._newest[conversation_id] = request
        self._all.append(request)

    def covers(self, conversation_id: str, time: float) -> bool:
        """Whether what was written about a conversation at a time is to be forgotten."""
        request = self._newest.get(conversation_id)
        return request is not None and is_forgotten(request.asked, time)

    def since(self, count: int) -> list[ForgetRequest]:
        """Return the requests that came after so many."""
        return self._all[count:]
