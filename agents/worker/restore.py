"""Restore: read the state of a partition back from its changelog, committed records only, to the very end.

librdkafka would do. But it reads what rotted on a disk as state, unless it looks at checksums:
then it stands still at a wrong one, says nothing of where, or ends the process; and a header whose name is no text ends
that, too. So a changelog is read as all logs are (`agents.kafka.logs`).
"""

import time
from collections.abc import Callable, MutableMapping
from typing import NamedTuple, NoReturn

from turnsignal.agents.kafka.log_records import describe_lost
from turnsignal.agents.kafka.logs import find_log, read_log_pairs
from turnsignal.agents.kafka.records import read_headers
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.checkpoints import Checkpoint, find_checkpoint, read_checkpoint
from turnsignal.stream.errors import SchemaError, TurnsignalError
from turnsignal.stream.records.wire import Undecodable


class RestoredChangelog(NamedTuple):
    """What was read of a changelog partition: entries, its end, and the newest checkpoint."""

    records: int
    end: int
    checkpoint: Checkpoint | None = None


class DamageError(TurnsignalError):
    """Say where nobody can unpack a changelog."""


class _UnwantedError(Exception):
    """Say that nobody waits for the state any more."""


def restore_changelog(
    settings: Settings,
    topic: str,
    partition: int,
    store: MutableMapping[bytes, bytes],
    *,
    bounds: tuple[int, int] | None = None,
    wanted: Callable[[], bool] = lambda: True,
    progress: Callable[[int], None] = lambda _: None,
    passed_over: Callable[[Undecodable], None] | None = None,
    deadline: float = 60.0,
) -> RestoredChangelog:
    """Read one changelog partition, committed records only, into `store`, to its very end.

    bounds: its first offset and its end, where these are known; wanted: asked now and then whether to go on; progress:
    told how many records may still come; passed_over: told of what nobody can unpack, which raises DamageError by
    default; deadline: seconds. Raises SchemaError where the newest checkpoint cannot be read, as none before it counts,
    and TurnsignalError when the end is not reached: a transaction left open under another id would otherwise cut the
    state short in silence.
    """
    first, end = bounds or find_log(settings, topic)[partition]
    count, newest, moved = 0, (-1, b""), time.monotonic()

    def refuse(lost: Undecodable) -> NoReturn:
        place, wrong = describe_lost(lost)
        msg = f"{topic}-{partition}, {place}: {wrong}"
        raise DamageError(msg)

    def expect_wanted(behind: int, total: int) -> None:
        if not wanted():
            raise _UnwantedError
        progress(total - behind)

    def wait_for_commit(reached: int) -> None:
        # The last stable offset is behind the end while somebody's transaction is open; the broker ends it in time.
        if time.monotonic() - moved > deadline:
            msg = (
                f"expected to read {topic}-{partition} to its end {end}, got stuck at {reached}: a transaction of "
                "another transactional id is open there, and whoever writes it has to end, or its timeout has to come"
            )
            raise TurnsignalError(msg)

    take_lost = passed_over or refuse
    reading = read_log_pairs(
        settings,
        topic,
        partition,
        (first, end),
        waits=wait_for_commit,
        progress=expect_wanted,
        passed_over=lambda _, lost: take_lost(lost),
    )
    try:
        for batches in reading:
            moved = time.monotonic()
            for batch in batches:
                count += len(batch.pairs)
                for key, value in batch.pairs:
                    if value is None:
                        store.pop(key or b"", None)
                    else:
                        store[key or b""] = value
                for offset, encoded in batch.headers:
                    if (content := find_checkpoint(read_headers(encoded))) is not None:
                        newest = offset, content
    except _UnwantedError:
        return RestoredChangelog(count, end)
    return RestoredChangelog(count, end, _read_newest(f"{topic}-{partition}", *newest) if newest[1] else None)


def _read_newest(partition: str, offset: int, content: bytes) -> Checkpoint:
    try:
        return read_checkpoint(content)
    except SchemaError as error:
        msg = f"{partition}, offset {offset}: {error}"
        raise SchemaError(msg) from None
