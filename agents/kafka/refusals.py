"""Refusals: which Kafka errors need an operator, and how a process ends on an error.

An error that a restart can repair ends the process with `EXIT_RESTART`. Any other error (a password, a right, a
setting) ends it with `EXIT_REFUSED`, and a sentence that names what to change.
"""

import logging
import os
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

from aiokafka import errors as aiokafka_errors
from confluent_kafka import KafkaError, KafkaException

from turnsignal.agents.process.exits import EXIT_REFUSED, EXIT_RESTART
from turnsignal.stream.errors import ConfigError, SchemaError

logger = logging.getLogger("turnsignal.refusals")

_RIGHTS = "`turnsignal topics show` lists the rights that a worker needs"
_WRONG_CREDENTIALS = (
    "TURNSIGNAL_SASL_USERNAME, _SASL_PASSWORD, _SASL_MECHANISM: expected credentials that the broker takes"
)
_WRONG_TLS = "TURNSIGNAL_SECURITY_PROTOCOL, _SSL_CAFILE, _SSL_CERTFILE: expected a TLS connection that both sides trust"
_WRONG_SESSION = (
    "TURNSIGNAL_SESSION_TIMEOUT: expected one between the broker's group.min.session.timeout.ms and"
    " group.max.session.timeout.ms"
)
_OPERATORS = {
    KafkaError._AUTHENTICATION: _WRONG_CREDENTIALS,
    KafkaError.SASL_AUTHENTICATION_FAILED: _WRONG_CREDENTIALS,
    KafkaError.UNSUPPORTED_SASL_MECHANISM: _WRONG_CREDENTIALS,
    KafkaError.ILLEGAL_SASL_STATE: _WRONG_CREDENTIALS,
    KafkaError._SSL: _WRONG_TLS,
    KafkaError.TOPIC_AUTHORIZATION_FAILED: f"expected the right to read or write its topics; {_RIGHTS}",
    KafkaError.GROUP_AUTHORIZATION_FAILED: f"expected the right READ on its consumer group; {_RIGHTS}",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: (
        f"expected the right WRITE on its transactional ids; {_RIGHTS}, or TURNSIGNAL_DELIVERY=at_least_once does"
        " without them"
    ),
    KafkaError.INVALID_TRANSACTION_TIMEOUT: (
        "TURNSIGNAL_TRANSACTION_TIMEOUT: expected at most the broker's transaction.max.timeout.ms"
    ),
    KafkaError.INVALID_SESSION_TIMEOUT: _WRONG_SESSION,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: f"expected the right IDEMPOTENT_WRITE on the cluster; {_RIGHTS}",
}
#: error that a restart may repair → what an operator should check
_HINTS = {
    KafkaError.INVALID_TIMESTAMP: "is this machine's clock right? A broker takes no time an hour ahead of its own",
}
_FENCED = (KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH)
#: What the broker says of a record that it will never take, however often it is sent.
_REFUSED_RECORDS = (
    KafkaError.MSG_SIZE_TOO_LARGE,
    KafkaError.RECORD_LIST_TOO_LARGE,
    KafkaError.INVALID_RECORD,
    KafkaError.INVALID_MSG,
    KafkaError.INVALID_MSG_SIZE,
    KafkaError.POLICY_VIOLATION,
)
#: What it says when it has forgotten a producer that was quiet for days; a new one of the same id can go on.
_FORGOTTEN = (KafkaError.INVALID_PRODUCER_ID_MAPPING, KafkaError.UNKNOWN_PRODUCER_ID)
_AIOKAFKA = {
    aiokafka_errors.TopicAuthorizationFailedError: _OPERATORS[KafkaError.TOPIC_AUTHORIZATION_FAILED],
    aiokafka_errors.GroupAuthorizationFailedError: _OPERATORS[KafkaError.GROUP_AUTHORIZATION_FAILED],
    aiokafka_errors.InvalidSessionTimeoutError: _WRONG_SESSION,
    aiokafka_errors.SaslAuthenticationFailed: _WRONG_CREDENTIALS,
    aiokafka_errors.UnsupportedSaslMechanismError: _WRONG_CREDENTIALS,
}


