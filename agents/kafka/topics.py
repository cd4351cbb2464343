"""Topics: which ones there are, who reads and writes them, and the partition of a key.

The list is data: names, settings and the rights that a worker needs follow from it. Topics that
are keyed by conversation and read by the score app have as many partitions as its changelog, so that one worker owns a
conversation's turns, feedback and state.
"""

import math
import struct
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ClusterMetadata,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from turnsignal.agents.app_table import APPS
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError

ADMIN_SECONDS = 30.0
SEGMENT_SECONDS = 86_400.0  #: by how much records of an expiring topic may outlive their retention
MOCK_CLUSTER = "mockCluster"  #: how the cluster id of librdkafka's mock begins; it makes a topic when asked about it

_NOT_A_SETTING = ("topic", "partitions", "replication")  #: differences that `topics update` does not change
_EARLIEST, _LATEST = OffsetSpec.earliest(), OffsetSpec.latest()
_NO_LEADER_YET = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.FENCED_LEADER_EPOCH,
)


class Topic(NamedTuple):
    """One topic.

    name: how we speak of it, and, unless it is compacted, its field in Settings after `retention_`; pattern: its name
    on the broker; key: what its records are keyed by; readers, writers: apps; compact: only the newest record of a key
    is kept; outside: written from outside, so that the broker sets the records' time; aligned: a conversation has the
    same partition number here as in `turns`, so their counts are equal; optional: read only where the suite has judges;
    beside: apps that read all of it, without a group.
    """

    name: str
    pattern: str
    key: Literal["conversation", "series", "assistant", "source"]
    readers: tuple[str, ...] = ()
    writers: tuple[str, ...] = ()
    compact: bool = False
    outside: bool = False
    aligned: bool = False
    optional: bool = False
    beside: tuple[str, ...] = ()


TOPICS = (
    Topic("turns", "{}.turns", "conversation", ("score",), outside=True, aligned=True),
    Topic("feedback", "{}.feedback", "conversation", ("score",), outside=True, aligned=True),
    Topic("forget", "{}.forget", "conversation", ("score",), beside=("judge",), outside=True, aligned=True),
    Topic("scores", "{}.scores", "conversation", (), ("score",)),
    Topic("exchanges", "{}.exchanges", "conversation", ("judge",), ("score",), aligned=True),
    Topic("verdicts", "{}.verdicts", "conversation", ("score",), ("judge",), aligned=True, optional=True),
    Topic("conversations", "{}.conversations", "conversation", (), ("score",), compact=True),
    Topic("series", "{}.series", "series", ("watch",), ("score",)),
    Topic("decisions", "{}.decisions", "series", ("watch",), outside=True),
    Topic("regressions", "{}.regressions", "assistant", (), ("watch",)),
    Topic("dead_letters", "{}.dead-letters", "source", (), tuple(APPS)),
    Topic(
        "conversations_changelog",
        "{}-score-conversations-changelog",
        "conversation",
        ("score",),
        ("score",),
        compact=True,
        aligned=True,
    ),
    Topic(
        "docket_changelog",
        "{}-judge-docket-changelog",
        "conversation",
        ("judge",),
        ("judge",),
        compact=True,
        aligned=True,
    ),
    Topic("series_changelog", "{}-watch-series-changelog", "series", ("watch",), ("watch",), compact=True),
)


class Created(NamedTuple):
    """What `create_topics` did with a topic; detail: the settings that differ, "" otherwise."""

    name: str
    state: Literal["created", "exists", "differs"]
    detail: str = ""


class Described(NamedTuple):
    """A topic as it is on the broker.

    partitions: how many, 0 when it is absent; replication: the fewest replicas of any partition; differs: setting →
    (wanted, found); offsets: partition → (first offset still there, next offset to be written).
    """

    name: str
    partitions: int
    replication: int
    differs: dict[str, tuple[str, str]]
    offsets: dict[int, tuple[int, int]]


class Altered(NamedTuple):
    """A setting of a topic that was changed, or would be."""

    topic: str
    setting: str
    before: str
    after: str


class Right(NamedTuple):
    """An access right on the broker (an ACL); prefixed: the name stands for every name that begins with it."""

    resource: Literal["topic", "group", "transactional-id"]
    name: str
    prefixed: bool
    operations: tuple[str, ...]


