"""What a turn costs, and what a conversation keeps, in two populations of open conversations.

BENCH_OPEN and BENCH_LENGTH: how many, and how many turns behind each, for the first population and for the second.
Their batches alternate, so that a noisy moment meets both; in a batch every turn is of another conversation, so that
only size can make a difference. The first quarter of the batches warms up.
"""

import gc
import os
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from statistics import median

from load import Turn
from stopwatch import write_row

from turnsignal.stream.conversations.state import restore
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.simulation import steady
from turnsignal.stream.suite import Suite

BATCH = 500
LINES = 16  #: steady's turns repeat their texts after so many: lengths are cut to a multiple of it, and ten
MODELS = 4  #: conversations that are played out; all others are copies of their states
NOW = float(int(time.time()) - 3600)


def resident() -> int:
    """Bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Population:
    """Open conversations, played to a length and copied to a number.

    kept: bytes of memory of each; texts: bytes of its last texts, which are among them.
    """

    def __init__(self, suite: Suite, count: int, length: int, batches: int) -> None:
        self._count = count
        self._behind = length // LINES * LINES + 10
        ahead = 2 + LINES + 2 * batches * BATCH // count
        start = NOW - 0.01 * MODELS * (self._behind + ahead) - 60
        self._played = list(steady((self._behind + ahead) * MODELS, MODELS, seed=1, start=start))
        even, odd = self._play(suite)
        models = [b"conv-%07d" % number for number in range(MODELS)]
        last = [restore(states[key]).kept for states in (even, odd) for key in models]
        self.texts = sum(len(slot.text.encode()) for slots in last for slot in slots) / len(last)
        self.partition = PartitionProcessor(suite)
        gc.collect()
        before = resident()
        for number in range(count):
            state = (odd if number % 2 else even)[models[number // 2 % MODELS]]
            self.partition.store[self._name(number)] = bytes(bytearray(state))
        self.partition.read_store()
        gc.collect()
        self.kept = (resident() - before) / count

    def _play(self, suite: Suite) -> tuple[dict[bytes, bytes], dict[bytes, bytes]]:
        """Return the models' states, and those one turn later: so user and assistant turns mix in every batch."""
        processor, edge = PartitionProcessor(suite), self._behind * MODELS
        for at in range(0, edge, BATCH):
            processor.accept(processor.process(self._turns(at, min(at + BATCH, edge)), NOW))
        even = dict(processor.store)
        processor.accept(processor.process(self._turns(edge, edge + MODELS), NOW))
        return even, dict(processor.store)

    def _turns(self, start: int, end: int) -> list[Turn]:
        return [Turn(start + i, *pair, int(NOW * 1000)) for i, pair in enumerate(self._played[start:end])]

    def batches(self, number: int) -> Iterator[list[Turn]]:
        """Give batches of the next turns of conversations chosen at random."""
        random, steps = Random(1), dict[int, int]()
        for _ in range(number):
            records = []
            for conversation in random.sample(range(self._count), BATCH):
                step = steps[conversation] = steps.get(conversation, conversation % 2 - 1) + 1
                key, value = self._played[(self._behind + step) * MODELS + conversation // 2 % MODELS]
                name = self._name(conversation)
                records.append(Turn(10**9 + len(records), name, value.replace(key, name, 1), int(NOW * 1000)))
            yield records

    @staticmethod
    def _name(number: int) -> bytes:
        return b"open-%07d" % number

    def time(self, records: list[Turn]) -> float:
        """Work through a batch and return the microseconds per turn."""
        began = time.perf_counter()
        self.partition.accept(self.partition.process(records, NOW))
        return (time.perf_counter() - began) / len(records) * 1e6


number = int(os.environ["BENCH_BATCHES"])
sizes = zip(os.environ["BENCH_OPEN"].split(","), os.environ["BENCH_LENGTH"].split(","), strict=True)
suite = Suite()
first, second = (Population(suite, int(count), int(length), number) for count, length in sizes)
pairs: list[tuple[float, float]] = []
for a, b in zip(first.batches(number), second.batches(number), strict=True):
    if len(pairs) % 2:  # each goes first every other time
        of_second = second.time(b)
        pairs.append((first.time(a), of_second))
    else:
        pairs.append((first.time(a), second.time(b)))
pairs = pairs[number // 4 :]
write_row(
    Path(os.environ["BENCH_ROW"]),
    first_us=median(a for a, _ in pairs),
    second_us=median(b for _, b in pairs),
    ratio=median(b / a for a, b in pairs),
    kept_bytes=second.kept,
    text_bytes=second.texts,
)