class ConfigChangedError(ConfigError):
    """Say of something outside that it is wrong by now under a worker that worked: it ends, and is started again."""


def kafka_error(error: BaseException) -> KafkaError | None:
    """Return librdkafka's own error inside an exception, None for any other exception."""
    inner = error.args[0] if isinstance(error, KafkaException) and error.args else None
    return inner if isinstance(inner, KafkaError) else None


def explain_refusal(error: BaseException) -> str | None:
    """Describe what an operator has to change to repair this error; None if a restart may repair it."""
    if isinstance(error, ConfigError | SchemaError):
        return str(error)
    inner = kafka_error(error)
    expected = _OPERATORS.get(inner.code()) if inner is not None else None
    if expected is None:
        expected = next((sentence for kind, sentence in _AIOKAFKA.items() if isinstance(error, kind)), None)
    return None if expected is None else f"{expected}; got: {_describe(error)}"


def is_fenced(error: BaseException) -> bool:
    """Return whether another worker has become the owner, as it should when this one was thought dead."""
    inner = kafka_error(error)
    return inner is not None and inner.code() in _FENCED


def refuses_records(error: BaseException) -> bool:
    """Say whether a batch failed over what it holds, so that no other worker could write it either."""
    inner = kafka_error(error)
    return inner is not None and inner.code() in _REFUSED_RECORDS


def advise(error: BaseException) -> str:
    """Say what would make a topic take a record that it has refused."""
    inner = kafka_error(error)
    if inner is not None and inner.code() in (KafkaError.INVALID_RECORD, KafkaError.POLICY_VIOLATION):
        return "one whose cleanup.policy is delete takes records without a key, compact takes none"
    return "raise its max.message.bytes"


def was_forgotten(error: BaseException) -> bool:
    """Say whether the broker has dropped the transactional id, as it does after a week without transactions."""
    inner = kafka_error(error)
    return inner is not None and inner.code() in _FORGOTTEN


def end_over(error: BaseException, doing: str) -> NoReturn:
    """End the process on an error: for good if only an operator can repair it, else to be started again.

    To be started again, too, for what worked before an operator changed it: it is right again once that is undone.

    doing: what the process was doing, for the log.
    """
    if isinstance(error, ConfigChangedError):
        give_up(error)
    refusal = explain_refusal(error)
    if refusal is not None:
        exit_for_operator(refusal)
    if is_fenced(error):
        named = os.environ.get("TURNSIGNAL_INSTANCE")
        twin = f"; is there another worker with TURNSIGNAL_INSTANCE={named}? There may be one" if named else ""
        logger.warning("%s: another worker owns the partition now; starting again%s", doing, twin)
        _end(EXIT_RESTART)
    give_up(f"{doing}: {locate(error)}")


def locate(error: BaseException, *, quoted: bool = True) -> str:
    """Format an error in one line, with the file and line that raised it.

    quoted: include its message, which may quote a user's text; leave it out where the line is stored.
    """
    frames = traceback.extract_tb(error.__traceback__)
    location = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{_describe(error) if quoted or kafka_error(error) else type(error).__name__}{location}"


def give_up(reason: object) -> NoReturn:
    """End the process at once: the supervisor starts it again, and the broker has kept nothing half done.

    A worker that went on after a failed commit, fence or restore would either hang or write what another worker writes
    too.
    """
    logger.critical("giving up, to be started again: %s", reason)
    _end(EXIT_RESTART)


def exit_for_operator(reason: object) -> NoReturn:
    """End the process for good: a restart would meet the same error, so an operator has to decide."""
    logger.critical("%s", reason)
    _end(EXIT_REFUSED)


def _describe(error: BaseException) -> str:
    inner: Any = kafka_error(error)
    if inner is not None:
        hint = f"; {_HINTS[inner.code()]}" if inner.code() in _HINTS else ""
        return f"{inner.name()}: {inner.str()}{hint}"
    text = " ".join(str(error).split())[:500]
    if isinstance(error, TimeoutError) and not text:
        text = "expected an answer in time, got none"
    return f"{type(error).__name__}: {text}"


def _end(code: int) -> NoReturn:
    logging.shutdown()
    sys.stderr.flush()
    os._exit(code)
