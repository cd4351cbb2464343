"""Every fault in short form; `make faults` runs them all at length, and mixed ones over ten seeds.

Whatever is killed, stopped, slowed, taken away or sent: no score row missing, none unexpected, none twice; every state,
summary, dead letter and series as the oracles say; and the workers, which are the command that users start, are back at
work by themselves, or have refused in one line that says what to do.
"""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from tests.kafka.faults.cluster import Cluster
from tests.kafka.faults.lab import Result
from tests.kafka.faults.table import SCENARIOS, run
from turnsignal.stream.errors import TurnsignalError

pytestmark = pytest.mark.kafka

SHORT = [name for name, scenario in SCENARIOS.items() if scenario.short]
BESIDE = 2  #: runs that share a broker at a time: with a third one beside them two cores have no time for the broker


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Any]]]:
    """The runs that were asked for, side by side on one broker, and one by one on another that they may crash."""
    items = [getattr(item, "callspec", None) for item in request.session.items if item.path == request.path]
    names = [item.params["name"] for item in items if item is not None and "name" in item.params]
    directory = tmp_path_factory.mktemp("faults")
    sites = {SCENARIOS[name].site for name in names}
    with ExitStack() as stack:
        clusters: dict[str, Cluster] = {}
        for site in sorted(sites):
            try:
                clusters[site] = stack.enter_context(Cluster(directory / site, steady=site == "shared"))
            except TurnsignalError as error:
                if os.environ.get("CI"):
                    pytest.fail(f"CI is set and there is no broker that may be broken: {error}", pytrace=False)
                pytest.skip(f"faults need a broker that may be broken: {error}")
        pools = {site: ThreadPoolExecutor(BESIDE if site == "shared" else 1) for site in sites}
        for pool in pools.values():
            stack.callback(pool.shutdown, cancel_futures=True)
        # What takes longest stands at the end of the table: begun first, it leaves nothing to wait for alone.
        yield {name: _submit(pools, clusters, name, directory) for name in reversed(names)}


def _submit(pools: Any, clusters: Any, name: str, directory: Any) -> Future[Result]:
    site = SCENARIOS[name].site
    future: Future[Result] = pools[site].submit(
        run, name, clusters[site], f"f-{name}".replace("_", "-"), directory / name
    )
    return future


@pytest.mark.parametrize("name", SHORT)
def test_nothing_is_lost_or_doubled(name: str, runs: dict[str, Future[Result]]) -> None:
    result = runs[name].result()
    logs = "".join(f"\n--- {worker}\n{text[-6000:]}" for worker, text in result.logs.items())
    assert result.comparison.clean, f"{result.comparison}\n{result.why}{logs}"
    assert set(result.exits) <= {0}, f"{result.exits}{logs}"
    assert bool(result.comparison.rows) == bool(result.comparison.turns)
