"""Every measure of the table keeps what all measures promise, and equals trec_eval."""

import inspect
from datetime import UTC, datetime
from pathlib import Path

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from tests.conformance.growth import is_linear, ratio_of_times, steps
from tests.examples import examples
from turnsignal.stream.measures import MEASURES, parse_measure
from turnsignal.stream.pipeline.scoring import ResponseScorer
from turnsignal.stream.records.turns import Document, Truth, Turn
from turnsignal.stream.suite import parse_suite

DOC_IDS = [f"d{number}" for number in range(30)]
RANKINGS = st.lists(st.sampled_from(DOC_IDS), unique=True, max_size=25)
JUDGMENTS = st.dictionaries(st.sampled_from(DOC_IDS), st.integers(0, 4), max_size=20)
NAMES = [f"{family}{params}@5" for family in MEASURES for params in ("", "(on=truth)", "(order=retrieval)")]
AT = datetime(2025, 6, 15, tzinfo=UTC)
CUTOFFS = st.sampled_from([1, 3, 5, 10, 20])
OWN = Path(__file__).parents[1] / "stream" / "measures"
KNOWN_VALUES = "".join(path.read_text(encoding="utf-8") for path in OWN.glob("test_*.py"))


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
def test_defaults_are_left_out_of_the_name(family):
    assert parse_measure(f"{family}(order=context,on=citations)@5").name == f"{family}@5"
    assert parse_measure(f" {family}@5 ").name == f"{family}@5"


@pytest.mark.parametrize("family", MEASURES)
def test_class_says_what_it_is_and_where_from_and_has_a_version(family):
    documented = inspect.getdoc(MEASURES[family])
    assert "Source: " in documented or "trec_eval" in documented or "Hoffer" in documented
    assert parse_measure(f"{family}@5").version >= 1


@pytest.mark.parametrize("name", NAMES)
def test_without_documents_or_judgments_it_is_unscored_with_its_reason(name):
    scorer = ResponseScorer(parse_suite(f"checks = []\nretrieval = {{ measures = ['{name}'] }}"))
    cited, two = "See [a].", [Document("a", retrieval_rank=1), Document("b", retrieval_rank=2)]
    for text, documents, truth in (("", [], None), (cited, [], Truth(doc_ids=["a"])), ("See.", two, Truth(doc_ids=[]))):
        scored = scorer.score(Turn("c", "t", "assistant", text, AT, documents, truth=truth))
        assert [scorer for scorer, _ in scored.unscored if scorer == name] == [name]
        assert name not in scored.scorers
    scored = scorer.score(Turn("c", "t", "assistant", cited, AT, two, truth=Truth(doc_ids=["a"])))
    assert name in scored.scorers


@pytest.mark.parametrize("family", MEASURES)
@examples(50)
@given(ranking=RANKINGS, judgments=JUDGMENTS, cutoff=CUTOFFS)
def test_always_the_same_whatever_order_the_judgments_come_in(family, ranking, judgments, cutoff):
    measure = parse_measure(f"{family}@{cutoff}")
    turned = dict(reversed(judgments.items()))
    assert measure(ranking, judgments) == measure(list(ranking), judgments)
    assert measure(ranking, judgments) == pytest.approx(measure(ranking, turned), abs=1e-12)


@pytest.mark.parametrize("family", MEASURES)
@pytest.mark.parametrize("cutoff", [5, 1_000])
def test_steps_and_times_grow_no_worse_than_ranking_and_judgments(family, cutoff):
    measure = parse_measure(f"{family}@{cutoff}")

    def call(size):
        ranking = [f"d{n}" for n in range(size)]
        judgments = {f"d{n}": float(n % 4) for n in range(0, 2 * size, 3)}
        return lambda: measure(ranking, judgments)

    assert is_linear(lambda size: steps(call(size)))
    assert ratio_of_times(call) <= 9


@pytest.mark.parametrize("family", MEASURES)
def test_nothing_retrieved_or_nothing_relevant_is_nought(family):
    measure = parse_measure(f"{family}@5")
    assert measure([], {"a": 1.0}) == 0.0
    assert measure(["a"], {}) == 0.0
    assert measure(["a"], {"a": 0.0}) == 0.0
    assert measure([], {}) == 0.0


@pytest.mark.parametrize("family", MEASURES)
@examples(100)
@given(ranking=RANKINGS, judgments=JUDGMENTS, cutoff=CUTOFFS)
def test_values_lie_between_nought_and_one(family, ranking, judgments, cutoff):
    assert 0.0 <= parse_measure(f"{family}@{cutoff}")(ranking, judgments) <= 1.0 + 1e-12


@pytest.mark.parametrize("family", MEASURES)
def test_class_names_itself_in_trec_eval_or_has_known_values_of_its_own(family):
    kind = MEASURES[family]
    names = vars(kind).get("trec")
    assert names is not None, f"expected `trec` in {kind.__name__}: its names in trec_eval, () where that has none"
    known = f"{family}@" in KNOWN_VALUES or f"{family}(" in KNOWN_VALUES
    assert names or known, (
        f"expected values of {family} in tests/stream/measures, as trec_eval has none to compare with"
    )


@pytest.mark.parametrize("family", [family for family, kind in MEASURES.items() if kind.trec])
@examples(200)
@given(ranking=RANKINGS.filter(len), judgments=JUDGMENTS.filter(len), cutoff=CUTOFFS)
def test_equal_to_trec_eval(family, ranking, judgments, cutoff):
    names = {name.format(k=cutoff): f"{family}@{cutoff}" if "{k}" in name else family for name in MEASURES[family].trec}
    reference = pytrec_eval.RelevanceEvaluator({"q": judgments}, set(names)).evaluate(run_of(ranking))["q"]
    for theirs, ours in names.items():
        value = parse_measure(ours)(ranking, judgments)
        assert value == pytest.approx(reference[theirs.replace(".", "_")], abs=1e-6), ours


@examples(50)
@given(ranking=RANKINGS.filter(len), judgments=JUDGMENTS.filter(len), cutoff=CUTOFFS)
def test_equal_to_ir_measures_in_its_own_spelling(ranking, judgments, cutoff):
    for name in (f"nDCG@{cutoff}", f"P@{cutoff}", f"R@{cutoff}", "RR", f"RR@{cutoff}"):
        reference = ir_measures.calc_aggregate([ir_measures.parse_measure(name)], {"q": judgments}, run_of(ranking))
        value = parse_measure(name)(ranking, judgments)
        assert value == pytest.approx(next(iter(reference.values())), abs=1e-6), name


@examples(100)
@given(ranking=RANKINGS.filter(len), judgments=JUDGMENTS.filter(len), cutoff=CUTOFFS)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(ranking, judgments, cutoff):
    precision = parse_measure(f"P@{cutoff}")(ranking, judgments)
    recall = parse_measure(f"R@{cutoff}")(ranking, judgments)
    mean = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert parse_measure(f"F1@{cutoff}")(ranking, judgments) == pytest.approx(mean, abs=1e-9)
