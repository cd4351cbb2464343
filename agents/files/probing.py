"""Probing: judges are asked about exchanges as they came, then about the same ones in other words."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from turnsignal.agents.files.judging import judge_exchanges
from turnsignal.stream.judging.exchanges import ExchangeRecord
from turnsignal.stream.judging.judges import NANO, Judge, JudgingPart
from turnsignal.stream.judging.probes import PROBES, Flips, count_flips, probe_exchange
from turnsignal.stream.records.verdicts import Verdict


class ProbedJudge(NamedTuple):
    """What probes came to for one judge.

    asked: exchanges that it was asked about first; cost: of all calls; price_known: whether it is known what they cost;
    unscored: reason → verdicts without a value.
    """

    judge: str
    asked: int
    flips: list[Flips]
    cost: float
    price_known: bool
    unscored: dict[str, int]


def probe_judges(
    exchanges: Sequence[ExchangeRecord], judges: Sequence[Judge], judging: JudgingPart, env: Mapping[str, str]
) -> list[ProbedJudge]:
    """Ask every judge about every exchange of its stage, then about what each probe makes of it.

    The budget is each judge's own, for all of its answers. Raises ConfigError before anything is asked.
    """
    return [_probe(judge, exchanges, judging, env) for judge in judges]


def _probe(
    judge: Judge, exchanges: Sequence[ExchangeRecord], judging: JudgingPart, env: Mapping[str, str]
) -> ProbedJudge:
    rubric = judge.chosen.rubric
    own = [exchange for exchange in exchanges if exchange.stage == rubric.stage]
    first = judge_exchanges(own, [judge], judging, env)
    pairs: list[tuple[str, Verdict, ExchangeRecord]] = []
    for exchange, verdict in zip(own, first, strict=True):
        if verdict.value is not None:
            written = probe_exchange(exchange, rubric, verdict)
            pairs += [(probe, verdict, other) for probe, other in written.items()]
    spent = sum(verdict.cost for verdict in first)
    left = judging if judging.budget is None else judging.model_copy(update={"budget": max(0, judging.budget - spent)})
    again = judge_exchanges([other for _, _, other in pairs], [judge], left, env)
    answered = [(probe, before, after) for (probe, before, _), after in zip(pairs, again, strict=True)]
    flips = [count_flips(name, rubric, [(b, a) for probe, b, a in answered if probe == name]) for name in PROBES]
    cost = sum(round(verdict.cost * NANO) for verdict in [*first, *again]) / NANO
    unscored = Counter(str(verdict.unscored) for verdict in [*first, *again] if verdict.unscored)
    return ProbedJudge(judge.part.name, len(first), flips, cost, judge.price is not None, dict(unscored.most_common()))
