"""Fetching from brokers that are not there: nothing comes, nothing is raised, nothing is said."""

import logging

import pytest
from aiokafka.consumer.fetcher import READ_COMMITTED

from turnsignal.agents.kafka.fetching import TopicFetcher
from turnsignal.agents.settings import Settings


def test_a_broker_that_is_not_there_gives_nothing_and_only_who_reads_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with TopicFetcher(Settings(brokers="127.0.0.1:1"), "t", READ_COMMITTED) as fetcher:
        assert fetcher.fetch({0: 0}, 5.0) == []
    assert caplog.messages == []
    logging.getLogger("aiokafka").warning("of others")
    assert caplog.messages == ["of others"]
