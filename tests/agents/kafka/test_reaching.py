"""What is there instead of a broker is told in one line, with the addresses and what to try."""

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from types import SimpleNamespace

import pytest

from turnsignal.agents.kafka.reaching import _expect_reachable, reach_broker
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError


def settings(brokers: str, **more: str) -> Settings:
    return Settings.from_env({"TURNSIGNAL_BROKERS": brokers} | more)


def said(given: Settings, timeout: float = 0.1) -> str:
    with pytest.raises(TurnsignalError) as caught:
        reach_broker(given, timeout, named=0.1)
    text = str(caught.value)
    assert text.startswith(f"expected a Kafka broker at {given.brokers} (TURNSIGNAL_BROKERS), got no answer within")
    assert "\n" not in text
    return text


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as kept:
        yield kept


def serve(stack: ExitStack, answer: bytes) -> str:
    """Answer whoever connects with some bytes, and hang up; return the address."""
    server = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))

    def work() -> None:
        with suppress(OSError):  # the end of the test closes it
            while True:
                connection, _ = server.accept()
                with connection, suppress(OSError):
                    connection.recv(1000)
                    connection.sendall(answer)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    stack.callback(thread.join, 5)
    stack.callback(server.shutdown, socket.SHUT_RDWR)
    return f"127.0.0.1:{server.getsockname()[1]}"


def closed_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port: int = server.getsockname()[1]
    return port


def test_each_address_that_refuses_is_named() -> None:
    one, other = closed_port(), closed_port()
    told = said(settings(f"127.0.0.1:{one},127.0.0.1:{other}"))
    assert f"127.0.0.1:{one} refuses: Connection refused, 127.0.0.1:{other} refuses: Connection refused; is it" in told


def test_a_host_that_is_not_known_is_named() -> None:
    assert "is no host that is known here" in said(settings("no-such-host.invalid:9092"))


@pytest.mark.slow
def test_another_service_is_told_from_a_broker(stack: ExitStack) -> None:
    told = said(settings(serve(stack, b"HTTP/1.1 400 Bad Request\r\n\r\n")))
    assert "something answers there that is no Kafka broker; is that the port of something else?" in told


@pytest.mark.slow
def test_a_port_that_hangs_up_may_want_a_user(stack: ExitStack) -> None:
    told = said(settings(serve(stack, b"")))
    assert "does it want a user (SASL_PLAINTEXT, with TURNSIGNAL_SASL_…)?" in told
    assert "TURNSIGNAL_SECURITY_PROTOCOL is PLAINTEXT" in told


@pytest.mark.slow
def test_a_broker_that_stands_still_is_not_said_to_end_connections(stack: ExitStack) -> None:
    server = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0))))  # nobody accepts
    told = said(settings(f"127.0.0.1:{server.getsockname()[1]}"))
    assert told.endswith("something takes the connection and says nothing")


def test_a_port_without_tls_is_told_to_those_who_want_some(stack: ExitStack) -> None:
    told = said(settings(serve(stack, b"no"), TURNSIGNAL_SECURITY_PROTOCOL="SSL"))
    assert "it speaks no TLS, and TURNSIGNAL_SECURITY_PROTOCOL is SSL: try PLAINTEXT" in told


def test_a_broker_that_names_an_address_nobody_can_reach_is_told_so() -> None:
    port = closed_port()
    metadata = SimpleNamespace(brokers={1: SimpleNamespace(host="127.0.0.1", port=port)})
    with pytest.raises(TurnsignalError, match=r"Connection refused.*set its advertised\.listeners"):
        _expect_reachable(settings("127.0.0.1:1"), metadata)
    _expect_reachable(settings(f"127.0.0.1:{port}"), metadata)  # it has just answered there
