"""A score worker as `turnsignal worker score` runs it, whose code cannot stand some records.

`python -m tests.kafka.pill` is the supervisor; with `child` it is the process that works. A record with `pill:exit` in
it ends the process as the kernel would, one with `pill:raise` raises. With `_PILL_INPUTS=fewer` it does not
know the last input, as a version before it. Only this script knows of it; all else is the product's.
"""

import dataclasses
import os
import sys
from collections.abc import Mapping
from typing import Any

from turnsignal.agents import score
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.apps import build_app, log_to_stderr, run_app
from turnsignal.agents.worker.supervisor import Supervisor
from turnsignal.agents.worker.tasks import TaskManager
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.suite import load_suite


def work() -> int:
    """Run the score app."""
    settings = Settings.from_env(os.environ)
    spec = score.make_spec(settings, load_suite(settings.suite))
    inputs = spec.inputs[:-1] if os.environ.get("_PILL_INPUTS") == "fewer" else spec.inputs

    def delicate(processor: PartitionProcessor, records: Mapping[str, list[Any]], now: float) -> BatchResult:
        batch: BatchResult = spec.work(processor, records, now)
        values = b"".join(record.value or b"" for topic in records.values() for record in topic)
        if b"pill:exit" in values:
            os._exit(9)
        if b"pill:raise" in values:
            raise ZeroDivisionError("a pill")
        return batch

    own = dataclasses.replace(spec, work=delicate, inputs=inputs)
    return run_app(build_app(settings, TaskManager(settings, own, WorkerMetrics())))


if __name__ == "__main__":
    if sys.argv[1:] == ["child"]:
        sys.exit(work())
    log_to_stderr()
    found = Settings.from_env(os.environ)
    sys.exit(Supervisor({"score": [sys.executable, "-m", "tests.kafka.pill", "child"]}, found.stall_timeout).run())
