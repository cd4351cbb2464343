"""Judging files: recorded turns through the pipeline to exchanges, and each of them past the judges.

Verdicts are appended to their file as they come, so that a run that is stopped goes on where it was.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import orjson
from pydantic import ValidationError

from turnsignal.agents.files.json_lines import read_json_lines
from turnsignal.agents.files.reading import Recording, TurnFile
from turnsignal.agents.files.writing import write_file
from turnsignal.agents.process.memory import kept_memory
from turnsignal.agents.providers.asking import SharedBudget, begin_inquiry
from turnsignal.agents.providers.finding import make_providers
from turnsignal.agents.providers.panels import make_asker
from turnsignal.agents.providers.protocol import Provider
from turnsignal.agents.providers.throttling import ThrottledEndpoint
from turnsignal.agents.python_checks.host import hosted
from turnsignal.stream.judging.budget import Budget
from turnsignal.stream.judging.deliberation import Deliberation
from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS, ExchangePart, ExchangeRecord
from turnsignal.stream.judging.judges import EndpointPart, Judge, JudgingPart
from turnsignal.stream.judging.material import NothingToJudge, collect_material, redact_exchange
from turnsignal.stream.judging.prompt import Prompt
from turnsignal.stream.judging.verdicts import identify, make_unjudged, make_verdict, sampled_out
from turnsignal.stream.records.verdicts import VERDICTS, Unjudged, Verdict
from turnsignal.stream.records.wire import EXCHANGES
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.replay import Indexer, Replay
from turnsignal.stream.suite import Suite

#: reasons that may be gone at the next run, so that the exchange is asked about again
_PASSING = (Unjudged.BUDGET, Unjudged.TIMEOUT, Unjudged.PROVIDER, Unjudged.PARSE, Unjudged.ERROR, Unjudged.SAMPLED_OUT)


def read_exchanges(sources: Sequence[Path | TurnFile], suite: Suite, now: float) -> Iterator[ExchangeRecord]:
    """Give the exchanges of recorded turns, as a worker would queue them: all of them, with known labels."""
    queued = suite.model_copy(update={"exchanges": ExchangePart(share=1.0, truth=True)})
    if suite.redaction is not None:
        queued = queued.redacted_by(suite.redaction)
    recording = Recording(sources)
    indexer = Indexer(now, mend=recording.mend)
    with kept_memory(), hosted(queued) as ready, ExitStack() as opened:
        replay = Replay(ready, None, indexer)
        lines = opened.enter_context(recording.in_order(indexer)).placed()
        for _, outputs in chain(replay.feed(lines), replay.finish(indexer.end)):
            for output in outputs:
                if output.topic == EXCHANGES and output.value is not None:
                    yield EXCHANGE_RECORDS.validate_json(output.value)


class Previewed(NamedTuple):
    """What would be asked about one exchange. likely, greatest: price in billionths, greatest with every try."""

    exchange: ExchangeRecord
    prompt: Prompt
    calls: int
    likely: int
    greatest: int


def preview(judge: Judge, exchange: ExchangeRecord) -> Previewed | Verdict:
    """Return what would be asked about an exchange, or the verdict of one that nobody is to be asked about.

    All models of a judge count, also those that are asked only where the one before is unsure.
    """
    if (left_out := sampled_out(judge, exchange)) is not None:
        return left_out
    if (decided := Deliberation(judge, exchange).judgement) is not None:
        return make_verdict(exchange, judge, decided)
    try:
        material = collect_material(exchange, judge.chosen.rubric, judge.part.max_input)
    except NothingToJudge as error:
        return make_unjudged(exchange, judge, error.reason, error.detail)
    inquiry = begin_inquiry(judge, material)
    assert inquiry.prompt is not None, "an inquiry begins with a prompt"
    members = judge.members
    likely = sum(each.cost(inquiry.prompt.likely_tokens * inquiry.calls, 200 * inquiry.calls) for each in members)
    greatest = judge.greatest_cost(inquiry.calls, inquiry.most_tokens)
    return Previewed(exchange, inquiry.prompt, inquiry.calls * len(members), likely, greatest)


def judge_exchanges(
    exchanges: Sequence[ExchangeRecord],
    judges: Sequence[Judge],
    judging: JudgingPart,
    env: Mapping[str, str],
    *,
    recorded: Provider | None = None,
    known: Mapping[str, Verdict] | None = None,
    on_verdict: Callable[[Verdict], None] = lambda _: None,
) -> list[Verdict]:
    """Ask every judge about every exchange of its stage; return the verdicts, by judge, then in the order given.

    recorded: answers in the place of all endpoints; known: earlier verdicts by id, which are not asked for again;
    on_verdict: called with each new one as it comes. Raises ConfigError before anything is asked.
    """
    providers = make_providers(judges, judging, env, recorded)
    budget = SharedBudget(Budget(None if judging.budget is None else round(judging.budget * 1e9)))
    run = _Run(providers, budget, known or {}, on_verdict)
    return asyncio.run(run.ask_all(exchanges, judges))


class _Run:
    """One run over exchanges: as many asked about at once as their endpoints take."""

    def __init__(
        self,
        providers: Mapping[str, tuple[Provider, EndpointPart]],
        budget: SharedBudget,
        known: Mapping[str, Verdict],
        on_verdict: Callable[[Verdict], None],
    ) -> None:
        self._providers = providers
        self._budget = budget
        self._known = known
        self._on_verdict = on_verdict

    async def ask_all(self, exchanges: Sequence[ExchangeRecord], judges: Sequence[Judge]) -> list[Verdict]:
        endpoints = {name: ThrottledEndpoint(provider, part) for name, (provider, part) in self._providers.items()}
        work: dict[tuple[str, ...], list[tuple[int, Judge, ExchangeRecord]]] = {each.endpoints: [] for each in judges}
        for at, exchange in enumerate(exchanges):  # judges side by side, so that none has spent a budget before another
            for which, judge in enumerate(judges):
                if exchange.stage == judge.chosen.rubric.stage:
                    work[judge.endpoints].append((which * len(exchanges) + at, judge, exchange))
        verdicts: dict[int, Verdict] = {}
        try:
            async with asyncio.TaskGroup() as tasks:
                for names, waiting in work.items():
                    todo = iter(waiting)
                    for _ in range(min(endpoints[name].at_once for name in names)):
                        tasks.create_task(self._ask_some(todo, endpoints, verdicts))
        finally:
            await asyncio.gather(*(endpoint.close() for endpoint in endpoints.values()))
        return [verdicts[index] for index in sorted(verdicts)]

    async def _ask_some(
        self,
        todo: Iterator[tuple[int, Judge, ExchangeRecord]],
        endpoints: Mapping[str, ThrottledEndpoint],
        verdicts: dict[int, Verdict],
    ) -> None:
        for number, judge, exchange in todo:
            known = self._known.get(identify(exchange, judge))
            if known is not None and known.unscored not in _PASSING:
                known.cached = True
                verdicts[number] = known
            elif (left_out := sampled_out(judge, exchange)) is not None:
                verdicts[number] = left_out
            else:
                verdicts[number] = await make_asker(judge, endpoints, self._budget).ask(exchange)
                self._on_verdict(verdicts[number])


def redacted_exchanges(
    exchanges: Sequence[ExchangeRecord], redaction: Redaction | None, counts: dict[str, int]
) -> list[ExchangeRecord]:
    """Return exchanges without what identifies people; counts: replacements by kind are added to it."""
    if redaction is None:
        return list(exchanges)
    return [redact_exchange(exchange, redaction, counts) for exchange in exchanges]


def read_verdicts(path: Path) -> dict[str, Verdict]:
    """Return the verdicts of a file by id, the last one of each; a last line that was not finished is left out.

    Raises TurnsignalError naming file and line for a line that is no verdict.
    """
    return {verdict.id: verdict for _, verdict in read_json_lines(path, "verdicts", _read_verdict)}


def _read_verdict(line: bytes) -> Verdict:
    try:
        return VERDICTS.validate_json(line)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        key = ".".join(map(str, problem["loc"])) or "line"
        msg = f"expected a verdict (`turnsignal schema verdict`), got {key}: {problem['msg']}"
        raise ValueError(msg) from None


def write_verdicts(path: Path, verdicts: Sequence[Verdict]) -> None:
    """Write a file of verdicts anew, all at once or not at all; raises TurnsignalError."""
    write_file(path, b"".join(encode_verdict(verdict) + b"\n" for verdict in verdicts))


def encode_verdict(verdict: Verdict) -> bytes:
    """Return a verdict as JSON, without what is empty."""
    return orjson.dumps(VERDICTS.dump_python(verdict, mode="json", exclude_none=True))
