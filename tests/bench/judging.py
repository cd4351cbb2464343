"""How fast judges are asked, beside a bare loop of the openai client at as many at once on the same server, by turns.

Ours is everything but the broker: the docket, its commits (slept, as long as a transaction takes), the lines, and what
reads replies. Prints calls per second and processor time per call, the share of the ideal with 1 % of calls hanging,
and what a docket holds with 1,000 and with 100,000 exchanges queued.

    python -m tests.bench.judging
"""

import argparse
import asyncio
import gc
import itertools
import statistics
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import openai
from pydantic import SecretStr

from tests.agents.providers.conftest import Served, serve
from tests.kafka.faults.oracle import Kept
from tests.stream.judging.exchanges import an_exchange
from turnsignal.agents.providers.endpoints import Endpoint
from turnsignal.agents.providers.openai_compatible import OpenAICompatible
from turnsignal.agents.providers.sending import CallSender
from turnsignal.agents.providers.throttling import ThrottledEndpoint
from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS
from turnsignal.stream.judging.inquiry import Inquiry
from turnsignal.stream.judging.judges import EndpointPart, Judge, JudgePart, PricePart
from turnsignal.stream.judging.material import collect_material
from turnsignal.stream.judging.rubric_files import choose_rubric
from turnsignal.stream.pipeline.docket_processor import DocketProcessor
from turnsignal.stream.redaction import Redaction

AT_ONCE = 64
COMMIT, PAUSE = 0.015, 0.02  #: seconds of a transaction, and until the next one
LATENCY = 0.2  #: seconds of an answer where clients are compared
SLOW, HANG = 1.0, 10.0  #: seconds of an answer, and until a call that hangs is given up, where some do
TAIL = 1.25  #: as many calls as are counted are queued, so that none of the end, where places stay empty, is

_run = itertools.count()


def a_judge(model: str, timeout: float = 60.0) -> Judge:
    part = JudgePart(rubric="task_utility", model=f"lab:{model}", attempts=1, timeout=timeout)
    return Judge(part, choose_rubric("task_utility"), "lab", model, PricePart(input=1.0, output=1.0))


def records(count: int) -> Iterator[Kept]:
    run = next(_run)
    for number in range(count):
        fields = {"conversation_id": f"c{number}", "row": f"row-{run}-{number}", "response": f"Run {run}: {number}."}
        yield Kept(0, number, b"c", EXCHANGE_RECORDS.dump_json(an_exchange(**fields)), round(time.time() * 1000))


async def ask_bare(endpoint: Served, judge: Judge, queued: list[Kept]) -> None:
    """Send the same prompts with the client alone."""
    client = openai.AsyncOpenAI(api_key="none", base_url=endpoint.url, max_retries=0)
    todo = iter(queued)

    async def ask_some() -> None:
        for record in todo:
            exchange = EXCHANGE_RECORDS.validate_json(record.value or b"")
            prompt = Inquiry(judge.chosen.rubric, collect_material(exchange, judge.chosen.rubric)).prompt
            assert prompt is not None
            schema = {"name": prompt.name, "schema": prompt.schema, "strict": True}
            messages: list[Any] = [
                {"role": "system", "content": prompt.instructions},
                {"role": "user", "content": prompt.material},
            ]
            form: Any = {"type": "json_schema", "json_schema": schema}
            await client.chat.completions.create(model=judge.model, messages=messages, response_format=form)

    await asyncio.gather(*(ask_some() for _ in range(AT_ONCE)))
    await client.close()


