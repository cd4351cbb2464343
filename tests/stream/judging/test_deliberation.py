"""Deliberations: each step is asked only where the one before is unsure, and what nobody can decide has a reason."""

from collections import Counter
from typing import Any

import pytest

from tests.stream.judging.exchanges import an_exchange
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.judging.deliberation import Deliberation, is_anchor
from turnsignal.stream.judging.docket import DAY, Docket
from turnsignal.stream.judging.docket_entries import QueuedExchange
from turnsignal.stream.judging.exchanges import ExchangeRecord, Rules
from turnsignal.stream.judging.inquiry import Judgement
from turnsignal.stream.judging.judges import Judge, JudgePart, JudgingPart, PricePart, make_judge
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.judging.verdicts import make_unjudged, make_verdict
from turnsignal.stream.records.scores import Unscored
from turnsignal.stream.records.verdicts import LOST, Unjudged, Verdict

RUBRIC = choose_rubric("follow_up")
NOON = 20_000 * DAY + DAY / 2
SURE = Rules("correction", 0.2, 0.2, 0.97)
UNSURE = Rules("correction", 0.2, 0.2, 0.6)
SILENT = Rules("other", None, None, 0.0, Unscored.NO_SIGNAL)


def a_judge(cascade: dict[str, Any] | None = None, jury: dict[str, Any] | None = None, **more: Any) -> Judge:
    fields = {"rubric": "follow_up", "model": "big", "name": "cascade"} | more
    if cascade is not None:
        fields["cascade"] = {"anchor": 0.0} | cascade
    return make_judge(JudgePart.model_validate(fields | ({"jury": jury} if jury else {})), JudgingPart(), RUBRIC)


FULL = a_judge({"rules": 0.9, "small": "ollama:little"}, {"beside": ["b", "c"]})


def exchange(rules: Rules | None = SILENT, **more: Any) -> ExchangeRecord:
    return an_exchange("follow_up", rules=rules, **more)


def said(about: ExchangeRecord, judge: Judge, answer: str | Unjudged) -> Verdict:
    if isinstance(answer, Unjudged):
        return make_verdict(about, judge, Judgement(unscored=answer, reasoning="?"))
    return make_verdict(about, judge, Judgement(answer, RUBRIC.rubric.values.get(answer), "Because."))


def deliberate(judge: Judge, about: ExchangeRecord, **answers: str | Unjudged) -> tuple[Judgement, list[str]]:
    """Answer by model; return what it came to, and who was asked."""
    deliberation, asked = Deliberation(judge, about), []
    while deliberation.asks:
        asked += [member.model for member in deliberation.asks]
        deliberation.on_verdicts([said(about, member, answers[member.model]) for member in deliberation.asks])
    assert deliberation.judgement is not None
    return deliberation.judgement, asked


@pytest.mark.parametrize(
    ("rules", "answers", "asked", "decided_by", "label"),
    [
        (SURE, {}, [], "rules", "correction"),
        (SILENT, {"little": "thanks"}, ["little"], "small", "thanks"),
        (None, {"little": "thanks"}, ["little"], "small", "thanks"),
        (UNSURE, {"little": "repeat"}, ["little"], "small", "repeat"),  # near the threshold, and seconded
        (SILENT, {"little": "repeat", "big": "repeat"}, ["little", "big"], "judge", "repeat"),
        (UNSURE, {"little": "thanks", "big": "related"}, ["little", "big"], "judge", "related"),
        (SILENT, {"little": Unjudged.PARSE, "big": "related"}, ["little", "big"], "judge", "related"),
        (
            SILENT,
            {"little": "repeat", "big": "related", "b": "thanks", "c": "repeat"},
            ["little", "big", "b", "c"],
            "jury",
            "related",
        ),
        (
            SILENT,
            {"little": "other", "big": "other", "b": "other", "c": "other"},
            ["little", "big", "b", "c"],
            "jury",
            None,
        ),
    ],
)
def test_each_step_is_asked_only_where_the_one_before_is_unsure(
    rules: Rules | None, answers: dict[str, Any], asked: list[str], decided_by: str, label: str | None
) -> None:
    judgement, were_asked = deliberate(FULL, exchange(rules), **answers)
    assert (were_asked, judgement.label) == (asked, label)
    assert judgement.decided_by == decided_by
    verdict = make_verdict(exchange(rules), FULL, judgement)
    assert verdict.decided_by == decided_by  # also where it was lost: a mean has to know of what
    assert [step.model for step in verdict.steps if step.model] == asked


