"""Responses with several orders give propensities and an nDCG without their weight; others give neither."""

import numpy as np
import pytest

from turnsignal.stream.records.turns import Document, Turn, decode_turn
from turnsignal.stream.reports.interventions import Interventions

LOOKED_AT = np.array([1.0, 0.7, 0.5, 0.4, 0.3, 0.25])
RELEVANT = np.array([0.7, 0.5, 0.4, 0.3, 0.2, 0.2])
RANKS = (1, 2, 3, 4, 5, 6)


def turn(conversation: str, documents: list[Document]) -> Turn:
    line = (
        f'{{"conversation_id": "{conversation}", "turn_id": "a", "role": "assistant", "text": "x",'
        ' "timestamp": "2025-06-15T12:00:00Z", "assistant": "support", "version": "v1"}'
    )
    answer = decode_turn(line.encode())
    answer.retrieved = documents
    return answer


def interventions(
    n: int, *, shuffled: bool, known: bool = True, question: str | None = None, seed: int = 3
) -> tuple[Interventions, float]:
    """Return what n conversations show, in parts that keep them all, and their true mean nDCG@5."""
    rng = np.random.default_rng(seed)
    discounts = 1 / np.log2(np.arange(2, 7))
    whole, part, truth = Interventions(), Interventions(), []
    for i in range(n):
        places = rng.permutation(6) if shuffled else np.arange(6)
        relevant = rng.random(6) < RELEVANT[places]
        cited = tuple((np.flatnonzero(relevant & (rng.random(6) < LOOKED_AT)) + 1).tolist())
        documents = [Document(f"d{p}", retrieval_rank=int(p) + 1 if known else None) for p in places]
        part.update(f"c{i}".encode(), turn(f"c{i}", documents), RANKS, cited, question)
        if i % 60 == 59:
            whole.merge(part)
            part = Interventions()
        if relevant.any():
            truth.append((relevant[:5] * discounts).sum() / discounts[: min(5, relevant.sum())].sum())
    return whole, float(np.mean(truth))


def test_a_shuffled_context_gives_propensities_and_an_ndcg_nearer_to_the_truth() -> None:
    found, truth = interventions(3600, shuffled=True)
    (row,) = found.rows(30, 5)
    assert (row["assistant"], row["source"]) == ("support", "shuffles")
    assert [place["value"] for place in row["propensities"]] == pytest.approx(LOOKED_AT.tolist(), abs=0.1)
    (ndcg,) = row["ndcg"]
    assert ndcg["raw"]["low"] > truth
    assert abs(ndcg["debiased"]["value"] - truth) < 0.6 * abs(ndcg["raw"]["value"] - truth)
    assert ndcg["debiased"]["low"] < ndcg["debiased"]["value"] < ndcg["debiased"]["high"]


@pytest.mark.slow
def test_the_interval_of_the_debiased_ndcg_takes_in_the_error_of_the_propensities() -> None:
    """Of 40 recordings, the mean of all is in nearly every interval; with known propensities it was in fewer."""
    rows = [interventions(300, shuffled=True, seed=seed)[0].rows(30, 5)[0]["ndcg"][0]["debiased"] for seed in range(40)]
    middle = np.mean([row["value"] for row in rows])
    assert sum(row["low"] <= middle <= row["high"] for row in rows) >= 35
    assert np.mean([row["high"] - row["low"] for row in rows]) < 8 * np.std([row["value"] for row in rows])


def test_the_same_question_with_the_same_documents_in_another_order_tells_too() -> None:
    (row,) = interventions(3600, shuffled=True, known=False, question="How do I reset it? ")[0].rows(30, 5)
    assert row["source"] == "questions"
    assert [place["value"] for place in row["propensities"]] == pytest.approx(LOOKED_AT.tolist(), abs=0.1)


@pytest.mark.parametrize("question", [None, "How do I reset it?"])
def test_without_swaps_it_is_silent(question: str | None) -> None:
    assert interventions(1200, shuffled=False, question=question)[0].rows(30, 5) == [
        {"assistant": "support", "silent": "not enough swaps: n = 0"}
    ]


def test_a_cutoff_beyond_the_known_ranks_gives_propensities_alone() -> None:
    (row,) = interventions(1800, shuffled=True)[0].rows(30, 10)
    assert row["ndcg_silent"] == "propensities are known for 6 ranks, nDCG@10 needs 10"


def test_too_few_conversations_of_a_release_are_not_told() -> None:
    (row,) = interventions(1800, shuffled=True)[0].rows(10_000, 5)
    assert row["ndcg"][0]["silent"].startswith("n too small: ")


def test_the_question_counts_whatever_its_case_and_other_documents_are_another_question() -> None:
    found = Interventions()
    for i in range(400):
        ids = ["a", "b"] if i % 2 else ["b", "a"]
        cited = (1,) if i % 4 else (1, 2)
        found.update(b"c%d" % i, turn(f"c{i}", [Document(d) for d in ids]), (1, 2), cited, "Why?" if i % 3 else "why?")
    (row,) = found.rows(30, 2)
    assert [place["value"] for place in row["propensities"]] == [1.0, 0.25]
    other = Interventions()
    for i in range(400):
        ids = ["a", f"x{i}"] if i % 2 else [f"x{i}", "a"]
        other.update(b"c%d" % i, turn(f"c{i}", [Document(d) for d in ids]), (1, 2), (1,), "Why?")
    assert other.rows(30, 2)[0]["silent"] == "not enough swaps: n = 0"


def test_hostile_ranks_and_repeated_documents_are_taken_in() -> None:
    found = Interventions()
    found.update(b"c", turn("c", [Document("d", rank=900_000, retrieval_rank=1)] * 3), (900_000,), (900_000,), "Why?")
    found.update(b"c", turn("c", [Document("d"), Document("d"), Document("e")]), (1, 3), (), "Why?")
    assert found.rows(30, 5) == [{"assistant": "support", "silent": "not enough swaps: n = 0"}]
