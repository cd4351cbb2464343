"""Throttling: to one endpoint so many calls at once and a minute, repeated where that helps, left alone when down."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from aiolimiter import AsyncLimiter
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_random_exponential
from tenacity.wait import wait_base

from turnsignal.agents.providers.protocol import (
    Provider,
    ProviderCall,
    ProviderError,
    ProviderReply,
    clean_reply,
)
from turnsignal.stream.judging.breaker import EndpointBreaker
from turnsignal.stream.judging.judges import EndpointPart
from turnsignal.stream.records.verdicts import Unjudged

_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0  #: seconds between tries, without a word from the endpoint
OK = "ok"
_JITTER = 1.1  #: how much longer than asked for we wait at most, so that not everybody comes back at once


@dataclass(slots=True)
class CallMarks:
    """What is noted of one call. is_sent: whether a request went out for it; tells: whether its failures say something
    of the endpoint, and not of an exchange that has ended workers.
    """

    is_sent: bool = False
    tells: bool = True


@dataclass(slots=True)
class Attempts:
    """What one exchange has used up of one endpoint.

    seconds: that it has, from when an endpoint has a place for it; made: calls that were sent; unknown: those of which
    nobody says what they cost; failed: whether the endpoint as a whole failed with it; deadline: on the loop's clock,
    None until then; ending: what ends it there.
    """

    seconds: float
    marks: CallMarks = field(default_factory=CallMarks)
    made: int = 0
    unknown: int = 0
    failed: bool = False
    deadline: float | None = None
    ending: asyncio.Timeout | None = None

    def begin(self, now: float) -> None:
        """Have time pass, unless it does; now: on the loop's clock."""
        if self.deadline is None:
            self.deadline = now + self.seconds
            if self.ending is not None:
                self.ending.reschedule(self.deadline)


