"""One simulated conversation: whose turn it is, what is said, and what is true of it.

The follow-up is drawn together with the response, because it is the response that decides it: a misread question is
answered about the wrong topic and then corrected, a vague answer is asked again. Responses have two qualities that do
not depend on each other, of the answer and of the ranking, each with a part that a conversation shares (intra-class
correlation 0.2, standard deviation 0.24, as detection assumes of real traffic).
"""

from datetime import UTC, datetime
from random import Random
from typing import Any, TypedDict

from turnsignal.stream.simulation.answers import BROKEN, REPLIES
from turnsignal.stream.simulation.content import BY_NAME, TOPICS, Subject
from turnsignal.stream.simulation.responses import ResponseWriter
from turnsignal.stream.simulation.traffic import Traffic, daylight
from turnsignal.stream.simulation.users import choose_follow_up, word_follow_up

Turn = dict[str, Any]  #: the fields of `stream.records.turns.Turn`, timestamp still a datetime

_SHARED, _OWN = 0.107, 0.215  #: standard deviations of quality: of the conversation's part and of the turn's own
_LOSS = 0.4  #: quality lost to `answers_worse`


class SideTruth(TypedDict):
    """What the simulation knows about one record and the record does not contain.

    time: event time, seconds since 1970. Responses: quality (0 to 1), cited (ranks), relevant (doc ids), fault (a name
    from `answers.FAULTS` or `FAULTS_ON`). User turns after a response: follow_up (its class) and judges (the response's
    turn_id). planted: what was done on purpose: a regression's kind, superseded, hot, returns, displaced, late, naive,
    duplicate, conflict, malformed. reason: the dead-letter reason expected, a `stream.errors.Reason`, or None.
    """

    conversation_id: str
    turn_id: str
    role: str
    time: float
    quality: float | None
    cited: list[int]
    relevant: list[str]
    fault: str | None
    follow_up: str | None
    judges: str | None
    planted: list[str]
    reason: str | None


