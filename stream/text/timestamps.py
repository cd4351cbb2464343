"""Timestamps: what stands in a record, as seconds since 1970."""

from datetime import UTC, datetime


def epoch_seconds(stamp: datetime) -> float:
    """Return a time as seconds since 1970; one that names no zone is UTC.

    >>> epoch_seconds(datetime(1970, 1, 2))
    86400.0
    """
    return (stamp if stamp.tzinfo is not None else stamp.replace(tzinfo=UTC)).timestamp()
