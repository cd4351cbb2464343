"""The suite: scorers, thresholds, windows and limits in force, read from TOML, with a fingerprint on every score.

What is judged stands here; where things run (brokers, ports, keys) stands in the environment (agents.settings).
"""

import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path, PurePath
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, ValidationError, model_validator

from turnsignal.stream.checks import parse_check
from turnsignal.stream.checks.protocol import Check
from turnsignal.stream.checks.python import LONGEST_TIMEOUT, TIMEOUT, Hosted, Python, Runner
from turnsignal.stream.citations.reader import DEFAULT_STYLES, CitationReader, citation_reader
from turnsignal.stream.conversations import asked_labels, feedback_memory, judged
from turnsignal.stream.conversations.state import Limits
from turnsignal.stream.conversations.windows import WindowSpec
from turnsignal.stream.detection.alerting import AlertPart
from turnsignal.stream.durations import Duration
from turnsignal.stream.errors import ConfigError, describe_first_error, describe_unreadable
from turnsignal.stream.follow_ups import failures, outcomes
from turnsignal.stream.follow_ups import rules as follow_ups
from turnsignal.stream.follow_ups.failures import Failures
from turnsignal.stream.follow_ups.rules import FollowUpRules
from turnsignal.stream.judging.exchanges import ExchangePart
from turnsignal.stream.judging.judges import JudgePart, JudgingPart, check_names, judged_scorers
from turnsignal.stream.measures import parse_measure
from turnsignal.stream.measures.protocol import Measure
from turnsignal.stream.records.turns import MAX_ID, MAX_SHORT
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.statistics.directions import PRIMARIES
from turnsignal.stream.text.exemptions import Exemptions
from turnsignal.stream.text.misspelt import hint
from turnsignal.stream.text.toml import parse_toml

#: parts that move no score; a verdict carries its judge's own digest
_NO_SCORES = {*("name", "python", "exchanges", "aggregates", "alerts"), *("judging", "judges")}
_LIMITS = Limits()  # its defaults are ours
MAX_SAYS = 500  #: characters of an instruction in the prompt's words
MAX_WINDOWS = 300  #: windows of one size that a conversation may carry


def _read_by(read: Callable[[str], object]) -> AfterValidator:
    """Refuse a text that `read` refuses, so that the error names the key where it stands."""

    def validate(text: str) -> str:
        try:
            read(text)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return text

    return AfterValidator(validate)


def _label(text: str) -> str:
    if text not in list(follow_ups.FollowUp):
        msg = f"expected one of {', '.join(follow_ups.FollowUp)}; got {text!r}"
        raise ValueError(msg)
    return text


def _absolute(text: str) -> str:
    if not PurePath(text).is_absolute():
        msg = f"expected the absolute path of a Python, such as /opt/checks/bin/python; got {text!r}"
        raise ValueError(msg)
    return text


MeasureName = Annotated[str, _read_by(parse_measure)]
CheckName = Annotated[str, _read_by(parse_check)]
Label = Annotated[str, AfterValidator(_label)]
MAX_STATE = 1_040_000  #: bytes of one conversation's state, so that a topic of the broker's default takes it
MAX_KEPT = 100_000  #: characters of texts in one state: up to six bytes each as JSON, and a broker takes a megabyte

Ratio = Annotated[float, Field(ge=0, le=1)]
#: Not strict: behind a validator that sees the part before it is read, pydantic takes a TOML array for a list only.
Bound = Annotated[tuple[Annotated[str, Field(strict=True)], ...], Field(strict=False)]


class _SuitePart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class CitationPart(_SuitePart):
    """How citations are written: marker styles that count, the pattern of ids beyond the retrieved ones."""

    styles: tuple[str, ...] = DEFAULT_STYLES
    id_pattern: str | None = None
    zero_based: bool = False

    def reader(self) -> CitationReader:
        """Make what finds these citations in a text; raises ConfigError for a style or pattern that is none."""
        return citation_reader(self.styles, self.id_pattern, self.zero_based)

    @model_validator(mode="after")
    def _readable(self) -> "CitationPart":
        try:
            self.reader()
        except ConfigError as error:
            raise ValueError(str(error)) from None
        return self


