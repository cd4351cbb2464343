"""Judges of a suite, with the rubrics that stand in files of a user's own."""

from collections.abc import Sequence

from turnsignal.stream.judging.judges import Judge, JudgePart, JudgingPart, make_judge
from turnsignal.stream.judging.rubric_files import load_rubric
from turnsignal.stream.redaction import Redaction


def load_judges(parts: Sequence[JudgePart], judging: JudgingPart, redaction: Redaction | None) -> list[Judge]:
    """Put judges together, with rubrics from files; raises ConfigError."""
    chosen = "" if redaction is None else redaction.chosen
    return [make_judge(part, judging, load_rubric(part.rubric), chosen) for part in parts]
