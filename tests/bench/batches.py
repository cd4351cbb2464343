"""Batches: what a turn's work costs in batches of few and of many, whose objects do not fit the processor's cache.

What a batch costs Kafka is not in it: its transaction is shared by all turns that it has.
"""

from session import Row, Session
from tables import Rounds, Target, number, table

SECTION = "batches"
SIZES = (20, 100, 250, 500, 1_000, 2_000)  #: turns of a batch; the last is what a worker takes at most
_TURNS, _WARM = 50_000, 20_000


def measure(session: Session) -> None:
    """Run the work alone, in batches of each size."""
    session.make_load()
    turns = min(_TURNS, session.sizes.turns)
    given = {"BENCH_TURNS": str(turns), "BENCH_WARM": str(min(_WARM, turns // 3))}
    for round_ in range(session.sizes.rounds):
        for size in SIZES:
            prefix = session.new_prefix("batches")
            session.run(SECTION, "batched_loop.py", prefix, _name(size), round_, BENCH_BATCH=str(size), **given)


def report(rows: list[Row]) -> tuple[str, list[Target]]:
    """Return the table; nothing was promised but that the size is chosen by measurement."""
    rounds = Rounds(rows, SECTION)
    lines = []
    for name in rounds.variants:
        ratio = rounds.ratio(name, _name(SIZES[-1]))
        lines.append([name, number(rounds.median(name, "cpu_us")), "–" if ratio is None else ratio.show()])
    return table(["the work alone", "CPU µs per turn", "× the largest"], lines), []


def _name(size: int) -> str:
    return f"batches of {size:,}"
