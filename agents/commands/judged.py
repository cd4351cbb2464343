"""Why an answer was not judged, and who judged it at which price, in words for `turnsignal conversation`."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from turnsignal.agents.report.escaping import safe
from turnsignal.stream.judging.judges import readable_rubric
from turnsignal.stream.judging.sampling import is_sampled
from turnsignal.stream.records.scores import Stage
from turnsignal.stream.suite import Suite

#: what became of an answer without a verdict's value, by its reason
_WHY = {
    "sampled_out": "sampled out",
    "budget": "over budget",
    "timeout": "no answer in time",
    "provider": "the endpoint failed",
    "parse": "the reply does not fit",
    "error": "turnsignal failed",
}
#: the same, where no call was made for it
_WHY_UNASKED = _WHY | {
    "timeout": "it waited for too long to be asked",
    "provider": "the endpoint was left alone, as it failed with others",
}


def explain_verdict(row: Mapping[str, Any]) -> Iterator[str]:
    """Describe a verdict row: whose it is, what it cost, or why it has no value."""
    about = row.get("verdict") or {}
    share = f"{about.get('inclusion', 0):g}"
    asked = about.get("asked", True)
    for score in row["scores"]:
        if reason := score.get("unscored"):
            why = (_WHY if asked else _WHY_UNASKED).get(reason, reason)
            chance = f" (probability {share})" if reason == "sampled_out" else ""
            yield f"      [yellow]not judged: {safe(why, 60)}{chance}[/yellow]"
    who = f"{safe(about.get('provider'), 60)}:{safe(about.get('model'), 100)}, {safe(about.get('rubric'), 100)}"
    cost = f", cost {about['cost']:g}" if about.get("cost") else ""
    cut = f", cut: {safe(', '.join(about['cut']), 100)}" if about.get("cut") else ""
    how = f"asked with probability {share}" if asked else "not asked"
    yield f"      [dim]{who} version {about.get('version')}, {how}{cost}{cut}[/dim]"


def explain_waiting(queued: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Describe the exchanges that wait for a judge.

    queued: exchanges of a conversation in the judges' queue; rows: its score rows.
    """
    judged = {(row.get("verdict") or {}).get("row") for row in rows if row.get("stage") == Stage.VERDICT}
    replaced = {row.get("replaces") for row in rows}
    for exchange in queued:
        if exchange.get("row") not in judged | replaced:
            what = f"turn {safe(exchange.get('turn_id'), 80)}, {safe(exchange.get('stage'), 20)}"
            yield f"  [yellow]not judged: waits[/yellow]  {what}"


def choose_judged(suite: Suite, queued: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the exchanges of a queue that a judge of the suite is asked about, as far as that can be known here."""
    rubrics = [readable_rubric(part) for part in suite.judges]
    stages = {rubric.stage for rubric in rubrics if rubric is not None}
    return [exchange for exchange in queued if None in rubrics or exchange.get("stage") in stages]


def explain_unqueued(suite: Suite, conversation_id: str) -> str:
    """Say why a suite queues nothing of a conversation for its judges, "" where it has none or queues it."""
    share = suite.exchanges.share
    if not suite.judges or is_sampled(conversation_id.encode(), share):
        return ""
    return f"its conversation is not in the share of {share:g} that is queued for judges ([exchanges] share)"
