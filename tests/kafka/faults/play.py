"""One fault run by a script: workers, turns, and what is done to them while the turns are fed."""

from pathlib import Path
from typing import Any

from tests.kafka.faults.lab import Lab, Result
from tests.kafka.faults.scenarios import Scene, Script
from tests.kafka.faults.traffic import PATIENCE, make_settings
from tests.kafka.faults.workers import wait

__all__ = ["make_settings", "play", "wait"]


def play(
    script: Script,
    broker: Any,
    prefix: str,
    directory: Path,
    *,
    turns: int,
    seconds: float,
    seed: int = 0,
    workers: int = 2,
    outage: float = 60.0,
    delivery: str = "exactly_once",
    patience: float = PATIENCE,
) -> Result:
    """Run a script against fresh topics.

    seconds: how long the turns are spread over; outage: how long a script that takes the broker away does so.
    """
    lab = Lab(broker, make_settings(broker, prefix, directory, delivery, patience), directory, seed=seed)
    try:
        follow(lab, script, turns=turns, seconds=seconds, workers=workers, outage=outage)
        return lab.finish()
    finally:
        lab.close()


def follow(
    lab: Lab,
    script: Script,
    *,
    turns: int,
    seconds: float,
    workers: int = 2,
    outage: float = 60.0,
) -> None:
    """Start workers, and feed turns while a script goes on."""
    lab.start(workers)
    settings = lab.settings
    scene = Scene(lab.workers, lab.broker, seconds, settings.session_timeout, settings.stall_timeout, outage)
    lab.feed(turns, seconds, script(scene))
