"""Replay: recorded turns as `turnsignal replay` takes them, on one core and on two, beside the plain loop."""

from load import write_turns
from session import Row, Session
from tables import Rounds, Target, number, table

SECTION = "replay"
PLAIN, ONE, TWO = "plain loop", "replay on one core", "replay on two cores"


def measure(session: Session) -> None:
    """Run the loop and both replays in turn, over a recording whose conversations have twenty turns each."""
    turns, load = session.sizes.replayed, session.directory / "replayed-turns"
    write_turns(load, turns, turns // 20)
    env = {"BENCH_LOAD": str(load), "BENCH_TURNS": str(turns), "BENCH_WARM": "0"}
    for round_ in range(max(2, session.sizes.rounds)):
        prefix = session.new_prefix("replay")
        session.run(SECTION, "plain_loop.py", prefix, PLAIN, round_, **env)
        for name, workers in ((ONE, "1"), (TWO, "2")):
            session.run(SECTION, "replay_file.py", prefix, name, round_, **env, BENCH_WORKERS=workers)


def report(rows: list[Row]) -> tuple[str, list[Target]]:
    """Return the table, and the targets of replay."""
    rounds = Rounds(rows, SECTION)
    lines = []
    for name in rounds.variants:
        us = rounds.median(name, "us")
        speed, cpu = rounds.ratio(PLAIN, name, "us"), rounds.median(name, "cpu_us")
        lines.append([name, number(1e6 / us if us else None, 0), number(us), number(speed, 2), number(cpu)])
    return table(["replay", "turns/s", "µs per turn", "× plain loop", "CPU µs per turn"], lines), [
        Target("speed of a replay on one core beside the plain loop's", rounds.ratio(PLAIN, ONE), 0.75, False),
        Target("speed of a replay on two cores beside one", rounds.ratio(ONE, TWO, "us"), 1.7, False),
    ]
