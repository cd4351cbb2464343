"""Interventions: where traffic shows documents in several orders, what that says of position bias, and nDCG without it.

Samples of conversations and of opening questions are kept, the same ones however a replay is divided, so that memory is
bounded and a long replay pays for a share of its responses only.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from turnsignal.stream.measures.ndcg import NDCG
from turnsignal.stream.measures.order import in_order
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.reports.cite_rates import MAX_RANK
from turnsignal.stream.reports.position_bias import (
    Cells,
    Floats,
    Ints,
    Propensities,
    Shape,
    estimate,
    refit,
    shuffled,
    shuffling,
)
from turnsignal.stream.statistics.intervals import Clusters, clustered_mean, jackknife
from turnsignal.stream.statistics.sampling import Sample, digest

GROUPS = 20  #: of conversations and questions; each is left out once, to see what the debiased nDCG hangs on
LEAST_GROUPS = 10  #: without which nothing is said of its error
CLIP = 10.0  #: largest weight of one cited document, so that one lucky citation far down does not decide

#: assistant, version, context ranks of the documents and of the cited ones, and what each document says of its rank in
#: the context and before reranking, as they came
Ordered = tuple[str, str | None, tuple[int, ...], tuple[int, ...], tuple[int | None, ...], tuple[int | None, ...]]
#: assistant, document, its rank, whether it was cited
Shown = tuple[str, str, int, bool]
#: conversations: the group of each, and its responses with their counts
_Grouped = Sequence[tuple[int, Sequence[tuple[Shape, int]]]]


class Interventions:
    """Sampled orders; `take` per response with documents, then `rows`."""

    def __init__(self) -> None:
        self._orders: Sample[Ordered] = Sample(64, 256)  # by conversation
        self._questions: Sample[Shown] = Sample(64, 1_000)  # by question and set of documents

    def update(
        self, key: bytes, turn: Turn, ranks: tuple[int, ...], cited: tuple[int, ...], question: str | None
    ) -> None:
        """Take in a response with documents.

        key: its conversation; ranks, cited: in the context, of all its documents and of those that it cites; question:
        what it answers, if that opened the conversation.
        """
        group = digest(key)
        if group < self._orders.threshold:
            documents = turn.retrieved
            placed = tuple([document.rank for document in documents])
            retrieval = tuple([document.retrieval_rank for document in documents])
            self._orders.count(group, (turn.assistant, turn.version, ranks, cited, placed, retrieval))
        if question is None or ranks[-1] > MAX_RANK:
            return
        # The sum of the digests is that of the set, whatever its order.
        asked = f"{turn.assistant}\x1f{question.strip().casefold()}"
        ids = [crc32(document.doc_id.encode("utf-8", "replace")) for document in turn.retrieved]
        group = digest(asked.encode("utf-8", "replace"), sum(ids))
        if group < self._questions.threshold:
            for doc_id, rank in zip(in_order(turn.retrieved)[0], ranks, strict=True):
                self._questions.count(group, (turn.assistant, doc_id, rank, rank in cited))

    def merge(self, other: "Interventions") -> None:
        """Add what another part took in."""
        self._orders.merge(other._orders)
        self._questions.merge(other._questions)

    def rows(self, minimum: int, cutoff: int) -> list[dict[str, Any]]:
        """Say of each assistant how much rank weighs, and its releases' nDCG with and without that, or why not.

        Propensities are of an assistant, over all its releases. minimum: conversations; cutoff: of the nDCG.
        """
        conversations = [
            (group % GROUPS, [(_shape(key), by) for key, by in keys.items()])
            for group, keys in self._orders.groups.items()
        ]
        rows = []
        for assistant in sorted({shape.assistant for _, shapes in conversations for shape, _ in shapes}):
            mine = [
                (group, [(shape, by) for shape, by in shapes if shape.assistant == assistant])
                for group, shapes in conversations
            ]
            evidence = max(
                (_gather("shuffles", _shuffled(mine)), _gather("questions", self._asked(assistant))),
                key=lambda evidence: (not evidence.propensities.silent, evidence.propensities.n),
            )
            rows.append({"assistant": assistant, **_describe(evidence, mine, minimum, cutoff)})
        return rows

    def _asked(self, assistant: str) -> list[Cells]:
        cells: list[Cells] = [{} for _ in range(GROUPS)]
        for group, counts in self._questions.groups.items():
            for (who, doc_id, rank, cited), by in counts.items():
                if who == assistant:
                    cell = cells[group % GROUPS].setdefault(((group, doc_id), rank), [0, 0])
                    cell[0] += by
                    cell[1] += by * cited
        return cells


class _Evidence(NamedTuple):
    """Propensities, and the cells that they come from, by group and together."""

    propensities: Propensities
    groups: list[Cells]
    whole: Cells


def _gather(source: str, groups: list[Cells]) -> _Evidence:
    whole: Cells = {}
    for cells in groups:
        for key, (shown, cited) in cells.items():
            cell = whole.setdefault(key, [0, 0])
            cell[0] += shown
            cell[1] += cited
    return _Evidence(estimate(source, whole), groups, whole)


def _shuffled(conversations: _Grouped) -> list[Cells]:
    releases = shuffling(pair for _, shapes in conversations for pair in shapes)
    apart: list[list[tuple[Shape, int]]] = [[] for _ in range(GROUPS)]
    for group, shapes in conversations:
        apart[group] += shapes
    return [shuffled(shapes, releases) for shapes in apart]


def _describe(evidence: _Evidence, conversations: _Grouped, minimum: int, cutoff: int) -> dict[str, Any]:
    propensities = evidence.propensities
    if propensities.silent:
        return {"silent": propensities.silent}
    described: dict[str, Any] = {"source": propensities.source, "n": propensities.n}
    bounds = zip(propensities.values, propensities.low, propensities.high, strict=True)
    described["propensities"] = [
        {"rank": rank, "value": round(value, 6), "low": round(low, 6), "high": round(high, 6)}
        for rank, (value, low, high) in enumerate(bounds, 1)
    ]
    known = len(propensities.values)
    if known < cutoff:
        return described | {"ndcg_silent": f"propensities are known for {known} ranks, nDCG@{cutoff} needs {cutoff}"}
    return described | {"ndcg": _debias(evidence, conversations, minimum, cutoff)}


def _debias(evidence: _Evidence, conversations: _Grouped, minimum: int, cutoff: int) -> list[dict[str, Any]]:
    """Return raw and debiased nDCG of each release over the ranks that are known; n: sampled conversations.

    A cited document's gain is 1 ÷ p(rank), at most `CLIP` (inverse propensity weighting); the ideal is made of the same
    gains. That takes out a part of the bias: a document that nobody looked at has no gain to restore.
    """
    measure, known = NDCG(f"nDCG@{cutoff}", cutoff), len(evidence.propensities.values)
    patterns: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
    seen: defaultdict[str | None, list[tuple[int, int, int, int]]] = defaultdict(list)
    for conversation, (group, shapes) in enumerate(conversations):
        for shape, by in shapes:
            cited = tuple(rank for rank in shape.cited if rank <= known)
            if cited:
                pattern = (tuple(rank for rank in shape.ranks if rank <= known), cited)
                index = patterns.setdefault(pattern, len(patterns))
                seen[shape.version].append((conversation, group, index, by))
    refits = [refit(evidence.whole, cells, known) for cells in evidence.groups]
    raw, debiased = (_values(measure, patterns, p) for p in ([1.0] * known, evidence.propensities.values))
    without = [None if p is None else _values(measure, patterns, p) for p in refits]
    return [
        {"version": version, "measure": measure.name} | _pair(np.array(seen[version]), raw, debiased, without, minimum)
        for version in sorted(seen, key=lambda name: name or "")
    ]


def _values(
    measure: NDCG, patterns: Iterable[tuple[tuple[int, ...], tuple[int, ...]]], propensities: Sequence[float]
) -> Floats:
    gains = [min(CLIP, 1 / value) for value in propensities]
    return np.array(
        [measure([str(r) for r in ranks], {str(r): gains[r - 1] for r in cited}) for ranks, cited in patterns]
    )


def _pair(seen: Ints, raw: Floats, debiased: Floats, without: Sequence[Floats | None], minimum: int) -> dict[str, Any]:
    """Return the two means of a release; seen: rows of conversation, group, pattern and count."""
    conversation, group, index, by = seen.T
    sums = Clusters()
    for number in np.unique(conversation):
        mine = conversation == number
        sums.add(int(by[mine].sum()), float((by * raw[index])[mine].sum()))
    if sums.n < minimum:
        return {"silent": f"n too small: {sums.n:.0f} < {minimum}"}
    described = {"raw": clustered_mean(sums).as_json()}
    left_out = [
        float(np.average(values[index], weights=by * (group != number)))
        for number, values in enumerate(without)
        if values is not None and (group == number).any() and (group != number).any()
    ]
    if len(left_out) < LEAST_GROUPS:
        return described | {"debiased_silent": f"too few groups to tell its error: {len(left_out)} < {LEAST_GROUPS}"}
    value = float(np.average(debiased[index], weights=by))
    return described | {"debiased": jackknife(value, left_out, round(sums.n)).as_json()}


def _shape(key: Ordered) -> Shape:
    """Return a response's order over the ranks that are evaluated; retrieval ranks only where all are known."""
    assistant, version, ranks, cited, placed, retrieval = key
    retrieval_ranks: tuple[int, ...] = ()
    before = [rank for rank in retrieval if rank is not None]
    if len(before) == len(ranks) == len(set(before)) and len(placed) == len(ranks) and ranks[-1] <= MAX_RANK:
        # In context order: a document without a rank has that of its position in the list.
        order = sorted(range(len(placed)), key=lambda i: placed[i] or i + 1)
        among = {rank: i for i, rank in enumerate(sorted(before), 1)}
        retrieval_ranks = tuple(among[before[i]] for i in order)
    kept = tuple(rank for rank in ranks if rank <= MAX_RANK)
    return Shape(assistant, version, kept, tuple(rank for rank in cited if rank <= MAX_RANK), retrieval_ranks)
