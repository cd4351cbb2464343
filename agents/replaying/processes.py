"""Processes: the jobs of a replay side by side, each in a process of its own, and none that outlives the replay."""

import multiprocessing
import os
import pickle
import queue
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from types import ModuleType
from typing import Any

from turnsignal.agents.replaying.jobs import Job, work_through
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.replay import Run


def run_apart(jobs: Sequence[Job], progress: Callable[[int], None]) -> dict[int, Run]:
    """Run each job in a process of its own; one that fails ends the others."""
    context = multiprocessing.get_context("spawn")  # a fork would copy the threads of whoever draws the progress
    answers: Any = context.Queue()
    processes = [context.Process(target=_child, args=(job, answers), daemon=True) for job in jobs]
    runs: dict[int, Run] = {}
    try:
        with _main_left_out(), _interrupts_held():
            for process in processes:
                process.start()
        left = set(range(len(jobs)))
        while left:
            number, answer = _next_answer(answers, processes, left)
            if isinstance(answer, int):
                progress(answer // len(jobs))
            elif isinstance(answer, str):
                raise TurnsignalError(answer)
            else:
                runs.update(pickle.loads(answer))
                left.discard(number)
        for process in processes:
            process.join()
    finally:
        for process in processes:
            if process.is_alive():
                process.terminate()
                process.join()  # it writes where our files are, which go next
    return runs


@contextmanager
def _main_left_out() -> Iterator[None]:
    """Start processes that do not import the program's main module: a caller's script would run again in each."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C from processes that are started here: they inherit what is held back, and the parent ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _next_answer(answers: Any, processes: Sequence[Any], left: set[int]) -> tuple[int, Any]:
    while True:
        ended = [number for number in left if processes[number].exitcode is not None]
        try:
            answer: tuple[int, Any] = answers.get(timeout=1.0)
        except queue.Empty:
            if ended:
                code = processes[ended[0]].exitcode
                msg = f"a replay process ended with {code} before it was done (out of memory?); try --workers 1"
                raise TurnsignalError(msg) from None
        else:
            return answer


def _child(job: Job, answers: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    Thread(target=_end_with_parent, daemon=True).start()
    try:
        runs = work_through(job, lambda size: answers.put((job.number, size)))
    except TurnsignalError as error:
        answers.put((job.number, str(error)))
    else:
        answers.put((job.number, pickle.dumps(runs)))
    answers.close()
    answers.join_thread()
    sys.stdout.flush()


def _end_with_parent() -> None:
    """End this process when the parent is gone, which nobody else would do after a kill."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