def test_two_percent_always_go_to_the_last_step_and_say_so() -> None:
    judge = a_judge({"rules": 0.9, "small": "little", "anchor": 0.02})
    several = [exchange(SURE, conversation_id=f"c{n}") for n in range(5_000)]
    anchors = [each for each in several if is_anchor(each, 0.02)]
    assert len(anchors) == pytest.approx(100, abs=30)
    for each in several:
        judgement, asked = deliberate(judge, each, big="related")
        assert asked == (["big"] if each in anchors else [])
    judgement, _ = deliberate(judge, anchors[0], big="related")
    assert (judgement.decided_by, judgement.label) == ("judge", "related")
    assert [(step.step, step.label, step.inclusion) for step in judgement.steps] == [
        ("rules", "correction", 1.0),
        ("judge", "related", 0.02),
    ]
    judgement, _ = deliberate(judge, anchors[0], big=Unjudged.NO_SIGNAL)
    assert (judgement.decided_by, judgement.label) == ("rules", "correction")
    judgement, _ = deliberate(judge, anchors[0], big=Unjudged.PROVIDER)
    assert (judgement.decided_by, judgement.unscored) == ("judge", Unjudged.PROVIDER)


def test_a_jury_alone_asks_everybody_at_once() -> None:
    judge = a_judge(jury={"beside": ["b", "c"]})
    deliberation = Deliberation(judge, exchange())
    assert [member.model for member in deliberation.asks] == ["big", "b", "c"]


@pytest.mark.parametrize(
    ("jury", "votes", "label", "value", "unscored"),
    [
        ({}, ["repeat", "thanks", "correction"], "correction", 0.2, None),  # of equals, the rubric's first
        ({}, ["repeat", "repeat", "correction"], "repeat", 0.2, None),
        ({}, ["repeat", "thanks", Unjudged.NO_SIGNAL], None, None, Unjudged.TIE),
        ({}, ["thanks", Unjudged.NO_SIGNAL, Unjudged.NOT_APPLICABLE], None, None, Unjudged.QUORUM),
        ({"quorum": 1}, ["thanks", Unjudged.NO_SIGNAL, Unjudged.NO_SIGNAL], "thanks", 1.0, None),
        ({"quorum": 3}, ["thanks", "thanks", Unjudged.NO_SIGNAL], None, None, Unjudged.QUORUM),
        ({}, [Unjudged.NO_SIGNAL] * 3, None, None, Unjudged.NO_SIGNAL),
        ({"decide": "mean"}, ["thanks", "repeat", "repeat"], None, 0.466667, None),
        ({"decide": "mean"}, ["thanks", "thanks", Unjudged.NO_SIGNAL], "thanks", 1.0, None),
        ({}, ["thanks", "thanks", Unjudged.PARSE], None, None, Unjudged.PARSE),
        ({"quorum": 1}, ["repeat", Unjudged.NO_SIGNAL, Unjudged.PROVIDER], None, None, Unjudged.PROVIDER),
        ({"decide": "mean"}, ["thanks", Unjudged.TIMEOUT, Unjudged.PROVIDER], None, None, Unjudged.TIMEOUT),
    ],
)
def test_a_jury_decides_or_says_why_not(
    jury: dict[str, Any], votes: list[Any], label: str | None, value: float | None, unscored: Unjudged | None
) -> None:
    judge = a_judge(jury={"beside": ["b", "c"]} | jury)
    judgement, _ = deliberate(judge, exchange(), **dict(zip(("big", "b", "c"), votes, strict=True)))
    assert (judgement.label, judgement.value, judgement.unscored) == (label, value, unscored)
    assert len(judgement.steps) == 3
    without = Counter(vote for vote in votes if isinstance(vote, Unjudged))
    if failed := sum(without[reason] for reason in LOST):
        assert judgement.reasoning.startswith(f"{failed} of 3 jurors failed, first ")
    elif 0 < without.total() < 3:
        assert all(f"{n} of 3 jurors have no value: {reason}" in judgement.reasoning for reason, n in without.items())


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"cascade": {}}, "expected rules = CONFIDENCE, small = MODEL, or both"),
        ({"cascade": {"small": "Big:x"}}, "expected MODEL or ENDPOINT:MODEL"),
        ({"jury": {"beside": ["b"], "quorum": 3}}, "expected a quorum of at most 2"),
        ({"jury": {"beside": []}}, "at least 1 item"),
        ({"jury": {"beside": ["b", "openai:big"]}}, "expected jurors of different models.* got openai:big twice"),
        ({"jury": {"beside": ["lab:b", "lab:b"]}}, "got lab:b twice"),
    ],
)
def test_a_panel_that_cannot_be_asked_is_refused(more: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=f"(?s){complaint}"):
        JudgePart.model_validate({"rubric": "follow_up", "model": "big"} | more)


