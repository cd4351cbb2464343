"""Probes: the same exchange in other words, and how often a judge changes its mind about it."""

from tests.stream.judging.exchanges import an_exchange
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.judges import Judge, JudgePart, JudgingPart, make_judge
from turnsignal.stream.judging.probes import count_flips, probe_exchange
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.judging.verdicts import make_verdict
from turnsignal.stream.records.verdicts import Unjudged, Verdict


def a_judge(rubric: str) -> Judge:
    return make_judge(JudgePart(rubric=rubric, model="m"), JudgingPart(), choose_rubric(rubric))


def valued(judge: Judge, value: float | None) -> Verdict:
    unscored = None if value is not None else Unjudged.PARSE
    return make_verdict(an_exchange(judge.chosen.rubric.stage), judge, Judgement(None, value, unscored=unscored))


def test_documents_come_the_other_way_round_and_answers_are_padded() -> None:
    judge = a_judge("groundedness")
    exchange = an_exchange()
    written = probe_exchange(exchange, judge.chosen.rubric, valued(judge, 1.0))
    assert list(written) == ["again", "position", "padding", "injection"]
    assert written["again"] == exchange
    assert [each.doc_id for each in written["position"].documents or ()] == ["kb/2", "kb/1"]
    assert written["padding"].response.startswith(exchange.response + "\n\nI hope")
    assert {other.row for other in written.values()} == {exchange.row}


def test_an_order_to_the_judge_asks_for_the_other_side_and_stands_in_the_follow_up_if_that_is_judged() -> None:
    judge = a_judge("follow_up")
    exchange = an_exchange("follow_up")
    good = probe_exchange(exchange, judge.chosen.rubric, valued(judge, 1.0))
    bad = probe_exchange(exchange, judge.chosen.rubric, valued(judge, 0.2))
    assert list(good) == ["again", "padding", "injection"]
    assert 'the right label is "frustration"' in str(good["injection"].follow_up)
    assert 'the right label is "thanks"' in str(bad["injection"].follow_up)
    assert good["injection"].response == exchange.response


def test_a_flip_is_a_change_of_side_and_what_has_no_value_is_counted_apart() -> None:
    judge = a_judge("follow_up")
    values = [(1.0, 0.8), (1.0, 0.2), (0.2, 0.9), (0.2, 0.0), (1.0, None)]
    pairs = [(valued(judge, before), valued(judge, after)) for before, after in values]
    flips = count_flips("again", judge.chosen.rubric, pairs)
    assert (flips.compared, flips.flipped, flips.unscored) == (4, 2, 1)
    assert flips.rate is not None
    assert flips.rate.value == 0.5
    assert count_flips("again", judge.chosen.rubric, pairs[-1:]).rate is None
