"""What a waterfall says: the sentences for whoever knows the product and not this program."""

from collections.abc import Sequence

from turnsignal.stream.reports.waterfall import StageChange, StageFigures, Waterfall, compare_stages
from turnsignal.stream.statistics.claims import SAME
from turnsignal.stream.truth.stages import AnswerStage

#: what is wrong where a stage fails, and so what to mend
MEANINGS = {
    AnswerStage.ROUTING: "the wrong agents were asked",
    AnswerStage.RETRIEVAL: "the right documents did not come, or came too far down",
    AnswerStage.CHUNKS: "the right documents came, but not the passages that matter",
    AnswerStage.GENERATION: "the documents were right, but the answer did not help",
    AnswerStage.FORMAT: "the answer was right, but broke an instruction",
}


def describe_waterfall(
    flow: Waterfall | None,
    versions: Sequence[tuple[str, Waterfall]],
    minimum: int,
    wrongly_cited: int = 0,
    labelled: int = 0,
) -> list[str]:
    """Give the sentences that come first.

    flow: of all answers; versions: those that are compared, by time; minimum: conversations beneath which nothing is
    said; wrongly_cited: answers that fail at no stage and cite a wrong article, of so many with a labelled one.
    """
    if flow is None:
        return ["Nothing is known of any answer, so nothing can be said of where they fail."]
    if flow.conversations < minimum:
        return [f"{flow.conversations:,} conversations are too few to say where answers fail; {minimum} are needed."]
    doubt = f"; but labels say that {wrongly_cited:,} of {labelled:,} cite a wrong article" if wrongly_cited else ""
    if len(versions) < 2:
        return [f"{_capital(in_100(flow.good.value))} answers fail nowhere{doubt}.", *_first(flow, doubted=bool(doubt))]
    (before, theirs), (after, mine) = versions[-2:]
    changes = {change.stage: change for change in compare_stages(mine, theirs)}
    grown = [change for change in changes.values() if change.direction != SAME and change.delta.value > 0]
    sentences = [
        f"In {after}, {in_100(mine.good.value)} answers fail nowhere; in {before}, {in_100(theirs.good.value)}{doubt}."
    ]
    sentences += _first(mine, theirs, changes, after, doubted=bool(doubt))
    others = [change for change in grown if mine.first is None or change.stage is not mine.first.stage]
    for change in others:
        now, was = _rates(change.stage, mine, theirs)
        sentences.append(f"More fail at {change.stage.value}, too, of answers that get that far: {now}, {was} before.")
    if not any(change.direction != SAME for change in changes.values()):
        sentences.append(f"No difference between {after} and {before} is shown at any stage.")
    return sentences


def _first(
    flow: Waterfall,
    before: Waterfall | None = None,
    changes: dict[AnswerStage, StageChange] | None = None,
    version: str = "",
    *,
    doubted: bool = False,
) -> list[str]:
    """Say which stage to mend first, what was with it before, and what mending it would gain.

    doubted: labels say of answers that fail nowhere that they cite a wrong article. What changes is how many fail of
    those that reach the stage. Where that is no other number of all answers, one sentence says both.
    """
    first = flow.first
    if first is None:
        return [] if doubted else ["No answer fails at any stage that is judged."]
    share, name, meaning = in_100(first.share.value), first.stage.value, MEANINGS[first.stage]
    change = (changes or {}).get(first.stage)
    if change is None or before is None or change.direction == SAME:
        sentences = [_capital(f"{share} answers fail at {name}: {meaning}.")]
    else:
        now, was = _rates(first.stage, flow, before)
        if (share, in_100(_of(before, first.stage).share.value)) == (now, was):
            sentences = [f"Since {version}, {share} answers fail at {name}, {was} before: {meaning}."]
        else:
            sentences = [
                f"Since {version}, {now} answers that get that far fail at {name}, {was} before: {meaning}.",
                f"Of all answers that is {share}.",
            ]
    if first.gain is not None and first.gain.value > 0:
        about, low, high = (round(bound * 100) for bound in (first.gain.value, first.gain.low, first.gain.high))
        many = f"about {about}" if about else "fewer than 1"
        sentences.append(f"Mending it would make {many} of those good ({low} to {high} of 100 answers).")
    return sentences


def _rates(stage: AnswerStage, after: Waterfall, before: Waterfall) -> tuple[str, str]:
    """Say how many fail at a stage of the answers that reach it, which is what `compare_stages` compares."""
    rates = (_of(flow, stage).rate for flow in (after, before))
    now, was = ("none" if rate is None else in_100(rate.value) for rate in rates)
    return now, was


def _of(flow: Waterfall, stage: AnswerStage) -> StageFigures:
    return flow.stages[list(AnswerStage).index(stage)]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


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