class Dialogue:
    """Speak one conversation, turn by turn.

    name: its conversation id; responses: how many there will be at most, None for an endless one; gap: the user leaves
    after the first response and comes back. After each turn, `delay` says how many seconds pass before the next one
    (None: it was the last) and `away` whether the user has left in between.
    """

    __slots__ = (
        *("id", "delay", "away", "_traffic", "_writer", "_random", "_left", "_gap", "_assistant", "_version", "_model"),
        *(
            "_platform",
            "_labelled",
            "_moods",
            "_alike",
            "_topic",
            "_ask",
            "_intent",
            "_answered",
            "_user_next",
            "_spoken",
        ),
    )

    def __init__(
        self,
        traffic: Traffic,
        writer: ResponseWriter,
        random: Random,
        name: str,
        responses: int | None,
        *,
        gap: bool = False,
    ) -> None:
        self.id = name
        self.delay: float | None = 0.0
        self.away = False
        self._traffic, self._writer, self._random = traffic, writer, random
        self._left, self._gap = responses, gap
        self._assistant = random.choice(traffic.assistants)
        self._version = random.choice(traffic.versions)
        self._model = random.choice(traffic.models)
        self._platform = random.choice(traffic.platforms)
        self._labelled = random.random() < traffic.labelled
        self._moods = (random.gauss(0, _SHARED), random.gauss(0, _SHARED))
        self._alike = random.getrandbits(32) if traffic.correlation else None
        self._topic = self._another_topic(None)
        self._ask = random.choice(self._topic.asks)
        self._intent: str | None = None
        self._answered: str | None = None
        self._user_next, self._spoken = True, 0

    def next_turn(self, time: float) -> tuple[Turn, SideTruth]:
        """Return the next turn and its truth, at this event time (seconds since 1970)."""
        self._spoken += 1
        stamp = datetime.fromtimestamp(time, UTC)
        role, turn_id = "user" if self._user_next else "assistant", f"t{self._spoken}"
        turn: Turn = {
            "conversation_id": self.id,
            "turn_id": turn_id,
            "role": role,
            "text": "",
            "timestamp": stamp,
            "assistant": self._assistant,
            "platform": self._platform,
        }
        truth = _nothing_known(self.id, turn_id, role, stamp.timestamp())
        if self.away:
            truth["planted"].append("returns")
            self.away = False
        if self._user_next:
            self._speak(turn, truth)
        elif self._intent == "thanks":
            self._take_leave(turn)
        else:
            self._respond(turn, truth)
        return turn, truth

    def _speak(self, turn: Turn, truth: SideTruth) -> None:
        """Prompt or follow up; every follow-up is the next prompt as well."""
        random, kind = self._random, self._intent
        wrong = BY_NAME[self._topic.confused_with]
        if kind == "new_topic":
            self._topic = self._another_topic(self._topic)
            self._ask = random.choice(self._topic.asks)
        turn["text"] = word_follow_up(random, kind, self._topic, wrong, self._ask) if kind else self._ask
        if kind != "repeat":
            self._ask = turn["text"]
        truth["follow_up"], truth["judges"] = kind, self._answered
        self._user_next = False
        gives_up = kind == "frustration" and self._left is not None and random.random() < 0.4
        self.delay = None if gives_up else (1.5 + random.expovariate(0.4)) * self._pace(truth["time"])

    def _respond(self, turn: Turn, truth: SideTruth) -> None:
        random, traffic, time = self._random, self._traffic, truth["time"]
        worse = self._answer_as(turn, time)
        if worse is not None:
            truth["planted"].append(worse)
        chance = self._chance()
        quality = 0.83 + self._moods[0] + (chance or random).gauss(0, _OWN) + 0.02 * daylight(time)
        quality = truth["quality"] = _share(quality - (_LOSS if worse == "answers_worse" else 0.0))
        if worse in BROKEN:
            quality = truth["quality"] = 0.0
        ranking = _share(0.8 + self._moods[1] + (chance or random).gauss(0, _OWN))
        self._intent = choose_follow_up(chance or random, quality)
        written = self._writer.write(self._topic, self._intent, self._platform, ranking, worse, chance)
        turn["text"] = written.text
        if traffic.documents:
            turn["retrieved"] = written.retrieved
        truth["cited"], truth["relevant"], truth["fault"] = written.cited, written.relevant, written.fault
        if self._labelled:
            turn["truth"] = {"doc_ids": written.relevant, "domain": self._topic.domain}
        if random.random() < traffic.superseded:
            truth["planted"].append("superseded")
            self.delay = 2.0 + random.expovariate(0.3)
        else:
            self._hand_over(None if self._left is None else self._left - 1)
        if worse == "loses_users" or (worse in BROKEN and random.random() < 0.5):
            self.delay = None

    def _chance(self) -> Random | None:
        """Return the chance that responses of this conversation share, None where this one has its own.

        Two of them share it where both do, so each does with the square root of `correlation`.
        """
        shares = self._alike is not None and self._random.random() < self._traffic.correlation**0.5
        return Random(self._alike) if shares else None

    def _take_leave(self, turn: Turn) -> None:
        """Answer thanks in a few words, without documents; only an endless conversation goes on."""
        worse = self._answer_as(turn, turn["timestamp"].timestamp())
        turn["text"] = BROKEN[worse] if worse in BROKEN else self._random.choice(REPLIES)
        self._intent = "new_topic"
        self._hand_over(None if self._left is None else 0)

    def _answer_as(self, turn: Turn, time: float) -> str | None:
        """Set the turn's version and model; return the kind of regression that affects this response, if any."""
        self._answered = turn["turn_id"]
        turn["version"], turn["model"] = self._version, self._model
        regression = self._traffic.regression
        if regression is None or time < self._traffic.start + 60 * regression.minute:
            return None
        if regression.version not in self._traffic.versions:
            turn["version"] = regression.version
        affected = turn["version"] == regression.version and self._random.random() < regression.share
        return regression.kind if affected else None

    def _pace(self, time: float) -> float:
        """Return how many times slower than usual the next answer comes."""
        regression = self._traffic.regression
        if (
            regression is None
            or regression.kind != "answers_slowly"
            or time < self._traffic.start + 60 * regression.minute
        ):
            return 1.0
        return 2.0 if regression.version not in self._traffic.versions or regression.version == self._version else 1.0

    def _hand_over(self, left: int | None) -> None:
        """Let the user think, leave for a while, or be done."""
        self._left, self._user_next = left, True
        self.delay = 8.0 + self._random.expovariate(1 / 30)
        if left is not None and left <= 0:
            self.delay = None
        elif self._gap:
            self._gap, self.away = False, True
            self.delay = 1_860.0 + self._random.expovariate(1 / 1_800)

    def _another_topic(self, but: Subject | None) -> Subject:
        """Draw a topic of this assistant's domain; an assistant named after no domain knows them all."""
        mine = [topic for topic in TOPICS if topic.domain == self._assistant] or list(TOPICS)
        return self._random.choice([topic for topic in mine if topic is not but])


def _nothing_known(conversation_id: str, turn_id: str, role: str, time: float) -> SideTruth:
    return {
        "conversation_id": conversation_id,
        "turn_id": turn_id,
        "role": role,
        "time": time,
        "quality": None,
        "cited": [],
        "relevant": [],
        "fault": None,
        "follow_up": None,
        "judges": None,
        "planted": [],
        "reason": None,
    }


def _share(value: float) -> float:
    return min(1.0, max(0.0, value))
