"""What came out beside what had to come out, counted by what can go wrong."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from tests.kafka.faults.oracle import Kept, Outcome
from tests.kafka.faults.pairing import Row, foretell_rows

States = Mapping[int, Mapping[bytes, bytes]]


class Comparison(NamedTuple):
    """One line of the table; every count but `turns` and `rows` must be 0.

    missing, unexpected, twice: score rows by id; altered: rows of the right id with other content, or out of order
    within their conversation; summaries, exchanges: conversations whose ones differ; series: observations too few or
    too many; letters: dead letters missing, unexpected or twice; states: conversations whose final state or windows
    differ; positions: partitions not committed to their end; pairs_…: the same by the plain pairing, which knows
    response and follow-up rows, and which records are dead letters; watched: series of which watch keeps another state.
    """

    turns: int
    rows: int
    missing: int
    unexpected: int
    twice: int
    altered: int
    summaries: int
    exchanges: int
    series: int
    letters: int
    states: int
    positions: int
    pairs_missing: int = 0
    pairs_unexpected: int = 0
    pairs_twice: int = 0
    pairs_letters: int = 0
    watched: int = 0

    @property
    def clean(self) -> bool:
        """Whether all is as it must be."""
        return not any(self[2:])


def compare(expected: Outcome, found: Outcome, turns: int) -> Comparison:
    """Count the differences."""
    must, is_there = _ids(expected), _ids(found)
    return Comparison(
        turns=turns,
        rows=expected.count,
        missing=len(must.keys() - is_there.keys()),
        unexpected=len(is_there.keys() - must.keys()),
        twice=sum(count - must[row] for row, count in is_there.items() if row in must and count > must[row]),
        altered=_differing(expected.rows, found.rows) + _differing(expected.feedback, found.feedback),
        summaries=_differing(expected.summaries, found.summaries),
        exchanges=_differing(expected.exchanges, found.exchanges),
        series=((expected.series - found.series) + (found.series - expected.series)).total(),
        letters=((expected.letters - found.letters) + (found.letters - expected.letters)).total(),
        states=differing_states(expected.states, found.states),
        positions=sum(
            not end <= found.positions.get(number, 0) <= found.ends.get(number, end)
            for number, end in expected.positions.items()
        ),
    )


def differing_states(must: States, is_there: States) -> int:
    """Count the keys under which something else is kept."""
    return sum(
        is_there.get(partition, {}).get(key) != must.get(partition, {}).get(key)
        for partition in must.keys() | is_there.keys()
        for key in must.get(partition, {}).keys() | is_there.get(partition, {}).keys()
    )


def judged(row: Mapping[str, Any]) -> str:
    """Name what a row judged, as the plain pairing does."""
    return "\n".join(row.get("follow_ups") or [row.get("follow_up") or ""])


def compare_pairs(
    comparison: Comparison,
    turns: Mapping[int, Sequence[Kept]],
    found: Outcome,
    topic: str,
    since: Mapping[int, int] | None = None,
) -> Comparison:
    """Add what the plain pairing says; since: only of conversations that turns from these offsets on belong to."""
    looked_at = {
        (record.key or b"").decode(errors="replace")
        for partition, records in turns.items()
        for record in records
        if record.offset >= (since or {}).get(partition, 0)
    }
    must: Counter[Row] = Counter()
    letters: Counter[tuple[int, int]] = Counter()
    for partition, records in turns.items():
        rows, refused = foretell_rows(records)
        must += rows
        letters.update({(partition, offset): count for offset, count in refused.items()})
    is_there = Counter(
        (row["conversation_id"], row["turn_id"], row["stage"], row.get("outcome") or "", judged(row))
        for rows in found.rows.values()
        for row in map(orjson.loads, rows)
        if row["stage"] in ("response", "follow_up")
    )
    if since:
        must, is_there = (Counter({r: n for r, n in rows.items() if r[0] in looked_at}) for rows in (must, is_there))
    said: Counter[tuple[int, int]] = Counter()
    for (place, _, _), count in found.letters.items():
        if place[0] == topic:
            said[int(place[1]), int(place[2])] += count
    return comparison._replace(
        pairs_missing=len(must.keys() - is_there.keys()),
        pairs_unexpected=len(is_there.keys() - must.keys()),
        pairs_twice=sum(count - must[row] for row, count in is_there.items() if count > must[row] > 0),
        pairs_letters=((letters - said) + (said - letters)).total(),
    )


def explain(expected: Outcome, found: Outcome) -> str:
    """Show the first difference of each kind, for whoever has to find out why."""
    lines = []
    for name in ("rows", "feedback", "summaries", "exchanges"):
        must, is_there = getattr(expected, name), getattr(found, name)
        for key in [key for key in {**must, **is_there} if must.get(key) != is_there.get(key)][:2]:
            lines += [f"{name} of {key!r}:", *_unequal(must.get(key, []), is_there.get(key, []))]
    for name in ("series", "letters"):
        must, is_there = getattr(expected, name), getattr(found, name)
        lines += [f"{name} missing: {str(one)[:300]}" for one in list(must - is_there)[:2]]
        lines += [f"{name} unexpected: {str(one)[:300]}" for one in list(is_there - must)[:2]]
    for partition, states in expected.states.items():
        there = found.states.get(partition, {})
        for key in [key for key in {**states, **there} if states.get(key) != there.get(key)][:2]:
            lines += [f"state {partition} {key!r}:", f"  must {states.get(key)!r}", f"  is   {there.get(key)!r}"]
    return "\n".join([*lines, f"positions: must {expected.positions}, are {found.positions}"])


def _unequal(must: list[bytes], is_there: list[bytes]) -> list[str]:
    for place in range(max(len(must), len(is_there))):
        wanted, got = must[place : place + 1], is_there[place : place + 1]
        if wanted != got:
            return [
                f"  {len(must)} wanted, {len(is_there)} there, from {place} on:",
                f"  must {wanted}",
                f"  is   {got}",
            ]
    return []


def _ids(outcome: Outcome) -> Counter[str]:
    written = (*outcome.rows.values(), *outcome.feedback.values())
    return Counter(orjson.loads(row)["id"] for rows in written for row in rows)


def _differing(must: dict[bytes, list[bytes]], is_there: dict[bytes, list[bytes]]) -> int:
    return sum(must.get(key, []) != is_there.get(key, []) for key in {**must, **is_there})
