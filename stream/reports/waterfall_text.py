"""What a waterfall says: the sentences for whoever knows the product and not this program."""

from collections.abc import Collection, Mapping, Sequence

from turnsignal.stream.pipeline.release_times import with_release
from turnsignal.stream.reports.waterfall import (
    BLAMED_BEFORE,
    StageChange,
    StageFigures,
    Waterfall,
    compare_stages,
    lost_evidence,
)
from turnsignal.stream.statistics.directions import SAME
from turnsignal.stream.text.visible import capital
from turnsignal.stream.truth.stages import AnswerStage, Basis

#: what is wrong where a stage fails, and so what to mend
MEANINGS = {
    AnswerStage.ROUTING: "the wrong agents were asked",
    AnswerStage.RETRIEVAL: "the right documents did not come, or came too far down",
    AnswerStage.CHUNKS: "the right documents came, but not the passages that matter",
    AnswerStage.GENERATION: "the documents were right, but the answer did not help",
    AnswerStage.FORMAT: "the answer was right, but broke an instruction",
}
#: The same of generation where citations tell that documents were right.
_BY_CITATIONS = (
    "the answer did not help; by what it cites its documents were right, but citations cannot tell documents on another"
    " subject from the right ones"
)
#: The same where it is not known whether the stage before it was right; and what that would be.
_BLAMELESS = {
    AnswerStage.CHUNKS: ("the passages that matter did not come", "the right documents came"),
    AnswerStage.GENERATION: ("the answer did not help", "its documents were right"),
    AnswerStage.FORMAT: ("the answer broke an instruction", "it was right otherwise"),
}
_NEARLY_ALL = 0.95  #: share of failing answers of which it is enough to know what was right before
_HALF = 0.5  #: share of answers of which retrieval or generation is known, beneath which that comes first
_NEEDED = AnswerStage.RETRIEVAL, AnswerStage.GENERATION  #: what `fails nowhere` rests on


def describe_waterfall(
    flow: Waterfall | None,
    versions: Sequence[tuple[str, Waterfall]],
    minimum: int,
    wrongly_cited: int = 0,
    labelled: int = 0,
    *,
    by_citations: bool = False,
) -> list[str]:
    """Give the sentences that come first.

    flow: of all answers; versions: those that are compared, by time; minimum: conversations beneath which nothing is
    said; wrongly_cited: answers that fail at no stage and cite a wrong article, of so many with a labelled one;
    by_citations: that documents were right is mostly told by what was cited, as `told_by_citations` says.
    """
    if flow is None:
        return ["Nothing is known of any answer, so nothing can be said of where they fail."]
    if flow.conversations < minimum:
        return [f"{flow.conversations:,} conversations are too few to say where answers fail; {minimum} are needed."]
    of_those = f"; but of those, labels say that {wrongly_cited:,} cite a wrong article"
    doubt = f"{of_those} ({labelled:,} answers have a labelled one)" if wrongly_cited else ""
    if len(versions) < 2:
        return [
            *_unknown(flow),
            *_good(flow, minimum, doubt),
            *_first(flow, doubted=bool(doubt), by_citations=by_citations),
        ]
    (before, theirs), (after, mine) = versions[-2:]
    changes = {change.stage: change for change in compare_stages(mine, theirs, minimum)}
    grown = [change for change in changes.values() if change.direction != SAME and change.delta.value > 0]
    lost = lost_evidence(mine, theirs)
    sentences = [_lost(stage, versions[-2:]) for stage in lost]
    sentences += _unknown(mine, after, set(lost))
    sentences += _good_before_and_after(versions[-2:], minimum, doubt)
    sentences += _first(mine, theirs, changes, after, doubted=bool(doubt), by_citations=by_citations)
    others = [change for change in grown if mine.first is None or change.stage is not mine.first.stage]
    for change in others:
        name, reached = change.stage.value, _reached(change)
        now, was = in_100(change.now), in_100(change.was)
        sentences.append(f"More fail at {name}, too, of {reached}: {now}, {was} before.")
    if not any(change.direction != SAME for change in changes.values()):
        where = " that is known in both" if lost else ""
        sentences.append(f"No difference between {after} and {before} is shown at any stage{where}.")
    return sentences


