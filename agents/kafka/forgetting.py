"""Forgetting: asking the workers to erase conversations, finding those of a user, and saying what stays and until when.

A conversation's state is its worker's, so it is erased by a request on `turnsignal.forget`. What was written before
stays on its topics until the broker deletes it, which it does by its own settings: they are asked for, not guessed.
Whose a conversation is stands in its turns alone, so a user's conversations are found by reading all turns that are
still there; a state names nobody.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
import orjson
from confluent_kafka import KafkaException

from turnsignal.agents.kafka.logs import find_log, read_log
from turnsignal.agents.kafka.sending import Sender
from turnsignal.agents.kafka.topics import admin_client, partition_for, topic_metadata, topic_names, topic_settings
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.turns import MAX_ID
from turnsignal.stream.replay import Recorded

#: Topic → what a forgotten conversation may have left there, and whether somebody's words may be among it.
_LEFT = {
    "turns": "its turns as they were sent, with texts",
    "feedback": "votes, labels and the rest that was said of it, as it was sent, with reasons",
    "exchanges": "its exchanges for judges, with texts and documents",
    "verdicts": "what judges said of its exchanges, with reasons that may quote it",
    "docket_changelog": "such answers, which the judge worker kept so that the same is not asked twice, and has erased",
    "conversations_changelog": "its former states, with the texts of its last turns",
    "conversations": "its former summaries, without texts",
    "dead_letters": "where its unreadable records stood; the records too where TURNSIGNAL_DEAD_LETTERS was full",
    "scores": "its score rows: no turns, but words of answers in explanations, and reasons of feedback",
    "series": "its id beside numbers",
    "regressions": "its id, where it was among the five worst of a change",
    "series_changelog": "its id, where it is among the five worst since something last changed",
    "forget": "this request, with its id",
}


class Remains(NamedTuple):
    """What is left of a forgotten conversation on a topic.

    until: when the broker deletes it at the latest, None when it has no limit; compacted: it does so by compaction, for
    which the partition has to be written to after that.
    """

    topic: str
    what: str
    until: datetime | None
    compacted: bool


class UserConversations(NamedTuple):
    """The conversations of a user.

    turns: how many were read; oldest: the time of the first, None without any.
    """

    conversations: list[str]
    turns: int
    oldest: datetime | None


class TurnSought(NamedTuple):
    """What came of looking for a turn of a conversation in a partition. turns: how many were read."""

    topic: str
    partition: int
    turns: int
    is_there: bool


class _RecordHead(msgspec.Struct):
    user_id: Any = None


_read_head = msgspec.json.Decoder(_RecordHead).decode


def send_requests(settings: Settings, conversations: Iterable[str]) -> int:
    """Ask the workers to forget conversations; return how many requests the broker has acknowledged.

    Each is asked for in every partition. A state is where its turns were sent, which need not be where Kafka's own hash
    has their key, and it outlives them: where all of them have expired, no turn that could be read says where it is.
    Raises TurnsignalError when the broker does not take the requests.
    """
    topic = topic_names(settings.prefix)["forget"]
    partitions = sorted(find_log(settings, topic))
    sender = Sender(settings, topic)
    for name in conversations:
        key = name.encode()
        for number in partitions:
            sender.send(Recorded(0.0, 0, key, b"", 0), key, b"", number)
    sender.flush()
    return sender.sent


def list_remains(settings: Settings, now: float) -> list[Remains]:
    """Say what is left of a conversation that is forgotten at `now`, in the order in which it matters.

    now: seconds since 1970. Raises TurnsignalError when the broker does not say.
    """
    admin = admin_client(settings)
    present = topic_metadata(admin).topics
    names = {short: name for short, name in topic_names(settings.prefix).items() if name in present and short in _LEFT}
    try:
        configs = topic_settings(admin, names.values())
    except KafkaException as error:
        msg = f"expected the broker to describe the topics, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None
    return [
        Remains(names[short], what, *_until(configs[names[short]], now))
        for short, what in _LEFT.items()
        if short in names
    ]


def _until(config: dict[str, str], now: float) -> tuple[datetime | None, bool]:
    """Read from a topic's settings when it has lost everything that is on it now, and whether by compaction."""
    segment = int(config.get("segment.ms", -1))  # a segment goes as a whole: what it begins with waits for its end
    compacted = "delete" not in config["cleanup.policy"]
    limit = int(config.get("max.compaction.lag.ms" if compacted else "retention.ms", -1))
    if limit < 0:
        return None, compacted
    wait = max(limit, segment) if compacted else limit + segment
    try:
        return datetime.fromtimestamp(now + wait / 1000, UTC), compacted
    except (OverflowError, ValueError):  # Kafka's default lag is longer than the calendar
        return None, compacted


def find_conversations(
    settings: Settings, user_id: str, progress: Callable[[int, int], None] = lambda *_: None
) -> UserConversations:
    """Read every turn that is still there and return the conversations with a turn of that user.

    progress: told how many of how many records are read. Raises TurnsignalError when the broker does not answer.
    """
    topic = topic_names(settings.prefix)["turns"]
    ranges = find_log(settings, topic)
    conversations: dict[str, None] = {}
    oldest, read = float("inf"), 0
    # Turns of unfinished transactions are read, too: they hide nobody.
    for records in read_log(settings, topic, ranges, committed=False, progress=progress):
        read += len(records)
        for record in records:
            oldest = min(oldest, record.timestamp) if record.timestamp > 0 else oldest
            name = named_conversation(record.key)
            if name is not None and name not in conversations and _is_of(record.value, user_id):
                conversations[name] = None
    return UserConversations(
        list(conversations), read, datetime.fromtimestamp(oldest / 1000, UTC) if read and oldest < 1e14 else None
    )


def find_turn(
    settings: Settings, conversation_id: str, progress: Callable[[int, int], None] = lambda *_: None
) -> TurnSought:
    """Look for a turn of a conversation in the partition where Kafka's own hash has its key, until there is one.

    That is a share of the topic only: turns that a producer has sent elsewhere, or that have expired, are not found.
    progress: told how many of how many records are read. Raises TurnsignalError when the broker does not answer.
    """
    topic, key = topic_names(settings.prefix)["turns"], conversation_id.encode()
    ranges = find_log(settings, topic)
    number, read = partition_for(key, len(ranges)), 0
    own = {number: ranges[number]}
    for records in read_log(settings, topic, own, committed=False, progress=progress):
        read += len(records)
        if any(record.key == key for record in records):
            return TurnSought(topic, number, read, is_there=True)
    return TurnSought(topic, number, read, is_there=False)


def _is_of(value: bytes | None, user_id: str) -> bool:
    """Say whether a record names the user; one that no worker could take in may do so, too."""
    try:
        named = _read_user(value or b"")
    except (msgspec.MsgspecError, UnicodeError, orjson.JSONDecodeError):
        return False
    return isinstance(named, str | int) and str(named) == user_id


def _read_user(value: bytes) -> Any:
    try:
        return _read_head(value).user_id
    except RecursionError:  # a worker takes in what is nested somewhat deeper
        data = orjson.loads(value)
        return data.get("user_id") if isinstance(data, dict) else None


def named_conversation(key: bytes | None) -> str | None:
    """Read the conversation's id; None for a key under which nothing is ever kept."""
    try:
        name = (key or b"").decode()
    except UnicodeDecodeError:
        return None
    return name if 0 < len(name) <= MAX_ID and name.isprintable() else None
