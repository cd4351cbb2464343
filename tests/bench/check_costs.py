"""Checks: what each registered check costs per response, so that whoever adds one to a suite knows its price.

Each is alone with simulated responses; where several look at the Markdown, a suite pays for reading it once.
"""

import sys
import time
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from session import Row, Session
from tables import Rounds, Target, number, table

from turnsignal.stream.checks import CHECKS, parse_check
from turnsignal.stream.checks.protocol import CheckResult
from turnsignal.stream.citations.reader import Citations, citation_reader
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.records.turns import Turn, decode_turn
from turnsignal.stream.simulation import steady
from turnsignal.stream.suite import DEFAULT_CHECKS

SECTION = "checks"
RESPONSES, REPEATS = 400, 5


def measure(session: Session) -> None:
    """Time every check in rounds, one after the other within each."""
    for round_ in range(max(3, session.sizes.rounds)):
        for row in one_round(round_):
            session.keep(row)


def one_round(round_: int) -> list[Row]:
    """Return a row for each check: CPU µs per response, citations read before and Markdown not."""
    turns = [turn for _, value in steady(2 * RESPONSES, 50, seed=3) if (turn := decode_turn(value)).role == "assistant"]
    read = citation_reader()
    found = {id(turn): read(turn.text, turn.retrieved) for turn in turns}
    names = list(dict.fromkeys([*DEFAULT_CHECKS, *(check.example for check in CHECKS.values())]))
    rows = []
    for name in names:
        if name.startswith("language.") and not find_spec("py3langid"):
            continue
        look = parse_check(name).check
        best = min(_seconds(look, _fresh(turns, found)) for _ in range(REPEATS))
        rows.append({"section": SECTION, "variant": name, "round": round_, "us": best / len(turns) * 1e6})
    return rows


def _fresh(turns: Sequence[Turn], found: dict[int, Citations]) -> list[Response]:
    return [Response(t.text, t.retrieved, lambda *_, t=t: found[id(t)], t.platform) for t in turns]


def _seconds(look: Callable[[Response], CheckResult], responses: Sequence[Response]) -> float:
    began = time.process_time()
    for response in responses:
        look(response)
    return time.process_time() - began


def report(rows: list[Row]) -> tuple[str, list[Target]]:
    """Return the table, dearest first; the sum is what the default suite's checks cost."""
    rounds = Rounds(rows, SECTION)
    costs = {name: rounds.median(name, "us") or 0.0 for name in rounds.variants}
    lines = [
        [f"`{name}`".replace("|", "\\|"), number(us, 2), "default" if name in DEFAULT_CHECKS else "opt-in"]
        for name, us in sorted(costs.items(), key=lambda pair: -pair[1])
    ]
    lines.append(["the default suite's", number(sum(costs.get(name, 0.0) for name in DEFAULT_CHECKS), 2), ""])
    return table(["check", "µs per response", ""], lines), []


def main() -> None:
    """Print the table, with no broker and no session."""
    rows = []
    for round_ in range(3):
        print(f"checks, round {round_ + 1} of 3", file=sys.stderr, flush=True)
        rows += one_round(round_)
    print(report(rows)[0])


if __name__ == "__main__":
    main()
