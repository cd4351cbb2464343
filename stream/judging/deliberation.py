"""Deliberations: one exchange past a judge's steps, from the rules to a jury, each only where the one before is unsure.

A machine without I/O: whoever asks models asks those in `asks`, all at once, and hands their verdicts in. About a share
of the exchanges, chosen by digest, the last step is asked all the same, so that the cascade itself can be measured.
"""

from collections.abc import Sequence

from turnsignal.stream.judging.exchanges import ExchangeRecord
from turnsignal.stream.judging.inquiry import JUDGE, Judgement
from turnsignal.stream.judging.judges import Judge
from turnsignal.stream.judging.sampling import is_sampled
from turnsignal.stream.judging.verdicts import judgement_of
from turnsignal.stream.records.verdicts import LOST, Verdict, VerdictStep

RULES, SMALL, JUROR, JURY = "rules", "small", "juror", "jury"


def is_anchor(exchange: ExchangeRecord, share: float) -> bool:
    """Whether an exchange is among a share of all; independent of which conversations are sampled."""
    key = f"{exchange.conversation_id}\x1f{exchange.turn_id}".encode()
    return is_sampled(key, share, b"anchor")


def is_measured(judge: Judge, exchange: ExchangeRecord) -> bool:
    """Whether the last step of a judge's cascade is asked about an exchange in any case."""
    return judge.part.cascade is not None and is_anchor(exchange, judge.part.cascade.anchor)


class Deliberation:
    """Take one exchange past the steps of a judge.

    asks: whose verdicts come next, none when there is a judgement; judgement: None until then.
    """

    def __init__(self, judge: Judge, exchange: ExchangeRecord) -> None:
        self._rubric = judge.chosen.rubric
        self._cascade, self._jury = judge.part.cascade, judge.part.jury
        self._is_anchor = is_measured(judge, exchange)
        self._to_come = _steps_of(judge)
        self._steps: list[VerdictStep] = []
        self._votes: list[Verdict] = []  # of the judge, where the jury comes next
        self._before: float | None = None  # what the step before came to
        self._sure: Judgement | None = None  # of an anchor
        self.asks: tuple[Judge, ...] = ()
        self.judgement: Judgement | None = None
        self._read_rules(exchange)

    def on_verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Take the verdicts of those in `asks`, in their order."""
        step, _ = self._to_come.pop(0)
        chance = 1.0 if self._sure is None or self._cascade is None else self._cascade.anchor
        for each in verdicts:
            word = JUROR if step == JURY else step
            self._steps.append(VerdictStep(word, each.judge.asked, each.label, each.value, each.unscored, chance))
        if step == JURY and self._jury is not None:
            judgement = self._jury.conclude([*self._votes, *verdicts], self._rubric)
        else:
            self._votes = list(verdicts) if step == JUDGE else []
            judgement = judgement_of(verdicts[0])
        sure = self._cascade is not None and self._cascade.is_sure(judgement.value, self._before, self._rubric)
        self._on_step(step, judgement, is_sure=sure)

    def _read_rules(self, exchange: ExchangeRecord) -> None:
        """Begin with what the rules read, where they say something and take part."""
        rules, cascade = exchange.rules, self._cascade
        if cascade is None or cascade.rules is None or rules is None or rules.unscored is not None:
            self._ask_next()
            return
        value = self._rubric.values.get(rules.label)
        self._steps.append(VerdictStep(RULES, "", rules.label, value))
        detail = f"The rules read {rules.label.replace('_', ' ')}; such a reading is right in {rules.confidence:.0%}."
        sure = value is not None and rules.confidence >= cascade.rules
        self._on_step(RULES, Judgement(rules.label, value, detail), is_sure=sure)

    def _on_step(self, step: str, judgement: Judgement, *, is_sure: bool) -> None:
        """End with a step's judgement where it is sure or the last one; else go on."""
        judgement.decided_by = step
        if judgement.value is not None:
            self._before = judgement.value
        if not self._to_come:
            # An anchor whose last step failed was to be measured by it: others of its kind wait for what becomes of it.
            decides = judgement.value is not None or judgement.unscored in LOST
            self._end(judgement if decides or self._sure is None else self._sure)
        elif not is_sure:
            self._ask_next()
        elif self._is_anchor:
            self._sure, self._to_come = judgement, self._to_come[-1:]
            self._ask_next()
        else:
            self._end(judgement)

    def _ask_next(self) -> None:
        self.asks = self._to_come[0][1][len(self._votes) :]

    def _end(self, judgement: Judgement) -> None:
        judgement.steps = self._steps
        if judgement.unscored in LOST and any(step.step == SMALL and step.unscored in LOST for step in self._steps):
            judgement.decided_by = ""  # the small model might have decided
        self.asks, self.judgement = (), judgement


def _steps_of(judge: Judge) -> list[tuple[str, tuple[Judge, ...]]]:
    """Return the steps after the rules, and whom each of them asks."""
    own = judge.alone
    small = [(SMALL, (judge.small,))] if judge.small is not None else []
    first = [] if judge.part.cascade is None and judge.part.jury is not None else [(JUDGE, (own,))]
    jury = [(JURY, (own, *judge.jurors))] if judge.part.jury is not None else []
    return [*small, *first, *jury]