def topic_names(prefix: str) -> dict[str, str]:
    """Return every topic's name on the broker: `{"turns": "turnsignal.turns", …}`."""
    return {topic.name: topic.pattern.format(prefix) for topic in TOPICS}


def topic_config(topic: Topic, settings: Settings) -> dict[str, str]:
    """Return the broker settings with which a topic is created."""
    config = {"min.insync.replicas": str(settings.min_insync_replicas)}
    if topic.compact:
        config["cleanup.policy"] = "compact"
        # Without a limit the broker compacts when half of a log is stale, which for a quiet partition is never: the
        # texts of a conversation that was forgotten would stay. What erases them has to leave the newest segment, too.
        lag = str(round(settings.compaction_lag * 1000))
        config["max.compaction.lag.ms"] = config["segment.ms"] = lag
        # The newest segment is never compacted: with the default of 1 GiB a restore would read up to that much history
        # per partition.
        config["segment.bytes"] = str(64 * 1024 * 1024)
    else:
        config["cleanup.policy"] = "delete"
        seconds: float = getattr(settings, f"retention_{topic.name}")
        config["retention.ms"] = "-1" if math.isinf(seconds) else str(round(seconds * 1000))
        # The broker deletes whole segments: with its default of a week per segment, records of seven days stay for
        # fourteen.
        config["segment.ms"] = str(round(min(seconds, SEGMENT_SECONDS) * 1000))
    if topic.outside:
        # A producer's own clock would decide when its records expire (1970: at once), and what counts as the future.
        config["message.timestamp.type"] = "LogAppendTime"
    return config


def rights(settings: Settings, app: str) -> list[Right]:
    """List the rights that a worker of an app needs.

    Beside them `turnsignal topics create` needs CREATE and ALTER, and `topics update` ALTER_CONFIGS.
    """
    needed = []
    for topic in TOPICS:
        read = ("READ",) if app in (*topic.readers, *topic.beside) else ()
        write = ("WRITE",) if app in topic.writers else ()
        if read or write:
            # DESCRIBE_CONFIGS: outputs are measured against the topic's largest record.
            name = topic.pattern.format(settings.prefix)
            needed.append(Right("topic", name, False, (*read, *write, "DESCRIBE", "DESCRIBE_CONFIGS")))
    needed.append(Right("group", settings.app_id(app), False, ("READ", "DESCRIBE")))
    if app == "watch" and settings.notify is not None:
        needed.append(Right("group", settings.app_id("notify"), False, ("READ", "DESCRIBE")))
    if settings.delivery == "exactly_once":
        needed.append(Right("transactional-id", f"{settings.app_id(app)}-", True, ("WRITE", "DESCRIBE")))
    return needed


def partition_for(key: bytes, partitions: int) -> int:
    """Return the partition of a key, as Java's and aiokafka's producers compute it.

    partitions: 1 or more. Source: murmur2 with Kafka's seed, org.apache.kafka.common.utils.Utils.
    """
    if partitions < 1:
        msg = f"expected at least one partition, got {partitions}"
        raise ValueError(msg)
    return (_murmur2(key) & 0x7FFFFFFF) % partitions


