"""Deliverables: sentences or list items each of which asks for a text of its own, so that a limit binds one of them.

"Summarize the text in two sentences. Next, list the people." makes more than two sentences, and "Produce: - a title -
3 to 5 bullet points" no answer of 3 to 5 bullet points: other parts stand beside them.
"""

import tomllib
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from turnsignal.stream.names import parse_name
from turnsignal.stream.prompts.bounds import is_least
from turnsignal.stream.prompts.characters import is_character_limit
from turnsignal.stream.prompts.polarity import is_bound
from turnsignal.stream.prompts.reading import Proposal
from turnsignal.stream.prompts.sentences import PlacedSentence
from turnsignal.stream.prompts.wording import mask, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("deliverables.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(
    _BUILT["patterns"],
    **{name.upper(): "".join(line.strip() for line in words.splitlines()) for name, words in _BUILT["words"].items()},
)
_MOST = ("(?ms)(?:^[", r"\A\s*(?:")  #: how patterns begin that forbid more lines or paragraphs
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt


def of_one_deliverable(proposals: list[Proposal], placed: Sequence[PlacedSentence]) -> list[Proposal]:
    """Mark as doubtful the limits that a sentence sets for one of several texts of an answer; in linear time."""
    beside: dict[str, str] = {}
    for run in [*_sequences(placed), *_lists(placed)]:
        for index in run:
            other = run[1] if index == run[0] else run[0]
            beside.setdefault(placed[index].sentence, placed[other].sentence[:_SHOWN])
    return [
        one._replace(doubt=f"may concern one of several parts (“{beside[one.sentences[0]]}”)")
        if one.doubt is None and len(one.sentences) == 1 and one.sentences[0] in beside and _limits(one.check)
        else one
        for one in proposals
    ]


def _limits(check: str) -> bool:
    """Return whether what is put beside a text may exceed a check of it."""
    if check.startswith("pattern.forbid"):
        counts_lines = str(parse_name(check).params.get("regex", "")).startswith(_MOST)
        return counts_lines or is_character_limit(check)
    return check.startswith("case.") or (is_bound(check) and not is_least(check))


def _sequences(placed: Sequence[PlacedSentence]) -> Iterator[list[int]]:
    """Yield the tasks that follow each other: "Summarize …. Next, list …", "Write a headline …. Write a body …"."""
    run: list[int] = []
    heads: set[str] = set()
    for index, one in enumerate(placed):
        masked = mask(one.sentence)
        task = None if one.is_heading else _SAYS["task"].search(masked)
        made = _SAYS["made"].search(masked) if task is not None else None
        text = "" if made is None else made["text"].casefold()
        is_next = task is not None and (task["next"] is not None or (one.follows and _is_more(masked, text, heads)))
        if run and not is_next:
            if len(run) > 1:
                yield run
            run, heads = [], set()
        if task is not None and (run or not task["next"]):
            run.append(index)
            heads |= {text} if text else set()
    if len(run) > 1:
        yield run


def _is_more(masked: str, made: str, heads: Set[str]) -> bool:
    """Return whether a task makes a text of its own beside those before it."""
    if _SAYS["adds"].search(masked) is not None:
        return True
    return bool(made) and bool(heads) and made not in heads


def _lists(placed: Sequence[PlacedSentence]) -> Iterator[list[int]]:
    """Yield the items of lists that are tasks, or parts of the text that the line above has made."""
    lead, run = "", []
    for index, one in enumerate(placed):
        masked = mask(one.sentence)
        if lead and not one.is_heading and not one.follows and _SAYS[lead].search(masked) is not None:
            run.append(index)
            continue
        if len(run) > 1:
            yield run
        is_tasks, is_parts = (_SAYS[key].search(masked) is not None for key in ("lead_of_tasks", "lead_of_parts"))
        lead, run = "task" if is_tasks else "item" if is_parts else "", []
    if len(run) > 1:
        yield run