class RetrievalPart(_SuitePart):
    """Ranking measures on citations, and where the bands begin."""

    measures: tuple[MeasureName, ...] = ("nDCG@5", "nDCG@10", "nDCG(order=retrieval)@10")
    good: Ratio = 0.8
    moderate: Ratio = 0.5


class CheckPart(_SuitePart):
    """One instruction: the check's name, its weight, and whom it binds (empty: everybody).

    says: the instruction in the prompt's words, which reports show beside the name; it moves no score. For a check of
    your own in Python also version, to be raised when your function changes, as we cannot see that; and timeout, for
    one call.
    """

    check: CheckName
    says: Annotated[str, Field(max_length=MAX_SAYS, pattern=r"\S")] | None = None
    version: Annotated[int, Field(ge=1)] | None = None
    timeout: Annotated[Duration, Field(le=LONGEST_TIMEOUT)] | None = None
    weight: Annotated[float, Field(gt=0, le=100)] = 1.0
    assistants: Bound = ()
    platforms: Bound = ()
    versions: Bound = ()

    @model_validator(mode="before")
    @classmethod
    def _one_spelling(cls, data: object) -> object:
        if isinstance(data, dict) and "kind" in data:
            msg = (
                "a check is one name, not a kind: write check = \"pattern.require(regex='…')\", "
                'check = "python.function(call=package.module:function)" or check = "python.entry_point(entry=NAME)"'
            )
            raise ValueError(msg)
        return data

    @model_validator(mode="after")
    def _for_python_only(self) -> "CheckPart":
        if (self.version, self.timeout) != (None, None) and not isinstance(parse_check(self.check), Python):
            msg = f"version and timeout are for python.function and python.entry_point; got them beside {self.check}"
            raise ValueError(msg)
        return self

    def parsed(self) -> Check:
        """The check; one in Python as this part sets it up, with nobody yet to run it."""
        check = parse_check(self.check)
        return Hosted(check, self.version or 1, self.timeout or TIMEOUT) if isinstance(check, Python) else check


class FollowUpPart(_SuitePart):
    """Values of follow-up labels where they differ from the built-in ones."""

    strict: dict[Label, Ratio] = Field(default_factory=dict)
    precision: dict[Label, Ratio] = Field(default_factory=dict)


class ThresholdPart(_SuitePart):
    """From which value on a score counts as good (SLO, diagnosis)."""

    relevancy: Ratio = 0.5
    follow_ups: Ratio = 0.5
    instructions: Ratio = 1.0


class ConversationPart(_SuitePart):
    """How much and how long a conversation is remembered; failed: patterns of answers that are none, beside ours."""

    idle: Duration = _LIMITS.idle
    retention: Duration = _LIMITS.retention
    grace: Duration = _LIMITS.grace
    silence: Duration = 60.0
    recent_turns: Annotated[int, Field(ge=1, le=10_000)] = _LIMITS.recent_turns
    kept_turns: Annotated[int, Field(ge=3, le=100)] = _LIMITS.kept_turns
    kept_characters: Annotated[int, Field(ge=100, le=100_000)] = _LIMITS.kept_characters
    failed: tuple[Annotated[str, _read_by(lambda pattern: Failures([pattern]))], ...] = ()

    @model_validator(mode="after")
    def _fits_a_record(self) -> "ConversationPart":
        if self.kept_turns * self.kept_characters > MAX_KEPT:
            msg = f"kept_turns × kept_characters of at most {MAX_KEPT} is expected, so that a state fits into a record"
            raise ValueError(msg)
        return self


class WindowPart(_SuitePart):
    """One tumbling window size, and how long its windows are kept after their end."""

    size: Duration
    keep: Duration

    @model_validator(mode="after")
    def _few(self) -> "WindowPart":
        if self.keep > MAX_WINDOWS * self.size:  # all of them are in every changelog record of a conversation
            msg = f"expected keep to be at most {MAX_WINDOWS} times size ({self.size:g} s), got {self.keep:g} s"
            raise ValueError(msg)
        return self


class AggregatePart(_SuitePart):
    """What a replay's summary needs before it says anything of a release.

    minimum_n: conversations, beneath which it is silent; primary: the figure that a comparison of releases is about;
    least_change: the smallest difference that is worth naming; whole: no conversation is cut by the recording.
    """

    minimum_n: Annotated[int, Field(ge=2, le=1_000_000)] = 30
    primary: str = PRIMARIES[0]
    least_change: Ratio = 0.01
    whole: bool = False


