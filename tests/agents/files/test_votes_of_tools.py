"""Votes that people gave in named tools are those of the answers, each once; what is no vote of a person is told."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner

from tests.agents.files.test_human_scores import heard, written
from tests.stream.formats.told_conversations import Said, answer_to, conversations
from turnsignal.agents.cli import turnsignal
from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.stream.formats.values import timestamp

TOLD = conversations(30)
SAID = [said for talk in TOLD for said in talk]
BEGAN = 1_750_000_000
Logged = list[dict[str, Any]]


def vote_on(said: Said) -> int | None:
    """The truth: every third answer got no vote, half of the others are disliked."""
    return (None, 1, -1)[(said.conversation + 2 * said.nth) % 3]


def named(said: Said) -> str:
    return f"{said.conversation}-{said.nth}"


TRUTH = {f"{answer_to(said)} of c{said.conversation}": vote for said in SAID if (vote := vote_on(said)) is not None}


def at(said: Said, after: float = 0) -> str:
    return timestamp(BEGAN + said.at + after)


def asked_until(said: Said) -> Logged:
    history: Logged = []
    for one in TOLD[said.conversation][: said.nth]:
        history += [{"role": "user", "content": one.typed}, {"role": "assistant", "content": answer_to(one)}]
    return [*history, {"role": "user", "content": said.typed}]


def mlflow(said: Said) -> dict[str, Any]:
    """A trace with a person's vote, a judge's verdict, and what a person had expected."""
    kind, asked, got = (orjson.dumps(value).decode() for value in ("CHAIN", {"question": said.typed}, answer_to(said)))
    given = {"mlflow.spanType": kind, "mlflow.spanInputs": asked, "mlflow.spanOutputs": got}
    start = int((BEGAN + said.at) * 1e9)
    span = {"span_id": f"s{named(said)}", "parent_span_id": None, "attributes": given}
    span |= {"start_time_unix_nano": start, "end_time_unix_nano": start + 2_000_000_000}
    person = {"source": {"source_type": "HUMAN", "source_id": "ann"}, "create_time": at(said, 5)}
    judge = {"source": {"source_type": "LLM_JUDGE", "source_id": "gpt"}, "create_time": at(said, 5)}
    vote = vote_on(said)
    assessments = [
        {**judge, "assessment_id": f"j{named(said)}", "assessment_name": "user_feedback", "feedback": {"value": False}},
        {**person, "assessment_id": f"e{named(said)}", "assessment_name": "answer", "expectation": {"value": "So."}},
    ]
    if vote is not None:
        feedback = {"assessment_name": "user_feedback", "feedback": {"value": vote == 1}, "rationale": "I say so."}
        replaced = {**feedback, "feedback": {"value": vote != 1}, "valid": False}
        assessments += [
            {**person, "assessment_id": f"{n}{named(said)}", **each}
            for n, each in zip("ar", (feedback, replaced), strict=True)
        ]
    metadata = {"mlflow.trace.session": f"c{said.conversation}"}
    info = {"trace_id": f"tr-{named(said)}", "request_time": at(said), "trace_metadata": metadata}
    return {"info": {**info, "assessments": assessments}, "data": {"spans": [span]}}


def langsmith(said: Said, **more: Any) -> dict[str, Any]:
    vote = vote_on(said)
    stats = (
        {"user_score": {"n": 1, "avg": (vote + 1) / 2, "values": {}, "comments": ["I say so."], **more}}
        if vote
        else None
    )
    run = {"id": f"r{named(said)}", "trace_id": f"r{named(said)}", "run_type": "chain", "feedback_stats": stats}
    run |= {"start_time": at(said), "end_time": at(said, 2), "inputs": {"question": said.typed}}
    metadata = {"metadata": {"thread_id": f"c{said.conversation}"}}
    return {**run, "outputs": {"output": answer_to(said)}, "extra": metadata}


def feedback_of(said: Said) -> dict[str, Any]:
    vote = vote_on(said) or 0
    given = {
        "key": "user_score",
        "score": (vote + 1) / 2,
        "feedback_source": {"type": "app"},
        "created_at": at(said, 5),
    }
    return {"id": f"f{named(said)}", "run_id": f"r{named(said)}", **given}


def helicone(said: Said, rated: dict[str, Any]) -> dict[str, Any]:
    answered = {"role": "assistant", "content": answer_to(said)}
    response = {"id": f"chatcmpl-{named(said)}", "object": "chat.completion", "choices": [{"message": answered}]}
    properties = {"Helicone-Session-Id": f"c{said.conversation}"}
    request = {"request_id": named(said), "request_created_at": at(said), "request_properties": properties}
    return {**request, "request_body": {"messages": asked_until(said)}, "response_body": response, **rated}


def in_a_column(said: Said) -> dict[str, Any]:
    vote = vote_on(said)
    return helicone(said, {"feedback_id": None, "feedback_rating": None if vote is None else vote == 1})


def in_an_object(said: Said) -> dict[str, Any]:
    vote = vote_on(said)
    return helicone(said, {"feedback": {"id": None, "createdAt": None, "rating": None if vote is None else vote == 1}})


def chat(talk: list[Said]) -> dict[str, Any]:
    """A chat of Open WebUI in which each question got a first answer that was disliked and given anew."""
    stored: dict[str, dict[str, Any]] = {}
    parent = None
    for said in talk:
        asked, draft, answer = (f"{part}{named(said)}" for part in "qda")
        both = {"parentId": asked, "role": "assistant", "model": f"m{said.nth}", "timestamp": BEGAN + said.at + 2}
        when = BEGAN + said.at
        stored[asked] = {"id": asked, "parentId": parent, "role": "user", "content": said.typed, "timestamp": when}
        stored[draft] = {"id": draft, **both, "content": "A draft.", "annotation": {"rating": -1}}
        sources = {"source": {"id": "col", "name": "Articles"}, "document": ["One.", "Two."]}
        sources |= {"metadata": [{"source": f"kb-{named(said)}"}, {"file_id": "kb-2", "name": "Two"}]}
        stored[answer] = {"id": answer, **both, "content": answer_to(said), "sources": [sources]}
        if (vote := vote_on(said)) is not None:
            stored[answer]["annotation"] = {"rating": vote, "tags": [], "reason": "I say so."}
        parent = answer
    history = {"messages": stored, "currentId": parent}
    talked = f"c{talk[0].conversation}"
    return {
        "id": talked,
        "user_id": f"u-{talked}",
        "title": "A chat",
        "chat": {"id": "", "history": history, "messages": []},
    }


def votes_in(*paths: Path) -> tuple[Counter[tuple[str, int]], list[dict[str, Any]], FileReport]:
    """What was voted on answers by their words and conversations, the turns, and what is told of the files."""
    with Imported(paths, HowToRead()) as imported:
        turns = [orjson.loads(line) for source in imported.sources for line in source.path.read_bytes().splitlines()]
        told = [orjson.loads(line) for source in imported.feedback for line in source.path.read_bytes().splitlines()]
        (report,) = imported.reports
    answers = {turn["turn_id"]: f"{turn['text']} of {turn['conversation_id']}" for turn in turns}
    voted = Counter((answers[turn["turn_id"]], turn["vote"]) for turn in turns if "vote" in turn)
    voted.update((answers[each["turn_id"]], each["vote"]) for each in told)
    return voted, turns, report


LOGS: dict[str, Logged] = {
    "mlflow": list(map(mlflow, SAID)),
    "langsmith's sums": list(map(langsmith, SAID)),
    "helicone's columns": list(map(in_a_column, SAID)),
    "helicone's objects": list(map(in_an_object, SAID)),
    "open webui": list(map(chat, TOLD)),
}


@pytest.mark.parametrize("name", LOGS)
def test_each_vote_is_one_on_its_answer_and_the_same_when_read_again(name: str, tmp_path: Path) -> None:
    log = written(tmp_path / "log.jsonl", *LOGS[name])
    voted, turns, report = votes_in(log)
    assert voted == Counter(TRUTH.items())
    assert len(turns) == 2 * len(SAID)
    assert report.human_scores + report.votes == len(TRUTH)
    assert votes_in(log)[:2] == (voted, turns)


def test_what_judges_said_of_traces_what_was_expected_and_what_was_replaced_is_counted(tmp_path: Path) -> None:
    records, (report,) = heard(written(tmp_path / "log.jsonl", *LOGS["mlflow"]))
    assert {(each["rater"], each["reason"]) for each in records} == {("ann", "I say so.")}
    assert {
        what: n for what, n in report.assumed.items() if "scores" in what or "assess" in what or "expect" in what
    } == {
        "scores by evaluators and judges left out": len(SAID),
        "expectations (what an answer should have been) left out": len(SAID),
        "assessments that were replaced by later ones left out": len(TRUTH),
    }


def test_chats_of_open_webui_have_their_ids_users_models_and_documents(tmp_path: Path) -> None:
    _, turns, report = votes_in(written(tmp_path / "chats.jsonl", *LOGS["open webui"]))
    assert report.why.startswith("chats of Open WebUI")
    assert {(turn["conversation_id"], turn["user_id"]) for turn in turns} == {(f"c{n}", f"u-c{n}") for n in range(30)}
    answers = {turn["turn_id"]: turn for turn in turns if turn["role"] == "assistant"}
    for said in SAID:
        answer = answers[f"openai:a{named(said)}"]
        assert answer["model"] == f"m{said.nth}"
        assert [each["doc_id"] for each in answer["retrieved"]] == [f"kb-{named(said)}", "kb-2"]
    assert report.assumed["messages of branches that their users left left out"] == len(SAID)
    assert report.assumed["votes on answers of branches that their users left left out"] == len(SAID)


def test_sums_of_runs_count_only_where_the_feedback_is_not_given_itself(tmp_path: Path) -> None:
    runs = written(tmp_path / "runs.jsonl", *LOGS["langsmith's sums"])
    feedback = written(tmp_path / "feedback.jsonl", *(feedback_of(said) for said in SAID if vote_on(said)))
    for paths in ((runs, feedback), (feedback, runs)):
        voted, _, report = votes_in(*paths)
        assert voted == Counter(TRUTH.items())
        assert report.human_scores == len(TRUTH)
        assert report.assumed["feedback_stats of runs whose feedback is given itself left out"] == len(TRUTH)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"n": 2, "avg": 0.5}, "feedback_stats that sum up several scores "),
        ({"sources": ['{"type": "model"}']}, "scores by evaluators and judges "),
    ],
)
def test_sums_of_several_and_of_judges_are_no_votes(more: dict[str, Any], told: str, tmp_path: Path) -> None:
    voted, _, report = votes_in(written(tmp_path / "runs.jsonl", *(langsmith(said, **more) for said in SAID)))
    assert not voted
    assert [n for what, n in report.assumed.items() if what.startswith(told)] == [len(TRUTH)]


def test_a_sum_is_a_persons_where_its_source_or_its_name_says_so(tmp_path: Path) -> None:
    run = langsmith(SAID[0])
    stats = {"n": 1, "avg": 1.0}
    run["feedback_stats"] = {
        "correctness": stats,
        "accuracy": {**stats, "sources": ['{"type": "app"}']},
        "thumbs": stats,
    }
    records, (report,) = heard(written(tmp_path / "runs.jsonl", run))
    assert [(each["id"], each["kind"]) for each in records] == [
        ("langsmith:r0-0:accuracy", "label"),
        ("langsmith:r0-0:thumbs", "vote"),
    ]
    assert [n for what, n in report.assumed.items() if "whether people or evaluators" in what] == [1]


def test_ratings_that_are_no_votes_and_votes_on_no_answer_are_counted(tmp_path: Path) -> None:
    stars, unanswered, *rest = (in_a_column(said) for said in SAID)
    stars["feedback_rating"] = 4
    unanswered |= {"feedback_rating": True, "response_body": {}}
    _, _, report = votes_in(written(tmp_path / "log.jsonl", stars, unanswered, *rest))
    assert report.assumed["ratings beside answers that are no votes left out"] == 1
    assert report.assumed["votes on calls without an answer left out"] == 1


def test_that_a_thumb_is_down_is_a_vote_against_an_answer(tmp_path: Path) -> None:
    trace = mlflow(SAID[0])
    person = {"source": {"source_type": "HUMAN"}, "feedback": {"value": True}}
    trace["info"]["assessments"] = [
        {**person, "assessment_id": "1", "assessment_name": "thumbs_down"},
        {**person, "assessment_id": "2", "assessment_name": "thumbs_down", "feedback": {"value": False}},
    ]
    records, _ = heard(written(tmp_path / "log.jsonl", trace))
    assert [(each["kind"], each.get("vote")) for each in records] == [("vote", -1), ("label", None)]


def test_what_a_person_says_of_a_search_is_no_vote_on_the_answer(tmp_path: Path) -> None:
    trace = mlflow(SAID[0])
    search = {
        "span_id": "search",
        "parent_span_id": f"s{named(SAID[0])}",
        "attributes": {"mlflow.spanType": "RETRIEVER"},
    }
    trace["data"]["spans"].append(search)
    person = {"source": {"source_type": "HUMAN"}, "feedback": {"value": True}, "assessment_name": "relevant"}
    trace["info"]["assessments"] = [{**person, "assessment_id": "1", "span_id": "search"}]
    records, (report,) = heard(written(tmp_path / "log.jsonl", trace))
    assert (records, report.assumed["assessments of searches and tools left out"]) == ([], 1)


def test_a_vote_beside_messages_is_one_on_their_only_answer(tmp_path: Path) -> None:
    alone = [{"role": "user", "content": "How?"}, {"role": "assistant", "content": "So."}]
    whole = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "Because."}, *alone]
    log = written(tmp_path / "log.jsonl", *({"messages": each, "feedback": "thumbs_up"} for each in (alone, whole)))
    _, turns, report = votes_in(log)
    assert [turn["text"] for turn in turns if "vote" in turn] == ["So."]
    assert report.assumed["votes beside several answers left out"] == 1


def test_convert_says_how_many_answers_have_a_vote(tmp_path: Path) -> None:
    log = written(tmp_path / "chats.jsonl", *LOGS["open webui"])
    into = ["--out", str(tmp_path / "turns.jsonl"), "--feedback", str(tmp_path / "feedback.jsonl")]
    done = CliRunner().invoke(turnsignal, ["convert", str(log), *into])
    assert f", {len(TRUTH)} answers with a vote." in done.output
    assert f"feedback.jsonl; votes on {len(TRUTH)} answers stand with these, in the turns." in done.output