def told_by_citations(known_by: Mapping[str, Mapping[str, int]]) -> bool:
    """Say whether documents were right is mostly told by the ranking of what was cited, as where few have labels.

    An answer that renders a wrong document well cites it all the same. known_by: as `bases` gives it.
    """
    known = known_by.get(AnswerStage.RETRIEVAL.value, {})
    return known.get(Basis.DIAGNOSIS.value, 0) > known.get(Basis.TRUTH.value, 0)


def describe_meaning(stage: AnswerStage, failed: int, right_before: int, *, by_citations: bool = False) -> str:
    """Say what is wrong where a stage fails; right_before: failing answers whose stage before it is known to be right.

    by_citations: that documents were right is told by what was cited.

    >>> describe_meaning(AnswerStage.GENERATION, 17, 0)
    'the answer did not help; whether its documents were right is not known'
    """
    by_citations = by_citations and stage is AnswerStage.GENERATION
    if stage not in BLAMED_BEFORE or not failed or right_before >= _NEARLY_ALL * failed:
        return _BY_CITATIONS if by_citations else MEANINGS[stage]
    wrong, right = _BLAMELESS[stage]
    source = ", by what was cited," if by_citations else ""
    known = f"known{source} of {right_before:,} of {failed:,} only" if right_before else "not known"
    return f"{wrong}; whether {right} is {known}"


def _lost(stage: AnswerStage, versions: Sequence[tuple[str, Waterfall]]) -> str:
    """Say that a stage is known of fewer answers than before."""
    (before, theirs), (after, mine) = versions
    name = capital(stage.value)
    rest = "it cannot be compared" if not _known(mine, stage) else "it is compared of those alone"
    now, was = _of_all(mine, stage), _of_all(theirs, stage)
    return f"{name} is known of {now} answers in {after}, of {was} in {before}: {rest}."


def _unknown(flow: Waterfall, version: str = "", left_out: Collection[AnswerStage] = ()) -> list[str]:
    """Say which of the stages that `fails nowhere` rests on is known of few answers."""
    where = f" in {version}" if version else ""
    return [
        f"{capital(stage.value)} is known of {_of_all(flow, stage)} answers{where}."
        for stage in _NEEDED
        if stage not in left_out and _of(flow, stage).known.value < _HALF
    ]


def _good(flow: Waterfall, minimum: int, doubt: str) -> list[str]:
    """Say how many answers fail nowhere, of those of which the stages are known."""
    if (share := _share_of_good(flow, minimum)) is None:
        return [f"How many answers fail nowhere is not known{doubt}."]
    return [f"{capital(share)} answers fail nowhere{_basis([flow])}{doubt}."]


def _good_before_and_after(versions: Sequence[tuple[str, Waterfall]], minimum: int, doubt: str) -> list[str]:
    (before, theirs), (after, mine) = versions
    now, was = _share_of_good(mine, minimum), _share_of_good(theirs, minimum)
    after, before = with_release("in", after), with_release("in", before)
    if now is not None and was is not None:
        return [capital(f"{after}, {now} answers fail nowhere; {before}, {was}{_basis([mine, theirs])}{doubt}.")]
    if was is not None:
        known = capital(f"{before}, {was} answers fail nowhere{_basis([theirs])}")
        return [f"{known}; of how many that holds {after} is not known{doubt}."]
    if now is not None:
        known = capital(f"{after}, {now} answers fail nowhere{_basis([mine])}")
        return [f"{known}; of how many that held {before} is not known{doubt}."]
    return [f"How many answers fail nowhere is not known{doubt}."]


def _share_of_good(flow: Waterfall, minimum: int) -> str | None:
    """Return the share as it is said; None where too few conversations have an answer of which the stages are known."""
    return None if flow.good is None or flow.good.n < minimum else in_100(flow.good.value)


