"""The same work in Quix Streams as its documentation writes it: a stateful, expanding apply; RocksDB with a changelog.

At least once; outputs, state and position are committed every second.
"""

from typing import Any

from one_turn import OneTurn
from place import Place
from quixstreams import Application, State, message_context
from stopwatch import Stopwatch

place, watch, work = Place.from_env(), Stopwatch.from_env(), OneTurn()
app = Application(
    broker_address=place.brokers,
    consumer_group=place.name,
    auto_offset_reset="earliest",
    state_dir=str(place.directory / place.name),
    commit_interval=1.0,
    loglevel="WARNING",
    consumer_extra_config={"queued.max.messages.kbytes": 65_536},
    producer_extra_config={"partitioner": "murmur2_random"},
)
source = app.topic(place.topics["turns"], key_deserializer="bytes", value_deserializer="bytes")
scores = app.topic(place.topics["scores"], key_serializer="bytes", value_serializer="bytes")


def score(raw: bytes, key: bytes, timestamp: int, _headers: Any, state: State) -> list[bytes]:
    """Take in one turn."""
    before = state.get_bytes("conversation")
    after, outputs = work(before, key, raw, message_context().offset, timestamp)
    state.set_bytes("conversation", after)
    watch.tick()
    return [output.value for output in outputs if output.value is not None]


app.dataframe(source).apply(score, stateful=True, metadata=True, expand=True).to_topic(scores)
app.run()
