"""Mappings: which field of a recorded turn holds which label, and what its values mean.

Labels are the right answers, so scorers never see them: a mapping says which fields hold them, and these are removed
from a turn before it is scored. A small TOML file beside the data is enough:

    [[follow_ups]]                       # did the user have to clarify?
    label = "labels.follow_up_type"      # path in the record; the value may be a list
    clarification = ["clarification"]    # or: below = 2.6, for ratings
    continuation = ["follow_up"]         # left out: every other value; a label that is in neither list is left out
    on = "user"                          # the turn that carries it: the follow-up, or the answer that it judges
    policy = "strict"                    # or "precision", for labels to which a new wish alone is no fault

    [[citations]]                        # which documents does an answer cite?
    label = "labels.cited_doc_ids"       # means = "relevant": which documents should it cite?

    [[measures]]                         # what should a ranking measure come to?
    label = "labels.reference"           # {reference's name: value}
    gains = "labels.qrels"               # {doc_id: gain} or [doc_id]; left out: 1 for what the answer cites
    order = "context"                    # or "score", as trec_eval ranks
    names = { ndcg_cut_5 = "nDCG@5" }    # reference's name = ours

    [[instructions]]                     # was each instruction kept?
    label = "labels.instruction_checks"  # a list, an entry for each instruction
    kind = "instruction_id"
    parameters = "kwargs"
    verdict = "strict_pass"
    checks = { "keywords:existence" = "keywords.existence(words={keywords})" }

    [[verdicts]]                         # was the judge right? (`turnsignal judge`, then measure --verdicts)
    judge = "groundedness"               # its name, or its rubric
    label = "labels.grounded"
    good = ["yes"]                       # values that mean it, bad = [values] or all others; for ratings: at_least = 3
    raters = "labels.raters"             # what each person said

Every block may have `name`, `where` (path = glob: only such turns), `by` (a path: figures for each of its values) and
`anchors` (known figures to print beside ours). `[suite]` changes the suite for this data, as in deploy/suite.toml. Data
for a task that no scorer of ours does says so: no_evaluator = "why".
"""

import re
import tomllib
from collections.abc import Mapping as Keyed
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Annotated, Any, Literal

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from turnsignal.stream.errors import ConfigError, describe_first_error
from turnsignal.stream.measures import parse_measure
from turnsignal.stream.names import Value, parse_name, write_name
from turnsignal.stream.suite import MeasureName, Suite
from turnsignal.stream.text.toml import parse_toml

Scalar = str | int | float | bool

_READ = frozenset(("conversation_id", "turn_id", "role", "text", "timestamp", "retrieved"))  #: what scorers need
_FILLED = re.compile(r"\{(\w+?)(-1)?\}")


def _no_input(path: str) -> str:
    if path.split(".")[0] in _READ:
        msg = f"expected a label, got {path!r}, which the evaluators read"
        raise ValueError(msg)
    return path


Path = Annotated[str, Field(pattern=r"^[^.\s]+(\.[^.\s]+)*$", max_length=200)]
LabelPath = Annotated[Path, AfterValidator(_no_input)]


class _MappingPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Anchor(_MappingPart):
    """A known figure to print beside ours.

    kind: `floor` (a simple method reaches it), `human` (agreement between people) or `published`; says: its source.
    """

    figure: str
    value: float
    kind: Literal["floor", "human", "published"]
    says: str = ""


class _Labels(_MappingPart):
    """The fields that all kinds of labels share; the module's docstring explains them."""

    name: str = ""
    label: LabelPath
    where: dict[Path, str] = Field(default_factory=dict)
    by: Path | None = None
    anchors: tuple[Anchor, ...] = ()

    def holds(self, record: Keyed[str, Any]) -> bool:
        """Return whether a record passes `where`, so that it is compared."""
        return all(fnmatchcase(str(find(record, path)), glob) for path, glob in self.where.items())

    def group(self, record: Keyed[str, Any]) -> str:
        """Return a record's value of `by`, for which figures are also shown; "" without `by`."""
        return "" if self.by is None else str(find(record, self.by))


