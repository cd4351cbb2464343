"""The watch app: packed observations in; counts and rolling means per series kept, exactly once like the score app."""

from collections.abc import Mapping, MutableMapping
from importlib.metadata import version
from typing import Any

from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.pages.series import SeriesPages
from turnsignal.agents.process.confining import keep_private
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.apps import build_app
from turnsignal.agents.worker.consumer import PartitionApp
from turnsignal.agents.worker.partition_task import AppSpec
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.stream.pipeline.processor import BatchResult
from turnsignal.stream.pipeline.series import SeriesProcessor

NAME = "watch"


def make_spec(settings: Settings) -> AppSpec:
    """Say what the watch app reads, keeps and writes."""
    names = topic_names(settings.prefix)
    source = names["series"]
    skip_applied = settings.delivery != "exactly_once"

    def make(partition: int, store: MutableMapping[bytes, bytes]) -> SeriesProcessor:
        return SeriesProcessor(store, source, partition, skip_applied=skip_applied)

    def work(processor: SeriesProcessor, records: Mapping[str, list[Any]], _now: float) -> BatchResult:
        return processor.process(records.get(source, ()))

    return AppSpec(NAME, (source,), names["series_changelog"], names, make, work, SeriesProcessor.set_aside, "series")


def make_watch_app(settings: Settings) -> PartitionApp:
    """Build the watch app: not started, connected to nothing yet."""
    keep_private()  # users' checks run beside the score worker, and this one has the same environment
    metrics = WorkerMetrics(
        app=NAME,
        version=version("turnsignal"),
        revision=settings.revision,
        topics=[topic_names(settings.prefix)["series"]],
    )
    owner = TaskManager(settings, make_spec(settings), metrics)
    shown = SeriesPages(lambda: [task.processor for task in owner.tasks.values()])
    return build_app(settings, owner, shown.pages())
