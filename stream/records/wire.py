"""On the wire: records as they come in from a topic, and as they go out to one."""

from typing import NamedTuple, Protocol

#: topics that are written, without their prefix
SCORES, EXCHANGES, VERDICTS, CONVERSATIONS, SERIES, REGRESSIONS, DEAD_LETTERS = (
    "scores",
    "exchanges",
    "verdicts",
    "conversations",
    "series",
    "regressions",
    "dead_letters",
)

_HEADER_BYTES = 10  #: that a header costs beside its name and value


class Record(Protocol):
    """What a source delivers; aiokafka's ConsumerRecord is one as it is. timestamp: milliseconds, the broker's."""

    @property
    def offset(self) -> int: ...  # noqa: D102
    @property
    def key(self) -> bytes | None: ...  # noqa: D102
    @property
    def value(self) -> bytes | None: ...  # noqa: D102
    @property
    def timestamp(self) -> int: ...  # noqa: D102


class Unplaced(NamedTuple):
    """A record that never had a place on a topic."""

    key: bytes | None
    value: bytes | None
    offset: int = -1
    timestamp: int = 0


class Undecodable(NamedTuple):
    """What stands for records that nobody can read, in the place of the last of them.

    first: offset of the first of them; timestamp: of the last; detail: what was expected of them and what came.
    """

    offset: int
    first: int
    timestamp: int
    detail: str
    key: bytes | None = None
    value: bytes | None = None


class OutputRecord(NamedTuple):
    """One record to write: topic (without prefix), key, value, headers."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]] | None = None


def size_of(output: OutputRecord) -> int:
    """Return how many bytes a record takes on its topic: key, value and headers."""
    size = len(output.key or b"") + len(output.value or b"")
    return size + sum(len(name) + len(value) + _HEADER_BYTES for name, value in output.headers or ())
