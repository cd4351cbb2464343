"""Incidents are posted: again where that may help, never to where an answer sends them, and never named in a log."""

import asyncio
import logging
import threading

import msgspec
import pytest

from tests.agents.receiver import receiving
from turnsignal.agents import notify
from turnsignal.agents.metrics.exposition import WorkerMetrics
from turnsignal.agents.notify import Deliveries, Poster, idempotency_key, message_of, slack_message_of
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.records.regressions import CLOSED, OPENED, Incident, read_incident

SECRET = "T0000-B0000-XXXXXXXX"
INCIDENT = Incident(
    id="5d0c2f8a91b3e640",
    event=OPENED,
    time=1_750_000_000.0,
    assistant="support",
    lane=0,
    tier="page",
    opened=1_750_000_000.0,
    since=1_749_990_000.0,
    version="v2",
    changes=[],
    text=["2025-06-15  page  support  [5d0c2f8a91b3e640]", "    nDCG@5: lower, from 0.80 to 0.70; worse"],
)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "_FIRST_PAUSE", 0.01)
    monkeypatch.setattr(notify, "TIMEOUT", 0.3)


def sent(metrics: WorkerMetrics) -> dict[str, float]:
    page = metrics.render()[0].decode()
    return {
        result: float(line.rsplit(" ", 1)[1])
        for line in page.splitlines()
        for result in ("sent", "failed")
        if line.startswith("turnsignal_notifications_total") and result in line
    }


async def test_an_incident_is_posted_whole_with_its_id_as_key() -> None:
    metrics = WorkerMetrics(app="watch")
    with receiving() as receiver:
        assert await Poster(f"{receiver.address}/{SECRET}", metrics, threading.Event()).post(INCIDENT)
    (post,) = receiver.posts
    assert post.path == f"/{SECRET}"
    assert post.headers["Idempotency-Key"] == idempotency_key(INCIDENT) == "5d0c2f8a91b3e640-opened"
    assert post.body == message_of(INCIDENT)
    assert post.body["id"] == INCIDENT.id
    assert sent(metrics) == {"sent": 1.0, "failed": 0.0}


async def test_an_address_that_fails_or_hangs_is_tried_again_with_the_same_key() -> None:
    metrics = WorkerMetrics(app="watch")
    with receiving(lambda number: (500, 0, 429, 204)[number - 1]) as receiver:
        assert await Poster(receiver.address, metrics, threading.Event()).post(INCIDENT)
    assert len(receiver.posts) == 4
    assert len({post.headers["Idempotency-Key"] for post in receiver.posts}) == 1
    assert sent(metrics) == {"sent": 1.0, "failed": 0.0}