def _basis(flows: Sequence[Waterfall]) -> str:
    """Say of how many answers a share is, where that is not of all."""
    if all(flow.complete == flow.total for flow in flows):
        return ""
    counts = " and ".join(f"{flow.complete:,} of {flow.total:,}" for flow in flows)
    return f" (of those whose retrieval and generation are known, or that are no answers: {counts})"


def _of_all(flow: Waterfall, stage: AnswerStage) -> str:
    known = _known(flow, stage)
    return f"{known:,} of {flow.total:,}" if known else f"none of {flow.total:,}"


def _known(flow: Waterfall, stage: AnswerStage) -> int:
    return round(_of(flow, stage).known.value * flow.total)


def _first(
    flow: Waterfall,
    before: Waterfall | None = None,
    changes: dict[AnswerStage, StageChange] | None = None,
    version: str = "",
    *,
    doubted: bool = False,
    by_citations: bool = False,
) -> list[str]:
    """Say which stage to mend first, what was with it before, and what mending it would gain.

    doubted: labels say of answers that fail nowhere that they cite a wrong article. What changes is how many fail of
    those that reach the stage. Where that is no other number of all answers, one sentence says both.
    """
    first = flow.first
    if first is None:
        return [] if doubted else ["No answer fails at any stage that is judged."]
    share, name = in_100(first.share.value), first.stage.value
    meaning = describe_meaning(first.stage, first.failed, first.right_before, by_citations=by_citations)
    change = (changes or {}).get(first.stage)
    is_rare = first.known.value < _HALF
    since = capital(with_release("since", version))
    if change is None or before is None or change.direction == SAME:
        sentences = [capital(f"{share} answers{_judged(flow)} fail at {name}: {meaning}.")]
    else:
        now, was = in_100(change.now), in_100(change.was)
        if (share, in_100(_of(before, first.stage).share.value)) == (now, was):
            sentences = [f"{since}, {share} answers{_judged(flow)} fail at {name}, {was} before: {meaning}."]
        else:
            sentences = [f"{since}, {now} {_reached(change)} fail at {name}, {was} before: {meaning}."]
            sentences += [] if is_rare else [f"Of all answers{_judged(flow)} that is {share}."]
    if is_rare:  # of the others it may be the same, so a share of all, and the gain, would be far too low
        known = _of_all(flow, first.stage)
        sentences.append(f"What mending it would gain is not known: {name} is known of {known} answers.")
    elif first.gain is not None and first.gain.value > 0:
        about, low, high = (round(bound * 100) for bound in (first.gain.value, first.gain.low, first.gain.high))
        many = f"about {about}" if about else "fewer than 1"
        sentences.append(
            f"Mending {_or_before(first)} would make {many} of those good ({low} to {high} of 100 answers)."
        )
    return sentences


def _or_before(figures: StageFigures) -> str:
    """Name what to mend, with the stage before where it is not known of most failing answers that this was right."""
    earlier = BLAMED_BEFORE.get(figures.stage)
    if earlier is not AnswerStage.RETRIEVAL or figures.right_before >= _HALF * figures.failed:
        return "it"
    return f"it, or {earlier.value} where that was wrong,"


def _reached(change: StageChange) -> str:
    """Name the answers that `compare_stages` compares: those that reach a stage, and are known alike."""
    return f"answers that get that far{' and are known alike' if change.in_parts else ''}"


def _judged(flow: Waterfall) -> str:
    """Say of which answers shares are, where that is not of all."""
    return "" if flow.answers == flow.total else " of which anything is known"


def _of(flow: Waterfall, stage: AnswerStage) -> StageFigures:
    return flow.stages[list(AnswerStage).index(stage)]


def in_100(share: float) -> str:
    """Write a share as people say it: `31 of 100`, and of a thousand where it is less than one.

    >>> in_100(0.314), in_100(0.004), in_100(0)
    ('31 of 100', '4 of 1,000', 'none of 100')
    """
    if share <= 0:
        return "none of 100"
    if share * 100 >= 0.95:
        return f"{round(share * 100)} of 100"
    return f"{max(1, round(share * 1000))} of 1,000"
