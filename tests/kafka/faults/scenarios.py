"""What is done to the workers and the broker while turns are fed: one script per fault, and mixed ones by seed.

A script is a list of moments: seconds since the feeding began, and what happens then. What a script takes away for good
(a worker told to finish, a broker) it gives back; a worker that dies or hangs has to come back by itself.
"""

import signal
from collections.abc import Callable, Iterator
from functools import partial
from random import Random
from typing import Any, NamedTuple

from tests.kafka.faults.lab import Moment
from tests.kafka.faults.workers import FaultyWorker


class Scene(NamedTuple):
    """What a script acts on.

    seconds: how long turns are fed; session, stall: settings of the workers; outage: how long the broker is away.
    """

    workers: list[FaultyWorker]
    broker: Any
    seconds: float
    session: float
    stall: float
    outage: float


Script = Callable[[Scene], list[Moment]]


def kill_child(scene: Scene) -> list[Moment]:
    """Kill −9 the processes that work, one after the other."""
    first, second, *_ = scene.workers
    sequence = (first, second, first)
    return [Moment(scene.seconds * (n + 1) / 4, partial(w.send, signal.SIGKILL)) for n, w in enumerate(sequence)]


def kill_worker(scene: Scene) -> list[Moment]:
    """Kill −9 a worker with its supervisor, as the death of a machine does; another one is started later."""
    worker = scene.workers[0]
    return [Moment(scene.seconds * 0.3, worker.kill), Moment(scene.seconds * 0.7, worker.start)]


def terminate_busy(scene: Scene) -> list[Moment]:
    """Tell workers to finish while they are busy, and start them again."""
    first, second, *_ = scene.workers
    return [
        Moment(scene.seconds * 0.25, first.terminate),
        Moment(scene.seconds * 0.5, partial(_start_again, first)),
        Moment(scene.seconds * 0.6, second.terminate),
        Moment(scene.seconds * 0.85, partial(_start_again, second)),
    ]


def stop_and_continue(scene: Scene) -> list[Moment]:
    """Stop a process past its session timeout; when it goes on, another owns its partitions."""
    child = scene.workers[0]
    at = scene.seconds * 0.3
    return [
        Moment(at, partial(child.send, signal.SIGSTOP)),
        Moment(at + scene.session * 1.5, partial(child.send, signal.SIGCONT)),
    ]


def join_and_leave(scene: Scene) -> list[Moment]:
    """Have the last worker join and leave again and again."""
    worker = scene.workers[-1]
    moments = []
    for number in range(4):
        at = scene.seconds * (0.1 + 0.22 * number)
        moments += [
            Moment(at, worker.terminate),
            Moment(at + scene.seconds * 0.11, partial(_start_again, worker)),
        ]
    return moments


def slower_than_poll(scene: Scene) -> list[Moment]:
    """Have a worker be slower than the poll interval, three times."""
    child, moments = scene.workers[0], []
    for number in range(3):
        at = scene.seconds * 0.2 + number * scene.session * 1.8
        moments += [
            Moment(at, partial(child.send, signal.SIGSTOP)),
            Moment(at + scene.session * 1.2, partial(child.send, signal.SIGCONT)),
        ]
    return moments


def hang(scene: Scene) -> list[Moment]:
    """Stop a process for good: its supervisor has to notice."""
    return [Moment(scene.seconds * 0.4, partial(scene.workers[0].send, signal.SIGSTOP))]


def crash_broker(scene: Scene) -> list[Moment]:
    """Kill −9 the broker and start it again."""
    at = scene.seconds * 0.4
    return [Moment(at, scene.broker.crash), Moment(at + 2.0, scene.broker.start, mended=True)]


def outage(scene: Scene) -> list[Moment]:
    """Be without a broker for a minute."""
    at = scene.seconds * 0.4
    return [Moment(at, scene.broker.crash), Moment(at + scene.outage, scene.broker.start, mended=True)]


def mixed(seed: int, *, crash: bool = True) -> Script:
    """Return a script in which everything comes at random; crash: the broker's death, too, every other time."""

    def script(scene: Scene) -> list[Moment]:
        random = Random(seed)
        moments: list[Moment] = []
        at = 3.0
        while at < scene.seconds:
            moments += _random_fault(random, scene, at)
            at += random.uniform(2.0, 8.0)
        if crash and random.random() < 0.5:
            at = random.uniform(0.3, 0.7) * scene.seconds
            moments += [
                Moment(at, scene.broker.crash),
                Moment(at + random.uniform(0.5, 12.0), scene.broker.start, mended=True),
            ]
        return sorted(moments, key=lambda moment: moment.at)

    return script


def _random_fault(random: Random, scene: Scene, at: float) -> Iterator[Moment]:
    worker = random.choice(scene.workers)
    kind = random.choice(("child", "child", "worker", "terminate", "stop", "hang"))
    if kind == "child":
        yield Moment(at, partial(worker.send, signal.SIGKILL))
    elif kind == "worker":
        yield Moment(at, worker.kill)
        yield Moment(at + random.uniform(1.0, 15.0), partial(_start_again, worker))
    elif kind == "terminate":
        yield Moment(at, worker.terminate)
        yield Moment(at + random.uniform(1.0, 15.0), partial(_start_again, worker))
    elif kind == "stop":
        yield Moment(at, partial(worker.send, signal.SIGSTOP))
        yield Moment(at + scene.session * random.uniform(0.2, 2.0), partial(worker.send, signal.SIGCONT))
    else:
        yield Moment(at, partial(worker.send, signal.SIGSTOP))


def _start_again(worker: FaultyWorker) -> None:
    if worker.running:
        worker.join(60.0)  # it is still on its way out
    worker.start()


#: Those that leave the broker alone.
SCRIPTS: dict[str, Script] = {
    "kill_child": kill_child,
    "kill_worker": kill_worker,
    "terminate_busy": terminate_busy,
    "stop_and_continue": stop_and_continue,
    "join_and_leave": join_and_leave,
    "slower_than_poll": slower_than_poll,
    "hang": hang,
}
