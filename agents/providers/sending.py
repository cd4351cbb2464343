"""Sending: the calls of all partitions of a worker, as many at once as their endpoints take, each partition its part.

A judge's calls stand in a line, by all the endpoints that they may need: those of a panel wait for each of them, and
hold up nobody who needs another one alone.

A call is sent when its docket's commit is safe. Somewhat more are named than go out at once, so that a place that
becomes free is taken at once and not after the next commit; what waits for a place was not sent, and costs nothing.

Suspects, which were in flight when workers ended, are sent while nothing else of this worker is: one partition at a
time has all endpoints for that. What ends the worker then is known, and nobody else has an attempt less. A call that
has been in flight for HOLD seconds hangs, and is not what ends a worker at once: then the others go on, but for those
of its own endpoint, where it stays alone until it is decided. Then the others have the endpoint for as long as it had,
so that many suspects that hang hold up nobody; what happens to them says nothing of the endpoint.
"""

import asyncio
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

from turnsignal.agents.providers.panels import make_asker
from turnsignal.agents.providers.throttling import CallMarks, ThrottledEndpoint
from turnsignal.stream.judging.docket_entries import ReservedCall
from turnsignal.stream.judging.judges import Judge
from turnsignal.stream.judging.repeats import is_repeated, with_repeat
from turnsignal.stream.judging.verdicts import make_unjudged
from turnsignal.stream.records.verdicts import Unjudged, Verdict

logger = logging.getLogger("turnsignal.judging")

AHEAD = 1.0  #: share of the calls that may go out at once, which is named beyond them
PACED = 5.0  #: seconds ahead of which calls are named where so many go out a minute
HOLD = 5.0  #: seconds for which a call may still end the worker at once: so long a suspect holds back all others


class Capacity(NamedTuple):
    """What a partition may reserve now.

    calls: how many, by line; alone: one call at all, of a suspect, as nothing else is in flight; trials: lines of which
    an endpoint has failed, which the one call is to try.
    """

    calls: dict[str, int]
    alone: bool = False
    trials: tuple[str, ...] = ()


class _Flight(NamedTuple):
    """A call in flight. began: on the loop's clock."""

    call: ReservedCall
    began: float
    marks: CallMarks


OnAnswer = Callable[[ReservedCall, Verdict, int], None]  #: told of a call its verdict, and its cost in billionths