def _murmur2(data: bytes) -> int:
    mix, mask = 0x5BD1E995, 0xFFFFFFFF
    length = len(data)
    whole = length & ~3
    value = 0x9747B28C ^ length
    for (word,) in struct.iter_unpack("<I", data[:whole]):
        scrambled = word * mix & mask
        scrambled = (scrambled ^ scrambled >> 24) * mix & mask
        value = value * mix & mask ^ scrambled
    if rest := data[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * mix & mask
    value = (value ^ value >> 13) * mix & mask
    return value ^ value >> 15


def admin_client(settings: Settings, **options: Any) -> AdminClient:
    """Return a client that asks the brokers; what goes wrong stands in its answers, and not in a log of its own.

    Keep it by name until they are there: with it they end. options: librdkafka's, beside those of the settings.
    """
    return AdminClient({**settings.confluent(), "log_level": 0, **options})


def create_topics(settings: Settings) -> list[Created]:
    """Create the missing topics and wait until all can be used; existing topics are not changed.

    Raises TurnsignalError when the broker refuses or does not answer.
    """
    admin = admin_client(settings)
    names = topic_names(settings.prefix)
    if topic_metadata(admin).cluster_id.startswith(MOCK_CLUSTER):
        return _create_by_asking(admin, names.values(), settings)
    wanted = {
        name: NewTopic(
            name,
            num_partitions=settings.partitions,
            replication_factor=settings.replication,
            config=topic_config(topic, settings),
        )
        for topic, name in zip(TOPICS, names.values(), strict=True)
    }
    made: set[str] = set()
    for name, future in admin.create_topics(list(wanted.values()), operation_timeout=ADMIN_SECONDS).items():
        try:
            future.result(ADMIN_SECONDS)
            made.add(name)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                msg = f"expected the broker to make the topic {name}, got: {error.args[0].str()}"
                raise TurnsignalError(msg) from None
    _await_announced(admin, set(wanted))
    return [
        Created(topic.name, "created")
        if topic.name in made
        else Created(topic.name, "differs" if topic.differs else "exists", _show(topic.differs))
        for topic in describe_topics(settings)
    ]


def describe_topics(settings: Settings) -> list[Described]:
    """Compare every topic with what the settings want.

    Raises TurnsignalError when the broker does not answer.
    """
    admin = admin_client(settings)
    metadata = topic_metadata(admin)
    names = topic_names(settings.prefix)
    present = [name for name in names.values() if name in metadata.topics and metadata.topics[name].partitions]
    try:
        configs = topic_settings(admin, present)
        offsets = log_bounds(admin, {name: list(metadata.topics[name].partitions) for name in present})
    except KafkaException as error:
        msg = f"expected the broker to describe the topics, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None
    described = []
    for topic, name in zip(TOPICS, names.values(), strict=True):
        if name not in present:
            described.append(Described(name, 0, 0, {"topic": ("there", "absent")}, {}))
            continue
        partitions = metadata.topics[name].partitions
        replication = min(len(partition.replicas) for partition in partitions.values())
        wanted = topic_config(topic, settings) | {
            "partitions": str(settings.partitions),
            "replication": str(settings.replication),
        }
        actual = configs[name] | {
            "partitions": str(len(partitions)),
            "replication": str(replication),
        }
        differs = {key: (value, str(actual.get(key))) for key, value in wanted.items() if actual.get(key) != value}
        described.append(Described(name, len(partitions), replication, differs, offsets[name]))
    return described


def topic_settings(admin: AdminClient, names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Ask for the settings that topics have on the broker. Raises KafkaException."""
    resources = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    futures = admin.describe_configs(resources, request_timeout=ADMIN_SECONDS) if resources else {}
    return {
        resource.name: {key: str(entry.value) for key, entry in future.result(ADMIN_SECONDS).items()}
        for resource, future in futures.items()
    }


def update_topics(settings: Settings, *, dry_run: bool = False) -> list[Altered]:
    """Set the existing topics to the settings with which they would be created; return the changes.

    Partitions and replicas are not changed. dry_run: only return the changes. Raises TurnsignalError if the
    broker refuses; some topics may already have been changed then.
    """
    altered = [
        Altered(topic.name, key, actual, wanted)
        for topic in describe_topics(settings)
        for key, (wanted, actual) in topic.differs.items()
        if key not in _NOT_A_SETTING
    ]
    if altered and not dry_run:
        _set_configs(admin_client(settings), altered)
    return altered


def _set_configs(admin: AdminClient, altered: Iterable[Altered]) -> None:
    entries: dict[str, list[ConfigEntry]] = {}
    for change in altered:
        entry = ConfigEntry(change.setting, change.after, incremental_operation=AlterConfigOpType.SET)
        entries.setdefault(change.topic, []).append(entry)
    resources = [ConfigResource(ResourceType.TOPIC, name, incremental_configs=own) for name, own in entries.items()]
    for resource, future in admin.incremental_alter_configs(resources, request_timeout=ADMIN_SECONDS).items():
        try:
            future.result(ADMIN_SECONDS)
        except KafkaException as error:
            msg = f"expected the broker to change the settings of {resource.name}, got: {error.args[0].str()}"
            raise TurnsignalError(msg) from None


def inputs(app: str) -> list[Topic]:
    """Return the topics whose offsets an app commits; not its changelogs, which it only restores from."""
    return [topic for topic in TOPICS if app in topic.readers and app not in topic.writers]


def written_by(app: str, prefix: str) -> set[str]:
    """Return the topics that an app writes, its changelog among them; prefix: of their names."""
    return {topic.pattern.format(prefix) for topic in TOPICS if app in topic.writers}


def log_bounds(
    admin: AdminClient, partitions: Mapping[str, Sequence[int]], timeout: float = ADMIN_SECONDS
) -> dict[str, dict[int, tuple[int, int]]]:
    """Return the first offset that is still there and the next to be written, for each partition.

    partitions: topic → its partitions; timeout: seconds. Waits for partition leaders, because metadata announces a new
    topic a moment before it works. Raises KafkaException.
    """
    deadline = time.monotonic() + timeout
    while True:
        try:
            first, last = (_list_offsets(admin, partitions, spec, timeout) for spec in (_EARLIEST, _LATEST))
            break
        except KafkaException as error:
            if error.args[0].code() not in _NO_LEADER_YET or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    return {
        name: {number: (first[name, number], last[name, number]) for number in numbers}
        for name, numbers in partitions.items()
    }


def _list_offsets(
    admin: AdminClient, partitions: Mapping[str, Sequence[int]], spec: Any, timeout: float
) -> dict[tuple[str, int], int]:
    topic_partitions = [TopicPartition(name, number) for name, numbers in partitions.items() for number in numbers]
    futures = (
        admin.list_offsets(dict.fromkeys(topic_partitions, spec), request_timeout=timeout) if topic_partitions else {}
    )
    return {(key.topic, key.partition): future.result(timeout).offset for key, future in futures.items()}


def absent_topic(settings: Settings, topic: str) -> TurnsignalError:
    """Return the error of a topic that the broker does not show."""
    msg = f"expected a topic {topic} on {settings.brokers}, got none, or none that this user may see (DESCRIBE);"
    return TurnsignalError(f"{msg} try `turnsignal topics create`, or another name")


def topic_metadata(admin: AdminClient, timeout: float = ADMIN_SECONDS) -> Any:
    """Ask for the cluster's topics; raises TurnsignalError when no answer comes within the timeout in seconds."""
    try:
        return admin.list_topics(timeout=timeout)
    except KafkaException as error:
        msg = f"expected an answer from the broker within {timeout:.0f} s, got: {error.args[0].str()}"
        raise TurnsignalError(msg) from None


def topic_ids(
    admin: AdminClient, metadata: ClusterMetadata, names: Sequence[str], timeout: float = ADMIN_SECONDS
) -> dict[str, str]:
    """Read the ids that tell two topics of one name apart, as 32 hex digits; none from a broker that has none.

    Raises KafkaException, and TurnsignalError when no answer comes within the timeout in seconds.
    """
    if metadata.cluster_id.startswith(MOCK_CLUSTER):
        return {}
    futures = admin.describe_topics(TopicCollection(list(names)), request_timeout=timeout)
    ids = {}
    for name, future in futures.items():
        try:
            uuid = future.result(timeout).topic_id
        except TimeoutError:  # it says nothing of its own
            msg = f"expected the broker to describe the topic {name} within {timeout:.0f} s, got no answer"
            raise TurnsignalError(msg) from None
        high, low = uuid.get_most_significant_bits(), uuid.get_least_significant_bits()
        ids[name] = f"{high % 2**64:016x}{low % 2**64:016x}"
    return ids


def _await_announced(admin: AdminClient, names: set[str]) -> None:
    deadline = time.monotonic() + ADMIN_SECONDS
    while True:
        announced = {name for name, topic in topic_metadata(admin).topics.items() if topic.partitions}
        if names <= announced:
            return
        if time.monotonic() > deadline:
            missing = ", ".join(sorted(names - announced))
            msg = f"expected the broker to announce all topics within {ADMIN_SECONDS:.0f} s, got nothing of {missing}"
            raise TurnsignalError(msg)
        time.sleep(0.05)


def _create_by_asking(admin: AdminClient, names: Iterable[str], settings: Settings) -> list[Created]:
    """Create topics on librdkafka's mock cluster, which makes them on a metadata request, with 4 partitions each."""
    report = []
    for name in names:
        count = len(admin.list_topics(name, timeout=ADMIN_SECONDS).topics[name].partitions)
        detail = "" if count == settings.partitions else f"partitions: wanted {settings.partitions}, found {count}"
        report.append(Created(name, "differs" if detail else "created", detail))
    return report


def _show(differs: dict[str, tuple[str, str]]) -> str:
    return "; ".join(f"{key}: wanted {wanted}, found {actual}" for key, (wanted, actual) in differs.items())
