"""Columns: many values of one series at once, of which nobody has to hear.

Nearly every value leaves all alarms as they are. What it does to a detector is written in `Detector.update`; here the
same is done to a whole column, pass by pass, with the numbers in local variables, for a third of the cost. Where an
alarm is open or may open, where a day ends, a version is new or a value late, nothing is done here, and the values go
through `Detector.update` one by one. Tests hold both ways to the same bits.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from turnsignal.stream.detection.baseline import (
    LEARNED_EVERY,
    SECONDS_OF_DAY,
    SHRINKING,
    Baseline,
    correlation_of,
    margin_of,
)
from turnsignal.stream.detection.detector import COMPARED_EVERY, DAY, LATEST, AlarmChange, Detector, Paging, Released
from turnsignal.stream.detection.evidence import (
    AT_RISK,
    HARMLESS,
    LARGE,
    LARGEST,
    LEAST,
    LEAST_THRESHOLD,
    LONGEST_ID,
    SHOWN,
    STAKES,
    Evidence,
    Onset,
)
from turnsignal.stream.detection.rollout import ClusterSums, compare
from turnsignal.stream.records.observations import Observation

#: What the values of a row share: its number; the scorers of its record, and which of them are its own; conversation,
#: event time, that time as far as the broker's lets it count, hour of the day, and weight.
RowHead = tuple[int, tuple[Sequence[str], Sequence[int]], str, float, float, int, float]
#: A value: of which row, the value, count and sum of its scorer's earlier ones in the conversation.
Given = tuple[RowHead, float, float, float]

FEW = 3  #: values, below which a column costs more than they do one by one

_LATE = LATEST * DAY
#: Sum of the fortunes above which an alarm may open; a little less than it takes, as the last bit depends on the order.
_NOTABLE = LEAST_THRESHOLD * len(STAKES) * 0.999


#: Of a value: stream time, shortfall, number and sum of the conversation's earlier shortfalls, conversation.
_Seen = tuple[float, float, float, float, str]


class _Bets(NamedTuple):
    """Payoffs of a column in one direction, and the least that each could have been."""

    payoffs: list[float]
    leasts: list[float]


class _Weighed(NamedTuple):
    """A column beside what was usual; baseline: as it is afterwards."""

    baseline: Baseline
    seen: list[_Seen]
    lower: _Bets
    higher: _Bets


def take_in(
    detector: Detector, version: str, column: Sequence[Given], paging: Paging
) -> Iterator[tuple[RowHead, AlarmChange]]:
    """Have a detector take in what a version was given, in its order; yield what becomes of alarms, at which row."""
    if len(column) >= FEW and _take_quietly(detector, version, column):
        return
    for row, value, n, total in column:
        _, _, conversation_id, time, moment, _, weight = row
        change = detector.observe(version, Observation(conversation_id, time, value, n, total, weight), paging, moment)
        if change is not None:
            yield row, change


def _take_quietly(detector: Detector, version: str, column: Sequence[Given]) -> bool:
    """Take in a column in which nothing happens to alarms; False where something may, and then nothing has changed."""
    released = detector.versions.get(version)
    if released is None or detector.alarms:  # versions are known of as soon as it is known what is usual
        return False
    weighed = _weigh(detector.baseline, detector.clock, column)
    if weighed is None:
        return False
    baseline, seen, lower_bets, higher_bets = weighed
    lower, higher = _bet(detector.lower, lower_bets), _bet(detector.higher, higher_bets)
    if lower is None or higher is None:
        return False
    if len(detector.versions) > 1:
        sums = _compare(detector, released, seen)
        if sums is None:
            return False
        released.sums = sums
    detector.baseline, detector.clock = baseline, seen[-1][0]
    detector.meet(version, detector.clock)
    detector.lower.fortunes, detector.higher.fortunes = lower, higher
    _date(detector.lower, lower_bets.payoffs, seen, 1.0)
    _date(detector.higher, higher_bets.payoffs, seen, -1.0)
    return True


def _weigh(baseline: Baseline, now: float, column: Sequence[Given]) -> _Weighed | None:
    """Compare each value with what is usual, and learn it; None where a day ends or a value is late."""
    hours, sums = baseline.hours.copy(), baseline.sums.copy()
    weight, total = baseline.weight, baseline.total
    products, squares = baseline.products, baseline.squares
    margin, correlation = baseline.margin, baseline.intraclass_correlation
    midnight, until = (baseline.day + 1) * SECONDS_OF_DAY, LEARNED_EVERY - baseline.known % LEARNED_EVERY
    seen, lower, higher = list[_Seen](), _Bets([], []), _Bets([], [])
    see, add_lower, add_least_lower = seen.append, lower.payoffs.append, lower.leasts.append
    add_higher, add_least_higher = higher.payoffs.append, higher.leasts.append
    for (_, _, conversation_id, time, moment, hour, _), value, n, earlier in column:
        if moment > now:
            now = moment
            if now >= midnight:
                return None
        elif time < now - _LATE:
            return None
        hour_weight, hour_total = hours[hour], sums[hour]
        usual = (hour_total + SHRINKING * total / weight) / (hour_weight + SHRINKING)
        shortfall = surprise = usual - value
        before = n * usual - earlier
        if n:
            surprise -= correlation * before / (1.0 + (n - 1.0) * correlation)
            products += shortfall * before
            squares += n * shortfall * shortfall
        expected = value + surprise
        payoff, least = surprise - margin, expected - 1.0 - margin
        add_lower(payoff if payoff >= least and payoff >= -1.0 else max(least, -1.0))
        add_least_lower(least)
        payoff, least = -surprise - margin, -expected - margin
        add_higher(payoff if payoff >= least and payoff >= -1.0 else max(least, -1.0))
        add_least_higher(least)
        see((now, shortfall, n, before, conversation_id))
        hours[hour] = hour_weight + 1.0
        sums[hour] = hour_total + value
        weight += 1.0
        total += value
        until -= 1
        if not until:
            until = LEARNED_EVERY
            margin = margin_of(total, weight)
            correlation = correlation_of(products, squares, correlation)
    known, since, day = baseline.known + len(column), baseline.since, baseline.day
    learned = Baseline(hours, sums, weight, total, known, since, day, products, squares, margin, correlation)
    return _Weighed(learned, seen, lower, higher)


def _bet(evidence: Evidence, bets: _Bets) -> list[float] | None:
    """Return the fortunes of an evidence after some payoffs; None where they may be enough for an alarm."""
    a, b, c, d, e, f = evidence.fortunes
    stake_a, stake_b, stake_c, stake_d, stake_e, stake_f = STAKES
    for payoff, least in zip(bets.payoffs, bets.leasts, strict=True):
        a = (a + 1.0) * (1.0 + stake_a * payoff)
        b = (b + 1.0) * (1.0 + stake_b * payoff)
        c = (c + 1.0) * (1.0 + stake_c * payoff)
        d = (d + 1.0) * (1.0 + stake_d * payoff)
        e = (e + 1.0) * (1.0 + stake_e * payoff)
        f = (f + 1.0) * (1.0 + (stake_f if least >= HARMLESS else AT_RISK / -least) * payoff)
        if a + b + c + d + e + f >= _NOTABLE:
            return None
    return [a, b, c, d, e, f]


def _compare(detector: Detector, released: Released, seen: Sequence[_Seen]) -> ClusterSums | None:
    """Return the sums of a version after some values; None where they differ from those of the one it replaces."""
    old = released.sums
    sums = ClusterSums(old.n, old.total, old.conversations, old.squares, old.cross, old.sizes)
    other = None if released.replaces is None else detector.versions.get(released.replaces)
    replaced = None if other is None else other.sums.since(released.start)
    for _, shortfall, n, before, _ in seen:
        sums.add(shortfall, n, before)
        if replaced is not None and not sums.n % COMPARED_EVERY:
            difference = compare(sums, replaced)
            if difference is not None and not difference.lower <= 0.0 <= difference.upper:
                return None
    return sums


def _date(
    evidence: Evidence,
    payoffs: Sequence[float],
    seen: Sequence[_Seen],
    sign: float,
) -> None:
    """Follow when a change most likely began. sign: of shortfalls in the direction of the evidence."""
    if not evidence.since and not evidence.n:
        evidence.since = evidence.first = seen[0][0]
    most = max(payoffs)
    for onset, slack in zip(evidence.larger, (LARGE, LARGEST), strict=True):
        if onset.n or most > slack:
            _date_larger(onset, slack, payoffs, seen, sign)
    if not evidence.n and most <= LEAST:
        evidence.since = seen[-1][0]
        return
    run, since, count, total = evidence.run, evidence.since, evidence.n, evidence.total
    squares, pairs = evidence.squares, evidence.pairs
    shown = {conversation_id: deviation for deviation, conversation_id in evidence.shown}
    for payoff, (now, shortfall, n, _, conversation_id) in zip(payoffs, seen, strict=True):
        moved = run + payoff - LEAST
        if moved <= 0.0:
            if count:
                run = count = total = squares = pairs = 0.0
                shown = {}
            since = now
            continue
        run, deviation = moved, sign * shortfall
        count += 1.0
        total += deviation
        squares += deviation * deviation
        pairs += n
        if deviation > 0.0 and 2.0 * deviation * count >= total and len(conversation_id) <= LONGEST_ID:
            shown.pop(conversation_id, None)  # each once, at its newest
            shown[conversation_id] = deviation
    evidence.run, evidence.since, evidence.n, evidence.total = run, since, count, total
    evidence.squares, evidence.pairs = squares, pairs
    evidence.shown = [(deviation, conversation_id) for conversation_id, deviation in shown.items()][-SHOWN:]


def _date_larger(
    onset: Onset,
    slack: float,
    payoffs: Sequence[float],
    seen: Sequence[_Seen],
    sign: float,
) -> None:
    """Follow when a change began, if it is a large one."""
    run, since, count, total = onset.run, onset.since, onset.n, onset.total
    squares, pairs = onset.squares, onset.pairs
    for payoff, (now, shortfall, n, _, _) in zip(payoffs, seen, strict=True):
        if not count and payoff <= slack:
            continue
        run += payoff - slack
        if run > 0.0:
            if not count:
                since = now
            deviation = sign * shortfall
            count += 1.0
            total += deviation
            squares += deviation * deviation
            pairs += n
        else:
            run = count = total = squares = pairs = 0.0
    onset.run, onset.since, onset.n, onset.total = run, since, count, total
    onset.squares, onset.pairs = squares, pairs