class CallSender:
    """Send named calls.

    endpoints: by name; on_room: told of a partition that may name more calls now; hold: seconds for which a suspect
    holds back all others.
    """

    def __init__(
        self,
        judges: Iterable[Judge],
        endpoints: Mapping[str, ThrottledEndpoint],
        on_room: Callable[[int], None],
        hold: float = HOLD,
    ) -> None:
        judges = list(judges)
        self.endpoints = endpoints
        self._askers = {judge.digest: make_asker(judge, endpoints) for judge in judges}
        self._lines = {judge.line: judge.endpoints for judge in judges}
        self._beside = {  # line → those that share an endpoint with it, itself among them
            line: {other for other, theirs in self._lines.items() if not set(theirs).isdisjoint(mine)}
            for line, mine in self._lines.items()
        }
        self._on_room = on_room
        self._hold = hold
        self._flying: defaultdict[int, dict[asyncio.Task[None], _Flight]] = defaultdict(dict)  # by partition
        self._counts: defaultdict[str, Counter[int]] = defaultdict(Counter)  # line → partition → calls in flight
        self._wanting: defaultdict[str, set[int]] = defaultdict(set)  # line → partitions where calls wait
        self._alone: int | None = None  # the partition that has all endpoints for its suspects
        self._suspects: set[str] = set()  # their lines
        self._timer: asyncio.TimerHandle | None = None
        self._resting = float("-inf")  # until when no suspect is sent, on the loop's clock
        self._is_said = False  # that others wait for suspects
        self._leaving: set[int] = set()  # partitions that may be another worker's soon

    def capacity(self, partition: int, wanted: Collection[str], suspects: Collection[str] = ()) -> Capacity:
        """Return what a partition may reserve now.

        wanted: lines that it has calls for; suspects: those of suspects.
        """
        if partition in self._leaving:
            return Capacity({})
        for line in self._lines:
            (self._wanting[line].add if line in wanted else self._wanting[line].discard)(partition)
        self._claim(partition, suspects)
        if self._alone is None:
            return self._capacity(partition, wanted)
        if tried := [flight for flight in self._flying[self._alone].values() if flight.call.is_suspect]:
            if self._is_young(tried):
                return Capacity({}, partition == self._alone)
            taken = set().union(*(self._beside[flight.call.judge.line] for flight in tried))
            return self._capacity(partition, wanted, taken)
        free = {line for line in self._suspects if not any(self._counts[other].total() for other in self._beside[line])}
        if not free:  # what hangs there began before
            return self._capacity(partition, wanted, set().union(*(self._beside[line] for line in self._suspects)))
        if partition != self._alone or self._is_young(
            flight for flights in self._flying.values() for flight in flights.values()
        ):
            return Capacity({}, partition == self._alone)
        return self._capacity(partition, free & set(wanted))._replace(alone=True)

    def send(self, partition: int, calls: Sequence[ReservedCall], on_answer: OnAnswer) -> None:
        """Send calls whose names are committed."""
        loop = asyncio.get_running_loop()
        for call in calls:
            marks = CallMarks(tells=not call.is_suspect)
            task = loop.create_task(self._send(call, marks, on_answer))
            self._flying[partition][task] = _Flight(call, loop.time(), marks)
            self._counts[call.judge.line][partition] += 1
            task.add_done_callback(lambda done: self._end(partition, done))

    def drop(self, partition: int) -> None:
        """End the calls of a partition that is another worker's now."""
        for task in list(self._flying[partition]):
            task.cancel()
        for wanting in self._wanting.values():
            wanting.discard(partition)
        if self._alone == partition:
            self._release()

    def end(self, partition: int, calls: Iterable[ReservedCall]) -> None:
        """End some calls of a partition, which nobody waits for any more."""
        ended = set(map(id, calls))
        for task, flight in list(self._flying[partition].items()):
            if id(flight.call) in ended:
                task.cancel()

    def take_back(self, partition: int) -> list[ReservedCall]:
        """End the calls of a partition for which no request went out, and return them: they cost nothing.

        It may name no more of them until it is to `go_on`.
        """
        self._leaving.add(partition)
        unsent = [(task, flight.call) for task, flight in self._flying[partition].items() if not flight.marks.is_sent]
        for task, _ in unsent:
            task.cancel()
        return [call for _, call in unsent]

    def go_on(self, partition: int) -> None:
        """Let a partition name calls again."""
        self._leaving.discard(partition)

    async def finish(self, partitions: Collection[int], seconds: float) -> None:
        """Wait until the calls of some partitions have their answers, at most so long."""
        flying = [task for partition in partitions for task in self._flying[partition]]
        if flying:
            await asyncio.wait(flying, timeout=seconds)

    async def close(self) -> None:
        """End what is in flight, and close the endpoints."""
        if self._timer is not None:
            self._timer.cancel()
        tasks = [task for flying in self._flying.values() for task in flying]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(endpoint.close() for endpoint in self.endpoints.values()), return_exceptions=True)

    async def _send(self, call: ReservedCall, marks: CallMarks, on_answer: OnAnswer) -> None:
        verdict, cost = await self._answer(call, marks)
        try:
            on_answer(call, verdict, cost)
        except Exception as error:  # else the exchange would be undecided for ever, and hold up its partition
            logger.exception("%s: expected a verdict that can be kept, got an error", call.judge.part.name)
            detail = f"expected a verdict that can be kept, got {type(error).__name__}"
            on_answer(call, make_unjudged(call.exchange, call.judge, Unjudged.ERROR, detail), cost)

    async def _answer(self, call: ReservedCall, marks: CallMarks) -> tuple[Verdict, int]:
        try:
            asker = self._askers[call.judge.digest]
            verdict, cost = await asker.answer(call, marks)
            if verdict.value is not None and is_repeated(call.exchange):
                again, more = await asker.answer(call, marks)
                verdict, cost = with_repeat(verdict, again), cost + more
        except Exception as error:
            logger.exception("%s: expected a verdict or a reason, got an error of the code", call.judge.part.name)
            detail = f"expected a verdict or a reason, got {type(error).__name__}"
            verdict, cost = make_unjudged(call.exchange, call.judge, Unjudged.ERROR, detail), call.most
        return verdict, cost

    def _end(self, partition: int, task: asyncio.Task[None]) -> None:
        flight = self._flying[partition].pop(task)
        line = flight.call.judge.line
        if flight.call.is_suspect:
            now = asyncio.get_running_loop().time()
            self._resting = now + (now - flight.began)
            if self._alone is not None:
                self._release()
        self._counts[line][partition] -= 1
        self._on_room(partition)
        for other in set().union(*(self._wanting[beside] for beside in self._beside[line])) - {partition}:
            self._on_room(other)
        if self._alone is not None:
            self._on_room(self._alone)

    def _claim(self, partition: int, suspects: Collection[str]) -> None:
        """Let a partition have all endpoints for itself while one of its suspects can be asked about."""
        if self._alone is not None and self._alone != partition:
            return
        ready = {line for line in suspects if not any(self.endpoints[name].open_for for name in self._lines[line])}
        self._suspects = set() if ready and self._rests(partition) else ready
        if self._suspects:
            self._alone = partition
            if not self._is_said:
                msg = "%s: exchanges that were in flight when workers ended are asked about one at a time; others wait"
                logger.info(msg + " meanwhile, and have their turn after each", ", ".join(sorted(self._suspects)))
            self._is_said = True
        elif self._alone is not None:
            self._release()

    def _rests(self, partition: int) -> bool:
        """Say whether others have their turn, and wake everybody when it is over."""
        tried = any(flight.call.is_suspect for flight in self._flying[partition].values())
        if tried or self._resting <= asyncio.get_running_loop().time():
            return False
        self._wake_at(self._resting)
        return True

    def _wake_at(self, moment: float) -> None:
        if self._timer is not None and self._timer.when() > moment:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_at(moment, self._wake)

    def _release(self) -> None:
        self._alone = None
        self._suspects = set()
        self._wake()

    def _wake(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for partition in set().union(*self._wanting.values()):
            self._on_room(partition)

    def _is_young(self, flights: Iterable[_Flight]) -> bool:
        """Say whether a call may still end the worker at once, and wake everybody when it no longer may."""
        youngest = max((flight.began for flight in flights), default=float("-inf")) + self._hold
        loop = asyncio.get_running_loop()
        if youngest <= loop.time():
            return False
        self._wake_at(youngest)
        return True

    def _capacity(self, partition: int, wanted: Collection[str], taken: Collection[str] = ()) -> Capacity:
        """Return what a partition may reserve by the endpoints alone. taken: lines that a suspect has for itself."""
        calls = {line: self._room(line, partition) for line in wanted if line not in taken}
        return Capacity(calls, trials=tuple(line for line in calls if self._suspected(line)))

    def _room(self, line: str, partition: int) -> int:
        flying = self._counts[line]
        if suspected := self._suspected(line):
            return int(all(self._may_be_tried(name) for name in suspected))
        endpoints = [self.endpoints[name] for name in self._lines[line]]
        at_once = min(endpoint.at_once for endpoint in endpoints)
        most = at_once + max(1, int(at_once * AHEAD))
        free, own = most - flying.total(), flying[partition]
        rates = [endpoint.rate for endpoint in endpoints if endpoint.rate is not None]
        if rates:  # what waits for its minute need not be named, as its money is held back
            free = min(free, max(1, int(min(rates) * PACED)) - self._unsent(line))
        others = len(self._wanting[line] - {partition})
        share = max(1, most // (others + 1)) - own if others else free
        return max(0, min(free, share))

    def _suspected(self, line: str) -> list[str]:
        """Return the endpoints of a line that one call at a time is to try."""
        return [name for name in self._lines[line] if self.endpoints[name].is_suspect]

    def _may_be_tried(self, name: str) -> bool:
        """Say whether an endpoint may be tried now, as all in flight that may need it have failed there before."""
        endpoint = self.endpoints[name]
        flying = sum(self._counts[line].total() for line, endpoints in self._lines.items() if name in endpoints)
        return flying <= endpoint.yielding and not endpoint.open_for

    def _unsent(self, line: str) -> int:
        """Count the calls of a line for which no request went out."""
        flights = chain.from_iterable(flying.values() for flying in self._flying.values())
        return sum(not flight.marks.is_sent and flight.call.judge.line == line for flight in flights)
