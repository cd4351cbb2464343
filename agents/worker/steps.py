"""Steps: what a transaction is made of blocks, so each step runs in a thread, and none for longer than it may."""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from confluent_kafka import Consumer, KafkaException

from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.progress import Progress

_LOOK = 1.0  #: seconds between looks at a step that takes long
_AFTER_RETURN = 3.0  #: seconds that a step may take when the broker has just come back
_LATELY = 60.0  #: seconds for which it has just come back
_THREADS = 128  #: at most: steps that were given up keep theirs until librdkafka lets them go


class Steps:
    """The threads in which the steps of an app's transactions run.

    group: gives a consumer that names the group; topic: one that the broker is asked for, to see whether it answers.
    """

    def __init__(self, settings: Settings, progress: Progress, group: Callable[[], Consumer], topic: str) -> None:
        self._longest = settings.transaction_timeout
        self._progress = progress
        self._group = group
        self._topic = topic
        self._threads = ThreadPoolExecutor(_THREADS, "commit")

    async def run(self, step: Callable[..., Any], *arguments: Any) -> Any:
        """Do a step in a thread, however long it takes; return what it returns."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, step, *arguments)

    async def run_in_time(
        self, step: Callable[..., None], *arguments: Any, still: Callable[[], None] | None = None
    ) -> None:
        """Do a step of a transaction in a thread; one that takes longer than a transaction may is given up.

        librdkafka's own timeouts are not kept everywhere: it may wait for ever for a coordinator whose broker left the
        metadata for a moment (5456, 5511). So a step has only moments where the broker has just come back, whether it
        was under way then or began after that. still: called at each look, in a thread, raises where the step cannot
        come to an end any more. Raises TimeoutError, or what `still` does.
        """
        began = time.monotonic()
        work = asyncio.get_running_loop().run_in_executor(self._threads, step, *arguments)
        work.add_done_callback(_take_note)
        end = began + self._longest
        while not (await asyncio.wait([work], timeout=_LOOK))[0]:
            answers = await self.run(self._broker_answers)
            self._progress.on_broker_answer(answers=answers)
            returned = self._progress.returned
            if answers and still is not None:
                try:
                    await self.run(still)
                except Exception:
                    work.cancel()  # one that waits for a thread does not begin any more
                    raise
            if answers and time.monotonic() - returned < _LATELY:
                end = min(end, max(began, returned) + _AFTER_RETURN)
            if time.monotonic() > end:
                msg = f"expected the broker to end a step of a transaction within {end - began:.0f} s, got nothing"
                raise TimeoutError(msg)
        await work

    def _broker_answers(self) -> bool:
        try:
            self._group().list_topics(self._topic, timeout=_LOOK)
        except KafkaException:
            return False
        return True

    def close(self) -> None:
        """Give the threads back; the process ends."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _take_note(work: "asyncio.Future[Any]") -> None:
    """Take note of how a step ended that nobody waits for any more."""
    if not work.cancelled():
        work.exception()