class ThrottledEndpoint:
    """Send calls to one provider.

    first_wait: seconds before a second try, doubled for each one after it; on_request: told of each request how it
    ended, in a word, and how many seconds it took.
    """

    def __init__(
        self,
        provider: Provider,
        part: EndpointPart,
        first_wait: float = _FIRST_WAIT,
        on_request: Callable[[str, float], None] = lambda *_: None,
    ) -> None:
        self._provider = provider
        self._slots = asyncio.Semaphore(part.at_once)
        self._per_minute = part.requests_per_minute
        self._share = 0.0
        self._pace: AsyncLimiter | None = None
        self._breaker = EndpointBreaker()
        self._last: ProviderError | None = None  # that said the endpoint fails as a whole
        self._wait = _Waiting(first_wait)
        self._on_request = on_request
        self.at_once = part.at_once
        self.rate: float | None = None  #: calls a second that go out at most, None where nobody says so
        self.has_overrun = False  #: whether it has counted more tokens than a call allows it, which was said
        self.in_flight = 0  #: requests without an answer yet
        self.yielding = 0  #: exchanges in flight with which it failed, and which let others try it first
        self.take_share(1.0)

    def take_share(self, share: float) -> None:
        """Keep to a share of the requests a minute, as others have the rest."""
        if self._per_minute and share != self._share:
            self._share = share
            self.rate = self._per_minute * share / 60
            # Evenly, not a minute's worth at its beginning: an endpoint's own limits look at seconds, too.
            self._pace = AsyncLimiter(1, 1 / self.rate)

    @property
    def is_suspect(self) -> bool:
        """Whether the endpoint has failed so often in a row that one call at a time tries it."""
        return self._breaker.is_suspect

    @property
    def failure(self) -> str:
        """What last said that the endpoint fails as a whole, "" before anything did."""
        return "" if self._last is None else str(self._last)

    @property
    def open_for(self) -> float:
        """For how many seconds nothing will be sent, as the endpoint is left alone."""
        return self._breaker.open_for(time.monotonic())

    async def ask(self, call: ProviderCall, attempts: int, used: Attempts) -> ProviderReply:
        """Send a call, and again where that may help, until the deadline; to wait for a place takes nothing of it.

        Raises ProviderError: the last one, or `timeout` where the deadline came first.
        """
        last: list[ProviderError] = []
        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, ProviderError) and error.again),
            stop=_any(stop_after_attempt(attempts), lambda state: self._is_late(state, used)),
            wait=self._wait,
            after=lambda state: last.append(state.outcome.exception()),  # type: ignore[union-attr, arg-type]
            reraise=True,
        )
        try:
            async with asyncio.timeout_at(used.deadline) as used.ending:
                return await retrying(self._once, call, used)
        except TimeoutError:
            why = f"; the last try: {last[-1]}" if last else ""
            msg = f"expected a reply before the deadline of the exchange, got none{why}"
            raise ProviderError(msg, reason=Unjudged.TIMEOUT) from None
        finally:
            self.yielding -= used.failed
            used.failed = False

    async def close(self) -> None:
        """Close the provider."""
        await self._provider.close()

    async def _once(self, call: ProviderCall, used: Attempts) -> ProviderReply:
        async with self._slots:
            if self._pace is not None:
                await self._pace.acquire()
            used.begin(asyncio.get_running_loop().time())
            if pause := self._breaker.acquire(time.monotonic(), failed=used.failed):
                why, reason = (self._last, self._last.reason) if self._last else ("nothing", Unjudged.PROVIDER)
                msg = f"{why}; after failures in a row the endpoint is left alone for {pause:.0f} s"
                raise ProviderError(msg, reason=reason, again=True, after=pause)
            used.marks.is_sent = True
            used.made += 1
            used.unknown += 1
            began = time.monotonic()
            try:
                reply = clean_reply(await self._ask_apart(call))
            except ProviderError as error:
                used.unknown -= error.free
                self._on_request(_outcome(error), time.monotonic() - began)
                if error.down and not used.marks.tells:
                    self._breaker.on_nothing()
                elif error.down:
                    self.yielding += not used.failed
                    used.failed = True
                    self._last = error
                    self._breaker.on_failure(time.monotonic())
                else:
                    self._breaker.on_answer()
                raise
            except BaseException as error:
                self._breaker.on_nothing()
                if isinstance(error, Exception) or _is_ours(error):
                    raise
                msg = f"expected an answer or a ProviderError, got {type(error).__name__}"
                raise ProviderError(msg, reason=Unjudged.ERROR) from None
            used.unknown -= 1
            self._on_request(OK, time.monotonic() - began)
            self._breaker.on_answer()
            return reply

    async def _ask_apart(self, call: ProviderCall) -> ProviderReply:
        """Ask in a task of its own, which is left behind where it goes on after its cancellation.

        Else a provider that has this one cancelled would end it without an answer, and one that takes no cancellation
        would hold its place for ever.
        """
        asking = asyncio.ensure_future(self._provider.ask(call))
        self.in_flight += 1
        try:
            await asyncio.wait({asking})
        finally:
            self.in_flight -= 1
            if not asking.done():
                asking.cancel()
                asking.add_done_callback(lambda late: late.cancelled() or late.exception())  # nobody else looks at it
        return asking.result()

    def _is_late(self, state: RetryCallState, used: Attempts) -> bool:
        """Say whether the deadline comes before the next try could."""
        late = asyncio.get_running_loop().time() + state.upcoming_sleep
        return used.deadline is not None and late >= used.deadline


class _Waiting(wait_base):
    """Wait as long as the endpoint asks for and a little more by chance, else longer each time."""

    def __init__(self, first: float) -> None:
        self._growing = wait_random_exponential(multiplier=first, max=_LONGEST_WAIT)

    def __call__(self, retry_state: RetryCallState) -> float:
        error = retry_state.outcome.exception() if retry_state.outcome else None
        after = getattr(error, "after", None)
        grown = self._growing(retry_state)
        return grown if after is None else float(after) + min(grown, after * (_JITTER - 1))


def _outcome(error: ProviderError) -> str:
    """Say in a word how a request ended that brought no reply."""
    if error.reason is Unjudged.TIMEOUT:
        return "timeout"
    if not error.again:
        return "refused"
    return "rate_limited" if error.free and not error.down else "error"


def _is_ours(error: BaseException) -> bool:
    """Say whether this call, or the process, is to end; a provider may let out a cancellation of its own."""
    task = asyncio.current_task()
    is_called_off = task is not None and task.cancelling() > 0
    return is_called_off or isinstance(error, (KeyboardInterrupt, SystemExit))


def _any(*stops: Callable[[RetryCallState], bool]) -> Callable[[RetryCallState], bool]:
    return lambda state: any(stop(state) for stop in stops)