class FollowUpLabels(_Labels):
    """Labels that say whether the user had to clarify.

    negatives: another data set, whose continuations give the false alarm rate if this one has none; policy: whether
    the labels count a new wish without a hint of an error as a clarification (strict) or not (precision).
    """

    on: Literal["user", "assistant"] = "user"
    clarification: tuple[Scalar, ...] = ()
    continuation: tuple[Scalar, ...] = ()
    below: float | None = None
    negatives: str | None = None
    policy: Literal["strict", "precision"] = "strict"

    @model_validator(mode="after")
    def _one_way(self) -> "FollowUpLabels":
        if bool(self.clarification) == (self.below is not None):
            msg = "either clarification = [values] or below = number is expected"
            raise ValueError(msg)
        return self

    def read(self, value: object) -> bool | None:
        """Return whether a label means clarification; None if it means neither.

        A list means clarification if any value does, and continuation if all values do. Raises ValueError for a rating
        that is not a number.
        """
        if self.below is not None:
            if isinstance(value, bool) or not isinstance(value, int | float):
                msg = f"a number is expected for below = {self.below:g}, got {str(value)[:80]!r}"
                raise ValueError(msg)
            return value < self.below
        values = value if isinstance(value, list) else [value]
        if any(item in self.clarification for item in values):
            return True
        if not values or (self.continuation and not all(item in self.continuation for item in values)):
            return None
        return False


class CitationLabels(_Labels):
    """Labels that list documents by id.

    means: documents that the answer cites, to measure how well citations are read; or documents that are relevant, to
    measure how well the assistant cites.
    """

    means: Literal["cited", "relevant"] = "cited"


class MeasureLabels(_Labels):
    """Reference values of ranking measures.

    order: what the reference ranks by: the rank in the context, or the score, with ties by descending id as trec_eval
    does; depth: how many documents were recorded here. The reference saw more, so its reciprocal ranks below 1/depth
    are left out.
    """

    gains: LabelPath | None = None
    order: Literal["context", "score"] = "context"
    depth: Annotated[int, Field(ge=1)] | None = None
    names: dict[str, MeasureName] = Field(min_length=1)


class Cases(_MappingPart):
    """A check's name that depends on one of the label's parameters."""

    parameter: str
    cases: dict[str, str]


class InstructionLabels(_Labels):
    """Verdicts on instructions.

    checks: the label's kind → the names of our checks that together mean the same, where `{x}` is its parameter x and
    `{x-1}` one less; without `checks`, the kind is itself a name of ours. loose: compare the loose form.
    """

    kind: str = "check"
    parameters: str = "parameters"
    verdict: str = "pass"
    checks: dict[str, str | tuple[str, ...] | Cases] = Field(default_factory=dict)
    loose: bool = False

    def check_name(self, kind: str, given: Keyed[str, Any]) -> list[str] | None:
        """Return the names of our checks for an instruction; None for a kind that the mapping does not list."""
        names = self.checks.get(kind, None if self.checks else kind)
        if isinstance(names, Cases):
            names = names.cases.get(str(given.get(names.parameter)))
        if names is None:
            return None
        prefix = "loose." if self.loose else ""
        return [prefix + _fill(name, given) for name in ([names] if isinstance(names, str) else names)]


class VerdictLabels(_Labels):
    """Labels of what a judge says.

    judge: its name, or its rubric; good, bad: values of the label, bad is all others where it is left out; at_least:
    for ratings, of which several (a list, or by rater) count by their mean; raters: path of what each person said, a
    list or an object by rater; threshold: from which value on the judge says good; on: who carries the label.
    """

    judge: str
    good: tuple[Scalar, ...] = ()
    bad: tuple[Scalar, ...] = ()
    at_least: float | None = None
    raters: LabelPath | None = None
    threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    on: Literal["user", "assistant"] = "assistant"

    @model_validator(mode="after")
    def _one_way(self) -> "VerdictLabels":
        if bool(self.good) == (self.at_least is not None):
            msg = "either good = [values] or at_least = number is expected"
            raise ValueError(msg)
        return self

    def read(self, value: object) -> bool | None:
        """Return whether a label means good; None if it means neither. Raises ValueError for what is no rating."""
        if self.at_least is None:
            if value in self.good:
                return True
            return False if not self.bad or value in self.bad else None
        ratings = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
        if not ratings or any(isinstance(one, bool) or not isinstance(one, int | float) for one in ratings):
            msg = f"a number is expected for at_least = {self.at_least:g}, got {str(value)[:80]!r}"
            raise ValueError(msg)
        return float(sum(ratings)) / len(ratings) >= self.at_least


ScoredLabels = FollowUpLabels | CitationLabels | MeasureLabels | InstructionLabels
Labels = ScoredLabels | VerdictLabels


