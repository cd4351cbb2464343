"""A score worker as `turnsignal worker score` runs it, whose code cannot stand some records.

`python -m tests.kafka.pill` is the supervisor; with `child` it is the process that works. A record with `pill:exit` in
it ends the process as the kernel would, one with `pill:raise` raises. With `_PILL_INPUTS=more` it also reads verdicts,
as a later version will. Only this script knows of it; all else is the product's.
"""

import dataclasses
import os
import sys
from collections.abc import Mapping
from typing import Any

from agents import score
from agents.apps import build_app, log_to_stderr, run_app
from agents.metrics import WorkerMetrics
from agents.ownership import Ownership
from agents.settings import Settings
from agents.supervisor import Supervisor
from agents.topics import topic_names
from stream.pipeline import Batch, Shard
from stream.suite import load_suite


def work() -> int:
    """Run the score app."""
    settings = Settings.from_env(os.environ)
    plan = score.make_plan(settings, load_suite(settings.suite))
    verdicts = topic_names(settings.prefix)["verdicts"]
    inputs = (*plan.inputs, verdicts) if os.environ.get("_PILL_INPUTS") == "more" else plan.inputs

    def delicate(shard: Shard, records: Mapping[str, list[Any]], now: float) -> Batch:
        batch: Batch = plan.work(shard, records, now)
        batch.taken |= {verdicts: len(records.get(verdicts, ()))}
        values = b"".join(record.value or b"" for topic in records.values() for record in topic)
        if b"pill:exit" in values:
            os._exit(9)
        if b"pill:raise" in values:
            raise ZeroDivisionError("a pill")
        return batch

    own = dataclasses.replace(plan, work=delicate, inputs=inputs)
    return run_app(build_app(settings, Ownership(settings, own, WorkerMetrics())))


if __name__ == "__main__":
    if sys.argv[1:] == ["child"]:
        sys.exit(work())
    log_to_stderr()
    found = Settings.from_env(os.environ)
    sys.exit(Supervisor({"score": [sys.executable, "-m", "tests.kafka.pill", "child"]}, found.stall_timeout).run())
