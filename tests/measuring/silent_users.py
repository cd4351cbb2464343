"""How often TurnsignalUsersSilent fires where nothing changed, and how soon it does where users leave without a word.

    python -m tests.measuring.silent_users

What the rule in deploy/prometheus/rules does, on simulated conversations: traffic and the share that ends silent go up
and down with the hour, and weekends have five points more. Prints tickets in 60 days, and hours until the first.
"""

import numpy as np

STEP, DAY = 10, 144  #: minutes, and steps of a day
WINDOW, EARLIER, HELD = 36, 3, 3  #: steps that the rule looks at; the days that it compares with; steps it has to hold
RISE, ERRORS, LEAST = 0.12, 4.0, 30  #: as in the rule
DAYS, JUMPS_AT, RUNS = 60, 10, 20
SHARE, WAVE, WEEKEND = 0.4, 0.1, 0.05  #: of conversations that end silent

Counts = np.ndarray[tuple[int], np.dtype[np.int64]]


def simulate(random: np.random.Generator, a_day: int, days: int, differ: float, jump: float) -> tuple[Counts, Counts]:
    """Return how many conversations closed in each step, and how many of them silent."""
    at = np.arange(days * DAY)
    hour = at % DAY * STEP / 60
    traffic = 1 + 0.8 * np.sin((hour - 8) / 24 * 2 * np.pi)
    share = SHARE + WAVE * np.sin((hour - 20) / 24 * 2 * np.pi) + WEEKEND * (at // DAY % 7 >= 5)
    share += np.repeat(random.normal(0, differ, days), DAY) + jump * (at >= JUMPS_AT * DAY)
    closed = random.poisson(a_day / DAY * traffic)
    return closed, random.binomial(closed, np.clip(share, 0.01, 0.99))


def firings(closed: Counts, silent: Counts) -> list[int]:
    """Return the steps at which the alert begins to fire."""
    ends = np.arange(DAY + WINDOW, len(closed))
    now = [_within(counts, ends) for counts in (silent, closed)]
    before = [sum(_within(counts, ends - day * DAY) for day in range(1, EARLIER + 1)) for counts in (silent, closed)]
    known = (now[1] >= LEAST) & (before[1] > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        rise = now[0] / now[1] - before[0] / before[1]
        holds = known & (rise > RISE) & (rise**2 > ERRORS * (1 / now[1] + 1 / before[1]))
    begun, run = [], 0
    for end, is_so in zip(ends, holds, strict=True):
        run = run + 1 if is_so else 0
        if run == HELD + 1:
            begun.append(int(end))
    return begun


def _within(counts: Counts, ends: Counts) -> Counts:
    total = np.concatenate([[0], np.cumsum(counts)])
    return total[np.maximum(ends, 0)] - total[np.maximum(ends - WINDOW, 0)]  # type: ignore[no-any-return]


def main() -> None:
    """Print both tables."""
    random = np.random.default_rng(1)
    print(f"tickets in {DAYS} days, mean of {RUNS} simulations (most), where days differ by a standard deviation of")
    print("a day      0.00        0.03        0.05")
    for a_day in (150, 500, 2_000, 10_000):
        row = []
        for differ in (0.0, 0.03, 0.05):
            counts = [len(firings(*simulate(random, a_day, DAYS, differ, 0.0))) for _ in range(RUNS)]
            row.append(f"{np.mean(counts):5.2f} ({max(counts)})".ljust(11))
        print(f"{a_day:<6,} ", *row)
    print("seen in three days, and hours until then in the middle, where so many more leave without a word")
    print("a day      +0.12       +0.20       +0.32")
    for a_day in (150, 500, 2_000, 10_000):
        row = []
        for jump in (0.12, 0.2, 0.32):
            begun = [firings(*simulate(random, a_day, JUMPS_AT + 3, 0.0, jump)) for _ in range(RUNS)]
            first = [after[0] for steps in begun if (after := [step for step in steps if step >= JUMPS_AT * DAY])]
            hours = f"{np.median(first) * STEP / 60 - JUMPS_AT * 24:.0f} h" if first else "–"
            row.append(f"{len(first) / RUNS:4.0%} {hours}".ljust(11))
        print(f"{a_day:<6,} ", *row)


if __name__ == "__main__":
    main()
