"""Rubrics: the question that a judge is asked and the labels that it may answer with, as data.

A rubric is a TOML file; those that come with turnsignal stand in `rubrics/`, a user's has the same keys and needs no
code. A judge either gives one label for the whole, or one for each of several items: claims that it finds, or the
documents that it is given. `forms` asks the same in several calls.
"""

from functools import cached_property
from hashlib import blake2b
from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, model_validator

from turnsignal.stream.records.verdicts import MOST_VERSION

Need = Literal["prompt", "response", "follow_up", "documents", "before", "truth"]
Ratio = Annotated[float, Field(ge=0, le=1)]
Word = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
Prose = Annotated[str, Field(min_length=1, max_length=4_000, pattern=r"\S")]

#: fields of a reply whose names a rubric cannot use for its own
REASONING, LABEL, EXPLANATION, LABELS, NUMBER = "reasoning", "label", "explanation", "labels", "number"
DOCUMENT = "document"  #: the field that says which of the given documents an item is, from 1
_RESERVED = {REASONING, LABEL, EXPLANATION, LABELS, NUMBER}


class _RubricPart(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RubricLabel(_RubricPart):
    """A label that may be given. value: 0–1, left out where it says nothing about quality; says: when to choose it."""

    name: Word
    value: Ratio | None = None
    says: Prose


class RubricText(_RubricPart):
    """A text that the judge writes down before it decides, such as the user's intent."""

    name: Word
    says: Prose


class RubricItems(_RubricPart):
    """What gets a label each. text: the field for one item; given: the documents, not what the judge finds itself."""

    name: Word
    text: Word
    says: Prose
    given: bool = False
    at_most: Annotated[int, Field(ge=1, le=100)] = 40
    aggregate: Literal["mean", "power"] = "mean"


class RubricStep(_RubricPart):
    """One of several calls. sees: parts of the material and results of earlier steps; gives: what it adds to them."""

    question: Prose
    sees: Annotated[tuple[Word, ...], Field(min_length=1, strict=False)]
    gives: Word


class RubricForm(_RubricPart):
    """The same rubric in several calls."""

    steps: Annotated[tuple[RubricStep, ...], Field(min_length=1, max_length=6, strict=False)]


class RubricExample(_RubricPart):
    """A worked example: material as a judge gets it, and the reply that is right."""

    material: dict[Word, Any]
    reply: dict[Word, Any]


class Rubric(_RubricPart):
    """A question and its labels.

    version: to be raised when a change alters what labels mean; stage: of the exchanges that it judges; needs: parts
    without which there is nothing to judge; sees: further parts, shown where there are any; first: texts before the
    label; items: what is labelled, None for the whole; also: further values, by name, from the same labels, of which
    those that are left out do not count; threshold: from which value on the result is good.
    """

    name: Word
    version: Annotated[int, Field(ge=1, le=MOST_VERSION)]
    title: Annotated[str, Field(min_length=1, max_length=200)]
    stage: Literal["response", "follow_up"]
    needs: Annotated[tuple[Need, ...], Field(min_length=1, strict=False)]
    sees: Annotated[tuple[Need, ...], Field(strict=False)] = ()
    question: Prose
    first: Annotated[tuple[RubricText, ...], Field(max_length=5, strict=False)] = ()
    labels: Annotated[tuple[RubricLabel, ...], Field(min_length=2, max_length=20, strict=False)]
    items: RubricItems | None = None
    also: dict[Word, dict[Word, Ratio]] = Field(default_factory=dict)
    threshold: Ratio | None = None
    examples: Annotated[tuple[RubricExample, ...], Field(max_length=20, strict=False)] = ()
    forms: dict[Word, RubricForm] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _consistent(self) -> "Rubric":
        problem = next(self._problems(), None)
        if problem is not None:
            raise ValueError(problem)
        return self

    def _problems(self) -> Any:
        names = self.label_names
        if len(set(names)) < len(names):
            yield f"expected labels of different names, got {', '.join(names)}"
        if all(label.value is None for label in self.labels):
            yield "expected a value for one label at least, got none"
        if len(self.values) > 1 and len(set(self.values.values())) == 1:
            # Two labels may well be worth the same, as `inferable` and `generic`; all of them measure nothing.
            yield f"expected labels of two values at least, got {min(self.values.values()):g} for all of them"
        if "documents" in self.shown and self.stage == "follow_up":
            yield 'expected stage = "response", as exchanges carry documents only then; got stage = "follow_up"'
        if "follow_up" in self.shown and self.stage == "response":
            yield 'expected stage = "follow_up", as there is no follow-up before; got stage = "response"'
        own = [text.name for text in self.first] + ([self.items.name] if self.items else [])
        if len(set(own)) < len(own) or _RESERVED & set(own):
            yield f"expected names in first and items that differ and are none of {', '.join(sorted(_RESERVED))}"
        if self.items is not None and self.items.text in (REASONING, LABEL):
            yield f"items.text: expected another name than {REASONING} and {LABEL}, which stand beside it in a reply"
        if self.items is not None and self.items.given and "documents" not in self.needs:
            yield 'expected "documents" among needs, as items.given asks for a label of each; got none'
        for form, values in self.also.items():
            if unknown := set(values) - set(names):
                yield f"also.{form}: expected labels of this rubric ({', '.join(names)}), got {min(unknown)}"
        for name, each in self.forms.items():
            yield from (f"forms.{name}: {problem}" for problem in self._form_problems(each))

    def _form_problems(self, form: RubricForm) -> Any:
        known: set[str] = set(self.shown)
        results = [text.name for text in self.first]
        results += [self.items.name, LABELS, EXPLANATION] if self.items else [LABEL]
        if self.items is not None and self.items.given:
            results.remove(self.items.name)
        for step in form.steps:
            if unknown := set(step.sees) - known:
                yield f"expected what is known by then ({', '.join(sorted(known))}), got {min(unknown)}"
            known.add(step.gives)
        given = [step.gives for step in form.steps]
        if sorted(given) != sorted(results):
            yield f"expected steps that give {', '.join(results)}, each once; got {', '.join(given)}"

    def __hash__(self) -> int:
        return hash(self.digest)  # its dictionaries have none

    @cached_property
    def shown(self) -> tuple[Need, ...]:
        """The parts of an exchange that a judge gets."""
        return (*self.needs, *self.sees)

    @cached_property
    def label_names(self) -> tuple[str, ...]:
        """The names of the labels, in their order."""
        return tuple(label.name for label in self.labels)

    @cached_property
    def values(self) -> dict[str, float]:
        """The values of the labels that have one."""
        return {label.name: label.value for label in self.labels if label.value is not None}

    @cached_property
    def digest(self) -> str:
        """Digest of everything that decides what is asked and how an answer counts: 12 hex digits."""
        content = orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
        return blake2b(content, digest_size=6).hexdigest()
