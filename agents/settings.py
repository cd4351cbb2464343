"""Settings: where things are and how Kafka is reached, from TURNSIGNAL_… variables; what is scored is in the suite.

Whatever is missing, wrong or unknown stops the program before it starts, in one line.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    model_validator,
)

from turnsignal.agents.connection_settings import ConnectionSettings, File, expect
from turnsignal.agents.environment import (
    PREFIX,
    SECRETS,
    is_loopback,
    read_environment,
    read_hosts,
)
from turnsignal.agents.notify_settings import NotifySettings
from turnsignal.stream.durations import Duration, DurationOrForever, DurationOrZero
from turnsignal.stream.errors import ConfigError

METRICS_SERIES = 17_500  #: 24 releases of the built-in suite, beside a few judges and a drill

#: Of what clients and brokers count in milliseconds; what a broker takes of them is asked at the start of a worker.
Timeout = Annotated[Duration, Field(ge=1, le=86_400)]


def _timeout(default: float, least: int = 1) -> Any:
    return Field(default=default, ge=least, description=f"a duration from {least}s to 1d, such as 10s or 2m")


def _retention(default: str) -> Any:
    return Field(default=default, description="a duration such as 12h, 30d or forever", validate_default=True)


#: address that is every one of a machine → where that machine finds it; a socket of IPv6 takes no IPv4 (`listen`)
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class Settings(ConnectionSettings, NotifySettings):
    """Everything about where and how; each field is the variable TURNSIGNAL_ and its name in capitals.

    Durations are seconds. A field's description is what its error message says was expected.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    delivery: Literal["exactly_once", "at_least_once"] = Field(
        default="exactly_once", description="exactly_once, or at_least_once for brokers without transactions"
    )
    auto_offset_reset: Literal["earliest", "latest"] = Field(
        default="earliest", description="earliest or latest: where a first start begins"
    )
    max_poll_records: Annotated[int, Field(ge=1, le=100_000)] = Field(
        default=2000, description="a whole number from 1 to 100000: the most records in one batch"
    )
    #: Of all that turnsignal writes; other producers of turns choose theirs. Limits of size are kept uncompressed.
    compression: Literal["lz4", "zstd", "snappy", "gzip", "none"] = Field(
        default="lz4", description="lz4, zstd, snappy, gzip or none"
    )
    #: Between two commits of a worker in whose partitions few records wait: the broker pays for each, however small.
    commit_interval: Annotated[DurationOrZero, Field(le=10)] = Field(
        default=0.032, description="a duration up to 10s, such as 32ms, or 0: how long records gather between commits"
    )
    #: As it lies unpacked in memory; a larger one is a dead letter. Four times as much may wait to be worked on.
    max_batch_bytes: Annotated[int, Field(ge=4_000_000, le=1 << 30)] = Field(
        default=32 << 20,
        description="a whole number from 4000000 to 1073741824: the most bytes of a record batch, unpacked",
    )
    #: A worker that is not heard of for this long loses its partitions. Short, because that is how long they stand
    #: still after a kill -9 (62 s with Faust's default of 60, 12 s with 10).
    session_timeout: Timeout = _timeout(10.0)
    heartbeat_interval: Annotated[Duration, Field(ge=0.1)] = Field(
        default=1.0, description="a duration from 100ms to a third of TURNSIGNAL_SESSION_TIMEOUT, such as 1s"
    )
    rebalance_timeout: Timeout = _timeout(10.0)
    #: What a judge worker that ends, or gives partitions away, waits for: a call that is given up is paid for twice.
    drain_timeout: Annotated[Duration, Field(le=25)] = Field(
        default=20.0,
        description="a duration up to 25s, such as 20s: how long a judge worker that ends waits for replies",
    )
    poll_interval: Timeout = _timeout(60.0)
    #: For workers that something else starts again than our supervisor, such as the pod's name in a StatefulSet: one
    #: that is back within the session timeout goes on with its partitions, and nothing is dealt out anew.
    instance: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$",
        description="a name that no other worker of the app has: 1 to 200 of the characters A-Z a-z 0-9 . _ -",
    )
    #: The broker aborts a transaction that stays open longer; until then readers wait behind it.
    transaction_timeout: Timeout = _timeout(15.0)
    #: A worker that has records to work on and finishes none for this long ends itself, to be started again.
    stall_timeout: Timeout = _timeout(60.0, least=5)
    partitions: Annotated[int, Field(ge=1, le=10_000)] = Field(default=4, description="a whole number from 1 to 10000")
    replication: Annotated[int, Field(ge=1, le=100)] = Field(default=1, description="a whole number from 1 to 100")
    min_insync_replicas: Annotated[int, Field(ge=1, le=100)] = Field(
        default=1, description="a whole number from 1 to TURNSIGNAL_REPLICATION"
    )
    retention_turns: DurationOrForever = _retention("7d")
    retention_feedback: DurationOrForever = _retention("7d")
    retention_forget: DurationOrForever = _retention("7d")
    retention_exchanges: DurationOrForever = _retention("7d")
    retention_verdicts: DurationOrForever = _retention("30d")
    retention_scores: DurationOrForever = _retention("30d")
    retention_series: DurationOrForever = _retention("7d")
    retention_decisions: DurationOrForever = _retention("90d")
    retention_regressions: DurationOrForever = _retention("90d")
    retention_dead_letters: DurationOrForever = _retention("7d")
    #: How long a record of a compacted topic may outlive the one that replaced or erased it.
    compaction_lag: Annotated[Duration, Field(ge=1)] = Field(
        default=86_400.0, description="a duration of a second or more, such as 12h or 1d"
    )
    dead_letters: Literal["headers", "full"] = Field(
        default="headers", description="headers (where a record stood and why), or full: also what it was, cut"
    )

    lenient_turns: bool = Field(
        default=False, description="true or false: whether turns that deviate a little are read, as files of turns are"
    )

    store: Literal["memory"] | Path = Field(default="memory", description="memory, or a directory for larger state")
    suite: File | None = Field(default=None, description="a suite file (TOML); none is the built-in default")
    redaction: File | None = Field(default=None, description="a redaction file (TOML); none leaves texts as they are")
    metrics_host: str = Field(default="127.0.0.1", min_length=1, description="an address to serve /metrics on")
    metrics_port: Annotated[int, Field(ge=0, le=65_535)] = Field(
        default=9108, description="a port from 1 to 65535, or 0 for any that is free"
    )
    #: It decides how many releases (assistant and version) have names on the page; a scrape costs in proportion.
    metrics_series: Annotated[int, Field(ge=4_000, le=200_000)] = Field(
        default=METRICS_SERIES,
        description="a whole number from 4000 to 200000: the most series on /metrics, some 600 for each release",
    )
    #: None: where nobody else reaches it, on loopback.
    show_conversations: bool | None = Field(
        default=None, description="true or false: whether /conversations/ID is answered, which shows texts of people"
    )
    allowed_hosts: Annotated[str, AfterValidator(read_hosts)] = Field(
        default="", description="names (host,host,…) by which a browser may ask for /conversations/ID, beside addresses"
    )
    #: With it, the bucket of a bad score names its conversation on /metrics, as 16 hex digits of HMAC-SHA256 of its id.
    exemplar_secret: SecretStr | None = Field(
        default=None, min_length=16, description="a secret of 16 or more characters, the same for all workers"
    )
    revision: str = Field(
        default="unknown",
        pattern=r"^[A-Za-z0-9._+-]{1,64}$",
        description="what is running, for build_info: 1 to 64 of the characters A-Z a-z 0-9 . _ + -",
    )

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Self:
        """Read the TURNSIGNAL_ variables of an environment; an empty one counts as not set.

        Raises ConfigError, one line, that names the variable, what was expected and what came; secrets are never shown.
        """
        known = variables()
        given = read_environment(env, known)
        values = {known[name]: value for name, value in given.items()}
        try:
            settings = cls.model_validate(values)
        except ValidationError as error:
            raise ConfigError(_explain(error, given)) from None
        settings.ssl_context()
        return settings

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        expect(
            self.min_insync_replicas <= self.replication,
            "min_insync_replicas",
            f"at most the {self.replication} of TURNSIGNAL_REPLICATION (a broker refuses every record otherwise)",
            str(self.min_insync_replicas),
        )
        expect(
            self.heartbeat_interval <= self.session_timeout / 3,
            "heartbeat_interval",
            f"at most a third of TURNSIGNAL_SESSION_TIMEOUT, {self.session_timeout:g} s",
            f"{self.heartbeat_interval:g} s",
        )
        expect(
            self.redaction is None or self.dead_letters == "headers",
            "dead_letters",
            "headers with TURNSIGNAL_REDACTION (a record that cannot be read cannot be redacted)",
            "full",
        )
        return self

    @property
    def shows_conversations(self) -> bool:
        """Whether a worker answers for what it keeps of conversations."""
        return is_loopback(self.metrics_host) if self.show_conversations is None else self.show_conversations

    @property
    def hosts(self) -> tuple[str, ...]:
        """The names by which a worker is asked for conversations, beside its addresses."""
        return tuple(host for host in (self.metrics_host.lower(), *self.allowed_hosts.split(",")) if host)

    @property
    def is_everywhere(self) -> bool:
        """Whether a worker's pages are on every address of its machine."""
        return self.metrics_host in _LOOPBACK

    def page_address(self, above: int = 0) -> str | None:
        """Return where the pages are, so many ports above these settings', for whoever asks on this machine: host:port.

        None where nobody knows, as any free port was taken.

        >>> Settings(brokers="localhost:9092", metrics_host="::").page_address(1)
        '[::1]:9109'
        """
        port = self.metrics_port and self.metrics_port + above
        host = _LOOPBACK.get(self.metrics_host, self.metrics_host)
        return f"{f'[{host}]' if ':' in host else host}:{port}" if port > 0 else None

    def app_id(self, app: str) -> str:
        """Name an app's consumer group, which begins its transactional ids and changelogs: `turnsignal-score`."""
        return f"{self.prefix}-{app}"

    def secrets(self) -> list[str]:
        """List what must not be shown to anybody."""
        values = (getattr(self, field) for field in Settings.model_fields)
        return [value.get_secret_value() for value in values if isinstance(value, SecretStr)]

    def producer(self, transactional_id: str | None = None) -> dict[str, Any]:
        """Give a librdkafka producer's properties; with an id its writes are transactions.

        The partitioner is Java's and aiokafka's; librdkafka's own would split a conversation over two partitions.
        """
        properties: dict[str, Any] = {
            **self.confluent(),
            "partitioner": "murmur2_random",
            "acks": "all",
            "enable.idempotence": self.delivery == "exactly_once",
            "compression.type": self.compression,
            "linger.ms": 5,  # fewer requests; a commit or flush waits for nothing that lingers
            "queue.buffering.max.messages": 1_000_000,
            "queue.buffering.max.kbytes": 1_048_576,
            "delivery.report.only.error": True,
            # Right after a commit the next transaction meets CONCURRENT_TRANSACTIONS: with the default of 100 ms that
            # wait was most of the latency.
            "retry.backoff.ms": 2,
            "retry.backoff.max.ms": 100,
            # Else it forgets all brokers once none answers, the coordinator that it keeps asking included: the first
            # commit after an outage would hang for ever (librdkafka 5511, 5456), its thread spinning.
            "metadata.recovery.strategy": "none",
            # Else it connects when it has to, and while it fences it looks only every half second whether it has.
            "enable.sparse.connections": False,
        }
        if transactional_id is not None:
            properties["transactional.id"] = transactional_id
            properties["transaction.timeout.ms"] = round(self.transaction_timeout * 1000)
        return properties

    def faust(self) -> dict[str, Any]:
        """Give the keyword arguments of faust.App: connection, group membership and what its tables must not do."""
        import faust  # here, because it takes half a second and most commands do without

        credentials: object | None = None
        if self.sasl_mechanism and self.sasl_password:
            credentials = faust.SASLCredentials(
                mechanism=self.sasl_mechanism,
                username=self.sasl_username,
                password=self.sasl_password.get_secret_value(),
                ssl_context=self.ssl_context(),
            )
        elif self.security_protocol == "SSL":
            credentials = faust.SSLCredentials(self.ssl_context())
        return {
            "broker": [f"kafka://{address}" for address in self.brokers.split(",")],
            "broker_credentials": credentials,
            "broker_session_timeout": self.session_timeout,
            "broker_heartbeat_interval": self.heartbeat_interval,
            "broker_rebalance_timeout": self.rebalance_timeout,
            "broker_max_poll_interval": self.poll_interval,
            "broker_max_poll_records": self.max_poll_records,
            "broker_request_timeout": max(90.0, self.session_timeout + 10),  # Faust wants it above the session's
            "consumer_auto_offset_reset": self.auto_offset_reset,
            "store": "memory://",  # the apps' own Store restores; this is for whatever else makes a table
            "stream_wait_empty": True,
            "stream_buffer_maxsize": 65_536,
            # Faust would fill standbys from a transactional changelog, whose end it misjudges; the partitions of a
            # killed worker are restored by another within seconds.
            "table_standby_replicas": 0,
            "topic_partitions": self.partitions,
            "topic_replication_factor": self.replication,
            "topic_allow_declare": False,  # `turnsignal topics create` does, and the mock broker cannot
            "topic_disable_leader": True,
            "web_enabled": False,
        }


def variables() -> dict[str, str]:
    """Map every variable that turnsignal knows to its field in Settings."""
    return {f"{PREFIX}{field.upper()}": field for field in Settings.model_fields}


def _explain(error: ValidationError, given: Mapping[str, str]) -> str:
    """Say pydantic's first complaint in one line, with the field's own words for what was expected."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    more = f" (and {error.error_count() - 1} more)" if error.error_count() > 1 else ""
    if not first["loc"]:
        return first["msg"].removeprefix("Value error, ") + more
    field = str(first["loc"][0])
    name = f"{PREFIX}{field.upper()}"
    expected = Settings.model_fields[field].description
    if first["type"] == "missing":
        return f"{name}: expected {expected}, got nothing{more}"
    value = given.get(name, "")
    shown = repr(value) if len(value) <= 80 else f"{value[:77]!r}… ({len(value)} characters)"
    if name.endswith(SECRETS) or "@" in value:  # someone may have put user:password@host there
        shown = "a value that is not shown"
    return f"{name}: expected {expected}, got {shown}{more}"
