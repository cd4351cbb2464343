"""A worker as `turnsignal worker score` runs it, that can be told to misbehave: `python -m tests.kafka.faults.worker`.

Without an argument it is the supervisor; with `child` it is the process that works. On SIGHUP the child does once,
with its next batch, what FAULTS_MISCHIEF says. Only this script knows of it; the product's code runs as it is.
"""

import asyncio
import dataclasses
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any

from agents import score
from agents.apps import build_app, log_to_stderr, run_app
from agents.batch_work import BatchWork
from agents.metrics import WorkerMetrics
from agents.ownership import Ownership
from agents.refusals import EXIT_REFUSED
from agents.settings import Settings
from agents.supervisor import Supervisor
from stream.errors import ConfigError
from stream.pipeline import Batch, Shard
from stream.scoring import scorer_names
from stream.suite import load_suite


class Mischief:
    """What to do wrong, once per signal.

    kind: hang_cpu and hang_await never end; slow takes longer than the poll interval for three batches.
    """

    def __init__(self, kind: str, poll_interval: float) -> None:
        self.kind = kind
        self.poll_interval = poll_interval
        self.left = 0
        signal.signal(signal.SIGHUP, lambda *_: setattr(self, "left", 3 if kind == "slow" else 1))

    def take(self, kind: str) -> bool:
        """Say whether to do it now."""
        if self.kind != kind or not self.left:
            return False
        self.left -= 1
        sys.stderr.write(f"mischief: {kind}\n")
        return True


class WaywardWork(BatchWork):
    """Batch work whose commit may wait for something that never comes."""

    mischief: Mischief

    async def _commit(self, *arguments: Any) -> None:
        if self.mischief.take("hang_await"):
            await asyncio.Event().wait()
        await super()._commit(*arguments)


def work() -> int:
    """Run the score app."""
    settings = Settings.from_env(os.environ)
    suite = load_suite(settings.suite)
    mischief = Mischief(os.environ.get("FAULTS_MISCHIEF", ""), settings.poll_interval)
    plan = score.make_plan(settings, suite)

    def wayward(shard: Shard, records: Mapping[str, list[Any]], now: float) -> Batch:
        batch: Batch = plan.work(shard, records, now)
        if records and mischief.take("slow"):
            time.sleep(settings.poll_interval * 1.6)
        while records and mischief.take("hang_cpu"):
            while True:
                pass
        return batch

    metrics = WorkerMetrics(scorers=scorer_names(suite), checks=[], topics=list(plan.inputs[:1]))
    owner = Ownership(settings, dataclasses.replace(plan, work=wayward), metrics)
    owner.work.__class__ = WaywardWork
    owner.work.mischief = mischief
    return run_app(build_app(settings, owner))


def supervise() -> int:
    """Supervise one such process."""
    log_to_stderr()
    settings = Settings.from_env(os.environ)
    command = [sys.executable, "-m", "tests.kafka.faults.worker", "child"]
    return Supervisor({"score": command}, settings.stall_timeout).run()


if __name__ == "__main__":
    try:
        sys.exit(work() if sys.argv[1:] == ["child"] else supervise())
    except ConfigError as refusal:  # as the command does; the supervisor then stops for good
        sys.stderr.write(f"{refusal}\n")
        sys.exit(EXIT_REFUSED)
