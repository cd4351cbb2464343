"""The watch app: packed observations and operators' decisions in, incidents out; a detector is kept for each series.

Exactly once, like the score app.
"""

import time
from collections.abc import Mapping, MutableMapping
from importlib.metadata import version
from typing import Any

from turnsignal.agents.app_table import APPS
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.notify import make_notifier
from turnsignal.agents.pages.regressions import RegressionPages
from turnsignal.agents.pages.series import SeriesPages
from turnsignal.agents.process.confining import keep_private
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.apps import build_app
from turnsignal.agents.worker.consumer import PartitionApp
from turnsignal.agents.worker.partition_task import AppSpec, Processor
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.stream.judging.judges import judged_scorers
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.scoring import describe_scorers, policy_of
from turnsignal.stream.pipeline.series import SeriesProcessor
from turnsignal.stream.pipeline.truth_scoring import TRUTH_SCORERS
from turnsignal.stream.suite import Suite

NAME = "watch"
#: Seconds between two commits at the least. Each writes every series that it touched: a kilobyte for a few values, and
#: an alarm that comes after hundreds of answers may come a second later.
GATHERING = 1.0


def make_spec(settings: Settings, suite: Suite) -> AppSpec:
    """Say what the watch app reads, keeps and writes."""
    names = topic_names(settings.prefix)
    source, decisions = names["series"], names["decisions"]
    skip_applied, policy = settings.delivery != "exactly_once", policy_of(suite)

    def make(partition: int, store: MutableMapping[bytes, bytes]) -> SeriesProcessor:
        return SeriesProcessor(
            store, source, partition, decisions_topic=decisions, skip_applied=skip_applied, policy=policy
        )

    def work(processor: SeriesProcessor, records: Mapping[str, list[Any]], _now: float) -> BatchResult:
        return processor.process(records.get(source, ()), records.get(decisions, ()), clock=time.monotonic)

    return AppSpec(
        NAME,
        (source, decisions),
        names["series_changelog"],
        names,
        make,
        work,
        SeriesProcessor.set_aside,
        "series",
        show=SeriesProcessor.show,
        hide=SeriesProcessor.hide,
        gathering=GATHERING,
    )


def make_watch_app(settings: Settings, suite: Suite) -> PartitionApp:
    """Build the watch app: not started, connected to nothing yet."""
    keep_private()  # users' checks run beside the score worker, and this one has the same environment
    metrics = WorkerMetrics(
        app=NAME,
        version=version("turnsignal"),
        revision=settings.revision,
        scorers=[
            *(scorer.name for scorer in describe_scorers(suite) if scorer.name not in TRUTH_SCORERS),
            *judged_scorers(suite.judges),
        ],
        seldom=TRUTH_SCORERS,
        topics=[topic_names(settings.prefix)[name] for name in ("series", "decisions")],
        max_series=settings.metrics_series,
    )
    task_manager = TaskManager(settings, make_spec(settings, suite), metrics)

    def processors() -> list[Processor]:
        return [task.processor for task in task_manager.tasks.values()]

    incidents = RegressionPages(processors, _score_pages(settings), names=settings.shows_conversations)
    app = build_app(settings, task_manager, [*SeriesPages(processors).pages(), *incidents.pages()])
    app.service(make_notifier(settings, metrics))
    return app


def _score_pages(settings: Settings) -> str:
    """Return where the pages of the score worker beside this one are, as a browser of this machine reaches them.

    "" where the port is any that is free, or the address is every one that this machine has.
    """
    address = settings.page_address(APPS["score"].port - APPS[NAME].port)
    return "" if address is None or settings.is_everywhere else f"http://{address}"
