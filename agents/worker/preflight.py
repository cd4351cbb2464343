"""Preflight: what a worker makes sure of before it joins its group, so that an operator reads one line, not a loop."""

import logging
import math
import time
from collections.abc import Mapping

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AclOperation, ClusterMetadata, ConfigResource, ResourceType

from turnsignal.agents.kafka.reaching import reach_broker
from turnsignal.agents.kafka.refusals import explain_refusal
from turnsignal.agents.kafka.topics import MOCK_CLUSTER, Right, admin_client, rights, written_by
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.limits import check_sizes, record_limits
from turnsignal.agents.worker.partition_task import AppSpec
from turnsignal.agents.worker.stores import check_directory
from turnsignal.stream.errors import ConfigError, TurnsignalError
from turnsignal.stream.suite import MAX_STATE

logger = logging.getLogger("turnsignal.preflight")

_SECONDS = 30.0  #: for the broker to answer


def check_access(settings: Settings, spec: AppSpec) -> None:
    """Refuse to start without topics or rights: Faust would wait for them for ever, without a word.

    Raises ConfigError that names what is missing and what to do about it, TurnsignalError when no broker answers.
    """
    metadata = _await_broker(settings)
    check_directory(settings.store)
    if metadata.cluster_id.startswith(MOCK_CLUSTER):  # it has no rights, and makes a topic when asked about it
        return
    _check_timeouts(settings, min(metadata.brokers))
    needed = {right.name: right for right in rights(settings, spec.name) if right.resource == "topic"}
    names = list(dict.fromkeys([*spec.inputs, spec.changelog, *spec.outputs.values()]))
    admin = admin_client(settings)
    futures = admin.describe_topics(
        TopicCollection(names), include_authorized_operations=True, request_timeout=_SECONDS
    )
    absent, denied = [], []
    for name, future in futures.items():
        try:
            described = future.result(_SECONDS)
        except TimeoutError:
            msg = f"expected the broker to describe {name} within {_SECONDS:.0f} s, got no answer"
            raise TurnsignalError(msg) from None
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                absent.append(name)
            elif error.args[0].code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
                denied.append(f"DESCRIBE on {name}")
            else:
                raise _explain(error) from None
            continue
        denied += [f"{missing} on {name}" for missing in _missing(needed.get(name), described.authorized_operations)]
    if denied:
        msg = f"expected the rights of {spec.name}, got no {', '.join(denied)}: `turnsignal topics show` lists all"
        raise ConfigError(msg)
    if absent:
        msg = f"expected the topics of {spec.name}, got no {', '.join(absent)}: run `turnsignal topics create`"
        raise ConfigError(msg)
    written = written_by(spec.name, settings.prefix)
    sizes = record_limits(settings, [name for name in names if name in written])
    check_sizes(sizes)
    warn_of_changelog(spec.changelog, sizes.get(spec.changelog))


def warn_of_changelog(topic: str, limit: int | None) -> None:
    """Warn of a changelog that does not take every state; limit: bytes of a record, None where nobody knows."""
    if limit is not None and limit < MAX_STATE:
        logger.warning(
            "expected a max.message.bytes of %s of at least %d, got %d: turns of conversations with more become dead"
            " letters",
            topic,
            MAX_STATE,
            limit,
        )


#: setting → the broker's least and greatest of it, in milliseconds, "" where it has none
_BROKERS_LIMITS = {
    "transaction_timeout": ("", "transaction.max.timeout.ms"),
    "session_timeout": ("group.min.session.timeout.ms", "group.max.session.timeout.ms"),
}


def _check_timeouts(settings: Settings, broker: int) -> None:
    """Refuse timeouts that the broker does not take; not everybody may ask for its limits, and then it decides."""
    admin = admin_client(settings)
    (answer,) = admin.describe_configs([ConfigResource(ResourceType.BROKER, str(broker))], request_timeout=10).values()
    try:
        limits = {name: float(entry.value) / 1000 for name, entry in answer.result(15).items() if _is_limit(name)}
    except (KafkaException, TimeoutError, TypeError, ValueError) as error:
        logger.info("the broker's limits of timeouts are not known: %s", error)
        return
    check_timeouts(settings, limits)


def _is_limit(name: str) -> bool:
    return any(name in names for names in _BROKERS_LIMITS.values())


def check_timeouts(settings: Settings, limits: Mapping[str, float]) -> None:
    """Refuse timeouts outside a broker's limits; those are in seconds, by the name of its setting.

    Raises ConfigError that names the first one.
    """
    for field, (low, high) in _BROKERS_LIMITS.items():
        least, most, given = limits.get(low, 0.0), limits.get(high, math.inf), getattr(settings, field)
        if field == "transaction_timeout" and settings.delivery != "exactly_once":
            continue
        if not least <= given <= most:
            limit, name, word = (least, low, "least") if given < least else (most, high, "most")
            msg = (
                f"TURNSIGNAL_{field.upper()}: expected at {word} {limit:g} s, which is the broker's {name},"
                f" got {given:g} s"
            )
            raise ConfigError(msg)


def _await_broker(settings: Settings) -> ClusterMetadata:
    """Reach the broker; one that is not there may be about to start, which is warned at once and waited for."""
    deadline, warned = time.monotonic() + _SECONDS, False
    while True:
        try:
            return reach_broker(settings)
        except ConfigError:
            raise
        except TurnsignalError as error:
            if time.monotonic() > deadline:
                raise
            if not warned:
                logger.error("%s; trying again for %.0f s", error, deadline - time.monotonic())
                warned = True


def _missing(right: Right | None, allowed: list[AclOperation] | None) -> list[str]:
    """Return the operations that are needed and not allowed; a broker without access control allows all."""
    if right is None or allowed is None:
        return []
    given = {operation.name for operation in allowed}
    # Whoever may read or write may also describe; DESCRIBE_CONFIGS serves exact size limits, and can be done without.
    wanted = [operation for operation in right.operations if operation in ("READ", "WRITE")]
    return [] if "ALL" in given else [operation for operation in wanted if operation not in given]


def _explain(error: KafkaException) -> TurnsignalError:
    refusal = explain_refusal(error)
    if refusal is not None:
        return ConfigError(refusal)
    return TurnsignalError(f"expected the broker to describe the topics, got: {error.args[0].str()}")
