"""Sending: the calls of all partitions of a worker, as many at once as their endpoints take, each partition its part.

A call is sent when its docket's commit is safe. Somewhat more are named than go out at once, so that a place that
becomes free is taken at once and not after the next commit; what waits for a place was not sent, and costs nothing.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from turnsignal.agents.providers.panels import make_asker
from turnsignal.agents.providers.throttling import ThrottledEndpoint
from turnsignal.stream.judging.docket import ReservedCall
from turnsignal.stream.judging.judges import Judge
from turnsignal.stream.judging.repeats import is_repeated, with_repeat
from turnsignal.stream.judging.verdicts import make_unjudged
from turnsignal.stream.records.verdicts import Unjudged, Verdict

logger = logging.getLogger("turnsignal.judging")

AHEAD = 1.0  #: share of the calls that may go out at once, which is named beyond them

OnAnswer = Callable[[ReservedCall, Verdict, int], None]  #: told of a call its verdict, and its cost in billionths


class CallSender:
    """Send named calls.

    endpoints: by name; on_room: told of a partition that may name more calls now.
    """

    def __init__(
        self, judges: Iterable[Judge], endpoints: Mapping[str, ThrottledEndpoint], on_room: Callable[[int], None]
    ) -> None:
        self.endpoints = endpoints
        self._askers = {judge.digest: make_asker(judge, endpoints) for judge in judges}
        self._on_room = on_room
        self._flying: defaultdict[int, dict[asyncio.Task[None], str]] = defaultdict(dict)  # partition → call → endpoint
        self._counts: defaultdict[str, Counter[int]] = defaultdict(Counter)  # endpoint → partition → calls in flight
        self._wanting: defaultdict[str, set[int]] = defaultdict(set)  # endpoint → partitions where calls wait

    def in_flight(self, name: str) -> int:
        """Return how many calls to an endpoint have no answer yet."""
        return self._counts[name].total()

    def capacity(self, partition: int, wanted: Collection[str]) -> dict[str, int]:
        """Return how many calls a partition may reserve now, by endpoint. wanted: those that it has calls for."""
        for name in self.endpoints:
            (self._wanting[name].add if name in wanted else self._wanting[name].discard)(partition)
        return {name: self._room(name, partition) for name in wanted}

    def send(self, partition: int, calls: Sequence[ReservedCall], on_answer: OnAnswer) -> None:
        """Send calls whose names are committed."""
        loop = asyncio.get_running_loop()
        for call in calls:
            task = loop.create_task(self._send(call, on_answer))
            self._flying[partition][task] = call.judge.endpoint_name
            self._counts[call.judge.endpoint_name][partition] += 1
            task.add_done_callback(lambda done: self._end(partition, done))

    def drop(self, partition: int) -> None:
        """End the calls of a partition that is another worker's now."""
        for task in list(self._flying[partition]):
            task.cancel()
        for wanting in self._wanting.values():
            wanting.discard(partition)

    async def finish(self, partitions: Collection[int], seconds: float) -> None:
        """Wait until the calls of some partitions have their answers, at most so long."""
        flying = [task for partition in partitions for task in self._flying[partition]]
        if flying:
            await asyncio.wait(flying, timeout=seconds)

    async def close(self) -> None:
        """End what is in flight, and close the endpoints."""
        tasks = [task for flying in self._flying.values() for task in flying]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(endpoint.close() for endpoint in self.endpoints.values()), return_exceptions=True)

    async def _send(self, call: ReservedCall, on_answer: OnAnswer) -> None:
        try:
            asker = self._askers[call.judge.digest]
            verdict, cost = await asker.answer(call)
            if verdict.value is not None and is_repeated(call.exchange):
                again, more = await asker.answer(call)
                verdict, cost = with_repeat(verdict, again), cost + more
        except Exception as error:  # a provider of a user's own may raise anything
            logger.exception("%s: expected a verdict or a reason, got an error of the code", call.judge.part.name)
            detail = f"expected an answer or a ProviderError, got {type(error).__name__}"
            verdict, cost = make_unjudged(call.exchange, call.judge, Unjudged.ERROR, detail), call.most
        on_answer(call, verdict, cost)

    def _end(self, partition: int, task: asyncio.Task[None]) -> None:
        name = self._flying[partition].pop(task)
        self._counts[name][partition] -= 1
        self._on_room(partition)
        for other in list(self._wanting[name]):
            if other != partition:
                self._on_room(other)

    def _room(self, name: str, partition: int) -> int:
        endpoint, flying = self.endpoints[name], self._counts[name]
        if endpoint.is_suspect:
            return int(not flying.total() and not endpoint.open_for)
        most = endpoint.at_once + max(1, int(endpoint.at_once * AHEAD))
        free, own = most - flying.total(), flying[partition]
        others = len(self._wanting[name] - {partition})
        share = max(1, most // (others + 1)) - own if others else free
        return max(0, min(free, share))
