"""Steps: sentences that say what is done one after the other in a conversation.

"1. Greet the caller. 2. Ask for the order number. 3. Thank them and end with "Bye."" says how a conversation goes, over
several answers: what one of the steps starts or ends with, or how long it is, holds of no other.
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from turnsignal.stream.prompts.bounds import is_length
from turnsignal.stream.prompts.conditions import names_all
from turnsignal.stream.prompts.edges import is_first, is_last
from turnsignal.stream.prompts.sentences import PlacedSentence
from turnsignal.stream.prompts.wording import mask, read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("steps.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(
    _BUILT["patterns"],
    **{word.upper(): "".join(line.strip() for line in _BUILT[word].splitlines()) for word in ("turn", "act", "talk")},
)
_LED = 2  #: steps in a list below a word for them
_FEW = 3  #: steps in a list below no such word


def steps(placed: Sequence[PlacedSentence]) -> frozenset[int]:
    """Return the indices of the sentences that are steps of a conversation, which goes on over several answers."""
    masked = [mask(one.read) for one in placed]
    lists = [run for run in _numbered(placed) if _is_conversation([masked[at] for at in run], _above(placed, run[0]))]
    sequences = [run for run in _told(placed, masked) if any(_SAYS["turn"].search(masked[at]) for at in run)]
    return frozenset(at for run in [*lists, *sequences] for at in run)


def tells_of_a_dialogue(rules: Iterable[str]) -> bool:
    """Return whether sentences tell how a conversation goes, over several answers.

    rules: masked, without headings.
    """
    return any(_SAYS["course"].search(rule) is not None for rule in rules)


def is_of_step(check: str, masked: str) -> bool:
    """Return whether a check that a step of a conversation asks for may hold of that step alone."""
    return (is_first(check) or is_last(check) or is_length(check)) and not names_all(masked)


def _is_conversation(items: list[str], above: str) -> bool:
    """Return whether most items of a list are steps, and one of them needs a turn of its own."""
    count = sum(_SAYS["step"].search(item) is not None for item in items)
    least = _LED if _SAYS["lead"].search(above) is not None else _FEW
    return least <= count > len(items) / 2 and any(_SAYS["turn"].search(item) is not None for item in items)


def _above(placed: Sequence[PlacedSentence], first: int) -> str:
    """Return the line right above a list."""
    return placed[first - 1].sentence if first else ""


def _numbered(placed: Sequence[PlacedSentence]) -> Iterator[list[int]]:
    """Yield the lists of items that are numbered from 1, as the indices of their sentences."""
    run: list[int] = []
    for at, one in enumerate(placed):
        if run and not one.is_heading and one.number - placed[run[-1]].number in (0, 1) and one.number:
            run.append(at)
            continue
        if run:
            yield run
        run = [at] if one.number == 1 and not one.is_heading and not one.follows else []
    if run:
        yield run


def _told(placed: Sequence[PlacedSentence], masked: Sequence[str]) -> Iterator[list[int]]:
    """Yield the sequences within a paragraph: "First, greet them. Then ask for the order. Then give its status."."""
    run: list[int] = []
    for at, text in enumerate(masked):
        goes_on = bool(run) and placed[at].follows
        if goes_on and _SAYS["next"].search(text) is not None:
            run.append(at)
        elif not goes_on:
            if len(run) > 1:
                yield run
            run = [at] if _SAYS["first"].search(text) is not None else []
    if len(run) > 1:
        yield run
