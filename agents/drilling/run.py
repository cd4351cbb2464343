"""Drilling: a planted regression through somebody's own stack, step by step, and away again.

An assistant of the drill's own gets worse. Every series has a detector, a threshold and a baseline to itself, so those
of other assistants do not move.
"""

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from turnsignal.agents.drilling import awaiting
from turnsignal.agents.drilling.awaiting import ALERT, Deadline, Notified
from turnsignal.agents.kafka.forgetting import send_requests
from turnsignal.agents.kafka.logs import find_log, read_log
from turnsignal.agents.kafka.sending import Sender
from turnsignal.agents.kafka.topics import partition_for, topic_names
from turnsignal.agents.settings import Settings
from turnsignal.stream.detection.detector import PAGE
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.pipeline.batch_output import LANE
from turnsignal.stream.pipeline.release_labels import DRILL
from turnsignal.stream.records.decisions import REBASE, Decision, series_key
from turnsignal.stream.records.regressions import Incident
from turnsignal.stream.records.turns import decode_turn
from turnsignal.stream.replay import Recorded
from turnsignal.stream.simulation import SimulatedRecord
from turnsignal.stream.simulation.drills import DrillTraffic, plant, slices
from turnsignal.stream.simulation.traffic import Kind

_NEWEST = 5  # records at the end of a partition, of which one at least is a turn
_LANE = 0  # of an assistant's conversations: all that are drilled with
#: Seconds after the last score in which TurnsignalDeliveryLate holds: it looks a quarter of an hour back, over scrapes.
_LATE = 16 * 60.0

Say = Callable[[str], None]


class Addresses(NamedTuple):
    """Where to look beyond Kafka, None where nobody says. prometheus, alertmanager: without a slash at the end."""

    prometheus: str | None = None
    alertmanager: str | None = None


def plan(settings: Settings, kind: Kind, now: float) -> DrillTraffic:
    """Simulate a drill for a stack: under a name that no other has, up to the newest turn that its workers have seen.

    All of its conversations are of one detector: a busy assistant's are dealt out to one for each 64 partitions.
    """
    partitions = len(find_log(settings, topic_names(settings.prefix)["turns"]))
    share = min(1.0, LANE / partitions)
    return plant(
        name_assistant(now),
        min(now, newest_turn(settings) or now),
        kind,
        int(now),
        share=share,
        keep=lambda name: partition_for(name.encode(), partitions) // LANE == _LANE,
    )


def name_assistant(now: float) -> str:
    """Name the assistant of a drill; the rules about error budgets know it by this form, and leave it alone."""
    return f"{DRILL}{datetime.fromtimestamp(now, UTC):%Y%m%d-%H%M%S}"


def newest_turn(settings: Settings) -> float | None:
    """Return the newest event time at the ends of the turns topic, None where there is none."""
    topic, times = topic_names(settings.prefix)["turns"], []
    ranges = {number: (max(first, end - _NEWEST), end) for number, (first, end) in find_log(settings, topic).items()}
    for records in read_log(settings, topic, ranges, committed=True):
        for record in records:
            try:
                times.append(decode_turn(record.value).time)
            except TurnsignalError:  # a dead letter says nothing of the time
                continue
    return max(times, default=None)


