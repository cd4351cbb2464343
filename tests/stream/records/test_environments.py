"""Only production moves figures; what was tried out has rows of its own, whatever it is mixed with."""

from itertools import permutations
from pathlib import Path
from typing import Any

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.observed import by_scorer
from turnsignal.stream.errors import Reason, Refused
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.environments import ENVIRONMENTS, read_environment
from turnsignal.stream.records.observations import read_observations
from turnsignal.stream.records.scores import SCORE_RECORDS
from turnsignal.stream.records.turns import decode_turn
from turnsignal.stream.records.wire import SERIES
from turnsignal.stream.replay import Indexer, Replay, Run
from turnsignal.stream.suite import parse_suite
from turnsignal.stream.testing import T0, FakeRecord, decoded, make_record

GOLDEN = (Path(__file__).parent.parent.parent / "data" / "golden.jsonl").read_bytes().splitlines()
SUITE = parse_suite("aggregates = { minimum_n = 2, whole = true }")
NO = "No, I meant the blue one, not the red one."


def said(role: str, turn_id: str, second: int, text: str, conversation: str = "c", **more: Any) -> FakeRecord:
    fields = {name: given for name, given in more.items() if given is not None}
    return make_record(second, second, conversation, turn_id=turn_id, role=role, text=text, **fields)


def talk(conversation: str, environment: str | None = None, second: int = 0) -> list[FakeRecord]:
    documents = [{"doc_id": "a"}, {"doc_id": "b"}]
    where = {"environment": environment}
    return [
        said("user", "u1", second, "How do I change the colour?", conversation, **where),
        said("assistant", "a1", second + 1, "Look [b].", conversation, version="v1", retrieved=documents, **where),
        said("user", "u2", second + 2, NO, conversation, **where),
        said("assistant", "a2", second + 3, "Then there [9].", conversation, version="v1", **where),
        said("user", "u3", second + 4, "Thank you, that helps a lot!", conversation, **where),
    ]


def worked(*records: FakeRecord, environment: str | None = None) -> tuple[PartitionProcessor, list[BatchResult]]:
    processor = PartitionProcessor(SUITE, environment=environment)
    batches = []
    for batch in (processor.process(records, T0), None):
        done = batch or processor.close_all()
        processor.accept(done)
        batches.append(done)
    return processor, batches


def written(batches: list[BatchResult], topic: str) -> list[dict[str, Any]]:
    return [value for batch in batches for value in decoded(batch.outputs, topic)]


def series(batches: list[BatchResult]) -> list[tuple[str | None, str, list[float]]]:
    packed = [read_observations(out.value or b"") for batch in batches for out in batch.outputs if out.topic == SERIES]
    return [
        (one.version, scorer, [observation.value for observation in observations])
        for one in packed
        for scorer, observations in by_scorer(one).items()
    ]


def replayed(lines: list[bytes], environment: str | None = None) -> dict[str, Any]:
    replay = Replay(SUITE, environment)
    for source in (replay.feed(sorted(Indexer(T0 + 10.0**9).index(lines))), replay.finish()):
        for _ in source:
            pass
    whole = Run(SUITE, environment)
    for number in sorted(replay.runs):
        whole.merge(replay.runs[number])
    return whole.summary(SUITE)


def tagged(line: bytes, environment: str, prefix: str = "") -> bytes:
    record = orjson.loads(line)
    record["conversation_id"] = prefix + record["conversation_id"]
    return orjson.dumps(record | {"environment": environment})


@pytest.mark.parametrize("given", ["staging", "Production", "", 17, ["production"], {"a": 1}])
def test_another_environment_is_refused_and_leaves_a_gap(given: object) -> None:
    record = said("assistant", "a1", 1, "Hi.", environment=given)
    with pytest.raises(Refused) as caught:
        decode_turn(record.value, b"c")
    refused = caught.value
    assert (refused.reason, refused.conversation_id, refused.role) == (Reason.WRONG_TYPE, "c", "assistant")
    assert refused.detail.startswith("environment: Input should be 'production', 'experiment' or 'synthetic', got ")
    assert ("'staging'" in refused.detail) == (given == "staging")
    _, batches = worked(talk("c")[0], record, talk("c")[2])
    assert written(batches, "conversations")[0]["gaps"] == 1


def test_production_is_what_is_not_said() -> None:
    plain, named = talk("c"), talk("c", "production")
    null = [FakeRecord(r.offset, r.key, r.value[:-1] + b',"environment":null}', r.timestamp) for r in plain]
    outputs = [[batch.outputs for batch in worked(*records)[1]] for records in (plain, named, null)]
    assert outputs[0] == outputs[1] == outputs[2]
    assert decode_turn(named[0].value).environment is None


