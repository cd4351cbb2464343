"""Judges of a suite, with the rubrics that stand in files of a user's own."""

from collections.abc import Sequence
from pathlib import Path

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.judging.judges import Judge, JudgePart, JudgingPart, is_rubric_file, make_judge
from turnsignal.stream.judging.rubric_files import ChosenRubric, choose_rubric, parse_rubric
from turnsignal.stream.redaction import Redaction


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
    return ChosenRubric(rubric)


def load_judges(parts: Sequence[JudgePart], judging: JudgingPart, redaction: Redaction | None) -> list[Judge]:
    """Put judges together, with rubrics from files; raises ConfigError."""
    fingerprint = "" if redaction is None else redaction.fingerprint
    return [make_judge(part, judging, load_rubric(part.rubric), fingerprint) for part in parts]
