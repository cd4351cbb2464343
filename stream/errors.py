"""Everything turnsignal raises on purpose.

TurnsignalError
├── ConfigError      a setting or a suite key is missing or wrong; the program refuses to start (exit code 2)
├── Refused          one record cannot be taken in; it goes to the dead letters and the work goes on
└── SchemaError      state or a record was written by a newer turnsignal
"""

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class TurnsignalError(Exception):
    """Catch every error that turnsignal raises on purpose."""


class ConfigError(TurnsignalError):
    """Name the setting or key, what was expected and what came."""


class SchemaError(TurnsignalError):
    """Say that older code met a newer record, and which version reads it.

    key: of the entry of the state that it is about, where whoever raises it knows.
    """

    key: bytes | None = None

    @classmethod
    def newer(cls, what: str, known: int, actual: int) -> "SchemaError":
        """Name both versions of a state's layout, the newest that is known and the actual one."""
        return cls(
            f"expected {what} state of version {known} or older, got {actual}: a newer turnsignal wrote it, and this "
            "one "
            "would lose what it cannot read; start that release here, too"
        )


class UnreadableStateError(SchemaError):
    """Say that an entry of the state reads as that of no version: it is damaged, or another program's."""


class Reason(StrEnum):
    """Say why a record went to the dead letters; metric label and header value."""

    TOMBSTONE = "tombstone"  #: an input record without a value
    EMPTY_KEY = "empty_key"  #: no Kafka key, so no conversation
    KEY_MISMATCH = "key_mismatch"  #: the key is not the record's conversation_id
    NOT_JSON = "not_json"  #: not JSON, or not UTF-8 (NaN and lone surrogates are not JSON)
    TOO_DEEP = "too_deep"  #: nested beyond what the parser takes
    MISSING_FIELD = "missing_field"
    WRONG_TYPE = "wrong_type"  #: a field of another type, or out of its range
    UNKNOWN_ROLE = "unknown_role"
    BAD_ID = "bad_id"  #: an id with control characters, empty, or too long; a key that is longer than any id
    BAD_TIMESTAMP = "bad_timestamp"  #: not ISO 8601
    FUTURE_TIMESTAMP = "future_timestamp"  #: more than a day ahead of the broker's own time
    TOO_LARGE = "too_large"  #: a text or a record over its limit
    TOO_MANY_DOCUMENTS = "too_many_documents"
    CONFLICT = "conflict"  #: a known turn_id with another content
    UNDECODABLE = "undecodable"  #: a batch that cannot be unpacked, or is too large then; a record that has no end
    POISON = "poison"  #: ended two workers, or two attempts, that worked on nothing else
    OUTPUT_TOO_LARGE = "output_too_large"  #: what it produced exceeds the broker's limit even after cutting


class Refused(TurnsignalError):  # noqa: N818 - what it says is that, not that something broke
    """Carry the reason why a record was not taken in.

    reason: one of `Reason`; detail: one line that says what was expected and what came, with ids but with nothing that
    anybody said; shown: the same with what came, for those who have the record anyway;
    conversation_id, role: filled where they could be read all the same: then the conversation has a gap.
    """

    def __init__(
        self,
        reason: Reason,
        detail: str,
        *,
        actual: str = "",
        conversation_id: str | None = None,
        role: str | None = None,
    ) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.shown = f"{detail}: {actual}" if actual else detail
        self.conversation_id = conversation_id
        self.role = role


def describe_unreadable(error: Exception) -> str:
    """Say in words why a text file could not be read.

    >>> describe_unreadable(FileNotFoundError(2, "No such file or directory"))
    'no such file'
    """
    if isinstance(error, FileNotFoundError):
        return "no such file"
    if isinstance(error, UnicodeDecodeError):
        return "bytes that are no UTF-8; was it saved as UTF-16, or in an older encoding?"
    return (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)


def describe_first_error(error: "ValidationError", whole: str) -> str:
    """Describe what pydantic refused first: the key, what was expected, what came; whole: names what has no key."""
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"]) or whole
    problem = first["msg"].removeprefix("Value error, ")
    actual = "" if "got " in problem else f", got {str(first['input'])[:80]!r}"
    return f"{key}: {problem}{actual}"
