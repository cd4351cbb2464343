"""The ceiling: the work alone, over bytes in memory, turn by turn as the peers do it."""

from load import read_turns
from one_turn import OneTurn
from place import Place
from stopwatch import Stopwatch

watch = Stopwatch.from_env()
turns = read_turns(Place.from_env().load)
work, states, written = OneTurn(), dict[bytes, bytes](), 0
for offset, key, value, timestamp in turns:
    states[key], outputs = work(states.get(key), key, value, offset, timestamp)
    written += len(outputs)
    watch.tick()
