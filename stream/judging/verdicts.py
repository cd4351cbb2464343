"""Making verdicts: the exchange's identification, the judge's, and what came of asking."""

from turnsignal.stream.judging.exchanges import ExchangeRecord
from turnsignal.stream.judging.inquiry import JUDGE, Judgement
from turnsignal.stream.judging.judges import NANO, Judge
from turnsignal.stream.records.scores import row_id
from turnsignal.stream.records.verdicts import (
    MAX_REASONING,
    Unjudged,
    Verdict,
    VerdictJudge,
    VerdictTokens,
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
        None if judgement.unscored else judgement.decided_by,
        steps=judgement.steps,
    )


def judgement_of(verdict: Verdict) -> Judgement:
    """Return the judgement that a verdict was made of."""
    by, steps = verdict.decided_by or JUDGE, [*verdict.steps]
    return Judgement(verdict.label, verdict.value, verdict.reasoning, verdict.claims, verdict.unscored, by, steps)


def make_unjudged(exchange: ExchangeRecord, judge: Judge, reason: Unjudged, detail: str) -> Verdict:
    """Return the verdict for an exchange that was not judged; detail: why, in a sentence."""
    return make_verdict(exchange, judge, Judgement(reasoning=detail, unscored=reason))


def with_costs(verdict: Verdict, attempts: int, tokens: tuple[int, int], cost: int, latency: float) -> Verdict:
    """Put down what a verdict took. cost: in billionths of the currency; latency: seconds."""
    verdict.attempts, verdict.tokens, verdict.latency = attempts, VerdictTokens(*tokens), round(latency, 3)
    verdict.cost = cost / NANO
    return verdict
