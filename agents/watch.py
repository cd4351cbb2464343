"""The watch app: packed observations in; counts and rolling means per series kept, exactly once like the score app."""

from collections.abc import Mapping, MutableMapping
from importlib.metadata import version
from typing import Any

from agents.apps import build_app
from agents.confining import keep_private
from agents.consumer import PartitionApp
from agents.holdings import Plan
from agents.metrics import WorkerMetrics
from agents.ownership import Ownership
from agents.settings import Settings
from agents.topics import topic_names
from stream.pipeline import Batch
from stream.series import SeriesShard

NAME = "watch"


def make_plan(settings: Settings) -> Plan:
    """Say what the watch app reads, keeps and writes."""
    names = topic_names(settings.prefix)
    source = names["series"]
    skip_applied = settings.delivery != "exactly_once"

    def make(partition: int, store: MutableMapping[bytes, bytes]) -> SeriesShard:
        return SeriesShard(store, source, partition, skip_applied=skip_applied)

    def work(shard: SeriesShard, records: Mapping[str, list[Any]], _now: float) -> Batch:
        return shard.work(records.get(source, ()))

    return Plan(NAME, (source,), names["series_changelog"], names, make, work, SeriesShard.set_aside)


def make_watch_app(settings: Settings) -> PartitionApp:
    """Build the watch app: not started, connected to nothing yet."""
    keep_private()  # users' checks run beside the score worker, and this one has the same environment
    metrics = WorkerMetrics(
        version=version("turnsignal"), revision=settings.revision, topics=[topic_names(settings.prefix)["series"]]
    )
    return build_app(settings, Ownership(settings, make_plan(settings), metrics))
