"""Before and after: the speed of this tree's pipeline beside that of an earlier commit, in one interleaved run.

    python tests/bench/before_after.py 23b7b5d [--rounds 7] [--turns 20000] [--checks] [--rows FILE ...] [--worker]
    python tests/bench/before_after.py 23b7b5d --instructions [--turns 20000]

Both trees work through the same simulated turns under their own default suite, in processes of their own, in turn, so
that a noisy minute meets both; what counts is the median over the rounds of the ratio within a round. --instructions
counts those of the processor instead, by valgrind: in minutes, and undisturbed by neighbours. --checks prints
what each registered check costs, too. --rows says instead whether both write the same, byte for byte: rows, all other
records, states and counts, of the golden conversations, of simulated ones in every disorder, and of recordings that are
named (lines of JSON). CPU time; no broker is needed but for --worker, which compares the score workers of both trees on
one broker, each with its own agents and its own variants of this bench.
"""

import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any

import check_costs
from load import write_turns
from session import HERE, ROOT, SIZES, Session
from tables import Measured, Target, table, target_table

sys.path.insert(0, str(ROOT))  # what is simulated here is written to a file that both trees read

from turnsignal.agents.files.simulating import write_simulation
from turnsignal.agents.kafka.brokers import find_broker
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.simulation import Traffic

EARLIER_TOPICS = ("verdicts",)  #: that workers of earlier commits expect, and we do not make
LIMIT = 1.15  #: how much slower the default suite may become
#: turns that come out of order, late, twice, changed and spoiled
DISORDER = Traffic(
    turns=6_000,
    seed=9,
    format_faults=0.2,
    superseded=0.1,
    gaps=0.05,
    hot=0.05,
    disorder=0.05,
    late=0.05,
    duplicates=0.02,
    conflicts=0.01,
    naive=0.05,
    malformed=0.03,
)


