"""Every measure of the table keeps what all measures promise, and equals trec_eval."""

import inspect

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from stream.measures import MEASURES, parse_measure

DOC_IDS = [f"d{number}" for number in range(30)]
RANKINGS = st.lists(st.sampled_from(DOC_IDS), unique=True, max_size=25)
JUDGMENTS = st.dictionaries(st.sampled_from(DOC_IDS), st.integers(0, 4), max_size=20)
CUTOFFS = st.sampled_from([1, 3, 5, 10, 20])


def run_of(ranking):
    return {"q": {doc_id: float(len(ranking) - place) for place, doc_id in enumerate(ranking)}}


@pytest.mark.parametrize("family", MEASURES)
def test_name_round_trips_and_is_the_value(family):
    for text in (f"{family}@5", f"{family}(order=retrieval)@10", f"{family}(on=truth,order=retrieval)@10"):
        measure = parse_measure(text)
        assert measure.name == text
        assert parse_measure(measure.name) == measure
        assert hash(parse_measure(text)) == hash(measure)


@pytest.mark.parametrize("family", MEASURES)
def test_class_says_what_it_is_and_has_a_version(family):
    kind = MEASURES[family]
    assert inspect.getdoc(kind)
    assert parse_measure(f"{family}@5").version >= 1


@pytest.mark.parametrize("family", MEASURES)
def test_nothing_retrieved_or_nothing_relevant_is_nought(family):
    measure = parse_measure(f"{family}@5")
    assert measure([], {"a": 1.0}) == 0.0
    assert measure(["a"], {}) == 0.0
    assert measure(["a"], {"a": 0.0}) == 0.0
    assert measure([], {}) == 0.0


@pytest.mark.parametrize("family", MEASURES)
@settings(max_examples=100, deadline=None)
@given(ranking=RANKINGS, judgments=JUDGMENTS, cutoff=CUTOFFS)
def test_values_lie_between_nought_and_one(family, ranking, judgments, cutoff):
    assert 0.0 <= parse_measure(f"{family}@{cutoff}")(ranking, judgments) <= 1.0 + 1e-12


@settings(max_examples=200, deadline=None)
@given(ranking=RANKINGS.filter(len), judgments=JUDGMENTS.filter(len), cutoff=CUTOFFS)
def test_equal_to_trec_eval(ranking, judgments, cutoff):
    names = {
        f"nDCG@{cutoff}": f"ndcg_cut.{cutoff}",
        f"P@{cutoff}": f"P.{cutoff}",
        f"R@{cutoff}": f"recall.{cutoff}",
        f"success@{cutoff}": f"success.{cutoff}",
        "RR": "recip_rank",
        "nDCG": "ndcg",
    }
    evaluator = pytrec_eval.RelevanceEvaluator({"q": judgments}, set(names.values()))
    reference = evaluator.evaluate(run_of(ranking))["q"]
    for ours, theirs in names.items():
        value = parse_measure(ours)(ranking, judgments)
        assert value == pytest.approx(reference[theirs.replace(".", "_")], abs=1e-6), ours


@settings(max_examples=50, deadline=None)
@given(ranking=RANKINGS.filter(len), judgments=JUDGMENTS.filter(len), cutoff=CUTOFFS)
def test_equal_to_ir_measures_in_its_own_spelling(ranking, judgments, cutoff):
    for name in (f"nDCG@{cutoff}", f"P@{cutoff}", f"R@{cutoff}", "RR", f"RR@{cutoff}"):
        reference = ir_measures.calc_aggregate([ir_measures.parse_measure(name)], {"q": judgments}, run_of(ranking))
        value = parse_measure(name)(ranking, judgments)
        assert value == pytest.approx(next(iter(reference.values())), abs=1e-6), name


@settings(max_examples=100, deadline=None)
@given(ranking=RANKINGS.filter(len), judgments=JUDGMENTS.filter(len), cutoff=CUTOFFS)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(ranking, judgments, cutoff):
    precision = parse_measure(f"P@{cutoff}")(ranking, judgments)
    recall = parse_measure(f"R@{cutoff}")(ranking, judgments)
    mean = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert parse_measure(f"F1@{cutoff}")(ranking, judgments) == pytest.approx(mean, abs=1e-9)
