"""The knobs of simulated traffic, validated when they are set, so that a simulation never fails half way."""

from dataclasses import dataclass
from math import cos, pi
from typing import Literal, get_args

from turnsignal.stream.errors import ConfigError

DAY = 86_400.0  #: seconds
BUSIEST = 15.0  #: hour of the day (UTC) with the most traffic

#: What gets worse. Answers that are errors, empty or refusals cite nothing and drive half of the users away.
Kind = Literal[
    "retrieves_worse",
    "answers_worse",
    "breaks_format",
    "answers_errors",
    "answers_empty",
    "refuses",
    "invents_citations",
    "cites_nothing",
    "loses_users",
    "answers_slowly",
]


@dataclass(frozen=True)
class Regression:
    """A version that gets worse from a minute on.

    minute: minutes of event time after the start; version: the version that gets worse, or a new name: then it is
    released at that minute and answers everything from then on; kind: what gets worse; share: of its responses.
    """

    minute: float
    version: str
    kind: Kind
    share: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            msg = f"regression.kind must be one of {', '.join(get_args(Kind))}; got {self.kind!r}"
            raise ConfigError(msg)
        _need("regression.version", self.version, "a name of 1 to 200 characters", _is_name(self.version))
        _need("regression.minute", self.minute, "a number from 0 to 1e9", _is_number(self.minute, 0, 1e9))
        _need("regression.share", self.share, "a share from 0 to 1", _is_number(self.share, 0, 1))


@dataclass(frozen=True)
class Traffic:
    """Say what traffic to simulate.

    How much and when
      seed: same seed, same bytes; turns, conversations: stop after so many (None: go on for ever); start: seconds since
      1970; rate: turns per second of event time, averaged over a day; day_night: 9 : 1 between 15:00 and 3:00 UTC;
      open_conversations: at most so many at a time: when they are not enough for the rate, people answer sooner.
    Who and what
      assistants, versions, models, platforms: drawn per conversation, a name given twice is drawn twice as often;
      documents: retrieved per response; document_chars, response_chars: least and greatest length of a text;
      labelled: share of conversations whose turns carry `truth`; format_faults: share of responses with one;
      superseded: share of responses that are regenerated; gaps: share of conversations in which the user leaves for
      more than 30 minutes after the first response and comes back; hot: share of turns in one endless conversation;
      correlation: share of the pairs of responses of one conversation whose luck, with rankings and users, is the same;
      regression: what gets worse.
    How it arrives (shares of turns; these never change what is said, or when)
      disorder: arrives only after 1 to `disorder_places` later records of its conversation; late: arrives
      `late_seconds` after its event time; duplicates: arrives twice; conflicts: comes again under the same turn_id with
      another text; naive: its timestamp has no zone; malformed: its record cannot be read.

    Raises ConfigError that names the knob, what was expected and what came.
    """

    seed: int = 0
    turns: int | None = None
    conversations: int | None = None
    start: float = 1_767_225_600.0
    rate: float = 5.0
    day_night: bool = True
    open_conversations: int = 500
    assistants: tuple[str, ...] = ("support", "billing", "search")
    versions: tuple[str, ...] = ("v1",)
    models: tuple[str, ...] = ("large-1", "small-1")
    platforms: tuple[str, ...] = ("web", "web", "slack")
    documents: int = 8
    document_chars: tuple[int, int] = (80, 600)
    response_chars: tuple[int, int] = (120, 480)
    labelled: float = 0.2
    format_faults: float = 0.03
    superseded: float = 0.02
    gaps: float = 0.01
    hot: float = 0.0
    correlation: float = 0.0
    regression: Regression | None = None
    disorder: float = 0.0
    disorder_places: int = 3
    late: float = 0.0
    late_seconds: float = 900.0
    duplicates: float = 0.0
    conflicts: float = 0.0
    naive: float = 0.0
    malformed: float = 0.0

    def __post_init__(self) -> None:
        for name, (least, most, whole) in _NUMBERS.items():
            value = getattr(self, name)
            if value is None and name in ("turns", "conversations"):
                continue
            kind = "a whole number" if whole else "a number"
            _need(name, value, f"{kind} from {least:g} to {most:g}", _is_number(value, least, most, whole=whole))
        for pair in (("duplicates", "conflicts"), ("disorder", "late")):
            shares = tuple(getattr(self, name) for name in pair)
            _need(" + ".join(pair), shares, "at most 1 together", sum(shares) <= 1)
        for name in ("document_chars", "response_chars"):
            bounds = getattr(self, name)
            fine = isinstance(bounds, tuple) and len(bounds) == 2
            fine = fine and all(_is_number(bound, 1, 50_000, whole=True) for bound in bounds) and bounds[0] <= bounds[1]
            _need(name, bounds, "(least, greatest), whole numbers from 1 to 50000", fine)
        for name in ("assistants", "versions", "models", "platforms"):
            names = getattr(self, name)
            fine = isinstance(names, tuple) and len(names) > 0 and all(_is_name(value) for value in names)
            _need(name, names, "a tuple of one or more names of 1 to 200 characters", fine)


#: Least, greatest, and whether it counts something.
_NUMBERS: dict[str, tuple[float, float, bool]] = {
    **dict.fromkeys(
        ("labelled", "format_faults", "superseded", "gaps", "hot", "correlation", "naive", "malformed"), (0, 1, False)
    ),
    **dict.fromkeys(("disorder", "late", "duplicates", "conflicts"), (0, 1, False)),
    **dict.fromkeys(("turns", "conversations", "open_conversations", "disorder_places"), (1, 1e12, True)),
    "seed": (0, 1e12, True),
    "start": (0, 7.2e9, False),
    "rate": (1e-6, 1e5, False),
    "late_seconds": (1e-3, 1e9, False),
    "documents": (0, 100, True),
}


def daylight(time: float) -> float:
    """Return where in the day a time (seconds since 1970) is: 1 at the busiest hour, −1 at the quietest."""
    return cos(2 * pi * (time % DAY / DAY - BUSIEST / 24))


def _is_number(value: object, least: float, most: float, *, whole: bool = False) -> bool:
    kinds = int if whole else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool) and least <= value <= most


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 200


def _need(name: str, value: object, expected: str, fine: bool) -> None:
    if not fine:
        msg = f"traffic: {name} must be {expected}; got {value!r}"
        raise ConfigError(msg)
