"""Repeats: a hundredth of the questions is asked twice, so that it is known how far a judge agrees with itself."""

from turnsignal.stream.judging.budget import MOST_MONEY
from turnsignal.stream.judging.exchanges import ExchangeRecord
from turnsignal.stream.judging.inquiry import Inquiry
from turnsignal.stream.judging.judges import NANO, Judge
from turnsignal.stream.judging.material import Material
from turnsignal.stream.judging.sampling import is_sampled
from turnsignal.stream.records.verdicts import Verdict, VerdictStep, VerdictTokens

REPEAT = "repeat"  #: the step of a verdict that says what came the second time
SHARE = 0.01
AGREE, DIFFER, UNSCORED = RESULTS = ("agree", "differ", "unscored")


def is_repeated(exchange: ExchangeRecord) -> bool:
    """Whether questions about an exchange are asked twice; independent of which conversations are sampled."""
    return is_sampled(f"{exchange.conversation_id}\x1f{exchange.turn_id}".encode(), SHARE, b"repeat")


def greatest_price(judge: Judge, exchange: ExchangeRecord, material: Material) -> int:
    """Return the most that asking a judge about an exchange can cost, in billionths, a repeat included."""
    inquiry = Inquiry(judge.chosen.rubric, material, judge.chosen.form, judge.chosen.how)
    most = judge.greatest_cost(inquiry.calls, inquiry.most_tokens) * (2 if is_repeated(exchange) else 1)
    return min(MOST_MONEY, most)


def with_repeat(verdict: Verdict, again: Verdict) -> Verdict:
    """Note in a verdict the answer of the second asking, and what that cost."""
    step = VerdictStep(REPEAT, again.judge.asked, again.label, again.value, again.unscored, SHARE)
    verdict.steps = [*verdict.steps, step]
    verdict.attempts += again.attempts
    verdict.tokens = VerdictTokens(
        verdict.tokens.input + again.tokens.input, verdict.tokens.output + again.tokens.output
    )
    verdict.cost = (round(verdict.cost * NANO) + round(again.cost * NANO)) / NANO
    return verdict


def repeat_result(verdict: Verdict, threshold: float) -> str | None:
    """Return whether both answers are good or both bad; None for a question that was asked once."""
    steps = [step for step in verdict.steps if step.step == REPEAT]
    if not steps or verdict.value is None or verdict.cached:
        return None
    value = steps[-1].value
    if value is None:
        return UNSCORED
    return AGREE if (value >= threshold) == (verdict.value >= threshold) else DIFFER
