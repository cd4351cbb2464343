"""Reaching: is there a Kafka broker at the configured address, and if not, what answers there?

librdkafka reports every problem as "all brokers down" and keeps trying. So after a few seconds without an answer we
connect to each address ourselves and report in one line what answers there and what to try.
"""

import socket
import ssl
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import ClusterMetadata

from turnsignal.agents.kafka.refusals import explain_refusal
from turnsignal.agents.kafka.topics import admin_client
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError, TurnsignalError

NAMED_SECONDS = 2.0  #: until an unreachable broker is reported
ANSWER_SECONDS = 30.0  #: until a broker that takes connections but does not answer is given up

_KNOCK_SECONDS = 1.0
_NO_MECHANISM = "supported mechanisms:  ("  # librdkafka's text for a broker without mechanisms
_MOST = 8  # addresses that are tried


class Knock(NamedTuple):
    """The answer of one address.

    answer: in words; open: whether it took the connection; tls: whether it speaks TLS; hangs: whether it neither
    answered nor ended the connection.
    """

    address: str
    answer: str
    open: bool = False
    tls: bool = False
    hangs: bool = False


def reach_broker(settings: Settings, timeout: float = ANSWER_SECONDS, named: float = NAMED_SECONDS) -> ClusterMetadata:
    """Connect and return the cluster's metadata; an unreachable address or another server is reported within seconds.

    timeout: seconds for a broker that takes connections and is slow; named: seconds otherwise. Raises ConfigError at
    once for credentials, certificates and rights that the broker refuses; TurnsignalError if there is no broker.
    """
    errors: list[KafkaError] = []
    admin = admin_client(settings, error_cb=errors.append)
    began, looked = time.monotonic(), False
    while True:
        try:
            metadata = admin.list_topics(timeout=min(_KNOCK_SECONDS, named))
        except KafkaException as error:
            admin.poll(0)
            errors.append(error.args[0])
            _refuse(errors)
            passed = time.monotonic() - began
            if passed < named or (looked and passed < timeout):
                continue
            knocks = _knock_at(settings.brokers.split(","))
            reason = _explain(settings, knocks, errors)
            if reason is None and passed < timeout:
                looked = True  # it takes connections and does not answer: it may be starting, or busy
                continue
            msg = (
                f"expected a Kafka broker at {settings.brokers} (TURNSIGNAL_BROKERS), got no answer within"
                f" {passed:.0f} s: {reason or 'something takes the connection and says nothing'}"
            )
            raise TurnsignalError(msg) from None
        else:
            _expect_reachable(settings, metadata)
            return metadata


def _refuse(errors: Iterable[KafkaError]) -> None:
    """Raise ConfigError if a broker has refused our credentials, certificate or rights."""
    for error in errors:
        refusal = explain_refusal(KafkaException(error))
        if refusal is not None:
            hint = "; it names none: that port wants no user" if _NO_MECHANISM in error.str() else ""
            msg = f"{refusal}{hint}"
            raise ConfigError(msg)


def _expect_reachable(settings: Settings, metadata: ClusterMetadata) -> None:
    """Check that an advertised address of the cluster can be reached, because all records are sent there."""
    named = [f"{broker.host}:{broker.port}" for broker in metadata.brokers.values()]
    if set(named) & set(settings.brokers.split(",")):
        return
    knocks = _knock_at(named)
    if not any(knock.open for knock in knocks):
        answers = ", ".join(f"{knock.address} ({knock.answer})" for knock in knocks) or "none"
        msg = (
            f"expected the broker at {settings.brokers} to name an address where it can be reached from here, got"
            f" {answers}; set its advertised.listeners"
        )
        raise TurnsignalError(msg)


def _explain(settings: Settings, knocks: Sequence[Knock], errors: Iterable[KafkaError]) -> str | None:
    """Describe what answers instead of a broker; None if it looks like a slow broker."""
    protocol = settings.security_protocol
    if not any(knock.open for knock in knocks):
        answers = ", ".join(f"{knock.address} {knock.answer}" if len(knocks) > 1 else knock.answer for knock in knocks)
        return f"{answers}; is it running, and is that its address? `turnsignal kafka start` runs one for development"
    if all(knock.hangs for knock in knocks if knock.open):
        return None  # a broker that stands still takes connections, too, and ends none
    errors = list(errors)
    tried = f"TURNSIGNAL_SECURITY_PROTOCOL is {protocol}"
    if any(knock.tls for knock in knocks) and "SSL" not in protocol:
        return f"it speaks TLS, and {tried}: try SSL, or SASL_SSL with TURNSIGNAL_SASL_…"
    if "SSL" in protocol and not any(knock.tls for knock in knocks if knock.open):
        return f"it speaks no TLS, and {tried}: try {'SASL_PLAINTEXT' if 'SASL' in protocol else 'PLAINTEXT'}"
    if any(error.code() == KafkaError._BAD_MSG for error in errors):
        return "something answers there that is no Kafka broker; is that the port of something else?"
    if any(error.code() == KafkaError._ALL_BROKERS_DOWN for error in errors):
        wanted = f"SASL_{protocol.removeprefix('PLAINTEXT') or 'PLAINTEXT'}"
        sasl = "" if "SASL" in protocol else f", or does it want a user ({wanted}, with TURNSIGNAL_SASL_…)"
        return f"it takes the connection and ends it; is that a Kafka broker{sasl}? {tried}"
    return None


def _knock_at(addresses: Sequence[str]) -> list[Knock]:
    asked = list(addresses)[:_MOST]
    with ThreadPoolExecutor(len(asked) or 1) as pool:
        return list(pool.map(_knock, asked))


def _knock(address: str) -> Knock:
    host, _, port = address.rpartition(":")
    try:
        connection = socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS)
    except socket.gaierror:
        return Knock(address, "is no host that is known here")
    except TimeoutError:
        return Knock(address, "says nothing; does a firewall stand between?")
    except (OSError, OverflowError) as error:
        return Knock(address, f"refuses: {getattr(error, 'strerror', None) or error}")
    context = ssl.SSLContext(
        ssl.PROTOCOL_TLS_CLIENT
    )  # the certificate is not verified: only whether it speaks TLS counts
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with connection:
        try:
            with context.wrap_socket(connection):
                return Knock(address, "speaks TLS", open=True, tls=True)
        except ssl.SSLError as error:
            # A TLS alert is an answer from a server that wants a client certificate.
            return Knock(address, "is open", open=True, tls="ALERT" in (error.reason or ""))
        except OSError as error:
            return Knock(address, "is open", open=True, hangs=isinstance(error, TimeoutError))