def test_rules_cannot_read_what_is_no_follow_up_and_every_model_needs_its_price() -> None:
    part = JudgePart.model_validate({"rubric": "task_utility", "model": "big", "cascade": {"rules": 0.9}})
    with pytest.raises(ConfigError, match="expected a rubric of the stage follow_up"):
        make_judge(part, JudgingPart(), choose_rubric("task_utility"))
    part = JudgePart.model_validate({"rubric": "task_utility", "model": "big", "cascade": {"small": "little"}})
    prices = {"big": PricePart(input=1.0, output=1.0)}
    with pytest.raises(ConfigError, match="expected what little costs"):
        make_judge(part, JudgingPart(budget=1.0, prices=prices), choose_rubric("task_utility"))


def test_a_panel_costs_at_most_what_all_of_its_models_do_and_has_a_digest_of_its_own() -> None:
    prices = {name: PricePart(input=cost, output=cost) for name, cost in (("big", 5.0), ("little", 1.0), ("b", 3.0))}
    fields = {"rubric": "follow_up", "model": "big"}
    plain = make_judge(JudgePart.model_validate(fields), JudgingPart(prices=prices), RUBRIC)
    panel = {"cascade": {"small": "little"}, "jury": {"beside": ["b"]}}
    judge = make_judge(JudgePart.model_validate(fields | panel), JudgingPart(prices=prices), RUBRIC)
    assert judge.greatest_cost(1, 1_000) == pytest.approx(9 / 5 * plain.greatest_cost(1, 1_000))
    assert judge.digest != plain.digest
    assert [member.model for member in judge.members] == ["little", "big", "b"]


def test_the_docket_asks_nobody_where_the_rules_decide_and_remembers_who_decided() -> None:
    judge = a_judge({"rules": 0.9, "small": "little"})
    docket = Docket([judge], None, 1e9)
    docket.take([QueuedExchange(0, exchange(SURE, row="r0"), 0.0, 100)])
    docket.take([QueuedExchange(1, exchange(SILENT, row="r1", follow_up="And then?"), 0.0, 100)])
    docket.reserve_calls(0.0, {judge.line: 8})
    batch = docket.prepare()
    assert [verdict.decided_by for verdict in batch.verdicts] == ["rules"]
    (call,) = batch.calls
    judgement, _ = deliberate(judge, call.exchange, little="thanks")
    docket.settle(call, make_verdict(call.exchange, call.judge, judgement), 0)
    docket.take([QueuedExchange(2, exchange(SILENT, row="r2", follow_up="And then?"), 0.0, 100)])
    docket.reserve_calls(0.0, {})
    verdicts = docket.prepare().verdicts
    assert [(verdict.decided_by, verdict.cached) for verdict in verdicts] == [("small", False), ("small", True)]
    assert len(verdicts[1].steps) == 1