async def ask_by_docket(endpoint: Served, judge: Judge, queued: list[Kept], until: int | None = None) -> list[float]:
    """Send them as the judge app does, until all or so many have a verdict; return how long each call took."""
    until, latencies = until or len(queued), list[float]()
    line = ThrottledEndpoint(
        OpenAICompatible(Endpoint("lab", endpoint.url, SecretStr("none"))),
        EndpointPart(at_once=AT_ONCE),
        on_request=lambda _, seconds: latencies.append(seconds),
    )
    called = asyncio.Event()
    sender = CallSender([judge], {"lab": line}, lambda _: called.set())
    processor = DocketProcessor(
        [judge],
        None,
        1e9,
        Redaction(),
        {},
        on_accepted=lambda partition, batch: sender.send(0, batch.calls, partition.settle),
    )
    taken, verdicts = 0, 0
    while verdicts < until:
        called.clear()
        room = sender.capacity(0, processor.docket.lines_awaited() or {"lab"}).calls
        batch = processor.process(queued[taken : taken + processor.docket.room], time.time(), room)
        taken += batch.consumed[processor.topic]
        await asyncio.sleep(COMMIT)
        processor.accept(batch)
        verdicts += len(batch.verdicts)
        await asyncio.sleep(PAUSE)
        if not batch.calls and not batch.verdicts:
            await called.wait()
    await sender.close()
    return latencies


def timed(work: Any) -> tuple[float, float]:
    """Return wall and processor seconds."""
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    asyncio.run(work)
    return time.perf_counter() - wall, time.process_time() - processor


def compare(endpoint: Served, calls: int, rounds: int) -> None:
    judge = a_judge(f"delay,seconds={LATENCY},forget=1")
    walls, processors = [], []
    for number in range(rounds):
        queued = list(records(calls))
        work = [
            lambda queued=queued: ask_bare(endpoint, judge, queued),
            lambda queued=queued: ask_by_docket(endpoint, judge, queued),
        ]
        order = (0, 1) if number % 2 else (1, 0)
        took = {which: timed(work[which]()) for which in order}
        walls.append(took[0][0] / took[1][0])
        processors.append(took[0][1] / took[1][1])
        for which, name in ((0, "bare"), (1, "ours")):
            wall, processor = took[which]
            print(f"  {name}: {calls / wall:6.0f} calls/s, {processor / calls * 1000:.2f} ms of processor a call")
    print(f"throughput, ours to bare: {statistics.median(walls):.2f} (processor {statistics.median(processors):.2f})")


def hang(endpoint: Served, calls: int) -> None:
    """Print how much of the endpoint's places is used while one call in a hundred hangs.

    Answers are slow here, as a model's are, so that this is about places and not about the processor.
    """
    judge = a_judge(f"some-hang,seconds={SLOW},hang=60,forget=1", timeout=HANG)
    queued = list(records(round(calls * TAIL)))
    latencies: list[float] = []

    async def ask() -> None:
        latencies.extend(await ask_by_docket(endpoint, judge, queued, calls))

    wall, _ = timed(ask())
    hanging, ideal = sum(seconds > HANG / 2 for seconds in latencies), sum(latencies) / AT_ONCE
    print(f"{hanging} of {len(latencies)} calls hang: {ideal:.1f} s ideal, {wall:.1f} s: {ideal / wall:.2f} of it")


def hold(queue: int) -> int:
    """Return the bytes that a docket keeps of a queue that nobody works off."""
    processor = DocketProcessor([a_judge("answer")], None, 1e9, None, {})
    tracemalloc.start()
    source = records(queue)
    while processor.docket.room:
        chunk = list(itertools.islice(source, processor.docket.room))
        if not chunk:
            break
        processor.accept(processor.process(chunk, time.time(), {}))
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=3_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=("compare", "hang", "hold"))
    options = parser.parse_args()
    with serve() as endpoint:
        if options.only in (None, "compare"):
            compare(endpoint, options.calls, options.rounds)
        if options.only in (None, "hang"):
            hang(endpoint, options.calls)
    if options.only not in (None, "hold"):
        return
    few, many = hold(1_000), hold(100_000)
    print(f"held of 1,000 queued: {few / 1e6:.2f} MB, of 100,000: {many / 1e6:.2f} MB: {many / few:.2f} times")


if __name__ == "__main__":
    main()