DEFAULT_CHECKS = (
    "citation.format",
    "citation.resolves",
    "citation.placement",
    "citation.max_consecutive(at_most=3)",
    "citation.no_source_urls",
    "table.cells",
    "platform.slack",
    "platform.web",
)


class Suite(_SuitePart):
    """Scorers, thresholds, windows and limits in force.

    Sections as in deploy/suite.toml; whatever is left out has the default that is written there. python: the
    interpreter for the Python checks, None for turnsignal's own; exempt: responses, word for word, that no check
    binds and that are no failures; their apostrophes and quotation marks may be straight or typographic, and `{{…}}` is
    any 1 to 80 characters.
    """

    name: str = "default"
    python: Annotated[str, AfterValidator(_absolute)] | None = None
    citations: CitationPart = CitationPart()
    retrieval: RetrievalPart = RetrievalPart()
    checks: tuple[CheckPart, ...] = tuple(CheckPart(check=name) for name in DEFAULT_CHECKS)
    exempt: tuple[Annotated[str, Field(pattern=r"\S"), _read_by(lambda text: Exemptions([text]))], ...] = ()
    follow_ups: FollowUpPart = FollowUpPart()
    thresholds: ThresholdPart = ThresholdPart()
    conversations: ConversationPart = ConversationPart()
    windows: tuple[WindowPart, ...] = (WindowPart(size=300.0, keep=900.0), WindowPart(size=3600.0, keep=3600.0))
    exchanges: ExchangePart = ExchangePart()
    aggregates: AggregatePart = AggregatePart()
    alerts: AlertPart = AlertPart()
    judging: JudgingPart = JudgingPart()
    judges: Annotated[tuple[JudgePart, ...], AfterValidator(check_names), Field(max_length=50)] = ()
    _redaction: Redaction | None = PrivateAttr(None)

    @model_validator(mode="after")
    def _known_names(self) -> "Suite":
        own = [m.name for m in self.parsed_measures] + [check.name for _, check in self.parsed_checks]
        sizes = [f"the window of {window.size:g} seconds" for window in self.windows]
        for name, times in Counter([*own, *sizes]).items():
            if times > 1:
                msg = f"expected each name and window once, got {name} {times} times"
                raise ValueError(msg)
        if self.aggregates.primary not in (known := [*PRIMARIES, *own]):
            msg = f"expected aggregates.primary to be one of {', '.join(known)}; got {self.aggregates.primary!r}"
            raise ValueError(msg)
        self.alerts.check([*own, *judged_scorers(self.judges)])
        return self

    @model_validator(mode="after")
    def _state_fits_a_record(self) -> "Suite":
        """A state that the broker refuses would stop its partition, and strangers choose how long names are."""
        if self._largest_state > MAX_STATE:
            msg = f"expected the state of a conversation to take {MAX_STATE} bytes at most, got up to"
            msg += f" {self._largest_state}: keep fewer turns or characters, or windows for a shorter time"
            raise ValueError(msg)
        return self

    @cached_property
    def _largest_state(self) -> int:
        part = self.conversations
        # Of a turn: its text, its id and its follow-up's, its release.
        turn = 4 * (part.kept_characters + 2 * MAX_ID + 4 * MAX_SHORT) + 200
        windows = sum(window.keep / window.size + 2 for window in self.windows) + 2
        means = 2 * 9 * (len(self.parsed_measures) + len(self.parsed_checks) + 7)
        beside = feedback_memory.MAX_BYTES + 4 * asked_labels.MOST + (judged.MAX_BYTES if self.judges else 0)
        return (part.kept_turns + 1) * turn + 9 * part.recent_turns + int(windows * means) + beside

    @cached_property
    def parsed_measures(self) -> tuple[Measure, ...]:
        """The measures by name."""
        return tuple(parse_measure(name) for name in self.retrieval.measures)

    @cached_property
    def parsed_checks(self) -> tuple[tuple[CheckPart, Check], ...]:
        """The checks, each beside whom it binds; by name, so that their order in the file does not count."""
        return tuple(sorted(((part, part.parsed()) for part in self.checks), key=lambda pair: pair[1].name))

    def run_by(self, runner: Runner) -> "Suite":
        """Return the suite with its Python checks run by `runner`."""
        bound = self.model_copy()
        bound.__dict__["parsed_checks"] = tuple(  # where a cached property keeps its value
            (part, replace(check, run=runner) if isinstance(check, Hosted) else check)
            for part, check in self.parsed_checks
        )
        return bound

    @property
    def redaction(self) -> Redaction | None:
        """What is taken out of turns before they are scored; None: nothing."""
        return self._redaction

    def redacted_by(self, redaction: Redaction | None) -> "Suite":
        """Return the suite over texts that `redaction` has gone through; it has another fingerprint then."""
        bound = self.model_copy()
        bound._redaction = redaction
        bound.__dict__.pop("fingerprint", None)
        return bound

    @cached_property
    def follow_up_rules(self) -> FollowUpRules:
        """The rules for follow-ups, shared by all partitions."""
        known = Failures(self.conversations.failed, self.exempt)
        return FollowUpRules(self.follow_ups.strict, self.follow_ups.precision, known)

    @cached_property
    def limits(self) -> Limits:
        """What `stream.conversations.state` needs to know."""
        part = self.conversations
        kept = (part.recent_turns, part.kept_turns, part.kept_characters)
        return Limits(part.idle, part.retention, part.grace, *kept, room=MAX_STATE - self._largest_state)

    @cached_property
    def window_specs(self) -> tuple[WindowSpec, ...]:
        """What windows.py needs to know."""
        return tuple(WindowSpec(part.size, part.keep) for part in self.windows)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of what decides scores: 12 hex digits; comments, order of keys and the name do not count.

        Neither does `python`: it is a place, another on every machine, while what a function means is what its
        `version` says, as with packages installed beside turnsignal.
        """
        content: dict[str, Any] = self.model_dump(mode="json", exclude=_NO_SCORES)
        if not self.exempt:
            del content["exempt"]  # suites that prescribe nothing keep their fingerprint
        if not self.conversations.failed:
            del content["conversations"]["failed"]
        content["checks"] = [
            {**part.model_dump(mode="json", exclude={"says", "version", "timeout"}), "check": check.name}
            | ({"timeout": check.timeout} if isinstance(check, Hosted) else {})
            for part, check in self.parsed_checks
        ]
        content["retrieval"]["measures"] = [measure.name for measure in self.parsed_measures]
        content["scorer_versions"] = {
            **{measure.name: measure.version for measure in self.parsed_measures},
            **{check.name: check.version for _, check in self.parsed_checks},
            "follow_up": follow_ups.VERSION,
            "conversation": outcomes.VERSION,
            "failures": failures.VERSION,
        }
        if self._redaction is not None:
            content["redaction"] = self._redaction.fingerprint
        return blake2b(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), digest_size=6).hexdigest()


def parse_suite(text: str, origin: str = "suite") -> Suite:
    """Read a suite from TOML text.

    Raises ConfigError in one line: the key, what was expected, what came; `origin` says which file.
    """
    try:
        data = parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        msg = f"{origin}: expected TOML, got a file that does not parse: {error}"
        raise ConfigError(msg) from None
    try:
        return Suite.model_validate_json(orjson.dumps(data))
    except orjson.JSONEncodeError as error:
        msg = f"{origin}: expected values that fit in 64 bits, got one that does not: {error}"
        raise ConfigError(msg) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "extra_forbidden":
            key = ".".join(str(part) for part in first["loc"])
            keys, otherwise = Suite.model_fields, "run `turnsignal suite show` for the keys there are"
            msg = f"{origin}: unknown key {key}; {hint(key, keys if len(first['loc']) == 1 else (), otherwise)}"
        else:
            msg = f"{origin}: {describe_first_error(error, 'suite')}"
        raise ConfigError(" ".join(msg.splitlines())) from None


def load_suite(path: str | Path | None) -> Suite:
    """Read a suite file; None gives the default suite.

    Raises ConfigError when the file is not there or not right.
    """
    if path is None:
        return Suite()
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{path}: expected a suite in TOML, got {describe_unreadable(error)}; `turnsignal suite init` writes one"
        raise ConfigError(msg) from None
    return parse_suite(text, str(path))