def test_every_reason_of_a_verdict_is_one_of_a_score() -> None:
    assert {reason.value for reason in Unjudged} <= {reason.value for reason in Unscored}


def docketed(judge: Judge, count: int, budget: int | None = None) -> Docket:
    """Every other exchange is one that the rules are sure of, and the first is not."""
    docket = Docket([judge], budget, 3_600.0)
    made = [exchange(SURE if n % 2 else UNSURE, conversation_id=f"c{n}", row=f"r{n}") for n in range(count)]
    docket.take(QueuedExchange(n, each, NOON, 100) for n, each in enumerate(made))
    return docket


def test_what_the_rules_are_sure_of_goes_the_way_of_the_question_before_it() -> None:
    judge = a_judge({"rules": 0.9})
    docket = docketed(judge, 10)
    docket.reserve_calls(NOON, {"openai": 0}, trials=("openai",))
    assert docket.prepare().verdicts == []
    docket.reserve_calls(NOON, {"openai": 2})
    batch = docket.prepare()
    first, second = batch.calls
    assert (first.offset, second.offset, batch.verdicts) == (0, 2, [])
    docket.settle(first, said(first.exchange, judge, "thanks"), 0)
    docket.settle(second, said(second.exchange, judge, Unjudged.PROVIDER), 0)
    docket.reserve_calls(NOON, {"openai": 0}, trials=("openai",))
    came = {verdict.row: (verdict.value, verdict.unscored, verdict.decided_by) for verdict in docket.prepare().verdicts}
    assert came["r1"] == (0.2, None, "rules")
    assert came["r3"] == (None, Unjudged.PROVIDER, "rules")
    assert came.keys() == {"r0", "r1", "r2", "r3"}
    docket.reserve_calls(NOON + 3_601.0, {"openai": 0}, trials=("openai",))
    late = docket.prepare().verdicts
    assert {verdict.unscored for verdict in late} == {Unjudged.TIMEOUT}
    assert sum(verdict.decided_by == "rules" for verdict in late) == 3
    assert docket.is_idle


def test_what_was_answered_before_goes_the_way_of_the_question_before_it() -> None:
    """Else only what comes again and again would have a value while an endpoint is down."""
    judge = a_judge()
    docket = Docket([judge], None, 1e9)
    texts = ["Again?", "New one?", "Again?", "Newer?", "Again?", "Again?"]
    made = [exchange(SILENT, conversation_id=f"c{n}", row=f"r{n}", follow_up=text) for n, text in enumerate(texts)]
    queue = [QueuedExchange(n, each, NOON, 100) for n, each in enumerate(made)]
    docket.take(queue[:1])
    came: list[Verdict] = []
    for more, answer in ((queue[1:3], "thanks"), (queue[3:5], Unjudged.PROVIDER), (queue[5:], "repeat"), ([], "none")):
        docket.reserve_calls(NOON, {judge.line: 9})
        batch = docket.prepare()
        came += batch.verdicts
        for call in batch.calls:
            docket.settle(call, said(call.exchange, judge, answer), 0)
        docket.take(more)
    assert {each.row: (each.value, each.unscored, each.cached) for each in came} == {
        "r0": (1.0, None, False),
        "r1": (None, Unjudged.PROVIDER, False),
        "r2": (None, Unjudged.PROVIDER, False),
        "r3": (0.2, None, False),
        "r4": (1.0, None, True),
        "r5": (1.0, None, True),
    }
    assert docket.is_idle