@pytest.mark.parametrize("status", [301, 307, 400, 401, 404])
async def test_an_answer_that_no_attempt_changes_ends_it_and_no_redirect_is_followed(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    metrics = WorkerMetrics(app="watch")
    with receiving(lambda _: status) as receiver, caplog.at_level(logging.WARNING):
        assert not await Poster(f"{receiver.address}/{SECRET}", metrics, threading.Event()).post(INCIDENT)
    assert [post.path for post in receiver.posts] == [f"/{SECRET}"]
    assert sent(metrics) == {"sent": 0.0, "failed": 1.0}
    assert f"got status {status}" in caplog.text
    assert SECRET not in caplog.text


async def test_an_address_that_nobody_answers_is_given_up_in_time_and_not_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics = WorkerMetrics(app="watch")
    with receiving() as receiver:
        address = receiver.address
    with caplog.at_level(logging.WARNING):
        assert not await Poster(f"{address}/{SECRET}", metrics, threading.Event()).post(INCIDENT, give_up=0.05)
    assert sent(metrics) == {"sent": 0.0, "failed": 1.0}
    assert "was not delivered" in caplog.text
    assert SECRET not in caplog.text
    assert address.rpartition(":")[2] not in caplog.text


async def test_a_stop_ends_the_attempts_and_counts_nothing() -> None:
    metrics, stop = WorkerMetrics(app="watch"), threading.Event()
    with receiving(lambda _: stop.set() or 500) as receiver:  # type: ignore[func-returns-value]
        assert not await Poster(receiver.address, metrics, stop).post(INCIDENT)
    assert len(receiver.posts) == 1
    assert sent(metrics) == {"sent": 0.0, "failed": 0.0}


async def test_a_message_that_is_refused_for_long_holds_up_no_other_incidents_and_its_own_keep_their_order() -> None:
    metrics, taken = WorkerMetrics(app="watch"), threading.Event()

    def answer(number: int) -> int:
        return 500 if receiver.posts[number - 1].body["id"] == "refused" and not taken.is_set() else 200

    with receiving(answer) as receiver:
        deliveries = Deliveries(receiver.address, metrics)
        refused = msgspec.structs.replace(INCIDENT, id="refused")
        for offset, incident in enumerate(
            [INCIDENT, refused, msgspec.structs.replace(refused, event=CLOSED), None, INCIDENT], 5
        ):
            deliveries.add(0, offset, incident)
        while sent(metrics)["sent"] < 2:
            await asyncio.sleep(0)
        assert deliveries.positions() == {0: 6}
        taken.set()
        await deliveries.finish()
    assert deliveries.positions() == {0: 10}
    posted = [post.body["event"] for post in receiver.posts if post.body["id"] == "refused"]
    assert posted == [OPENED] * (len(posted) - 1) + [CLOSED]
    assert sent(metrics) == {"sent": 4.0, "failed": 0.0}


async def test_what_waits_when_it_ends_is_not_done() -> None:
    metrics = WorkerMetrics(app="watch")
    with receiving(lambda _: 500) as receiver:
        deliveries = Deliveries(receiver.address, metrics)
        deliveries.add(0, 5, INCIDENT)
        await asyncio.to_thread(receiver.wait, 1)
        await deliveries.end()
    assert deliveries.positions() == {}
    assert sent(metrics) == {"sent": 0.0, "failed": 0.0}


@pytest.mark.parametrize("address", ["http://a..b/", "http://user%3Aname:x@127.0.0.1:9/"])
async def test_an_address_that_no_client_takes_is_given_up_and_counted(address: str) -> None:
    metrics = WorkerMetrics(app="watch")
    assert not await Poster(address, metrics, threading.Event()).post(INCIDENT, give_up=0.05)
    assert sent(metrics) == {"sent": 0.0, "failed": 1.0}


def test_what_strangers_hide_in_a_name_is_shown() -> None:
    lines = ["page  sup\x1b[31mport", "    v2\nOver: all is well\u202e"]
    incident = msgspec.structs.replace(INCIDENT, text=lines)
    shown = [r"page  sup\x1b[31mport", r"    v2\nOver: all is well\u202e"]
    assert message_of(incident)["text"] == shown
    assert slack_message_of(incident)["text"].splitlines() == ["Opened", f"```{shown[0]}", f"{shown[1].strip()}```"]


def test_in_slacks_form_a_strangers_words_ping_nobody_and_link_nowhere() -> None:
    hostile = "<!channel> <https://evil|here> ```@here``` &amp; " + "x" * 5_000
    message = slack_message_of(read_incident(INCIDENT.encode()))
    assert message["text"].startswith("Opened\n```2025-06-15  page  support")
    text = slack_message_of(read_incident(INCIDENT.encode().replace(b"worse", hostile.encode())))["text"]
    assert "<" not in text
    assert text.count("```") == 2
    assert len(text) < 4_000
    for before in range(4):  # where an escaped character is cut it is left out
        said = slack_message_of(msgspec.structs.replace(INCIDENT, text=["x" * (2_996 + before) + "<" * 9]))["text"]
        assert said.removesuffix("```").endswith(("x", "&lt;"))


@pytest.mark.parametrize(
    "address",
    [
        "ftp://a/b",
        "hooks.slack.com/x",
        "http:///x",
        "https://a b/c",
        "http://a:99999/",
        "http://é.example/",
        "http://a..b/",
        "http://./",
        f"http://{'x' * 70}.example/",
        "http://user%3Aname:x@a/",
        "http://%E2%82%AC:x@a/",
        "x" * 3000,
    ],
)
def test_an_address_that_is_none_is_refused_and_not_shown(address: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Settings.from_env({"TURNSIGNAL_BROKERS": "a:1", "TURNSIGNAL_NOTIFY": address})
    assert str(caught.value).startswith("TURNSIGNAL_NOTIFY: expected an address (http:// or https://)")
    assert address not in str(caught.value)


def test_the_address_may_stand_in_a_file_and_is_a_secret(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "url").write_text(f"https://hooks.slack.com/services/{SECRET}\n")
    settings = Settings.from_env({"TURNSIGNAL_BROKERS": "a:1", "TURNSIGNAL_NOTIFY_FILE": str(tmp_path / "url")})
    assert settings.notifies_slack
    assert SECRET not in repr(settings)
    assert settings.secrets() == [f"https://hooks.slack.com/services/{SECRET}"]


@pytest.mark.parametrize(
    ("address", "form", "slack"),
    [
        ("https://hooks.slack.com/services/x", {}, True),
        ("https://hooks.slack.com/services/x", {"TURNSIGNAL_NOTIFY_FORM": "json"}, False),
        ("https://chat.example/hooks/x", {"TURNSIGNAL_NOTIFY_FORM": "slack"}, True),
        ("https://chat.example/hooks/x", {}, False),
    ],
)
def test_the_form_is_slacks_where_the_address_is_or_the_setting_says_so(
    address: str, form: dict[str, str], slack: bool
) -> None:
    settings = Settings.from_env({"TURNSIGNAL_BROKERS": "a:1", "TURNSIGNAL_NOTIFY": address, **form})
    assert settings.notifies_slack is slack
