"""Scaling: what a turn costs in more partitions, with more processes, and with larger answers.

Partitions and processes are live traffic, CPU of workers and broker; answers are the work alone. What this machine
cannot hold is worked out from its figures by `capacity.py`.
"""

from pathlib import Path

from live import USUAL, WARM, WORKER, Run, make_turns
from load import write_turns
from session import Row, Session
from tables import Rounds, Target, number, table

SECTION = "scaling"
PARTITIONS = (1, 4, 16, 64)
PROCESSES = (1, 2, 3)
SHARED = 12  #: partitions that one, two or three processes share evenly
BUSY = 2_000  #: turns per second then
DOCUMENTS = (8, 100)  #: of an answer; eight are some 5 kB
_LARGE_TURNS = 4_000


def measure(session: Session) -> None:
    """Run one process with few and many partitions, more processes on the same, and the work on larger answers."""
    sizes = session.sizes
    for count in DOCUMENTS:
        write_turns(_load(session, count), _LARGE_TURNS, _LARGE_TURNS // 4, documents=count)
    for round_ in range(sizes.rounds):
        for partitions in PARTITIONS:
            _run_live(session, round_, f"partitions: {partitions}", 1, partitions, USUAL)
        for processes in PROCESSES:
            _run_live(session, round_, f"processes: {processes}", processes, SHARED, BUSY)
        for count in DOCUMENTS:
            env = {"BENCH_LOAD": str(_load(session, count)), "BENCH_TURNS": str(_LARGE_TURNS)}
            name = f"documents: {count}"
            session.run(SECTION, "plain_loop.py", session.new_prefix("docs"), name, round_, **env, BENCH_WARM="1000")


def _load(session: Session, documents: int) -> Path:
    return session.directory / f"turns-of-{documents}"


def _run_live(session: Session, round_: int, name: str, processes: int, partitions: int, rate: int) -> None:
    prefix = session.new_prefix("scaling")
    session.make_topics(prefix, partitions=partitions)
    env = {"BENCH_TURNS": "1000000000"}
    variants = [session.start(WORKER.script, prefix, f"{prefix}-{number}", env) for number in range(processes)]
    try:
        row = Run(session, variants, prefix, WORKER, rate).measure(*make_turns(rate, WARM + session.sizes.live_seconds))
    finally:
        for variant in variants:
            variant.end()
        session.drop_topics(prefix)
    session.keep({"section": SECTION, "variant": name, "round": round_, "rate": rate, **row})


def report(rows: list[Row]) -> tuple[str, list[Target]]:
    """Return the table; nothing was promised but that the costs are known."""
    rounds = Rounds(rows, SECTION)
    first = {name.partition(":")[0]: name for name in reversed(rounds.variants)}
    lines = []
    for name in rounds.variants:
        base = first[name.partition(":")[0]]
        field = "both_us" if rounds.median(name, "both_us") is not None else "cpu_us"
        ratio = rounds.ratio(name, base, field)
        shown = [
            number(rounds.median(name, "rate"), 0),
            number(rounds.median(name, "cpu_us"), 0),
            number(rounds.median(name, "broker_us"), 0),
            number(rounds.median(name, "transactions"), 0),
            number(rounds.median(name, "p50_ms"), 0),
            number(rounds.median(name, "p99_ms"), 0),
            "–" if ratio is None else ratio.show(),
        ]
        lines.append([name, *shown])
    head = ["", "turns/s", "worker CPU µs per turn", "broker's", "transactions/s", "p50 ms", "p99 ms", "× the first"]
    return table(head, lines), []