@pytest.mark.parametrize("environment", ["synthetic", "experiment"])
def test_what_is_no_production_has_rows_and_moves_nothing(environment: str) -> None:
    processor, batches = worked(*talk("c", environment))
    rows = [SCORE_RECORDS.validate_python(row) for row in written(batches, "scores")]
    assert [row.stage for row in rows] == ["response", "follow_up", "response", "follow_up", "close"]
    assert {row.environment for row in rows} == {environment}
    plain = [SCORE_RECORDS.validate_python(row) for row in written(worked(*talk("c"))[1], "scores")]
    assert [(row.id, row.scores) for row in rows[:-1]] == [(row.id, row.scores) for row in plain[:-1]]
    assert written(batches, "series") == []
    (summary,) = written(batches, "conversations")
    assert (summary["environment"], summary["scores"], summary["outcome"]) == (environment, {}, "clarified")
    kept = processor.describe(b"c") or {}
    assert (kept["scores"], kept["windows"]) == ({}, [])
    for deltas in (batch.deltas for batch in batches):
        figures = (deltas.turns, deltas.scores, deltas.quality, deltas.unscored, deltas.checks, deltas.diagnosis)
        assert not any((*figures, deltas.citations, deltas.retrieved, deltas.cited, deltas.outcomes, deltas.exemplars))
        assert not deltas.pairing
    assert batches[0].deltas.other_turns == {(environment, "user"): 3, (environment, "assistant"): 2}
    assert batches[0].deltas.other_scores[environment, "follow_up"] == [0.2, 1.0]
    assert batches[0].deltas.other_unscored[environment, "nDCG@5"] == 1
    assert batches[1].deltas.other_outcomes == {(environment, "clarified"): 1}
    assert batches[0].deltas.records["turnsignal.turns", "scored"] == 5


def test_rows_of_production_do_not_name_it() -> None:
    _, batches = worked(*talk("c"))
    assert not any("environment" in row for row in written(batches, "scores"))
    assert written(batches, "conversations")[0]["environment"] == "production"


def test_the_figures_of_a_replay_are_what_they_were_without_what_was_tried_out() -> None:
    tried = [tagged(line, name, f"{name}-") for line in GOLDEN for name in ("synthetic", "experiment")]
    plain, mixed = replayed(GOLDEN), replayed(GOLDEN + tried)
    assert plain.pop("other_environments") == {}
    others = mixed.pop("other_environments")
    assert others == {"experiment": sum(plain["turns"].values()), "synthetic": sum(plain["turns"].values())}
    for summary in (plain, mixed):
        for name in ("late", "naive_timestamp", "reopened", "window_expired", "duplicate", "expired"):
            summary["pairing"].pop(name, None)  # of records, whatever they are for
        summary.pop("dead_letters")
    assert mixed == plain


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_figures_of_another_environment_are_those_that_production_would_have(environment: str) -> None:
    lines = [tagged(line, environment) for line in GOLDEN]
    lines += [tagged(line, name, f"{name}-") for line in GOLDEN for name in ENVIRONMENTS if name != environment]
    summary, plain = replayed(lines, read_environment(environment)), replayed(GOLDEN)
    assert summary["environment"] == environment
    assert set(summary["other_environments"]) == set(ENVIRONMENTS) - {environment}
    for name in ("turns", "conversations", "scores", "outcomes", "diagnosis", "quality", "review", "cite_rates"):
        assert summary[name] == plain[name]


def test_an_exchange_belongs_to_the_environment_of_its_answer() -> None:
    records = [
        *talk("c")[:2],
        said("user", "u2", 2, NO, environment="synthetic"),
        said("assistant", "a2", 3, "Then there [a].", environment="synthetic", retrieved=[{"doc_id": "a"}]),
        said("user", "u3", 4, NO),
        said("assistant", "a3", 5, "Or there [a].", retrieved=[{"doc_id": "a"}]),
    ]
    processor, batches = worked(*records)
    rows = written(batches, "scores")
    named = [(row["turn_id"], row["stage"], row.get("environment")) for row in rows]
    assert named == [
        ("a1", "response", None),
        ("a1", "follow_up", None),
        ("a2", "response", "synthetic"),
        ("a2", "follow_up", "synthetic"),
        ("a3", "response", None),
        ("a3", "close", "synthetic"),
    ]
    scores = (processor.describe(b"c") or {})["scores"]
    assert (scores["follow_up"]["n"], scores["nDCG@5"]["n"]) == (1, 2)
    observed = [(scorer, version, len(values)) for version, scorer, values in series(batches)]
    assert [one for one in observed if one[0] in ("follow_up", "nDCG@5")] == [
        ("nDCG@5", "v1", 1),
        ("follow_up", "v1", 1),
        ("nDCG@5", None, 1),
    ]


