"""Rubric files: TOML to `Rubric`, and the rubrics that come with turnsignal, by name.

A name is an identity, as everywhere: `answer_relevancy(form=four,temperature=0.1)`.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import blake2b
from importlib.resources import files
from pathlib import Path

import orjson
from pydantic import ValidationError

from turnsignal.stream.errors import ConfigError, describe_first_error
from turnsignal.stream.judging.aggregation import Aggregation
from turnsignal.stream.judging.reply import Unreadable, read_reply
from turnsignal.stream.judging.rubric import (
    Rubric,
    RubricExample,
    RubricForm,
    RubricItems,
    RubricLabel,
    RubricStep,
    RubricText,
)
from turnsignal.stream.names import Value, parse_name, write_name
from turnsignal.stream.text.misspelt import got, hint
from turnsignal.stream.text.toml import parse_toml

BUILT_IN = (
    *("answer_relevance", "answer_relevancy", "completeness", "context_recall", "context_relevance"),
    *("factual_correctness", "follow_up", "groundedness", "task_utility"),
)


_PARTS = (RubricExample, RubricForm, RubricItems, RubricLabel, RubricStep, RubricText)


@dataclass(frozen=True)
class ChosenRubric:
    """A rubric as it is asked. form: of several calls, None for one; how: its items are aggregated."""

    rubric: Rubric
    form: str | None = None
    how: Aggregation = field(default_factory=Aggregation)

    @cached_property
    def name(self) -> str:
        """The canonical name, with what differs from the default."""
        params: dict[str, Value] = {} if self.form is None else {"form": self.form}
        params |= dict(self.how.model_dump(exclude_defaults=True).items())
        return write_name(self.rubric.name, params)

    @cached_property
    def digest(self) -> str:
        """Digest of everything that decides what is asked and how an answer counts."""
        return blake2b(f"{self.rubric.digest} {self.name}".encode(), digest_size=6).hexdigest()


def parse_rubric(text: str, origin: str) -> Rubric:
    """Read a rubric from TOML text.

    Raises ConfigError in one line: the file, the key, what was expected, what came, and the name that was probably
    meant.
    """
    try:
        rubric = Rubric.model_validate_json(orjson.dumps(parse_toml(text)))
    except (tomllib.TOMLDecodeError, orjson.JSONEncodeError) as error:
        msg = f"{origin}: expected a rubric in TOML, got a file that does not parse: {error}"
        raise ConfigError(msg) from None
    except ValidationError as error:
        raise ConfigError(" ".join(f"{origin}: {_describe(error)}".splitlines())) from None
    for number, example in enumerate(rubric.examples, 1):
        count = len(example.material.get("documents", ())) if rubric.items and rubric.items.given else None
        if unknown := set(example.material) - set(rubric.shown):
            msg = f"{origin}: examples.{number}.material: expected {', '.join(rubric.shown)}; got {min(unknown)}"
            raise ConfigError(msg)
        try:
            read_reply(rubric, None, orjson.dumps(example.reply).decode(), count)
        except Unreadable as error:
            msg = f"{origin}: examples.{number}.reply: {error}"
            raise ConfigError(msg) from None
    return rubric


def choose_rubric(name: str, own: Mapping[str, Rubric] | None = None) -> ChosenRubric:
    """Find a rubric by its name with parameters: form, temperature, penalty. own: those of the user's files.

    Raises ConfigError for a rubric, form or parameter that there is none of.

    >>> choose_rubric("answer_relevancy(temperature=0.5,form=four)").name
    'answer_relevancy(form=four)'
    """
    family, params, cutoff = parse_name(name)
    if cutoff is not None or ((own is None or family not in own) and family not in BUILT_IN):
        known = sorted({*BUILT_IN, *(own or ())})
        expected = f"expected a rubric's name, one of {', '.join(known)}, or the path of one (.toml)"
        msg = f"{expected}; {got(name if cutoff is not None else family, known)}"
        raise ConfigError(msg)
    rubric = own[family] if own and family in own else _built_in(family)
    form = params.pop("form", None)
    if form is not None and form not in rubric.forms:
        forms = f"one of {', '.join(rubric.forms)}" if rubric.forms else "none, as it has no forms"
        msg = f"rubric {family}: form: expected {forms}; got {form!r}"
        raise ConfigError(msg)
    if params and (rubric.items is None or rubric.items.aggregate != "power"):
        msg = f"rubric {family}: expected no parameters but form, as its labels have no power mean; got {min(params)!r}"
        raise ConfigError(msg)
    try:
        how = Aggregation.model_validate(params)
    except ValidationError as error:
        msg = f"rubric {family}: {describe_first_error(error, 'parameters')}"
        raise ConfigError(msg) from None
    return ChosenRubric(rubric, None if form is None else str(form), how)


def is_rubric_file(name: str) -> bool:
    """Whether a judge's rubric is the path of a file."""
    return name.endswith(".toml")


def load_rubric(name: str) -> ChosenRubric:
    """Find a rubric by its name, or read a user's from its file, which is called as it is; raises ConfigError."""
    if not is_rubric_file(name):
        return choose_rubric(name)
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{name}: expected a rubric in TOML, got {error}"
        raise ConfigError(msg) from None
    rubric = parse_rubric(text, name)
    if rubric.name != Path(name).stem:
        msg = f"{name}: name: expected {Path(name).stem!r}, as the file is called, got {rubric.name!r}: rename one"
        raise ConfigError(msg)  # else the rows and the metrics of a judge would have two names
    if rubric.name in BUILT_IN and rubric.stage != (stage := _built_in(rubric.name).stage):
        msg = f"{name}: stage: expected {stage!r}, as of the rubric of this name that comes with turnsignal,"
        msg += f" got {rubric.stage!r}: rename it"
        raise ConfigError(msg)  # what judges of follow_up say is read as of follow-ups
    return ChosenRubric(rubric)


@cache
def _built_in(name: str) -> Rubric:
    path = files(__package__).joinpath("rubrics", f"{name}.toml")
    return parse_rubric(path.read_text(encoding="utf-8"), f"rubrics/{name}.toml")


def _describe(error: ValidationError) -> str:
    """Describe the first problem; for an unknown key, the known one that is nearest to it."""
    problems = error.errors(include_url=False)
    first = next((problem for problem in problems if problem["type"] == "extra_forbidden"), problems[0])
    if first["type"] not in ("extra_forbidden", "literal_error"):
        return describe_first_error(error, "rubric")
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "literal_error":
        options = first["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        return f"{key}: expected one of {', '.join(options)}; {got(str(first['input']), options)}"
    keys = sorted({name for part in (Rubric, *_PARTS) for name in part.model_fields})
    return f"unknown key {key}; {hint(str(first['loc'][-1]), keys)}"
