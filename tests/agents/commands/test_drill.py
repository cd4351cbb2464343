"""`turnsignal drill` refuses what is reckless, and says what did not come and what to do; whole on tests/kafka."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from click.testing import CliRunner

from turnsignal.agents.cli import turnsignal
from turnsignal.agents.commands.drill import KINDS
from turnsignal.agents.drilling.awaiting import (
    Deadline,
    HeldAlert,
    Notified,
    count_notifications,
    firing_severities,
    held_alerts,
    refuse_silent,
    silent_receivers,
)
from turnsignal.agents.drilling.run import describe_lateness, name_assistant
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.simulation import drills

ABOUT = {"alertname": "TurnsignalQualityRegression", "assistant": "drill-1", "severity": "page"}
COUNTED = """# TYPE alertmanager_notifications_total counter
alertmanager_notifications_total{integration="email"} 2
alertmanager_notifications_total{integration="webhook"} 1e+06
alertmanager_notifications_failed_total{integration="webhook",reason="other"} 3
alertmanager_notifications_suppressed_total 9
"""


@pytest.fixture
def page() -> Iterator[tuple[str, dict[str, bytes]]]:
    """The address of a server, and what it answers by path."""
    answers: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = answers.get(self.path.partition("?")[0])
            self.send_response(200 if answer is not None else 503)
            self.end_headers()
            self.wfile.write(answer or b"")

        def log_message(self, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", answers
        server.shutdown()
        thread.join()


def test_nobody_who_could_be_asked_means_nothing_is_sent() -> None:
    done = CliRunner().invoke(turnsignal, ["drill"], env={"TURNSIGNAL_BROKERS": "127.0.0.1:1"})
    assert done.exit_code == 2
    assert "or --yes" in done.output


@pytest.mark.parametrize("address", ["localhost:9090", "file:///etc/passwd", "http://", "http://a b", "http://a:x"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    done = CliRunner().invoke(turnsignal, ["drill", "--yes", "--prometheus", address])
    assert done.exit_code == 2
    assert "expected an address such as http://localhost:9090" in done.output


def test_it_offers_each_kind_that_there_is() -> None:
    assert KINDS == drills.KINDS


def test_what_does_not_come_is_named_with_what_came_instead_and_what_to_do() -> None:
    shares: list[float] = []

    def ask() -> None:
        raise OSError("http://p/api: refused")

    with pytest.raises(TurnsignalError) as refused:
        Deadline(0.1, lambda _, share: shares.append(share)).wait(ask, "the alert", lambda: "look at /targets")
    assert str(refused.value) == "expected the alert within 0 s; got: http://p/api: refused; look at /targets"
    assert shares[0] < 0.5


def test_alerts_about_the_drill_alone_count(page: tuple[str, dict[str, bytes]]) -> None:
    import orjson

    address, answers = page
    firing = {"state": "firing", "labels": ABOUT}
    others = [
        {"state": "pending", "labels": ABOUT | {"severity": "ticket"}},
        {"state": "firing", "labels": ABOUT | {"assistant": "support"}},
        {"state": "firing", "labels": {"alertname": "Watchdog"}},
    ]
    answers["/api/v1/alerts"] = orjson.dumps({"data": {"alerts": [firing, *others]}})
    assert firing_severities(address, "drill-1") == ["page"]
    held = {"status": {"state": "suppressed"}, "receivers": [{"name": "pages"}], "labels": ABOUT}
    answers["/api/v2/alerts"] = orjson.dumps([held])
    assert held_alerts(address, "drill-1") == [HeldAlert("suppressed", ("pages",), "page")]


def test_a_receiver_without_anybody_is_told_from_one_that_names_somebody(
    page: tuple[str, dict[str, bytes]],
) -> None:
    import orjson

    address, answers = page
    written = (
        "route:\n  receiver: tickets\nreceivers:\n- name: pages\n- name: tickets\n  slack_configs:\n"
        "  - send_resolved: false\n    title: '- name: no receiver'\n- name: \"on call\"\ntemplates: []\n"
    )
    answers["/api/v2/status"] = orjson.dumps({"config": {"original": written}})
    assert silent_receivers(address) == {"pages", "on call"}
    for unreadable in ("", "receivers: []\n", "receivers:\n    - {name: pages}\n"):
        answers["/api/v2/status"] = orjson.dumps({"config": {"original": unreadable}})
        assert silent_receivers(address) == frozenset()


def test_who_has_nobody_for_pages_hears_it_at_once(page: tuple[str, dict[str, bytes]]) -> None:
    address, answers = page
    refuse_silent(address, {"pages"})  # its configuration does not come: that is no reason to end
    answers["/api/v2/status"] = b'{"config": {"original": "receivers:\\n- name: pages\\n- name: tickets\\n"}}'
    with pytest.raises(TurnsignalError, match="got pages without anybody: no page wakes anyone"):
        refuse_silent(address, {"pages"})
    refuse_silent(address, {"pages", "mails"})


def test_notifications_are_counted_over_all_integrations(page: tuple[str, dict[str, bytes]]) -> None:
    address, answers = page
    answers["/metrics"] = COUNTED.encode()
    assert count_notifications(address) == Notified(1_000_002.0, 3.0)


def test_a_server_that_answers_no_json_or_an_error_is_named(page: tuple[str, dict[str, bytes]]) -> None:
    address, answers = page
    with pytest.raises(OSError, match=r"/metrics: HTTP Error 503"):
        count_notifications(address)
    answers["/api/v1/alerts"] = b"<html>"
    with pytest.raises(OSError, match="expected JSON"):
        firing_severities(address, "drill-1")


@pytest.mark.parametrize(
    "address", ["http://me:hidden@p:9090", "http://me:hid@den@p/?x", "http://me:hid#den@p", "ftp://me:hidden@p"]
)
def test_an_address_with_a_password_is_refused_and_the_password_not_shown(address: str) -> None:
    for option in ("--prometheus", "--alertmanager"):
        done = CliRunner().invoke(turnsignal, ["drill", option, address, "--yes"])
        assert done.exit_code == 2
        assert "without a user and a password" in " ".join(done.output.replace("│", " ").split())
        assert "hid" not in done.output


END = 1_796_000_400.0  # 2026-11-30 01:00 UTC


def test_where_no_other_turns_come_in_it_says_which_alert_comes_of_its_own_and_when_that_ends() -> None:
    traffic = drills.plant(name_assistant(END), END)
    last, scored = traffic.worse[-1].truth["time"], END + 120.0
    line = describe_lateness(last, traffic, scored, END + 300.0)
    assert line is not None
    assert "whose last is of 2026-11-30 00:59 UTC" in line
    assert line.endswith("TurnsignalDeliveryLate may fire as a ticket, and ends by itself by 01:18 UTC")
    assert describe_lateness(None, traffic, scored, END + 300.0) == line


def test_where_others_turns_are_newer_or_the_alert_is_over_it_says_nothing() -> None:
    traffic = drills.plant(name_assistant(END), END)
    assert describe_lateness(END + 200.0, traffic, END + 120.0, END + 300.0) is None
    assert describe_lateness(None, traffic, END + 120.0, END + 120.0 + 16 * 60.0) is None
