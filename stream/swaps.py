"""Swaps: where traffic shows documents in several orders, what that says of position bias, and nDCG without it.

Samples of conversations and of opening questions are kept, the same ones however a replay is divided, so that memory is
bounded and a long replay pays for a share of its responses only.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from zlib import crc32

from stream.cite_rates import MAX_RANK
from stream.intervals import Clusters, clustered_mean
from stream.measures.ndcg import NDCG
from stream.measures.order import in_order
from stream.position_bias import Cells, Propensities, Shape, estimate, shuffled
from stream.sampling import Sample, digest
from stream.turns import Turn

CLIP = 10.0  #: largest weight of one cited document, so that one lucky citation far down does not decide

#: assistant, version, context ranks of the documents and of the cited ones, and what each document says of its rank in
#: the context and before reranking, as they came
Ordered = tuple[str, str | None, tuple[int, ...], tuple[int, ...], tuple[int | None, ...], tuple[int | None, ...]]
#: assistant, document, its rank, whether it was cited
Shown = tuple[str, str, int, bool]


class Swaps:
    """Sampled orders; `take` per response with documents, then `rows`."""

    def __init__(self) -> None:
        self._orders: Sample[Ordered] = Sample(64, 256)  # by conversation
        self._questions: Sample[Shown] = Sample(64, 1_000)  # by question and set of documents

    def take(
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

    def merge(self, other: "Swaps") -> None:
        """Add what another part took in."""
        self._orders.merge(other._orders)
        self._questions.merge(other._questions)

    def rows(self, minimum: int, cutoff: int) -> list[dict[str, Any]]:
        """Say of each assistant how much rank weighs, and its releases' nDCG with and without that, or why not.

        Propensities are of an assistant, over all its releases. minimum: conversations; cutoff: of the nDCG.
        """
        conversations = [[(_shape(key), by) for key, by in keys.items()] for keys in self._orders.groups.values()]
        rows = []
        for assistant in sorted({shape.assistant for shapes in conversations for shape, _ in shapes}):
            mine = [[(shape, by) for shape, by in shapes if shape.assistant == assistant] for shapes in conversations]
            asked = estimate("questions", self._asked(assistant))
            mixed = estimate("shuffles", shuffled(pair for shapes in mine for pair in shapes))
            found = max(mixed, asked, key=lambda one: (not one.silent, one.n))
            rows.append({"assistant": assistant, **_tell(found, mine, minimum, cutoff)})
        return rows

    def _asked(self, assistant: str) -> Cells:
        cells: Cells = {}
        for group, counts in self._questions.groups.items():
            for (who, doc_id, rank, cited), by in counts.items():
                if who == assistant:
                    cell = cells.setdefault(((group, doc_id), rank), [0, 0])
                    cell[0] += by
                    cell[1] += by * cited
        return cells


def _tell(
    found: Propensities, conversations: Sequence[Sequence[tuple[Shape, int]]], minimum: int, cutoff: int
) -> dict[str, Any]:
    if found.silent:
        return {"silent": found.silent}
    told: dict[str, Any] = {"source": found.source, "n": found.n}
    places = zip(found.values, found.low, found.high, strict=True)
    told["propensities"] = [
        {"rank": rank, "value": round(value, 6), "low": round(low, 6), "high": round(high, 6)}
        for rank, (value, low, high) in enumerate(places, 1)
    ]
    known = len(found.values)
    if known < cutoff:
        return told | {"ndcg_silent": f"propensities are known for {known} ranks, nDCG@{cutoff} needs {cutoff}"}
    return told | {"ndcg": _debias(found, conversations, minimum, cutoff)}


def _debias(
    found: Propensities, conversations: Sequence[Sequence[tuple[Shape, int]]], minimum: int, cutoff: int
) -> list[dict[str, Any]]:
    """Return raw and debiased nDCG of each release over the ranks that are known; n: sampled conversations.

    A cited document's gain is 1 ÷ p(rank), at most `CLIP` (inverse propensity weighting); the ideal is made of the same
    gains. That takes out most of the bias, not all: a document that nobody looked at has no gain to restore.
    """
    weights = [min(CLIP, 1 / value) for value in found.values]
    measure = NDCG(f"nDCG@{cutoff}", cutoff)
    sums: defaultdict[str | None, tuple[Clusters, Clusters]] = defaultdict(lambda: (Clusters(), Clusters()))
    for shapes in conversations:
        of_one: defaultdict[str | None, list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
        for shape, by in shapes:
            cited = [rank for rank in shape.cited if rank <= len(weights)]
            if cited:
                ranking = [str(rank) for rank in shape.ranks if rank <= len(weights)]
                total = of_one[shape.version]
                total[0] += by
                total[1] += by * measure(ranking, {str(rank): 1.0 for rank in cited})
                total[2] += by * measure(ranking, {str(rank): weights[rank - 1] for rank in cited})
        for version, (n, raw, debiased) in of_one.items():
            sums[version][0].add(n, raw)
            sums[version][1].add(n, debiased)
    return [
        _pair(version, *sums[version], minimum, measure.name) for version in sorted(sums, key=lambda name: name or "")
    ]


def _pair(version: str | None, raw: Clusters, debiased: Clusters, minimum: int, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"version": version, "measure": name}
    if raw.n < minimum:
        return row | {"silent": f"n too small: {raw.n:.0f} < {minimum}"}
    return row | {"raw": clustered_mean(raw).as_json(), "debiased": clustered_mean(debiased).as_json()}


def _shape(key: Ordered) -> Shape:
    """Return a response's order as far as the ranks that are looked at; no places where they are not all known."""
    assistant, version, ranks, cited, placed, retrieval = key
    places: tuple[int, ...] = ()
    before = [rank for rank in retrieval if rank is not None]
    if len(before) == len(ranks) == len(set(before)) and len(placed) == len(ranks) and ranks[-1] <= MAX_RANK:
        # In context order: a document without a rank has that of its place in the list.
        order = sorted(range(len(placed)), key=lambda i: placed[i] or i + 1)
        place = {rank: i for i, rank in enumerate(sorted(before), 1)}
        places = tuple(place[before[i]] for i in order)
    kept = tuple(rank for rank in ranks if rank <= MAX_RANK)
    return Shape(assistant, version, kept, tuple(rank for rank in cited if rank <= MAX_RANK), places)
