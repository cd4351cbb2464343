"""The demo's surroundings: names and ports that are nobody's."""

from turnsignal.agents.demo.run import demo_environment
from turnsignal.agents.kafka.brokers import GivenBroker, MockBroker
from turnsignal.agents.settings import Settings


def test_on_somebodys_broker_the_demo_has_names_of_its_own() -> None:
    env = {"TURNSIGNAL_BROKERS": "kafka:9092", "TURNSIGNAL_PREFIX": "acme", "TURNSIGNAL_METRICS_PORT": "0"}
    given = demo_environment(env, GivenBroker(Settings.from_env(env)))
    assert given["TURNSIGNAL_PREFIX"].startswith("acme-demo-")
    assert given["TURNSIGNAL_METRICS_PORT"] == "0"
    assert Settings.from_env(given).brokers == "kafka:9092"


def test_on_the_mock_which_tells_no_positions_the_workers_pages_have_a_port_all_the_same() -> None:
    with MockBroker() as broker:
        given = demo_environment({"TURNSIGNAL_METRICS_PORT": "0"}, broker)
    assert Settings.from_env(given).metrics_port > 0


def test_on_the_mock_there_are_as_many_partitions_as_it_makes() -> None:
    with MockBroker() as broker:
        given = demo_environment({"TURNSIGNAL_PARTITIONS": "12"}, broker)
    settings = Settings.from_env(given)
    assert (settings.brokers, settings.partitions) == (broker.address, 4)
    assert settings.metrics_port > 0
