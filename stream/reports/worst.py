"""Worst exchanges: the few that went worst, with their texts, so that a reader of figures can read what is behind them.

An exchange is as bad as what it lost: 1 − relevancy, 1 − compliance and 1 − follow-up together, and 1 more where the
answer is empty, an error or a refusal. What was not scored adds nothing, so that nobody looks bad for lack of evidence.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
import orjson

from turnsignal.stream.checks.protocol import Result
from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.pairing import ASSISTANT, USER, PendingResponse
from turnsignal.stream.conversations.state import Conversation
from turnsignal.stream.pipeline.scoring import Scored
from turnsignal.stream.records.scores import FOLLOW_UP
from turnsignal.stream.records.turns import Turn

SHOWN = 10  #: exchanges that a replay reports
TEXT_SHOWN = 400  #: characters of each text

_KEPT = SHOWN + 2  #: exchanges that a partition holds, so that some are left when a late turn mends others
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

    def as_json(self) -> dict[str, Any]:
        """Return it as one line of `worst.jsonl`."""
        return msgspec.to_builtins(self) | {"loss": round(self.loss, 6)}  # type: ignore[no-any-return]


class WorstExchanges:
    """Keep the worst exchanges of one partition, at most one of each conversation."""

    def __init__(self) -> None:
        self._kept: dict[bytes, WorstExchange] = {}
        self._floor = _LEAST_LOSS

    def read_response(self, state: Conversation, turn: Turn, scored: Scored, *, failed: bool) -> WorstExchange | None:
        """Return a scored response, of which no follow-up is known yet; None where it lost too little to be kept."""
        loss = _loss(scored.relevancy, scored.compliance) + failed
        if loss <= self._floor:
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
        if worst.loss > self._floor:
            self._keep(key, worst)

    def drop(self, key: bytes, turn_id: str) -> None:
        """Leave out a response that another one supersedes."""
        known = self._kept.get(key)
        if known is not None and known.turn_id == turn_id:
            del self._kept[key]
            self._floor = _LEAST_LOSS

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
        if loss <= self._floor:
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
        for key, worst in other._kept.items():
            self._keep(key, worst)

    def rows(self) -> list[dict[str, Any]]:
        """Return the worst ones, the worst first."""
        return [worst.as_json() for worst in sorted(self._kept.values(), key=_order)[:SHOWN]]

    def _keep(self, key: bytes, worst: WorstExchange) -> None:
        known = self._kept.get(key)
        if known is not None and _order(known) < _order(worst):
            return
        self._kept[key] = worst
        if len(self._kept) > _KEPT:
            del self._kept[max(self._kept, key=lambda held: _order(self._kept[held]))]
            self._floor = min(held.loss for held in self._kept.values())


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