class Drill:
    """A drill on workers that run.

    patience: seconds for each thing that is waited for; say: takes a line for whoever waits; progress: as
    `awaiting.Progress` has it. Raises TurnsignalError with what did not come, and what to do.
    """

    def __init__(
        self,
        settings: Settings,
        traffic: DrillTraffic,
        patience: float,
        say: Say,
        progress: awaiting.Progress = lambda *_: None,
    ) -> None:
        self.settings = settings
        self.traffic = traffic
        self._say = say
        self._progress = progress
        self._deadline = Deadline(patience, progress)
        self._sender = Sender(settings, topic_names(settings.prefix)["turns"])
        self._before = awaiting.log_ends(settings, "regressions")
        self._scored = 0.0  # when the last turn that was sent had been scored

    def send(self, records: list[SimulatedRecord], what: str) -> None:
        """Send turns in the order of their event times, and wait for the workers a few hours at a time."""
        done = 0
        for part in slices(records):
            self._progress(f"sending {what}", done / len(records))
            self._write(part)
            self.await_taken_in()
            self._scored = time.time()
            done += len(part)

    def _write(self, records: Iterable[SimulatedRecord]) -> None:
        for number, record in enumerate(records):
            value = record.value or b""
            self._sender.send(Recorded(0.0, number, record.key or b"", value, 0), record.key, value)
        self._sender.flush()

    def await_taken_in(self) -> None:
        """Wait until score and watch have worked through what is there now."""
        for app, topic in (("score", "turns"), ("watch", "series")):
            ends = awaiting.log_ends(self.settings, topic)
            self._deadline.wait(
                lambda app=app, topic=topic, ends=ends: (  # type: ignore[misc]
                    None if awaiting.behind(self.settings, app, topic, ends) else True
                ),
                f"the {app} workers to take in what was sent",
                f"is one running (`turnsignal worker {app}`), and does it keep up (turnsignal_consumer_lag_messages)?",
            )

    def incidents(self) -> list[Incident]:
        """Return the incidents of its assistant, as they are now."""
        return awaiting.read_incidents(self.settings, self._before, self.traffic.assistant)

    def await_incident(self) -> Incident:
        """Wait for the incident of what was planted."""
        incident = self._deadline.wait(
            lambda: next((incident for incident in self.incidents() if incident.closed is None), None),
            f"an incident of {self.traffic.assistant} on {topic_names(self.settings.prefix)['regressions']}",
            "does the suite have the scorers that this kind of regression moves, and are they not in [alerts] ignore?"
            " Another --kind may reach those that it has",
        )
        self._say(f"incident: {incident.text[0].strip()}")
        self._say(f"  {incident.text[1].strip()}")
        if incident.tier != PAGE:
            self._say("  It is a ticket: a page takes more, or is not wanted of these scorers ([alerts] of the suite).")
        return incident

    def await_alert(self, prometheus: str) -> None:
        """Wait until Prometheus's alert fires."""
        name = self.traffic.assistant
        severities = self._deadline.wait(
            lambda: awaiting.firing_severities(prometheus, name) or None,
            f"{ALERT} of {name} to fire in {prometheus}",
            f"does it scrape the watch workers ({prometheus}/targets), does it have deploy/prometheus/rules"
            f" ({prometheus}/rules), and does turnsignal_regression_open have the assistant? A worker tells four"
            " drills of an hour apart; more are `other`",
        )
        self._say(f"Prometheus: {ALERT} fires as {' and '.join(severities)}")

    def await_notification(self, alertmanager: str, before: Notified) -> None:
        """Wait until Alertmanager has the alert, and has told somebody. before: what it had counted earlier."""
        name = self.traffic.assistant

        def suppressed() -> str:
            states = {alert.state for alert in awaiting.held_alerts(alertmanager, name)}
            if not states:
                return "does Prometheus know it (alerting.alertmanagers of prometheus.yml)?"
            return f"it has the alert, which is {' and '.join(states)}: look for silences and inhibitions"

        alerts = self._deadline.wait(
            lambda: [alert for alert in awaiting.held_alerts(alertmanager, name) if alert.state == "active"] or None,
            f"Alertmanager at {alertmanager} to have the alert",
            suppressed,
        )
        receivers = " and ".join(sorted({f"{name} ({alert.severity})" for alert in alerts for name in alert.receivers}))
        self._say(f"Alertmanager: has it for {receivers}")
        awaiting.refuse_silent(alertmanager, {name for alert in alerts for name in alert.receivers})

        def sent() -> Notified | None:
            now = awaiting.count_notifications(alertmanager)
            new = Notified(now.tried - before.tried, now.failed - before.failed)
            return new if new.tried > new.failed else None

        new = self._deadline.wait(
            sent,
            f"Alertmanager at {alertmanager} to tell {receivers}",
            "do these receivers of alertmanager.yml name anybody, and does its log say what they answer?",
        )
        self._say(
            f"Alertmanager: {new.tried - new.failed:,.0f} notifications sent since v2 came, {new.failed:,.0f} failed"
        )

    def describe_lateness(self) -> str | None:
        """Describe the alert that comes of turns that are old by now; None where others' turns are newer."""
        return describe_lateness(newest_turn(self.settings), self.traffic, self._scored, time.time())

    def clean_up(self) -> None:
        """Ask the workers to close the incident, to take what its series say for usual, and to forget its turns."""
        send_requests(self.settings, self.traffic.conversations)
        sender = Sender(self.settings, topic_names(self.settings.prefix)["decisions"])
        decision = Decision(REBASE, self.traffic.assistant, _LANE, time.time())
        key, value = series_key(decision.assistant, decision.lane), decision.encode()
        sender.send(Recorded(0.0, 0, key, value, 0), key, value)
        sender.flush()

    def await_closed(self) -> None:
        """Wait until nothing of it is open any more."""
        self._deadline.wait(
            lambda: None if any(incident.closed is None for incident in self.incidents()) else True,
            f"the incident of {self.traffic.assistant} to close",
            f"`turnsignal regressions rebase {self.traffic.assistant}` asks once more",
        )


