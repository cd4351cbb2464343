"""Replayed: what a replay in memory sums up."""

from collections.abc import Iterable

from turnsignal.stream.replay import Indexer, Replay, Run
from turnsignal.stream.suite import Suite


def replayed(lines: Iterable[bytes], suite: Suite, now: float) -> Run:
    """Replay turns, and put their parts together; now: the present, seconds since 1970."""
    indexer = Indexer(now)
    replay, run = Replay(suite, None, indexer), Run(suite)
    for _ in replay.feed(indexer.index(lines)):
        pass
    for _ in replay.finish(indexer.end):
        pass
    for number in sorted(replay.runs):
        run.merge(replay.runs[number])
    return run
