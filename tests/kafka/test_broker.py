import os
import signal
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer

from turnsignal.agents.kafka.brokers import Broker, GivenBroker, MockBroker, ProcessBroker, find_broker
from turnsignal.agents.kafka.process import KafkaProcess, free_ports
from turnsignal.agents.kafka.topics import create_topics, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import TurnsignalError

pytestmark = pytest.mark.kafka


def write(address: str, topic: str, values: list[bytes]) -> None:
    """Produce and wait until every record is acknowledged."""
    refused: list[object] = []
    producer = Producer({"bootstrap.servers": address, "log_level": 0})
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: refused.append(error) if error else None)
    assert producer.flush(30) == 0
    assert refused == []


def read(address: str, topic: str, count: int) -> list[bytes]:
    """Read the first records of a topic, sorted."""
    consumer = Consumer(
        {"bootstrap.servers": address, "group.id": "reader", "auto.offset.reset": "earliest", "log_level": 0}
    )
    consumer.subscribe([topic])
    try:
        return sorted(message.value() for message in consumer.consume(count, 30))
    finally:
        consumer.close()


@pytest.fixture
def own(broker: Broker, tmp_path: Path) -> ProcessBroker:
    """A broker process of the test's own, which it may crash; not started yet."""
    if not isinstance(broker, ProcessBroker):
        pytest.skip(f"this session runs on {broker.kind}; the launcher is tested where it is used")
    found = find_broker({"PATH": os.environ["PATH"]} | without_docker(), directory=tmp_path / "bröker")
    assert isinstance(found, ProcessBroker)
    found.process.cluster = f"-{found.process.cluster[1:]}"  # one id in 64 begins so
    return found


def without_docker() -> dict[str, str]:
    return {"DOCKER_HOST": "unix:///nowhere"}


def test_the_session_has_a_real_broker_that_says_which_it_is(broker: Broker) -> None:
    assert broker.kind
    assert not isinstance(broker, MockBroker)


def test_records_outlive_a_crash_and_a_clean_stop_on_the_same_address(own: ProcessBroker) -> None:
    with own:
        address = own.address
        settings = Settings(brokers=address)
        create_topics(settings)
        scores = topic_names(settings.prefix)["scores"]
        write(address, scores, [b"before the crash"])
        own.crash()
        assert own.process.pid is None
        own.start()
        write(address, scores, [b"before the stop"])
        own.restart()
        assert own.address == address
        assert read(address, scores, 2) == [b"before the crash", b"before the stop"]
    assert own.process.pid is None
    assert (own.process.directory / "server.log").stat().st_size > 0


def test_another_command_finds_the_broker_in_its_directory(own: ProcessBroker) -> None:
    with own:
        elsewhere = KafkaProcess(own.process.directory)
        assert elsewhere.status() == own.process.status()
        assert elsewhere.status().pid is not None
        assert elsewhere.start() < 30  # it runs already
        assert elsewhere.status() == own.process.status()
        elsewhere.stop()
        assert own.process.pid is None


def test_a_stranger_with_the_same_process_id_is_never_ended(own: ProcessBroker) -> None:
    with own:
        pass
    state = own.process.directory / "kafka.json"
    stranger = os.posix_spawn("/bin/sleep", ["sleep", "60"], os.environ)
    try:
        text = state.read_text()
        pid = text.split('"pid": ')[1].split(",")[0]
        state.write_text(text.replace(pid, str(stranger)))
        assert own.process.pid is None
        assert own.process.crash() == 0.0
        assert os.waitpid(stranger, os.WNOHANG) == (0, 0)
    finally:
        os.kill(stranger, signal.SIGKILL)
        os.waitpid(stranger, 0)


def test_a_broker_that_does_not_start_shows_the_end_of_its_log(own: ProcessBroker) -> None:
    own.process.properties["node.id"] = "-7"
    with pytest.raises(TurnsignalError, match=r"node\.id"):
        own.start()


def test_a_broker_given_by_address_is_used_and_never_stopped(broker: Broker) -> None:
    with find_broker({"TURNSIGNAL_BROKERS": broker.address}) as given:
        assert isinstance(given, GivenBroker)
        with pytest.raises(TurnsignalError, match="stop it where it was started"):
            given.stop()
    with find_broker({"TURNSIGNAL_BROKERS": broker.address}):
        pass  # it still answers


def test_a_given_broker_that_does_not_answer_is_an_error_and_no_reason_to_take_another() -> None:
    (port,) = free_ports(1)
    with (
        pytest.raises(TurnsignalError, match=rf"127\.0\.0\.1:{port} \(TURNSIGNAL_BROKERS\), got no answer"),
        find_broker({"TURNSIGNAL_BROKERS": f"127.0.0.1:{port}"}),
    ):
        pass


def test_with_nothing_there_the_error_lists_what_was_looked_for() -> None:
    with pytest.raises(TurnsignalError) as caught:
        find_broker({"PATH": "/nowhere"})
    lines = str(caught.value).splitlines()
    assert [line.split(":")[0].strip(" -") for line in lines[1:]] == ["TURNSIGNAL_BROKERS", "Docker", "Java and Maven"]


def test_the_demo_may_run_on_the_mock_cluster_and_its_topics_are_there() -> None:
    with find_broker({"PATH": "/nowhere"}, allow_mock=True) as mock:
        assert isinstance(mock, MockBroker)
        settings = Settings(brokers=mock.address)
        assert {made.state for made in create_topics(settings)} == {"created"}
        write(mock.address, topic_names(settings.prefix)["turns"], [b"one", b"two"])
        assert read(mock.address, topic_names(settings.prefix)["turns"], 2) == [b"one", b"two"]
        with pytest.raises(TurnsignalError, match="come back empty"):
            mock.crash()