class Mapping(_MappingPart):
    """What the labels of one data set mean."""

    title: str = ""
    no_evaluator: str | None = None
    follow_ups: tuple[FollowUpLabels, ...] = ()
    citations: tuple[CitationLabels, ...] = ()
    measures: tuple[MeasureLabels, ...] = ()
    instructions: tuple[InstructionLabels, ...] = ()
    verdicts: tuple[VerdictLabels, ...] = ()
    suite: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _names_differ(self) -> "Mapping":
        names = [part.name for part in self.parts if part.name]
        for blocks in (self.citations, self.measures, self.instructions, self.follow_ups, self.verdicts):
            unnamed = sum(not part.name for part in blocks)
            if len(set(names)) < len(names) or unnamed > 1:
                msg = "blocks of different names are expected, at most one of a kind without;"
                msg += f" got {sorted(names)}, and {unnamed} of a kind without: add name = …"
                raise ValueError(msg)
        return self

    @property
    def parts(self) -> tuple[Labels, ...]:
        """Return all blocks, in the order in which they are shown."""
        return (*self.citations, *self.measures, *self.instructions, *self.follow_ups, *self.verdicts)

    @cached_property
    def hidden(self) -> tuple[tuple[str, ...], ...]:
        """Return the paths that are removed from a record before it is scored."""
        paths = {part.label for part in self.parts} | {part.gains for part in self.measures if part.gains}
        paths |= {part.raters for part in self.verdicts if part.raters}
        return tuple(sorted(tuple(path.split(".")) for path in {*paths, "labels", "truth"}))

    def suited(self, suite: Suite, origin: str = "mapping") -> Suite:
        """Return the suite with this data's changes, and with the measures that the references name."""
        sections = dict(self.suite)
        named = [parse_measure(name).name for part in self.measures if not part.gains for name in part.names.values()]
        if named:
            measures = sections.get("retrieval", {}).get("measures", suite.retrieval.measures)
            sections["retrieval"] = {
                **sections.get("retrieval", {}),
                "measures": list(dict.fromkeys([*measures, *named])),
            }
        for section, values in sections.items():
            old = getattr(suite, section, None)
            if isinstance(old, BaseModel) and isinstance(values, dict):
                sections[section] = {**old.model_dump(mode="json"), **values}
        try:
            changed = Suite.model_validate_json(orjson.dumps(sections))
        except ValidationError as error:
            raise _describe_error(error, f"{origin}: [suite]") from None
        kept = {section: getattr(suite, section) for section in Suite.model_fields}
        return Suite(**kept | {section: getattr(changed, section) for section in sections})


#: the labels that turns carry themselves: the documents known to be relevant, and the user's vote
OF_TURNS = Mapping(
    title="labels that the turns carry",
    citations=(CitationLabels(label="truth.doc_ids", means="relevant"),),
    follow_ups=(FollowUpLabels(name="votes", label="vote", on="assistant", clarification=(-1,)),),
)


def find(record: Keyed[str, Any], path: str) -> Any:
    """Return the value at a path of a record; None if there is none."""
    value: Any = record
    for key in path.split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def without(record: dict[str, Any], paths: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    """Return a copy of a record without the values at some paths; the record itself does not change."""
    out = dict(record)
    for path in paths:
        inside = out
        for key in path[:-1]:
            if not isinstance(inside.get(key), dict):
                break
            inside[key] = dict(inside[key])
            inside = inside[key]
        else:
            inside.pop(path[-1], None)
    return out


def parse_mapping(text: str, origin: str) -> Mapping:
    """Read a mapping from TOML text.

    Raises ConfigError in one line: the file, the key, what was expected, what came.
    """
    try:
        return Mapping.model_validate_json(orjson.dumps(parse_toml(text)))
    except tomllib.TOMLDecodeError as error:
        msg = f"{origin}: expected TOML, got a file that does not parse: {error}"
        raise ConfigError(msg) from None
    except ValidationError as error:
        raise _describe_error(error, origin) from None


def _describe_error(error: ValidationError, origin: str) -> ConfigError:
    problem = describe_first_error(error, "mapping")
    return ConfigError(" ".join(f"{origin}: {problem}; see `turnsignal measure --help`".split()))


def _fill(name: str, given: Keyed[str, Any]) -> str:
    """Fill a label's parameters into the name of a check; lists are joined with `|`, as check names write them."""
    family, params, cutoff = parse_name(name)
    return write_name(family, {key: _filled(value, given) for key, value in params.items()}, cutoff)


def _filled(value: Value, given: Keyed[str, Any]) -> Value:
    placeholder = _FILLED.fullmatch(value) if isinstance(value, str) else None
    if placeholder is None:
        return value
    parameter = given.get(placeholder[1])
    if parameter is None or isinstance(parameter, dict):
        msg = f"the parameter {placeholder[1]} is expected, got {', '.join(given) or 'no parameters'}"
        raise ValueError(msg)
    if placeholder[2]:
        return int(parameter) - 1
    return "|".join(map(str, parameter)) if isinstance(parameter, list) else parameter