def test_a_mixed_conversation_is_not_productions_in_whatever_order_it_comes() -> None:
    records = [*talk("c")[:2], *talk("c", "experiment")[2:4], *talk("c", "synthetic")[4:]]
    for order in permutations(records):
        _, batches = worked(*order)
        assert written(batches, "conversations")[-1]["environment"] == "synthetic"
        assert [row for row in written(batches, "scores") if row["stage"] == "close"][-1]["environment"] == "synthetic"
        assert not any(batch.deltas.outcomes for batch in batches)
        assert batches[0].deltas.pairing["mixed_environment"] >= 2


def test_a_question_of_ones_own_marks_the_conversation_even_if_the_answer_is_not_marked() -> None:
    lines = [record.value for record in talk("d")]
    lines += [talk("c", "synthetic")[0].value, *(record.value for record in talk("c")[1:])]
    summary = replayed(lines)
    assert summary["conversations"] == {"begun": 1, "closed": 1}
    assert [(row["outcome"], row["n"]) for row in summary["outcomes"]] == [("clarified", 1)]
    assert summary["pairing"]["mixed_environment"] == 4
    assert summary["turns"] == {"assistant": 4, "user": 5}


def test_a_conversation_that_comes_back_for_another_environment_leaves_the_tables() -> None:
    whole = [*talk("c"), *talk("d")]
    back = said("user", "u9", 2_500, "And now?", environment="synthetic")
    lines = [record.value for record in whole]
    before, after = replayed(lines), replayed([*lines, back.value])
    assert before["quality"][0]["conversations"] == 2
    assert after["quality"][0]["conversations"] == 1


def test_a_correction_of_what_never_counted_takes_nothing_out() -> None:
    late = said("assistant", "a1b", 1, "Or [a].", environment="synthetic", retrieved=[{"doc_id": "a"}])
    other = [*talk("c", "synthetic")[:3], late]
    processor, batches = worked(*other)
    assert [row for row in written(batches, "scores") if "replaces" in row]
    assert (processor.describe(b"c") or {})["scores"] == {}


def test_state_without_environments_is_read_as_productions() -> None:
    processor, _ = worked(*talk("c"))
    fields = msgspec.msgpack.decode(processor.store[b"c"])
    older = fields[:22]
    older[19] = [[*slot[:4], None if slot[4] is None else slot[4][:13]] for slot in fields[19]]
    restored = PartitionProcessor(SUITE, {b"c": msgspec.msgpack.encode(older)}).conversation(b"c")
    assert restored is not None
    assert (restored.environment, {slot.response.environment for slot in restored.kept if slot.response}) == (
        None,
        {None},
    )


@examples(60)
@given(st.lists(st.tuples(st.integers(0, 11), st.sampled_from([None, *ENVIRONMENTS])), max_size=14))
def test_series_and_tables_hold_the_answers_of_production_and_no_other(drawn: list[tuple[int, str | None]]) -> None:
    texts = {"user": NO, "assistant": "See [a]."}
    records = [
        said(
            ("user", "assistant")[second % 2],
            f"t{place}",
            second,
            texts[("user", "assistant")[second % 2]],
            environment=environment,
            retrieved=[{"doc_id": "a"}],
        )
        for place, (second, environment) in enumerate(drawn)
    ]
    processor, batches = worked(*records)
    answers = [row for row in written(batches, "scores") if row["stage"] == "response"]
    production = [row for row in answers if "environment" not in row]
    ndcg = [value for _, scorer, values in series(batches) if scorer == "nDCG@5" for value in values]
    assert len(ndcg) == len(production)
    if records:
        assert (processor.describe(b"c") or {})["scores"].get("nDCG@5", {"n": 0})["n"] == len(production)
    assert len(answers) == sum(b'"assistant"' in record.value for record in records)


@examples(40)
@given(
    st.lists(
        st.tuples(st.sampled_from("cd"), st.sampled_from([0, 1, 2, 3, 90_000]), st.sampled_from([None, *ENVIRONMENTS])),
        max_size=16,
    )
)
def test_every_turn_and_every_conversation_belongs_to_one_environment(drawn: list[tuple[str, int, Any]]) -> None:
    lines = [
        said(("user", "assistant")[place % 2], f"t{place}", second, "See [a].", name, environment=environment).value
        for place, (name, second, environment) in enumerate(drawn)
    ]
    unmarked = replayed([orjson.dumps({**orjson.loads(line), "environment": None}) for line in lines])
    closed = 0
    for name in ENVIRONMENTS:
        summary = replayed(lines, read_environment(name))
        closed += summary["conversations"]["closed"]
        assert sum(summary["turns"].values()) == [environment or "production" for *_, environment in drawn].count(name)
    assert closed == unmarked["conversations"]["closed"]
