"""Growth: what a turn costs and a conversation keeps with many open conversations, and with long ones."""

from session import Row, Session
from tables import Measured, Rounds, Target, number, table

SECTION = "growth"
FEW, SHORT, LONG = 1_000, 10, 10_000


def measure(session: Session) -> None:
    """Put many beside few, and long beside short, in one process each."""
    for round_ in range(max(2, session.sizes.rounds)):
        for count in session.sizes.open_counts:
            _run(session, round_, _open(count), (FEW, count), (SHORT, SHORT))
        _run(session, round_, _turns(LONG), (FEW, FEW), (SHORT, LONG))


def _run(session: Session, round_: int, name: str, counts: tuple[int, int], lengths: tuple[int, int]) -> None:
    env = {
        "BENCH_OPEN": ",".join(map(str, counts)),
        "BENCH_LENGTH": ",".join(map(str, lengths)),
        "BENCH_BATCHES": str(session.sizes.batches),
    }
    session.run(SECTION, "open_conversations.py", session.new_prefix("growth"), name, round_, **env)


def _open(count: int) -> str:
    return f"{count:,} open conversations"


def _turns(length: int) -> str:
    return f"conversations of {length:,} turns"


def report(rows: list[Row]) -> tuple[str, list[Target]]:
    """Return the table, and the targets of memory and cost."""
    rounds = Rounds(rows, SECTION)
    base = f"of {FEW:,} with {SHORT} turns"
    lines = []
    for name in rounds.variants:
        kept, texts = rounds.median(name, "kept_bytes"), rounds.median(name, "text_bytes")
        beside = None if kept is None or texts is None else kept - texts
        times = [number(rounds.median(name, field)) for field in ("second_us", "first_us")]
        lines.append(
            [name, *times, number(rounds.median(name, "ratio"), 2), *(number(n, 0) for n in (kept, texts, beside))]
        )
    counts = [int(name.split()[0].replace(",", "")) for name in rounds.variants if name.endswith("open conversations")]
    many = _open(max(counts)) if counts else "many open conversations"
    memory = rounds.measured(many, lambda row: (row["kept_bytes"] - row["text_bytes"]) / 1000)
    head = ["size", "µs per turn", base, "ratio", "bytes kept each", "of them last texts", "beside them"]
    return table(head, lines), [
        Target(f"memory of each of {many}, beside its last texts", memory, 3.0, unit=" kB"),
        Target(f"cost per turn with {many}, beside {FEW:,}", _ratio(rounds, many), 1.15),
        Target(f"cost per turn in {_turns(LONG)}, beside those of {SHORT}", _ratio(rounds, _turns(LONG)), 1.15),
    ]


def _ratio(rounds: Rounds, name: str) -> Measured | None:
    return rounds.measured(name, lambda row: float(row["ratio"]))
