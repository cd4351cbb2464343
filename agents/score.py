"""The score app, owner of conversations: turns, feedback and verdicts in; rows, summaries, exchanges and series out.

It only wires: `stream.pipeline.processor.PartitionProcessor` decides everything about conversations,
`agents.worker.tasks` everything about partitions.
"""

import atexit
import logging
import os
import time
from collections.abc import Mapping, MutableMapping
from contextlib import ExitStack
from importlib.metadata import version
from typing import Any, cast

from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.pages.conversations import ConversationPages
from turnsignal.agents.pages.recent_rows import RecentRows
from turnsignal.agents.python_checks.host import hosted
from turnsignal.agents.settings import Settings
from turnsignal.agents.suite_files import suite_in_force
from turnsignal.agents.worker.apps import build_app
from turnsignal.agents.worker.consumer import PartitionApp
from turnsignal.agents.worker.partition_task import AppSpec
from turnsignal.agents.worker.stored_turns import StoredTurns
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.stream.judging.judges import judged_scorers, warn_of_rubrics
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.pipeline.scoring import describe_scorers, scorer_names
from turnsignal.stream.pipeline.truth_scoring import OF_TRUTH, TRUTH_SCORERS
from turnsignal.stream.records.feedback import VOTE
from turnsignal.stream.suite import Suite

logger = logging.getLogger("turnsignal.score")

NAME = "score"
INPUTS = ("turns", "forget", "feedback")
VERDICTS = "verdicts"  #: an input besides where the suite has judges: others need neither the topic nor its time


def make_spec(settings: Settings, suite: Suite) -> AppSpec:
    """Say what the score app reads, keeps and writes."""
    names = topic_names(settings.prefix)
    turns, forget, feedback, verdicts = (names[name] for name in (*INPUTS, VERDICTS))
    outputs = {name: topic for name, topic in names.items() if name != VERDICTS}
    skip_applied, full_letters = settings.delivery != "exactly_once", settings.dead_letters == "full"

    def make(partition: int, store: MutableMapping[bytes, bytes]) -> PartitionProcessor:
        return PartitionProcessor(
            suite,
            store,
            turns,
            partition,
            feedback_topic=feedback,
            verdicts_topic=verdicts,
            forget_topic=forget,
            skip_applied=skip_applied,
            full_letters=full_letters,
            cpu_clock=time.thread_time,
            lenient=settings.lenient_turns,
        )

    def work(partition_processor: PartitionProcessor, records: Mapping[str, list[Any]], now: float) -> BatchResult:
        return partition_processor.process(
            records.get(turns, ()),
            now,
            records.get(forget, ()),
            feedback=records.get(feedback, ()),
            verdicts=records.get(verdicts, ()),
            clock=time.monotonic,
        )

    return AppSpec(
        NAME,
        (turns, forget, feedback, verdicts) if suite.judges else (turns, forget, feedback),
        names["conversations_changelog"],
        outputs,
        make,
        work,
        PartitionProcessor.set_aside,
        "conversations",
        suite.window_specs,
        astray="its turns are scored, but feedback on it and `turnsignal conversation` go there",
    )


def make_score_app(settings: Settings, suite: Suite) -> PartitionApp:
    """Build the score app: not started, connected to nothing yet but the process of the suite's Python checks."""
    resources = ExitStack()
    atexit.register(resources.close)
    suite = resources.enter_context(hosted(suite))
    metrics = WorkerMetrics(
        version=version("turnsignal"),
        revision=settings.revision,
        secret=settings.exemplar_secret.get_secret_value() if settings.exemplar_secret else "",
        scorers=[*(name for name in scorer_names(suite) if name not in TRUTH_SCORERS), VOTE],
        seldom=OF_TRUTH,
        judged=judged_scorers(suite.judges),
        judges=[part.name for part in suite.judges],
        checks=[check.name for _, check in suite.parsed_checks],
        topics=make_spec(settings, suite).inputs,
        max_series=settings.metrics_series,
    )
    metrics.declare(describe_scorers(suite))
    for warning in warn_of_rubrics(suite.judges):
        logger.warning("%s", warning)
    task_manager, rows = TaskManager(settings, make_spec(settings, suite), metrics), RecentRows()
    named: set[str] = set()

    def on_committed(result: BatchResult) -> None:
        rows.update(result)
        name_assumptions(result.deltas.assumptions, named)

    task_manager.work.on_committed = on_committed
    secret = settings.exemplar_secret.get_secret_value() if settings.exemplar_secret else None

    def processors() -> list[PartitionProcessor]:
        return [cast("PartitionProcessor", task.processor) for task in task_manager.tasks.values()]

    stored = StoredTurns(settings, topic_names(settings.prefix)["turns"])
    shown = ConversationPages(suite, processors, rows, secret, stored)
    return build_app(settings, task_manager, shown.pages())


def name_assumptions(assumptions: Mapping[str, int], named: set[str]) -> None:
    """Name in the log what is assumed of turns that deviate; named: what was before, which is added to."""
    for assumption in sorted(assumptions.keys() - named):
        named.add(assumption)
        logger.warning("turns deviate, and are read all the same: %s; see turnsignal_assumptions_total", assumption)


def __getattr__(name: str) -> PartitionApp:
    """Make `app` for Faust's own commands (`faust -A turnsignal.agents.score tables`), from the environment."""
    if name != "app":
        msg = f"module {__name__} has no attribute {name}"
        raise AttributeError(msg)
    settings = Settings.from_env(os.environ)
    return make_score_app(settings, suite_in_force(settings.suite, settings.redaction))