def main() -> int:
    """Compare; the exit code is 2 for a commit that is not there, 1 for other rows, else 0."""
    options = _read_arguments()
    with tempfile.TemporaryDirectory(prefix="turnsignal-before-") as directory:
        before, turns = Path(directory) / "before", Path(directory) / "turns"
        if (wrong := _unpack(options.base, before)) is not None:
            print(wrong, file=sys.stderr)
            return 2
        if options.rows is not None:
            return _compare_rows(before, Path(directory), options.rows)
        if options.worker:
            return _compare_workers(options.base, before, Path(directory), options)
        write_turns(turns, options.turns, options.conversations)
        if options.instructions:
            return _compare_instructions(options.base, before, turns, options.turns)
        rounds = []
        for round_ in range(options.rounds):
            trees = [before, ROOT] if round_ % 2 == 0 else [ROOT, before]
            us = {tree: _run(tree, turns) for tree in trees}
            rounds.append((us[before], us[ROOT]))
            ratio = us[ROOT] / us[before]
            print(
                f"round {round_ + 1} of {options.rounds}: {us[before]:.1f} → {us[ROOT]:.1f} µs, {ratio:.3f}",
                file=sys.stderr,
                flush=True,
            )
    print(_report(options.base, rounds))
    if options.checks:
        print()
        check_costs.main()
    return 0


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        epilog="Example: python tests/bench/before_after.py HEAD~20 --rounds 7 --checks",
    )
    parser.add_argument("base", metavar="COMMIT", help="what to compare with")
    parser.add_argument("--rounds", type=_positive, default=7, help="interleaved rounds (default 7)")
    parser.add_argument("--turns", type=_positive, default=20_000, help="turns a round; a quarter only warms up")
    parser.add_argument("--conversations", type=_positive, default=1_000, help="among which the turns go round")
    parser.add_argument("--instructions", action="store_true", help="count instructions by valgrind instead of time")
    parser.add_argument(
        "--rows", nargs="*", type=Path, metavar="FILE", help="compare what is written, of these files too"
    )
    parser.add_argument("--worker", action="store_true", help="compare score workers on a broker, 60,000 turns or more")
    parser.add_argument("--checks", action="store_true", help="print the cost of each registered check, too")
    return parser.parse_args()


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _unpack(commit: str, directory: Path) -> str | None:
    """Put a commit's sources into a directory; return what is wrong when that cannot be."""
    wanted = ["stream", "agents", "tests/bench"]
    archive = subprocess.run(["git", "archive", commit, *wanted], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode:
        said = archive.stderr.decode(errors="replace").strip().splitlines()
        return f"expected a commit of this repository with stream/ in it, got {commit!r}: {said[-1] if said else ''}"
    with tarfile.open(fileobj=BytesIO(archive.stdout)) as sources:
        sources.extractall(directory, filter="data")
    if b"from turnsignal.stream" in (directory / "stream" / "suite.py").read_bytes():
        package = directory / "turnsignal"
        package.mkdir()
        (package / "__init__.py").touch()
        for name in ("stream", "agents"):
            (directory / name).rename(package / name)
    return None


def _compare_rows(before: Path, directory: Path, more: list[Path]) -> int:
    """Say of each recording what is the same and what is not; return 1 when something is not."""
    simulated, disordered = directory / "simulated.jsonl", directory / "in disorder.jsonl"
    write_simulation(Traffic(turns=6_000, seed=3, labelled=1.0), simulated)
    write_simulation(DISORDER, disordered)
    paths = [ROOT / "tests" / "data" / "golden.jsonl", simulated, disordered]
    for number, path in enumerate(more):
        paths.append(directory / f"{number}-{path.parent.name}-{path.name}.jsonl")
        paths[-1].write_bytes((gzip.open if path.suffix == ".gz" else open)(path, "rb").read())
    names = [str(path) for path in paths]
    old, new = (_tell(tree, "fingerprints.py", *names)["digests"] for tree in (before, ROOT))
    other = {
        name: [kind for kind in new[name] | old[name] if new[name].get(kind) != old[name].get(kind)] for name in new
    }
    lines = [[Path(name).name, ", ".join(new[name]), ", ".join(kinds) or "nothing"] for name, kinds in other.items()]
    print(table(["recording", "compared", "other than before"], lines))
    return int(any(other.values()))


def _compare_workers(base: str, before: Path, directory: Path, options: argparse.Namespace) -> int:
    """Run both trees' score workers in turn; return 1 where a process did not get going."""
    sizes = SIZES["default"]._replace(rounds=options.rounds, turns=max(60_000, options.turns))
    script, pairs = "variants/score_worker.py", list[tuple[float, float]]()
    trees = {
        before: (str(before / "tests" / "bench" / script), {"PYTHONPATH": f"{before}{os.pathsep}{before}/tests/bench"}),
        ROOT: (str(HERE / script), {}),
    }
    try:
        with find_broker(os.environ, directory=directory / "kafka", say=_say) as broker:
            session = Session(broker.address, directory, sizes, directory / "rows.jsonl")
            session.make_load()
            for round_ in range(options.rounds):
                us = {}
                for tree in list(trees)[:: 1 if round_ % 2 == 0 else -1]:
                    prefix = session.new_prefix("worker")
                    session.fill(prefix, *(f"{prefix}.{name}" for name in EARLIER_TOPICS))
                    name = "before" if tree == before else "after"
                    variant, env = trees[tree]
                    row = session.run("worker", variant, prefix, name, round_, BENCH_NAME=f"{prefix}-{name}", **env)
                    us[tree] = float(row["cpu_us"])
                    session.drop_topics(prefix)
                pairs.append((us[before], us[ROOT]))
    except (TurnsignalError, RuntimeError) as error:
        _say(str(error))
        return 1
    print(_report(base, pairs, "score worker"))
    return 0


def _compare_instructions(base: str, before: Path, turns: Path, count: int) -> int:
    """Print the instructions per turn of both trees' plain loops; return 1 where valgrind is not installed."""
    if shutil.which("valgrind") is None:
        _say("expected valgrind on the path, got none; try: apt install valgrind")
        return 1
    old, new = (_count_instructions(tree, turns, count) for tree in (before, ROOT))
    lines = [[f"before ({base})", f"{old:,.0f}", "1.000"], ["after (this tree)", f"{new:,.0f}", f"{new / old:.3f}"]]
    print(table(["plain loop, default suite", "instructions per turn", "beside before"], lines))
    return 0


def _count_instructions(tree: Path, turns: Path, count: int) -> float:
    """Return instructions per turn of the last three quarters: those of all turns less those of the first quarter."""
    totals = []
    for part in ("warm", "all"):
        under = ("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null")
        done = _run_variant(tree, "processor_loop.py", str(turns), part, under=under)
        collected = re.search(r"Collected : (\d+)", done.stderr)
        assert collected is not None, "callgrind ends with what it collected"
        totals.append(int(collected[1]))
        _say(f"{tree.name}, {part}: {totals[-1]:,} instructions")
    return (totals[1] - totals[0]) / (count - count // 4)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _run(tree: Path, turns: Path) -> float:
    """Return CPU µs per turn of the plain loop of one tree."""
    return float(_tell(tree, "processor_loop.py", str(turns))["us"])


def _tell(tree: Path, variant: str, *arguments: str) -> dict[str, Any]:
    """Run a variant on the sources of one tree, and return what it says."""
    came: dict[str, Any] = json.loads(_run_variant(tree, variant, *arguments).stdout)
    if tree != ROOT and not Path(came["from"]).is_relative_to(tree):
        msg = f"expected the sources of {tree}, got those of {came['from']}; is another stream/ on the path?"
        raise RuntimeError(msg)
    return came


def _run_variant(
    tree: Path, variant: str, *arguments: str, under: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a variant on the sources of one tree; under: the program that runs it, with its options."""
    return subprocess.run(
        [*under, sys.executable, str(HERE / "variants" / variant), *arguments],
        env={
            **os.environ,
            **({"PYTHONHASHSEED": "0"} if under else {}),  # the same dictionaries in both trees
            "PYTHONPATH": str(HERE) if tree == ROOT else f"{tree}{os.pathsep}{HERE}",
        },
        cwd=HERE,
        capture_output=True,
        text=True,
        check=True,
    )


def _report(base: str, rounds: list[tuple[float, float]], what: str = "plain loop, default suite") -> str:
    before, after = zip(*rounds, strict=True)
    ratio = Measured.of([b / a for a, b in rounds])
    assert ratio is not None, "there is a round"
    lines = [
        [f"before ({base})", f"{median(before):.1f}", f"{min(before):.1f}–{max(before):.1f}"],
        ["after (this tree)", f"{median(after):.1f}", f"{min(after):.1f}–{max(after):.1f}"],
    ]
    target = Target(f"{what}, beside before", ratio, LIMIT)
    return f"{table([what, 'CPU µs per turn, median', 'range'], lines)}\n\n{target_table([target])}"


if __name__ == "__main__":
    sys.exit(main())
