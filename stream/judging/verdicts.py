"""Making verdicts: the exchange's identification, the judge's, and what came of asking."""

from turnsignal.stream.errors import Refused
from turnsignal.stream.judging.exchanges import ExchangeRecord
from turnsignal.stream.judging.inquiry import JUDGE, Judgement
from turnsignal.stream.judging.judges import NANO, Judge
from turnsignal.stream.judging.sampling import is_sampled
from turnsignal.stream.records.scores import row_id
from turnsignal.stream.records.verdicts import (
    MAX_NAME,
    MAX_REASONING,
    MOST,
    VERDICTS,
    Unjudged,
    Verdict,
    VerdictJudge,
    VerdictTokens,
    clean,
    decode_verdict,
    verdict_id,
)


def identify(exchange: ExchangeRecord, judge: Judge) -> str:
    """Return the id of the verdict of a judge on an exchange; of schema 1, which names no row, by what it is about."""
    row = exchange.row or row_id(
        exchange.conversation_id, exchange.turn_id, exchange.stage, exchange.follow_up_id or exchange.turn_id, ""
    )
    return verdict_id(row, judge.digest)


def inclusion(exchange: ExchangeRecord, judge: Judge) -> float:
    """Return the probability with which this judge is asked about an exchange: samples are nested in each other."""
    return min(exchange.inclusion, judge.part.share)


def make_verdict(exchange: ExchangeRecord, judge: Judge, judgement: Judgement) -> Verdict:
    """Return the verdict for a judgement, without what asking took."""
    chosen = judge.chosen
    judged_by = VerdictJudge(
        judge.part.name,
        judge.endpoint,
        judge.model,
        chosen.name,
        chosen.rubric.version,
        chosen.digest,
    )
    return Verdict(
        1,
        identify(exchange, judge),
        exchange.conversation_id,
        exchange.turn_id,
        exchange.stage,
        exchange.assistant,
        exchange.time,
        exchange.row,
        exchange.suite,
        judged_by,
        inclusion(exchange, judge),
        exchange.version,
        exchange.model,
        exchange.platform,
        exchange.environment,
        exchange.follow_up_id,
        judgement.label,
        judgement.value,
        judgement.reasoning[:MAX_REASONING],
        judgement.claims,
        judgement.unscored,
        None if judgement.unscored and judge.part.cascade is None else judgement.decided_by or None,
        steps=judgement.steps,
    )


def sampled_out(judge: Judge, exchange: ExchangeRecord) -> Verdict | None:
    """Return the verdict on an exchange whose conversation a judge is not asked about, None where it is."""
    if is_sampled(exchange.conversation_id.encode(), judge.part.share):
        return None
    detail = f"its conversation is not in the share of {judge.part.share:g} that this judge is asked about"
    return make_unjudged(exchange, judge, Unjudged.SAMPLED_OUT, detail)


def judgement_of(verdict: Verdict) -> Judgement:
    """Return the judgement that a verdict was made of."""
    by, steps = verdict.decided_by or JUDGE, [*verdict.steps]
    return Judgement(verdict.label, verdict.value, verdict.reasoning, verdict.claims, verdict.unscored, by, steps)


def make_unjudged(exchange: ExchangeRecord, judge: Judge, reason: Unjudged, detail: str) -> Verdict:
    """Return the verdict for an exchange that was not judged; detail: why, in a sentence.

    Whether a small model would have decided is not known then.
    """
    decided_by = JUDGE if judge.small is None else ""
    return make_verdict(exchange, judge, Judgement(reasoning=detail, unscored=reason, decided_by=decided_by))


def readable(verdict: Verdict, exchange: ExchangeRecord, judge: Judge) -> Verdict:
    """Return a verdict as all who read it take it: what an endpoint said passes here before it is written.

    Its name and its words are made to fit. What a reader would refuse all the same is an `error`, with its costs where
    these can be read.
    """
    if (error := _refusal(verdict)) is None:
        return verdict
    detail = f"expected a verdict that its readers take, got one that they refuse ({type(error).__name__})"
    unjudged = make_unjudged(exchange, judge, Unjudged.ERROR, detail)
    unjudged.attempts, unjudged.tokens, unjudged.cost = verdict.attempts, verdict.tokens, verdict.cost
    unjudged.latency = verdict.latency
    return unjudged if _refusal(unjudged) is None else make_unjudged(exchange, judge, Unjudged.ERROR, detail)


def _refusal(verdict: Verdict) -> Exception | None:
    """Make a verdict fit, and return why its readers refuse it all the same; None where they take it."""
    try:
        verdict.judge.answered = clean(verdict.judge.answered or "", MAX_NAME) or None
        verdict.reasoning = clean(verdict.reasoning, MAX_REASONING)
        verdict.attempts = min(verdict.attempts, MOST)
        verdict.tokens = VerdictTokens(min(verdict.tokens.input, MOST), min(verdict.tokens.output, MOST))
        decode_verdict(VERDICTS.dump_json(verdict, exclude_none=True), verdict.conversation_id.encode())
    except (Refused, ValueError, TypeError, AttributeError, RecursionError) as error:
        return error
    return None


def with_costs(verdict: Verdict, attempts: int, tokens: tuple[int, int], cost: int, latency: float) -> Verdict:
    """Put down what a verdict took. cost: in billionths of the currency; latency: seconds."""
    verdict.attempts, verdict.tokens, verdict.latency = attempts, VerdictTokens(*tokens), round(latency, 3)
    verdict.cost = cost / NANO
    return verdict
