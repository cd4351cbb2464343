"""Worst exchanges: the few that went worst, with their texts, so that a reader of figures can read what is behind them.

Who looks wants those of the release that got worse, so some of each release are kept: few values are possible, and
another release's would be as bad.

An exchange is as bad as what it lost: 1 − relevancy, 1 − compliance and 1 − follow-up together, and 1 more where the
answer is empty, an error or a refusal. What was not scored adds nothing, so that nobody looks bad for lack of evidence.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import msgspec
import orjson

from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.pairing import ASSISTANT, USER, PendingResponse
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.pipeline.scoring import Scored
from turnsignal.stream.records.scores import FOLLOW_UP
from turnsignal.stream.records.turns import Turn
from turnsignal.stream.statistics.directions import WORSE

SHOWN = 10  #: exchanges that a replay reports
TEXT_SHOWN = 400  #: characters of each text

_KEPT = SHOWN + 2  #: exchanges that a partition holds of a release: some are left when a late turn mends others
_RELEASES = 64  #: whose exchanges are kept; beyond them the one whose worst is least bad is left out
_OF_WORSE = SHOWN // 2  #: exchanges of releases that got worse that are shown, however bad those of others are
_LEAST_LOSS = 0.5  #: what lost less is no bad exchange


class WorstExchange(msgspec.Struct, kw_only=True):
    """One exchange that went badly. Texts are cut to `TEXT_SHOWN` characters.

    loss: what it lost, 0 to 4; relevancy, compliance, follow_up: 0 to 1, None when unscored; label: of the follow-up;
    failed: the answer is empty, an error or a refusal; broken: names of the checks that it fails; prompt, answer,
    reply: what was said before, by the assistant, and next.
    """

    conversation_id: str
    turn_id: str
    assistant: str
    version: str | None
    loss: float
    relevancy: float | None
    compliance: float | None
    follow_up: float | None = None
    label: str | None = None
    failed: bool = False
    broken: tuple[str, ...] = ()
    diagnosis: str = ""
    prompt: str = ""
    answer: str = ""
    reply: str | None = None

    @property
    def release(self) -> Release:
        """Return whose it is."""
        return self.assistant, self.version

    def as_json(self) -> dict[str, Any]:
        """Return it as one line of `worst.jsonl`."""
        return msgspec.to_builtins(self) | {"loss": round(self.loss, 6)}  # type: ignore[no-any-return]


class WorstExchanges:
    """Keep the worst exchanges of each release in one partition, at most one of each conversation."""

    def __init__(self) -> None:
        self._kept: dict[Release, dict[bytes, WorstExchange]] = {}
        self._release_of: dict[bytes, Release] = {}  # of each conversation that is kept
        self._floors: dict[Release, float] = {}  # what lost no more is not kept

    def read_response(self, state: Conversation, turn: Turn, scored: Scored, *, failed: bool) -> WorstExchange | None:
        """Return a scored response, of which no follow-up is known yet; None where it lost too little to be kept."""
        loss = _loss(scored.relevancy, scored.compliance) + failed
        if loss <= self._floors.get((turn.assistant, turn.version), _LEAST_LOSS):
            return None
        before = next((before for before in reversed(state.kept) if before.role != ASSISTANT), None)
        return WorstExchange(
            conversation_id=turn.conversation_id,
            turn_id=turn.turn_id,
            assistant=turn.assistant,
            version=turn.version,
            loss=loss,
            relevancy=scored.relevancy,
            compliance=scored.compliance,
            failed=failed,
            broken=tuple(check for check, result in scored.findings if result is Result.FAIL),
            prompt=before.text[:TEXT_SHOWN] if before is not None and before.role == USER else "",
            answer=turn.text[:TEXT_SHOWN],
        )

    def add(self, key: bytes, worst: WorstExchange) -> None:
        """Take in a response that was read."""
        if worst.loss > self._floors.get(worst.release, _LEAST_LOSS):
            self._keep(key, worst)

    def drop(self, key: bytes, turn_id: str) -> None:
        """Leave out a response that another one supersedes."""
        known = self._known(key)
        if known is not None and known.turn_id == turn_id:
            self._leave_out(key, known.release)

    def on_follow_up(
        self,
        key: bytes,
        turn_id: str,
        answer: PendingResponse,
        scored: Scored,
        around: Exchange,
        *,
        failed: bool,
        broken: Iterable[str] = (),
    ) -> None:
        """Take in what followed a response, in place of what was known to follow it.

        failed: whether the response is empty, an error or a refusal; broken: names of the checks that it fails.
        """
        loss = _loss(answer.relevancy, answer.compliance) + failed
        if answer.strict is not None:
            loss += 1 - answer.strict
        self.drop(key, turn_id)  # it may have been mended
        if loss <= self._floors.get((answer.assistant, answer.version), _LEAST_LOSS):
            return
        worst = WorstExchange(
            conversation_id=key.decode(),
            turn_id=turn_id,
            assistant=answer.assistant,
            version=answer.version,
            loss=loss,
            relevancy=answer.relevancy,
            compliance=answer.compliance,
            follow_up=answer.strict,
            label=_label(scored),
            failed=failed,
            broken=tuple(broken),
            diagnosis=scored.diagnosis,
            prompt=around.prompt[:TEXT_SHOWN],
            answer=around.response[:TEXT_SHOWN],
            reply=around.follow_up[:TEXT_SHOWN],
        )
        self._keep(key, worst)

    def merge(self, other: "WorstExchanges") -> None:
        """Add another partition's."""
        for kept in other._kept.values():
            for key, worst in kept.items():
                self._keep(key, worst)

    def rows(self, worse: Collection[Release] = ()) -> list[dict[str, Any]]:
        """Return the worst ones, the worst first. worse: releases of which some are shown whatever others did."""
        ordered = sorted((worst for kept in self._kept.values() for worst in kept.values()), key=_order)
        first = [worst for worst in ordered if worst.release in worse][:_OF_WORSE]
        others = [worst for worst in ordered if worst not in first][: SHOWN - len(first)]
        return [worst.as_json() for worst in sorted([*first, *others], key=_order)]

    def _known(self, key: bytes) -> WorstExchange | None:
        release = self._release_of.get(key)
        return None if release is None else self._kept[release][key]

    def _keep(self, key: bytes, worst: WorstExchange) -> None:
        known, release = self._known(key), worst.release
        if known is not None:
            if _order(known) < _order(worst):
                return
            self._leave_out(key, known.release)
        kept = self._kept.setdefault(release, {})
        kept[key] = worst
        self._release_of[key] = release
        if len(kept) > _KEPT:
            self._leave_out(max(kept, key=lambda each: _order(kept[each])), release)
            self._floors[release] = min(each.loss for each in kept.values())
        if len(self._kept) > _RELEASES:
            least = max(self._kept, key=lambda each: min(map(_order, self._kept[each].values())))
            for each in list(self._kept[least]):
                self._leave_out(each, least)

    def _leave_out(self, key: bytes, release: Release) -> None:
        del self._kept[release][key], self._release_of[key]
        self._floors.pop(release, None)
        if not self._kept[release]:
            del self._kept[release]


def worse_releases(comparisons: Iterable[Mapping[str, Any]]) -> set[Release]:
    """Return the releases that are named worse in some figure, or in a part of their traffic.

    comparisons: as a summary has them.
    """
    return {
        (row["assistant"], row["after"])
        for row in comparisons
        if "affected_parts" in row or any(delta["verdict"] == WORSE for delta in row["deltas"].values())
    }


def _order(worst: WorstExchange) -> tuple[float, str, str]:
    return -worst.loss, worst.conversation_id, worst.turn_id


def _loss(relevancy: float | None, compliance: float | None) -> float:
    return (0.0 if relevancy is None else 1 - relevancy) + (0.0 if compliance is None else 1 - compliance)


def _label(scored: Scored) -> str | None:
    """Return the label of the follow-up, from a row that is encoded already."""
    for score in orjson.loads(orjson.dumps(scored.scores)):
        if score["scorer"] == FOLLOW_UP:
            label: str | None = score.get("label")
            return label
    return None
