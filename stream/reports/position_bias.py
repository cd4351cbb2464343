"""Position bias: how much more often a model cites a document because it stands higher in the context.

Under the position-based model a document is cited when it is looked at and relevant: P(cited) = p(rank) · r(document).
Where the traffic itself puts the same document at several ranks, r cancels (intervention harvesting: Agarwal et al.
2019, arXiv:1812.05161). Two kinds of such traffic are known here, and without either nothing is said:

- `questions`: the same question opens several conversations and brings the same documents in another order. Where the
  documents differ as well, something else was searched for (a user's own, a newer index), and a rank may go with the
  relevance. Later questions lean on what was said before: the same words are another question, so they are left out.
- `shuffles`: the context is shuffled after retrieval. The documents of one retrieval rank are then alike whatever
  their rank. A reranker moves documents too, but for their relevance: its order goes with the retrieval order, so it is
  told apart by their correlation.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from turnsignal.stream.statistics.intervals import Z

LEAST = 100  #: swapped documents at a rank without which its propensity is not given
LEAST_CITED = 10  #: cited ones among them
MIXED = 0.1  #: correlation with the retrieval order below which an order counts as shuffled

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: documents that are equally relevant (set), at a rank (1-based): how many were shown, how many of them cited
Cells = dict[tuple[Any, int], list[int]]


class Shape(NamedTuple):
    """What a response shows of position bias.

    assistant, version: who answered; ranks: of the documents in the context, ascending; cited: of those that it cites;
    retrieval_ranks: each document's before reranking (1-based, in the order of `ranks`), empty where not known.
    """

    assistant: str
    version: str | None
    ranks: tuple[int, ...]
    cited: tuple[int, ...]
    retrieval_ranks: tuple[int, ...]


class Propensities(NamedTuple):
    """How often each rank is looked at, rank 1 being 1.

    source: questions or shuffles; n: swapped documents that tell; values, low, high: for the ranks 1, 2, … as far as
    they are known without a hole, with 95 % intervals.
    """

    source: str
    n: int
    values: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    @property
    def silent(self) -> str:
        """Say why there is no estimate; empty when there is one."""
        return "" if len(self.values) > 1 else f"not enough swaps: n = {self.n}"


def shuffling(shapes: Iterable[tuple[Shape, int]]) -> frozenset[str | None]:
    """Return the releases that shuffle their contexts; shapes of one assistant, with their counts.

    A release shuffles when, among its responses with four documents or more in another order than the retrieval's, the
    correlation of the two orders is about 0.
    """
    moved: defaultdict[str | None, list[tuple[Shape, int]]] = defaultdict(list)
    for shape, by in shapes:
        if _moves(shape):
            moved[shape.version].append((shape, by))
    return frozenset(version for version, shapes in moved.items() if abs(_correlation(shapes)) < MIXED)


def shuffled(shapes: Iterable[tuple[Shape, int]], releases: frozenset[str | None]) -> Cells:
    """Return the cells of the responses of releases that shuffle their contexts."""
    cells: Cells = {}
    for shape, by in shapes:
        if shape.version in releases and _moves(shape):
            cited = set(shape.cited)
            for rank, retrieval_rank in zip(shape.ranks, shape.retrieval_ranks, strict=True):
                cell = cells.setdefault(((shape.version, len(shape.ranks), retrieval_rank), rank), [0, 0])
                cell[0] += by
                cell[1] += by * (rank in cited)
    return cells


def _moves(shape: Shape) -> bool:
    return len(shape.retrieval_ranks) >= 4 and shape.retrieval_ranks != tuple(range(1, len(shape.retrieval_ranks) + 1))


def _correlation(shapes: Iterable[tuple[Shape, int]]) -> float:
    """Return the correlation of context order and retrieval order within responses."""
    together = spread = 0.0
    for shape, by in shapes:
        n = len(shape.retrieval_ranks)
        together += by * (sum(i * rank for i, rank in enumerate(shape.retrieval_ranks, 1)) - n * (n + 1) ** 2 / 4)
        spread += by * n * (n * n - 1) / 12
    return together / spread


def estimate(source: str, cells: Cells) -> Propensities:
    """Estimate the propensities of the ranks that the cells connect.

    Every set has its own relevance, free; given how many of its documents are cited, the cites fall on its ranks in
    proportion to shown · p(rank). The p at which the cites expected at every rank equal those counted are found by
    Newton's steps (the likelihood is concave in log p); the interval is that of its curvature, which is too wide rather
    than too narrow because a document is cited at most once.
    """
    sets, ranks, shown, cited = _swapped(cells)
    n = int(shown.sum())
    known = 0
    while known < (ranks.max() if len(ranks) else 0):
        here = ranks == known + 1
        if shown[here].sum() < LEAST or cited[here].sum() < LEAST_CITED:
            break
        known += 1
    while known > 1:  # ranks that the others left behind may no longer be connected
        kept = {key: cell for key, cell in cells.items() if key[1] <= known}
        sets, ranks, shown, cited = _swapped(kept)
        fit = _fit(sets, ranks - 1, shown, cited, known)
        if fit is not None:
            logs, errors = fit
            values, half = np.exp(logs), Z * errors
            bounds = (tuple((values * np.exp(sign * half)).tolist()) for sign in (-1, 1))
            return Propensities(source, int(shown.sum()), tuple(values.tolist()), *bounds)
        known -= 1
    return Propensities(source, n)


def refit(cells: Cells, without: Cells, known: int) -> tuple[float, ...] | None:
    """Estimate the propensities of as many ranks as are known, with some of the documents taken out again.

    None where those that are left do not connect the ranks.
    """
    left = {}
    for key, (shown, cited) in cells.items():
        less = without.get(key, (0, 0))
        if key[1] <= known and shown > less[0]:
            left[key] = [shown - less[0], cited - less[1]]
    sets, ranks, shown_left, cited_left = _swapped(left)
    fit = _fit(sets, ranks - 1, shown_left, cited_left, known)
    return None if fit is None else tuple(np.exp(fit[0]).tolist())


def _swapped(cells: Cells) -> tuple[Ints, Ints, Floats, Floats]:
    """Return set, rank, shown and cited of the cells that tell: their set stands at two ranks, and is cited at all."""
    by_set: defaultdict[Any, list[tuple[int, int, int]]] = defaultdict(list)
    for (same, rank), (shown, cited) in cells.items():
        by_set[same].append((rank, shown, cited))
    telling = [rows for rows in by_set.values() if len(rows) > 1 and any(cited for _, _, cited in rows)]
    flat = np.array([(i, *row) for i, rows in enumerate(telling) for row in rows], dtype=np.int64).reshape(-1, 4)
    return flat[:, 0], flat[:, 1], flat[:, 2].astype(float), flat[:, 3].astype(float)


def _fit(sets: Ints, ranks: Ints, shown: Floats, cited: Floats, known: int) -> tuple[Floats, Floats] | None:
    """Return log p and its standard error by rank, 0 for the first; None when the ranks do not hang together."""
    count = int(sets.max()) + 1 if len(sets) else 0
    totals = np.bincount(sets, cited, count)
    counted = np.bincount(ranks, cited, known)
    logs = np.zeros(known)
    for _ in range(50):
        weights = shown * np.exp(logs[ranks])
        share = weights / np.bincount(sets, weights, count)[sets]
        table = np.zeros((count, known))
        table[sets, ranks] = share
        curvature = np.diag(totals @ table) - table.T @ (table * totals[:, None])
        inner = curvature[1:, 1:]
        if not len(inner) or np.linalg.cond(inner) > 1e10:
            return None
        step = np.linalg.solve(inner, (counted - totals @ table)[1:])
        logs[1:] += np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-9:
            break
    return logs, np.sqrt(np.concatenate([[0.0], np.diag(np.linalg.inv(inner))]))
