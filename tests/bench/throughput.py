"""Throughput: what a turn costs one process at full load, and the engine's share of it, on one broker.

The columns show both clocks; targets are about CPU time, which other processes of the machine disturb least.
"""

from scraping import EVERY, scraped
from session import Row, Session
from tables import Measured, Rounds, Target, number, table

from turnsignal.agents.kafka.process import free_ports

SECTION = "throughput"
OURS, PLAIN, BATCHED = "turnsignal exactly once", "plain loop", "plain loop, batched"
REDACTED = "plain loop, redacted"
BARE, QUIX, BYTEWAX, CONFLUENT = "Faust bare pass-through", "Quix Streams", "Bytewax", "confluent-kafka loop"
BYTEWAX_RECOVERY, AT_LEAST, NO_METRICS = "Bytewax with recovery", "turnsignal at least once", "turnsignal, metrics off"
BASELINE, TRANSACTIONS = "baseline work", "confluent-kafka loop, transactions"

PROMISES = {
    OURS: "exactly once, fenced, any machine can take over",
    AT_LEAST: "at least once, any machine can take over",
    NO_METRICS: "as the first, for what metrics cost",
    CONFLUENT: "at least once, changelog",
    TRANSACTIONS: "exactly once on one machine, changelog",
    QUIX: "at least once, changelog",
    BYTEWAX: "none: state dies with the process",
    BYTEWAX_RECOVERY: "local snapshots once a second",
    BARE: "does nothing",
    PLAIN: "no Kafka: the ceiling, a turn at a time",
    BATCHED: "no Kafka: the ceiling, in our batches",
    REDACTED: "no Kafka: as a turn at a time, of texts without what identifies people",
    BASELINE: "no Kafka: the least work that could be meant",
}


def measure(session: Session) -> None:
    """Run all variants, interleaved; our worker's own variants get topics of their own, with the same turns."""
    session.make_load()
    for round_ in range(session.sizes.rounds):
        prefix = session.new_prefix("tput")
        session.fill(prefix, f"{prefix}-confluent-changelog", f"{prefix}-confluent-transactions-changelog")
        for name, script, env in _peers():
            _run(session, script, prefix, name, round_, env)
        session.drop_topics(prefix)
        for name, env in ((AT_LEAST, {"TURNSIGNAL_DELIVERY": "at_least_once"}), (NO_METRICS, {"BENCH_METRICS": "off"})):
            prefix = session.new_prefix("tput")
            session.fill(prefix)
            _run(session, "score_worker.py", prefix, name, round_, env)
            session.drop_topics(prefix)


def _peers() -> list[tuple[str, str, dict[str, str]]]:
    return [
        (PLAIN, "plain_loop.py", {}),
        (OURS, "score_worker.py", {}),
        (CONFLUENT, "confluent_loop.py", {}),
        (TRANSACTIONS, "confluent_loop.py", {"BENCH_TRANSACTIONS": "on"}),
        (BYTEWAX_RECOVERY, "bytewax_flow.py", {"BENCH_RECOVERY": "on"}),
        (QUIX, "quix_app.py", {}),
        (REDACTED, "plain_loop.py", {"BENCH_REDACTION": "on"}),
        (BATCHED, "batched_loop.py", {}),
        (BYTEWAX, "bytewax_flow.py", {}),
        (BASELINE, "baseline.py", {}),
        (BARE, "faust_bare.py", {}),
    ]


def _run(session: Session, script: str, prefix: str, name: str, round_: int, env: dict[str, str]) -> None:
    short = script.removesuffix(".py").replace("_", "-").replace("confluent-loop", "confluent")
    (port,) = free_ports(1)
    kind = "-recovery" if "BENCH_RECOVERY" in env else "-transactions" if "BENCH_TRANSACTIONS" in env else ""
    given = {
        "BENCH_NAME": f"{prefix}-{short}{kind}",
        "TURNSIGNAL_METRICS_PORT": str(port),
        **env,
    }
    with scraped(port if name == OURS else None):
        session.run(SECTION, script, prefix, name, round_, **given)


def report(rows: list[Row]) -> tuple[str, list[Target]]:
    """Return the table, and the targets of the live pipeline."""
    rounds = Rounds(rows, SECTION)
    lines = []
    for name in sorted(rounds.variants, key=lambda v: rounds.median(v, "cpu_us") or 0.0):
        us = rounds.median(name, "us")
        low, high = rounds.spread(name, "cpu_us")
        lines.append(
            [
                name,
                number(1e6 / us if us else None, 0),
                f"{number(rounds.median(name, 'cpu_us'))} ({low:.1f}–{high:.1f})",
                number(_engine(rounds, name)),
                number(rounds.ratio(name, PLAIN), 2),
                number(rounds.median(name, "rss_mb"), 0),
                PROMISES.get(name, ""),
            ]
        )
    head = ["one process", "turns/s", "CPU µs per turn (min–max)", "engine's", "× plain loop", "RSS MB", "promise"]
    beyond = number(rounds.compare(OURS, BATCHED, lambda a, b: a["cpu_us"] - b["cpu_us"]))
    note = (
        "The engine's µs are what a turn costs beyond the plain loop, which restores and snapshots its conversation at "
        f"every turn as the peers do. Beyond the loop in batches our engine costs {beyond} µs. No conversation comes "
        "twice in a batch."
    )
    return f"{table(head, lines)}\n\n{note}", _targets(rounds)


def _engine(rounds: Rounds, name: str) -> Measured | None:
    """What a turn costs beyond the work; all of it where no work is done, nothing where there is no engine."""
    if name in (PLAIN, REDACTED, BATCHED, BASELINE):
        return None
    if name == BARE:
        return rounds.measured(name, lambda row: float(row["cpu_us"]))
    return rounds.compare(name, PLAIN, lambda a, b: a["cpu_us"] - b["cpu_us"])


def _targets(rounds: Rounds) -> list[Target]:
    plain = rounds.by_round(PLAIN, "cpu_us")
    beside_bare = rounds.compare(
        OURS, BARE, lambda a, b: (a["cpu_us"] - plain[a["round"]]) / b["cpu_us"] if a["round"] in plain else None
    )
    metrics = rounds.compare(OURS, NO_METRICS, lambda a, b: (a["cpu_us"] / b["cpu_us"] - 1) * 100)
    shares = [
        (f"engine's share beside {name}", rounds.share_ratio(OURS, peer, PLAIN), limit)
        for name, peer, limit in (
            ("Bytewax's with recovery", BYTEWAX_RECOVERY, 0.8),
            ("the confluent-kafka loop's", CONFLUENT, 1.35),
            ("the same loop's with transactions", TRANSACTIONS, 1.0),
            ("Quix Streams'", QUIX, 0.52),
        )
    ]
    return [
        *(Target(*share) for share in shares),
        Target("engine's share beside Faust's bare pass-through", beside_bare, 0.24),
        Target("the work beside the baseline's", rounds.ratio(PLAIN, BASELINE), 2.1),
        Target(f"what metrics cost, scraped every {EVERY:.0f} s", metrics, 5.0, unit=" %"),
    ]
