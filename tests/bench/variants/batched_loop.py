"""The other ceiling: the work alone, in batches per partition, and with the memory settings, of the score worker.

BENCH_BATCH: turns of a batch, by default as many as a worker takes at most.
"""

import os
import time
from collections import defaultdict

from load import Turn, read_turns
from place import Place
from stopwatch import Stopwatch

from turnsignal.agents.kafka.topics import partition_for
from turnsignal.agents.process.memory import kept_memory
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.suite import Suite

PARTITIONS, BATCH = 4, int(os.environ.get("BENCH_BATCH", "2000"))

watch = Stopwatch.from_env()
suite, now = Suite(), time.time()
processors = [PartitionProcessor(suite, partition=number) for number in range(PARTITIONS)]
waiting: defaultdict[int, list[Turn]] = defaultdict(list)
batches = []
for turn in read_turns(Place.from_env().load):
    number = partition_for(turn.key, PARTITIONS)
    waiting[number].append(turn)
    if len(waiting[number]) == BATCH:
        batches.append((processors[number], waiting.pop(number)))
batches += [(processors[number], left) for number, left in waiting.items()]
with kept_memory():
    for processor, records in batches:
        processor.accept(processor.process(records, now))
        watch.tick(len(records))