def describe_lateness(newest: float | None, traffic: DrillTraffic, scored: float, now: float) -> str | None:
    """Describe the alert about late turns that a drill may leave behind, and when it ends; None where it leaves none.

    newest: event time on the topic of turns, None where there is none; scored: when the drill's last turn was scored.
    """
    last = traffic.worse[-1].truth["time"]
    if (newest is not None and newest > last) or now >= scored + _LATE:
        return None
    ends = datetime.fromtimestamp(scored + _LATE, UTC)
    return (
        f"no turns come in but the drill's, whose last is of {datetime.fromtimestamp(last, UTC):%Y-%m-%d %H:%M} UTC: so"
        f" TurnsignalDeliveryLate may fire as a ticket, and ends by itself by {ends:%H:%M} UTC"
    )


def _ask(addresses: Addresses) -> Notified:
    """Return how many notifications there were; raises TurnsignalError where one of the addresses does not answer."""
    try:
        if addresses.prometheus is not None:
            awaiting.firing_severities(addresses.prometheus, "")
        if addresses.alertmanager is not None:
            return awaiting.count_notifications(addresses.alertmanager)
    except OSError as error:
        msg = f"expected the answer of a Prometheus and of an Alertmanager, got: {error}; nothing more was sent"
        raise TurnsignalError(msg) from None
    return Notified(0.0, 0.0)


def run(drill: Drill, addresses: Addresses, say: Say, *, keep: bool) -> None:
    """Run all steps; whatever comes of them, what was sent is cleaned up, unless `keep`.

    Raises TurnsignalError for the first step that does not come.
    """
    traffic = drill.traffic
    _ask(addresses)
    try:
        drill.send(traffic.healthy, "what is usual")
        say(f"sent and watched: {len(traffic.healthy):,} healthy turns, a day and more by their event times")
        before = _ask(addresses)
        drill.send(traffic.worse, "v2")
        say(f"sent and watched: {len(traffic.worse):,} turns in which v2 {traffic.kind.replace('_', ' ')}")
        drill.await_incident()
        if addresses.prometheus is not None:
            drill.await_alert(addresses.prometheus)
        if addresses.alertmanager is not None:
            drill.await_notification(addresses.alertmanager, before)
    except BaseException:
        if not keep:
            drill.clean_up()
            say("cleaned up: asked the workers to close what is open of it, and to forget its conversations")
        raise
    if late := drill.describe_lateness():
        say(late)
    if keep:
        say(f"kept, as asked for; later: turnsignal regressions rebase {traffic.assistant}")
        return
    drill.clean_up()
    drill.await_closed()
    say("cleaned up: its incident is closed, its conversations are forgotten; alerts end ten minutes later")