def test_what_a_small_model_is_sure_of_goes_the_way_of_the_newest_question_of_the_last_step() -> None:
    judge = a_judge({"small": "little"})
    docket = Docket([judge], None, 1e9)
    made = [exchange(UNSURE, conversation_id=f"c{n}", row=f"r{n}") for n in range(6)]
    docket.take(QueuedExchange(n, each, NOON, 100) for n, each in enumerate(made))
    docket.reserve_calls(NOON, {judge.line: 6})
    easy, hard = "thanks", Unjudged.NO_SIGNAL  # the small model is sure of the first, and not of the second
    answers = [(easy, None), (hard, Unjudged.PROVIDER), (easy, None), (hard, "thanks"), (easy, None), (hard, "repeat")]
    for call, (little, big) in zip(docket.prepare().calls, answers, strict=True):
        judgement, _ = deliberate(judge, call.exchange, little=little, **({} if big is None else {"big": big}))
        docket.settle(call, make_verdict(call.exchange, judge, judgement), 7)
    came = [(each.value, each.unscored, each.decided_by) for each in docket.prepare().verdicts]
    lost = (None, Unjudged.PROVIDER)
    assert came == [
        (1.0, None, "small"),
        (*lost, "judge"),
        (*lost, "small"),
        (1.0, None, "judge"),
        (1.0, None, "small"),
        (0.2, None, "judge"),
    ]


def test_what_was_lost_before_a_small_model_was_heard_names_no_step() -> None:
    """Else a mean would count it among the exchanges that need the last step, which are the hard ones."""
    with_small, without = a_judge({"rules": 0.9, "small": "little"}), a_judge({"rules": 0.9})
    for judge, step in ((with_small, None), (without, "judge"), (a_judge(), None)):
        assert make_unjudged(exchange(), judge, Unjudged.TIMEOUT, "so").decided_by == step

    def lost(judge: Judge, **answers: Any) -> str | None:
        judgement, _ = deliberate(judge, exchange(), **answers)
        assert judgement.unscored is Unjudged.PROVIDER
        return make_verdict(exchange(), judge, judgement).decided_by

    assert lost(with_small, little=Unjudged.BUDGET, big=Unjudged.PROVIDER) is None
    assert lost(with_small, little=Unjudged.NO_SIGNAL, big=Unjudged.PROVIDER) == "judge"
    assert lost(without, big=Unjudged.PROVIDER) == "judge"


def test_a_judge_waits_for_all_endpoints_that_it_may_need() -> None:
    judge = a_judge({"small": "lab:little"}, {"beside": ["big2", "two:other"]})
    assert (judge.endpoints, judge.line) == (("lab", "openai", "two"), "lab, openai, two")
    assert a_judge().line == "openai"


def test_what_the_rules_are_sure_of_has_no_value_where_the_money_for_the_rest_is_spent() -> None:
    judge = make_judge(
        JudgePart.model_validate({"rubric": "follow_up", "model": "big", "cascade": {"rules": 0.9, "anchor": 0.0}}),
        JudgingPart(prices={"big": PricePart(input=1.0, output=10.0)}),
        RUBRIC,
    )
    docket = docketed(judge, 10, budget=1)
    docket.reserve_calls(NOON, {"openai": 9})
    verdicts = docket.prepare().verdicts
    assert [verdict.unscored for verdict in verdicts] == [Unjudged.BUDGET] * 10
    docket.reserve_calls(NOON + DAY, {"openai": 9})
    docket.take([QueuedExchange(10, exchange(SURE, conversation_id="c10", row="r10"), NOON + DAY, 100)])
    docket.reserve_calls(NOON + DAY, {"openai": 9})
    (next_day,) = docket.prepare().verdicts
    assert (next_day.value, next_day.decided_by) == (0.2, "rules")
