"""The ceiling: the work alone, over bytes in memory, turn by turn as the peers do it.

BENCH_REDACTION=on takes out of each turn what identifies people first.
"""

import os

from load import read_turns
from one_turn import OneTurn
from place import Place
from stopwatch import Stopwatch

from turnsignal.stream.redaction import Redaction
from turnsignal.stream.suite import Suite

watch = Stopwatch.from_env()
turns = read_turns(Place.from_env().load)
suite = Suite().redacted_by(Redaction() if os.environ.get("BENCH_REDACTION") else None)
work, states, written = OneTurn(suite), dict[bytes, bytes](), 0
for offset, key, value, timestamp in turns:
    states[key], outputs = work(states.get(key), key, value, offset, timestamp)
    written += len(outputs)
    watch.tick()
