"""Logs of supervisors: what a worker wrote is sent behind the question, and its user sees the last answer alone."""

from pathlib import Path
from typing import Any

import pytest

from tests.agents.files.gateway_logs import call_after, read
from tests.stream.formats.told_conversations import Said, answer_to, conversations

HELP, ROUTE = "You are the assistant of Acme.", "You are a supervisor. Name a worker, and its task."
WORKERS = {"support": "You are the support specialist.", "billing": "You are the billing specialist."}


def draft_of(said: Said, worker: str) -> str:
    return f"Notes of {worker}: the page has number {said.at}, the user chooses what is needed."


def records_of(told: list[list[Said]], *, workers: list[str], kept: bool, routed: bool, named: bool) -> list[Any]:
    """Return a gateway's records. kept: drafts stand in the histories, too; routed: a call names the worker first."""
    records: list[Any] = []

    def call(said: Said, step: int, instructions: str, messages: list[Any], answer: str) -> None:
        sent = [{"role": "system", "content": instructions}, *messages]
        records.append(call_after(said, 2 * step, sent, answer, named=named))

    for questions in told:
        history: list[Any] = []
        for said in questions:
            asked = [*history, {"role": "user", "content": said.typed}]
            drafts = [{"role": "assistant", "name": each, "content": draft_of(said, each)} for each in workers]
            if routed:
                call(said, 0, ROUTE, asked, f"{workers[0]}: look up the page {said.at}, and say what to choose")
            for step, (worker, draft) in enumerate(zip(workers, drafts, strict=True), 1):
                task = {"role": "user", "content": f"Find the page. The user wrote: {said.typed}"}
                call(said, step, WORKERS[worker], [task], draft["content"])
            call(said, 9, HELP, [*asked, *drafts], answer_to(said))
            history = [*asked, *(drafts if kept else []), {"role": "assistant", "content": answer_to(said)}]
    return records


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("routed", [True, False])
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("workers", [["support"], ["support", "billing"]])
def test_drafts_of_workers_are_no_turns(
    workers: list[str], kept: bool, routed: bool, named: bool, tmp_path: Path
) -> None:
    told = conversations()
    records = records_of(told, workers=workers, kept=kept, routed=routed, named=named)
    said, warnings = read(tmp_path / "log.jsonl", records)
    assert said == sorted([text for each in questions for text in (each.typed, answer_to(each))] for questions in told)
    assert any("calls are left out as beside the conversation" in warning for warning in warnings)
