"""The score app, owner of conversations: turns and feedback in; rows, summaries, exchanges, series, dead letters out.

It only wires: `stream.pipeline.Shard` decides everything about conversations, `agents.ownership` everything about
partitions.
"""

import atexit
import time
from collections.abc import Mapping, MutableMapping
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any

from agents.apps import build_app
from agents.checking import hosted
from agents.consumer import PartitionApp
from agents.holdings import Plan
from agents.metrics import WorkerMetrics
from agents.ownership import Ownership
from agents.settings import Settings
from agents.topics import topic_names
from stream.feedback import VOTE
from stream.pipeline import Batch, Shard
from stream.scoring import scorer_names
from stream.suite import Suite

NAME = "score"
INPUTS = ("turns", "forget", "feedback")


def make_plan(settings: Settings, suite: Suite) -> Plan:
    """Say what the score app reads, keeps and writes."""
    names = topic_names(settings.prefix)
    turns, forget, feedback = (names[name] for name in INPUTS)
    skip_applied, full_letters = settings.delivery != "exactly_once", settings.dead_letters == "full"

    def make(partition: int, store: MutableMapping[bytes, bytes]) -> Shard:
        return Shard(
            suite,
            store,
            turns,
            partition,
            feedback_topic=feedback,
            forget_topic=forget,
            skip_applied=skip_applied,
            full_letters=full_letters,
            processor=time.thread_time,
        )

    def work(shard: Shard, records: Mapping[str, list[Any]], now: float) -> Batch:
        came, erased, heard = (records.get(topic, ()) for topic in (turns, forget, feedback))
        return shard.work(came, now, erased, feedback=heard, clock=time.monotonic)

    return Plan(NAME, (turns, forget, feedback), names["conversations_changelog"], names, make, work, Shard.set_aside)


def make_score_app(settings: Settings, suite: Suite) -> PartitionApp:
    """Build the score app: not started, connected to nothing yet but the process of the suite's Python checks."""
    held = ExitStack()
    atexit.register(held.close)
    suite = held.enter_context(hosted(suite))
    metrics = WorkerMetrics(
        version=version("turnsignal"),
        revision=settings.revision,
        secret=settings.exemplar_secret.get_secret_value() if settings.exemplar_secret else "",
        scorers=[*scorer_names(suite), VOTE],
        checks=[check.name for _, check in suite.parsed_checks],
        topics=[topic_names(settings.prefix)[name] for name in INPUTS],
    )
    return build_app(settings, Ownership(settings, make_plan(settings, suite), metrics))
