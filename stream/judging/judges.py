"""Judges: who is asked which rubric, by which model, at what price; `[[judges]]` and `[judging]` of a suite.

They stand in the suite and not in its fingerprint: a verdict carries the digest of its own judge.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import PurePath
from typing import Annotated, Any, Literal

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from turnsignal.stream.durations import Duration
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.judging.material import MAX_INPUT
from turnsignal.stream.judging.panels import CascadePart, JuryPart
from turnsignal.stream.judging.rubric import Ratio, Rubric, Word
from turnsignal.stream.judging.rubric_files import ChosenRubric, choose_rubric, is_rubric_file, load_rubric
from turnsignal.stream.records.verdicts import scorer_of

OPENAI, SCRIPTED, PYTHON = "openai", "scripted", "python"
FREE = ("scripted", "ollama")  #: endpoints whose calls cost nothing unless the suite says so
NANO = 1_000_000_000  #: parts of the currency in which money is counted, so that sums are exact

Amount = Annotated[float, Field(ge=0, le=1_000_000)]


class _JudgingPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PricePart(_JudgingPart):
    """What a model costs, in your currency for a million tokens."""

    input: Amount
    output: Amount


class EndpointPart(_JudgingPart):
    """What an endpoint takes. at_once: calls in flight; requests_per_minute: 0 for no limit."""

    at_once: Annotated[int, Field(ge=1, le=1_000)] = 8
    requests_per_minute: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class JudgingPart(_JudgingPart):
    """What all judges have in common.

    budget: for a day, in the currency of `prices`, None for no limit; max_age: an exchange that waited for longer is
    not asked about any more; redact: take out what identifies people before anything is sent; judged: models whose
    answers are judged, to warn of judges of their families; prices, endpoints: by model (`gpt-4o-mini` or
    `endpoint:model`) and by endpoint.
    """

    budget: Amount | None = None
    max_age: Duration = 3600.0
    redact: bool = True
    judged: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=50, strict=False)] = ()
    prices: dict[str, PricePart] = Field(default_factory=dict)
    endpoints: dict[Word, EndpointPart] = Field(default_factory=dict)


def _known_rubric(name: str) -> str:
    if not is_rubric_file(name):
        try:
            choose_rubric(name)
        except ConfigError as error:
            raise ValueError(str(error)) from None
    return name


def _readable_model(text: str) -> str:
    endpoint, model = split_model(text)
    if not endpoint.replace("_", "").isalnum() or not endpoint.isascii() or endpoint != endpoint.lower() or not model:
        msg = f"expected MODEL or ENDPOINT:MODEL, such as gpt-4o-mini or ollama:llama3; got {text!r}"
        raise ValueError(msg)
    return text


class JudgePart(_JudgingPart):
    """One judge.

    rubric: a name with parameters, or the path of a TOML file; model: MODEL (of openai) or ENDPOINT:MODEL; share: of
    conversations, the same ones for every judge; attempts, timeout: calls for one reply, and seconds for each;
    deadline: seconds for one exchange and model, from when its endpoint has a place for the first call on; max_input:
    bytes of texts that are sent, max_output: tokens that may come back; temperature: `unset` leaves it to the endpoint;
    structured: ask for a reply by JSON schema; cascade, jury: who is asked before this model, and beside it.
    """

    rubric: Annotated[str, Field(max_length=500), AfterValidator(_known_rubric)]
    model: Annotated[str, Field(max_length=200), AfterValidator(_readable_model)]
    name: Word = ""  # filled from the rubric
    share: Ratio = 1.0
    attempts: Annotated[int, Field(ge=1, le=10)] = 4
    timeout: Annotated[Duration, Field(le=3_600)] = 60.0
    deadline: Annotated[Duration, Field(le=3_600)] = 180.0
    max_input: Annotated[int, Field(ge=10_000, le=1_000_000)] = MAX_INPUT
    max_output: Annotated[int, Field(ge=16, le=100_000)] = 2_048
    temperature: Annotated[float, Field(ge=0, le=2)] | Literal["unset"] = 0.0
    structured: bool = True
    cascade: CascadePart | None = None
    jury: JuryPart | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        if isinstance(data, dict) and not data.get("name") and isinstance(data.get("rubric"), str):
            name = data["rubric"]
            return data | {"name": PurePath(name).stem if is_rubric_file(name) else name.partition("(")[0]}
        return data

    @model_validator(mode="after")
    def _readable_panel(self) -> "JudgePart":
        for model in panel_models(self):
            _readable_model(model)
        jurors = [split_model(model) for model in (self.model, *(self.jury.beside if self.jury is not None else ()))]
        if twice := {juror for juror in jurors if jurors.count(juror) > 1}:
            msg = "expected jurors of different models, as one that is asked twice has two votes;"
            msg += f" got {':'.join(min(twice))} twice"
            raise ValueError(msg)
        return self


@dataclass(frozen=True)
class Judge:
    """A judge ready to be asked.

    endpoint, model: who answers; price: None where it is not known; small: who is asked before, in a cascade; jurors:
    who are asked beside it, in a jury.
    """

    part: JudgePart
    chosen: ChosenRubric
    endpoint: str
    model: str
    price: PricePart | None
    redaction: str = ""
    small: "Judge | None" = None
    jurors: tuple["Judge", ...] = ()

    @cached_property
    def alone(self) -> "Judge":
        """The judge's own model, without those before and beside it."""
        return replace(self, small=None, jurors=()) if self.small is not None or self.jurors else self

    @property
    def members(self) -> tuple["Judge", ...]:
        """All models that may be asked, the judge's own as one of them."""
        return (*(() if self.small is None else (self.small,)), self.alone, *self.jurors)

    @cached_property
    def digest(self) -> str:
        """Digest of everything that decides its verdicts: 12 hex digits."""
        asked = self.part.model_dump(mode="json", include={"name", "model", "max_input", "max_output", "temperature"})
        content: list[Any] = [asked, self.part.structured, self.chosen.digest, self.redaction]
        if self.part.cascade is not None or self.part.jury is not None:
            content += [part and part.model_dump(mode="json") for part in (self.part.cascade, self.part.jury)]
        return blake2b(orjson.dumps(content, option=orjson.OPT_SORT_KEYS), digest_size=6).hexdigest()

    @property
    def endpoint_name(self) -> str:
        """Name what its calls share limits with: the endpoint, or a function of a user's own."""
        return f"{PYTHON}:{self.model}" if self.endpoint == PYTHON else self.endpoint

    @cached_property
    def line(self) -> str:
        """Name the line in which its exchanges wait: by all endpoints that they may need, as each can hold them up."""
        return ", ".join(self.endpoints)

    @cached_property
    def endpoints(self) -> tuple[str, ...]:
        """The names of the endpoints of all models that may be asked, in their order."""
        return tuple(sorted({member.endpoint_name for member in self.members}))

    def cost(self, tokens_in: int, tokens_out: int) -> int:
        """Return what tokens cost, in billionths of the currency, rounded up; 0 where the price is not known."""
        if self.price is None:
            return 0
        return -int(-(tokens_in * self.price.input + tokens_out * self.price.output) * NANO // 1_000_000)

    def greatest_cost(self, calls: int, most_tokens: int) -> int:
        """Return the most that an inquiry can cost, every model asked and every call repeated as often as allowed.

        most_tokens: of all its prompts together; what one call gives, every later one may be given to read.
        """
        output = self.part.max_output
        echoed = output * calls * (calls - 1) // 2
        return self.part.attempts * sum(each.cost(most_tokens + echoed, output * calls) for each in self.members)


def make_judge(part: JudgePart, judging: JudgingPart, chosen: ChosenRubric, redaction: str = "") -> Judge:
    """Put a judge together. redaction: digest of what is chosen to be taken out before, "" for nothing.

    Raises ConfigError where a budget is set and what the model costs is not known.
    """
    cascade = part.cascade
    if cascade is not None and cascade.rules is not None and chosen.rubric.stage != "follow_up":
        msg = f"judges: {part.name}: cascade.rules: expected a rubric of the stage follow_up, which rules read;"
        msg += f" got {chosen.name}"
        raise ConfigError(msg)

    def make(model: str) -> Judge:
        return Judge(part, chosen, *split_model(model), _price(model, judging), redaction)

    small = make(cascade.small) if cascade is not None and cascade.small is not None else None
    jurors = () if part.jury is None else tuple(map(make, part.jury.beside))
    return replace(make(part.model), small=small, jurors=jurors)


def panel_models(part: JudgePart) -> tuple[str, ...]:
    """Return the models that are asked before or beside a judge's own."""
    small = (part.cascade.small,) if part.cascade is not None and part.cascade.small is not None else ()
    return (*small, *(part.jury.beside if part.jury is not None else ()))


def _price(text: str, judging: JudgingPart) -> PricePart | None:
    endpoint, model = split_model(text)
    price = judging.prices.get(text) or judging.prices.get(model)
    if price is None and endpoint in FREE:
        return PricePart(input=0.0, output=0.0)
    if price is None and judging.budget is not None:
        msg = f"judging.prices: expected what {text} costs, as judging.budget is set; got none: add"
        msg += f' [judging.prices."{text}"] with input and output for a million tokens'
        raise ConfigError(msg)
    return price


def split_model(text: str) -> tuple[str, str]:
    """Return endpoint and model of a model string.

    >>> split_model("ollama:llama3:8b"), split_model("gpt-4o")
    (('ollama', 'llama3:8b'), ('openai', 'gpt-4o'))
    """
    endpoint, colon, model = text.partition(":")
    return (endpoint, model) if colon else (OPENAI, text)


def judged_scorer(part: JudgePart) -> str:
    """Name the scorer that a judge is; of a rubric in a file, by the file."""
    return scorer_of(PurePath(part.rubric).stem if is_rubric_file(part.rubric) else part.rubric, part.name)


def judged_scorers(judges: Iterable[JudgePart]) -> list[str]:
    """Name the scorers that judges are."""
    return [judged_scorer(part) for part in judges]


def readable_rubric(part: JudgePart) -> Rubric | None:
    """Return a judge's rubric; None where its file cannot be read here, as the judge app alone may have it."""
    try:
        return load_rubric(part.rubric).rubric
    except ConfigError:
        return None


def check_names(judges: tuple[JudgePart, ...]) -> tuple[JudgePart, ...]:
    """Return judges of different names; raises ValueError where two have the same."""
    names = [judge.name for judge in judges]
    if twice := {name for name in names if names.count(name) > 1}:
        msg = f"expected judges of different names, got {min(twice)} twice: give each a name"
        raise ValueError(msg)
    return judges


def same_family(judge: str, judged: str | None) -> bool:
    """Whether a judge's model is of the family of the model that it judges, which it may favour.

    >>> same_family("gpt-4o", "gpt-3.5-turbo"), same_family("gpt-4o", "claude-3-5-sonnet"), same_family("gpt-4o", None)
    (True, False, False)
    """
    return judged is not None and _family(judge) == _family(judged) != ""


def warn_of_rubrics(judges: Iterable[JudgePart]) -> list[str]:
    """Return a warning for each judge whose rubric is a file that cannot be read here."""
    return [
        f"judge {part.name}: expected to read its rubric {part.rubric}, as its worker does, to know what is awaited;"
        " conversations are summed up with each of its verdicts anew, and labels of people are not held against them"
        for part in judges
        if readable_rubric(part) is None
    ]


def warn_of_families(judges: Sequence[JudgePart], judged: Sequence[str]) -> list[str]:
    """Return a warning for each judge whose model is of the same family as one that it judges.

    >>> warn_of_families([JudgePart(rubric="groundedness", model="gpt-4o")], ["gpt-4o-mini", "claude-3-5-sonnet"])
    ['judge groundedness: its model gpt-4o is of the family of gpt-4o-mini, whose answers it may favour']
    """
    return [
        f"judge {part.name}: its model {model} is of the family of {other}, whose answers it may favour"
        for part in judges
        for model in (part.model, *panel_models(part))
        for other in judged
        if same_family(split_model(model)[1], other)
    ]


def _family(model: str) -> str:
    name = model.rpartition("/")[2].lower()
    word = "".join(letter if letter.isalpha() else " " for letter in name).split()
    return {"o": "gpt", "chatgpt": "gpt"}.get(word[0], word[0]) if word else ""
