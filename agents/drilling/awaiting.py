"""Awaiting: asking Kafka, Prometheus and Alertmanager again until what is waited for has come, or a deadline has."""

import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, TypeVar

from turnsignal.agents.kafka.logs import find_log, read_log
from turnsignal.agents.kafka.topics import topic_names
from turnsignal.agents.settings import Settings
from turnsignal.agents.worker.positions import read_positions
from turnsignal.stream.detection.incidents import newest
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.regressions import Incident, read_incident

ALERT = "TurnsignalQualityRegression"
ANSWER_SECONDS = 10.0  #: for Prometheus and Alertmanager to answer
PAUSE = 0.5  #: seconds between two questions

_CLOSE = 20  # offsets of which it is looked at whether any is a record
_MAX_ANSWER = 20_000_000  # bytes
#: the receivers of a configuration as Alertmanager writes it, and one of them: its name, and what stands below
_RECEIVERS = re.compile(r"^receivers:\n((?:[- ].*\n?)*)", re.MULTILINE)
_RECEIVER = re.compile(r"^- name: (.*)\n?((?:  .*\n?)*)", re.MULTILINE)

Progress = Callable[[str, float], None]  #: told what is waited for, and which share of it is over
T = TypeVar("T")


class Deadline(NamedTuple):
    """How long to wait for one thing. seconds; progress: told how much of them is over."""

    seconds: float
    progress: Progress

    def wait(self, ask: Callable[[], T | None], what: str, hint: Callable[[], str] | str) -> T:
        """Ask again until there is an answer.

        Raises TurnsignalError after the deadline: with what was waited for, what came instead where somebody refused,
        and the hint of what to do.
        """
        began, refusal = time.monotonic(), ""
        while (passed := time.monotonic() - began) < self.seconds:
            self.progress(what, passed / self.seconds)
            try:
                answer = ask()
                refusal = ""
            except OSError as error:
                answer, refusal = None, f"; got: {error}"
            if answer is not None:
                return answer
            time.sleep(PAUSE)
        advice = hint if isinstance(hint, str) else hint()
        msg = f"expected {what} within {self.seconds:,.0f} s{refusal}; {advice}"
        raise TurnsignalError(msg)


def log_ends(settings: Settings, topic: str) -> dict[int, int]:
    """Return the ends of a topic's partitions. topic: its short name."""
    return {number: end for number, (_, end) in find_log(settings, topic_names(settings.prefix)[topic]).items()}


def behind(settings: Settings, app: str, topic: str, ends: dict[int, int]) -> list[int]:
    """Return the partitions of a topic that an app has not yet worked through up to some ends.

    Ends of transactions are offsets, too, which an idle app passes only some seconds later.
    """
    name = topic_names(settings.prefix)[topic]
    reached = {place.partition: place.known or 0 for place in read_positions(settings, app) if place.topic == name}
    left = {number: (reached.get(number, 0), end) for number, end in ends.items() if reached.get(number, 0) < end}
    close = {number: (at, end) for number, (at, end) in left.items() if end - at <= _CLOSE}
    waiting = {record.partition for records in read_log(settings, name, close, committed=True) for record in records}
    return sorted(waiting | (left.keys() - close.keys()))


def read_incidents(settings: Settings, since: dict[int, int], assistant: str) -> list[Incident]:
    """Return the incidents of an assistant, as they are now. since: where their topic ended before the first."""
    topic = topic_names(settings.prefix)["regressions"]
    ranges = {number: (since.get(number, first), end) for number, (first, end) in find_log(settings, topic).items()}
    incidents = []
    for records in read_log(settings, topic, ranges, committed=True):
        for record in records:
            if record.key != assistant.encode():
                continue
            try:
                incidents.append(read_incident(record.value or b""))
            except ValueError:  # of a newer turnsignal: the deadline says the rest
                continue
    return list(newest(incidents).values())


def firing_severities(prometheus: str, assistant: str) -> list[str]:
    """Return the severities of the alerts about an assistant's answers that fire in a Prometheus."""
    alerts = _read_json(f"{prometheus}/api/v1/alerts").get("data", {}).get("alerts", [])
    wanted = {"alertname": ALERT, "assistant": assistant}
    return sorted(
        alert["labels"].get("severity", "")
        for alert in alerts
        if alert.get("state") == "firing" and wanted.items() <= alert["labels"].items()
    )


class HeldAlert(NamedTuple):
    """An alert as Alertmanager has it. state: active, or suppressed by a silence or another alert."""

    state: str
    receivers: tuple[str, ...]
    severity: str


def held_alerts(alertmanager: str, assistant: str) -> list[HeldAlert]:
    """Return the alerts about an assistant's answers that an Alertmanager has."""
    filters = urllib.parse.urlencode([("filter", f'alertname="{ALERT}"'), ("filter", f'assistant="{assistant}"')])
    return [
        HeldAlert(
            alert["status"]["state"],
            tuple(receiver["name"] for receiver in alert.get("receivers", [])),
            alert["labels"].get("severity", ""),
        )
        for alert in _read_json(f"{alertmanager}/api/v2/alerts?{filters}")
    ]


def silent_receivers(alertmanager: str) -> frozenset[str]:
    """Return the receivers of an Alertmanager that name nobody: no mail, no chat, no pager.

    Its configuration is read as it writes it itself; where that looks different, no receiver is called silent.
    """
    original = _read_json(f"{alertmanager}/api/v2/status").get("config", {}).get("original", "")
    receivers = _RECEIVERS.search(original)
    entries = _RECEIVER.findall(receivers[1]) if receivers is not None else []
    return frozenset(name.strip("'\"") for name, rest in entries if "_configs:" not in rest)


def refuse_silent(alertmanager: str, receivers: Collection[str]) -> None:
    """Raise TurnsignalError where none of these receivers names anybody: what is sent to them nobody will ever hear."""
    try:
        silent = silent_receivers(alertmanager)
    except OSError:  # whoever keeps its configuration to itself is waited for
        return
    if receivers and silent.issuperset(receivers):
        msg = (
            f"expected Alertmanager at {alertmanager} to have somebody to tell, got {' and '.join(sorted(receivers))}"
            " without anybody: no page wakes anyone; put who is on call below that name in alertmanager.yml"
            " (pagerduty_configs, slack_configs, webhook_configs, …)"
        )
        raise TurnsignalError(msg)


class Notified(NamedTuple):
    """How many notifications an Alertmanager has tried to send, and how many of them failed."""

    tried: float
    failed: float


def count_notifications(alertmanager: str) -> Notified:
    """Read what an Alertmanager counts of its notifications, of all alerts together."""
    totals = {"alertmanager_notifications_total": 0.0, "alertmanager_notifications_failed_total": 0.0}
    for line in _read(f"{alertmanager}/metrics").decode("utf-8", "replace").splitlines():
        name, _, value = line.partition("{")[0].partition(" ")[0], "", line.rpartition(" ")[2]
        if name in totals:
            totals[name] += float(value)
    return Notified(*totals.values())


def _read_json(address: str) -> Any:
    try:
        return json.loads(_read(address))
    except ValueError as error:
        msg = f"{address}: expected JSON, got something else ({error})"
        raise OSError(msg) from None


def _read(address: str) -> bytes:
    """Read an address. Raises OSError with the address where it does not answer as it should."""
    try:
        with urllib.request.urlopen(address, timeout=ANSWER_SECONDS) as answer:
            content: bytes = answer.read(_MAX_ANSWER)
    except OSError as error:
        msg = f"{address}: {error}"
        raise OSError(msg) from None
    return content
