"""Inquiries: one exchange and one rubric, from the first prompt to the judgement, however many calls that takes.

A machine without I/O: whoever asks models sends `prompt` and hands in what came back.
"""

from dataclasses import dataclass, field
from typing import Any

from turnsignal.stream.judging.aggregation import Aggregation, aggregate
from turnsignal.stream.judging.material import Material
from turnsignal.stream.judging.prompt import Prompt, build_prompt
from turnsignal.stream.judging.reply import Unreadable, read_reply
from turnsignal.stream.judging.rubric import (
    DOCUMENT,
    EXPLANATION,
    LABEL,
    LABELS,
    NUMBER,
    REASONING,
    Rubric,
    RubricStep,
)
from turnsignal.stream.records.verdicts import MAX_REASONING, Unjudged, VerdictClaim, VerdictStep

JUDGE = "judge"  #: the step of a cascade that decided


@dataclass(slots=True)
class Judgement:
    """What an inquiry came to.

    reasoning: the judge's; where unscored, a sentence that says why; decided_by, steps: of a cascade or a jury; "" for
    what was lost before it was known which step would have decided.
    """

    label: str | None = None
    value: float | None = None
    reasoning: str = ""
    claims: list[VerdictClaim] = field(default_factory=list)
    unscored: Unjudged | None = None
    decided_by: str = JUDGE
    steps: list[VerdictStep] = field(default_factory=list)


class Inquiry:
    """Ask one rubric about one exchange.

    prompt: what to send next, None when there is a judgement; judgement: None until then.
    """

    def __init__(
        self, rubric: Rubric, material: Material, form: str | None = None, how: Aggregation | None = None
    ) -> None:
        self._rubric = rubric
        self._material = material
        self._how = how or Aggregation()
        self._steps: list[RubricStep | None] = [None] if form is None else list(rubric.forms[form].steps)
        self._parts: dict[str, Any] = dict(material.parts)
        self.judgement: Judgement | None = None
        self.prompt: Prompt | None = build_prompt(rubric, self._steps[0], self._parts)

    @property
    def most_tokens(self) -> int:
        """The most tokens of all prompts that are still to be sent, but for what replies add to them."""
        left = (build_prompt(self._rubric, step, self._parts) for step in self._steps)
        return 0 if self.judgement else sum(prompt.most_tokens for prompt in left)

    @property
    def calls(self) -> int:
        """How many replies are still needed, at most."""
        return 0 if self.judgement else len(self._steps)

    def on_reply(self, text: str | None) -> None:
        """Read the reply to `prompt`, which is followed by the next one, or by the judgement."""
        step = self._steps.pop(0)
        try:
            fields = read_reply(self._rubric, step, text, self._count(step))
        except Unreadable as error:
            self._end(Judgement(unscored=Unjudged.PARSE, reasoning=str(error)))
            return
        if step is not None and step.gives == LABELS:
            fields[LABELS] = sorted(fields[LABELS], key=lambda item: int(item[NUMBER]))
        self._parts |= fields
        if self._items() == []:
            self._end(Judgement(unscored=Unjudged.NOT_APPLICABLE, reasoning="The judge names nothing to be labelled."))
        elif self._steps:
            self.prompt = build_prompt(self._rubric, self._steps[0], self._parts)
        else:
            self._end(self._whole() if self._rubric.items is None else self._aggregated())

    def _end(self, judgement: Judgement) -> None:
        self.prompt, self.judgement = None, judgement

    def _items(self) -> list[Any] | None:
        """Return what gets a label each, None as long as that is not known."""
        items = self._rubric.items
        if items is None:
            return None
        known = self._parts.get("documents" if items.given else items.name)
        return known if isinstance(known, list) else None

    def _count(self, step: RubricStep | None) -> int | None:
        """Return how many items a reply must label, None where it labels what it finds itself."""
        if step is not None:
            return len(self._items() or ()) if step.gives == LABELS else None
        items = self._rubric.items
        return len(self._material.documents) if items is not None and items.given else None

    def _whole(self) -> Judgement:
        label = str(self._parts[LABEL])
        judgement = Judgement(label, self._rubric.values.get(label), self._reasoning(REASONING))
        if judgement.value is None:
            judgement.unscored = Unjudged.NO_SIGNAL
        return judgement

    def _aggregated(self) -> Judgement:
        rubric = self._rubric
        assert rubric.items is not None, "only labels of items are aggregated"
        claims = self._claims()
        values = [rubric.values[claim.label] for claim in claims if claim.label in rubric.values]
        value = aggregate(values, rubric.items.aggregate, self._how)
        judgement = Judgement(None, value, self._reasoning(EXPLANATION), claims)
        if value is None:
            judgement.unscored = Unjudged.NO_SIGNAL
        return judgement

    def _claims(self) -> list[VerdictClaim]:
        items = self._rubric.items
        assert items is not None, "only a rubric with items has claims"
        labelled = self._parts.get(LABELS)
        if labelled is not None:
            texts = self._material.documents if items.given else self._parts[items.name]
            return [VerdictClaim(texts[item[NUMBER] - 1], item[LABEL], item[REASONING]) for item in labelled]
        listed = self._parts[items.name]
        if not items.given:
            return [VerdictClaim(item[items.text], item[LABEL], item[REASONING]) for item in listed]
        listed = sorted(listed, key=lambda item: int(item[DOCUMENT]))
        ids = self._material.documents
        return [VerdictClaim(ids[item[DOCUMENT] - 1], item[LABEL], item[REASONING]) for item in listed]

    def _reasoning(self, name: str) -> str:
        """Return the judge's own words, with what it wrote down first before them."""
        first = [
            f"{text.name.capitalize()}: {self._parts[text.name]}"
            for text in self._rubric.first
            if self._parts[text.name]
        ]
        return " ".join([*first, str(self._parts[name])])[:MAX_REASONING]
