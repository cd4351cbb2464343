"""Human scores: what people said of answers in an export, by its ids → feedback on the turns that were read."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import orjson

from turnsignal.agents.files.reading import Origin, TurnFile, read_lines
from turnsignal.agents.files.spool import Spool
from turnsignal.stream.errors import Refused
from turnsignal.stream.formats.human_scores import HumanScore
from turnsignal.stream.formats.protocol import LogFormat
from turnsignal.stream.formats.values import timestamp
from turnsignal.stream.records.feedback import decode_feedback

_SHARE = 100_000  #: scores that are held at a time
_ABSENT = "scores of answers that are not in these files left out"
_UNFIT = "scores that no feedback can hold left out"


class ScoredFile(NamedTuple):
    """Files of one format that were read.

    turns: as they were written; origins: where they stood; assumed: where what is left out is counted.
    """

    turns: Path
    format: LogFormat
    origins: tuple[Origin, ...]
    human_scores: Spool[HumanScore]
    assumed: Counter[str]


def in_shares(scores: Iterable[HumanScore]) -> Iterator[list[HumanScore]]:
    """Give scores in lists of bounded length; whoever looks something up for one does it for its whole list."""
    left = iter(scores)
    while share := list(islice(left, _SHARE)):
        yield share


class _Answer(NamedTuple):
    conversation_id: str
    turn_id: str
    timestamp: str


def write_feedback(files: Sequence[ScoredFile], directory: Path) -> Iterator[TurnFile]:
    """Write the scores of files as feedback, one file for each that has any; a score may be of another file's answer.

    A score of a trace is one of its last answer. What names no answer that was read is counted. Scores that runs sum up
    are left out where any is given by itself.
    """
    for number, file in enumerate(files):
        are_given = any(not score.summed for score in file.human_scores.all())
        path = directory / f"feedback-{number}.jsonl"
        with path.open("wb") as out:
            wanted = (score for score in file.human_scores.all() if not (are_given and score.summed))
            for scores in in_shares(wanted):
                answers = dict(_answers(files, {about for score in scores for about in score.about}))
                for score in scores:
                    if (line := _feedback(score, answers, file.assumed)) is not None:
                        out.write(line)
            is_empty = not out.tell()
        if not is_empty:
            yield TurnFile(path, file.origins)


def _answers(files: Sequence[ScoredFile], wanted: set[str]) -> Iterator[tuple[str, _Answer]]:
    """Give the answers that have any of the ids, the last one of each last."""
    for file in files:
        for block in read_lines(file.turns):
            for line in block.lines:
                turn = orjson.loads(line)
                if turn["role"] == "assistant":
                    origin = (turn.get("metadata") or {}).get("origin") or turn["turn_id"]
                    for named in wanted.intersection(file.format.origin(origin).values()):
                        yield named, _Answer(turn["conversation_id"], turn["turn_id"], turn["timestamp"])


def _feedback(score: HumanScore, answers: dict[str, _Answer], assumed: Counter[str]) -> bytes | None:
    answer = next((answers[about] for about in score.about if about in answers), None)
    if answer is None:
        assumed[_ABSENT] += 1
        return None
    given = {key: value for key, value in msgspec.to_builtins(score).items() if key not in ("about", "time", "summed")}
    when = answer.timestamp if score.time is None else timestamp(score.time)
    line = orjson.dumps({**given, **answer._asdict(), "timestamp": when})
    try:
        decode_feedback(line)
    except Refused:
        assumed[_UNFIT] += 1
        return None
    return line + b"\n"
