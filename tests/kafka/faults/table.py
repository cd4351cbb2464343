"""All fault runs by name, what each needs, and how one is run."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from tests.kafka.faults import cases, clusters, positions, records
from tests.kafka.faults.cluster import Cluster
from tests.kafka.faults.lab import Lab, Result
from tests.kafka.faults.play import follow
from tests.kafka.faults.scenarios import SCRIPTS, Script, crash_broker, mixed, outage
from tests.kafka.faults.traffic import PATIENCE, make_settings


class Scenario(NamedTuple):
    """One fault run.

    act: what happens in a lab; site: on a broker that others use meanwhile, on one that it may crash, or on clusters
    that it makes itself; short: whether it is part of `make test`; env: variables without their prefix; large: those
    of the long form; patience: what timeouts are multiplied by; by no less than PATIENCE in the short form;
    of_score: whether what is done concerns the app that scores and no other: in the short form it has none beside it
    that would have to start.
    """

    act: Callable[[Lab], None]
    site: Literal["shared", "unsteady", "own"] = "shared"
    short: bool = True
    env: Mapping[str, str] = {}
    large: Mapping[str, str] = {}
    patience: float = 1.0
    of_score: bool = False


def scripted(script: Script, workers: int = 2) -> Callable[[Lab], None]:
    """Return a case that follows a script while turns are fed."""

    def act(lab: Lab) -> None:
        turns, seconds, away = (50_000, 60.0, 60.0) if lab.large else (2_400, 6.0, 9.0)
        follow(lab, script, turns=turns, seconds=seconds, workers=workers, outage=away)

    return act


def everything(lab: Lab, *, crash: bool) -> None:
    """Have everything happen at random, by the lab's seed."""
    turns, seconds = (50_000, 60.0) if lab.large else (5_000, 14.0)
    follow(lab, mixed(lab.seed, crash=crash), turns=turns, seconds=seconds, workers=3)


CHILD_OF_SCORE = ("kill_child", "stop_and_continue", "slower_than_poll", "hang")
MANY = {"PARTITIONS": "16"}
SCENARIOS: dict[str, Scenario] = {
    **{
        name: Scenario(scripted(script, 3 if name == "join_and_leave" else 2), of_score=name in CHILD_OF_SCORE)
        for name, script in SCRIPTS.items()
    },
    "crash_broker": Scenario(scripted(crash_broker), "unsteady"),
    "outage": Scenario(scripted(outage), "unsteady"),
    "join_after_return": Scenario(cases.join_after_return, "unsteady"),
    "feedback": Scenario(records.feedback),
    "large_key": Scenario(records.large_key, of_score=True),
    "codecs": Scenario(records.codecs, of_score=True),
    "ragged_tables": Scenario(records.ragged_tables, of_score=True),
    "made_up_names": Scenario(records.made_up_names, env={"PARTITIONS": "1"}),
    "bomb": Scenario(records.bomb, of_score=True),
    "quiet_series": Scenario(positions.quiet_series),
    "quiet_turns": Scenario(positions.quiet_turns, of_score=True),
    "offsets_gone": Scenario(positions.offsets_gone, of_score=True),
    "offsets_and_states_gone": Scenario(positions.offsets_and_states_gone, of_score=True),
    "partitions_added": Scenario(positions.partitions_added, of_score=True),
    "cold_start": Scenario(cases.cold_start, env=MANY, large={"PARTITIONS": "64"}, patience=2.5),
    "port_in_use": Scenario(cases.port_in_use),
    "wrong_password": Scenario(cases.wrong_password),
    "slow_network": Scenario(cases.slow_network),
    "silent_network": Scenario(cases.silent_network),
    "forget_and_disk": Scenario(cases.forget_and_disk),
    **{
        f"anew_{name}": Scenario(
            partial(positions.anew, name=name, app=app), short=name in ("turns", "conversations_changelog")
        )
        for name, app in positions.TOPICS_ANEW.items()
    },
    "many": Scenario(clusters.many, short=False, large={"PARTITIONS": "32"}),
    "upgrade": Scenario(clusters.upgrade, short=False),
    "three_brokers": Scenario(clusters.three_brokers, "own", short=False, patience=2.5),
    "full_disk": Scenario(clusters.full_disk, "own", short=False),
    "mixed": Scenario(partial(everything, crash=False)),
    "mixed_crash": Scenario(partial(everything, crash=True), "unsteady", short=False),
}


def run(
    name: str, broker: Cluster | None, prefix: str, directory: Path, *, large: bool = False, seed: int = 1
) -> Result:
    """Run a scenario; broker: as its site says, None where it makes its own."""
    scenario = SCENARIOS[name]
    env = {**scenario.env, **(scenario.large if large else {})}
    patience = scenario.patience if large else max(PATIENCE, scenario.patience)
    if broker is None:
        return clusters.run_alone(scenario.act, prefix, directory, large=large, seed=seed, patience=patience, **env)
    settings = make_settings(broker, prefix, directory, patience=patience, **env)
    app = "score" if scenario.of_score and not large else "all"
    lab = Lab(broker, settings, directory, large=large, seed=seed, app=app)
    try:
        scenario.act(lab)
        return lab.finish()
    finally:
        lab.close()
