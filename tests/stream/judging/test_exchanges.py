"""What judges get: whole texts, what they belong to, and the name of whatever had to be shortened."""

from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.examples import examples
from turnsignal.stream.judging.exchanges import EXCHANGE_RECORDS, FIELDS, ExchangeRecord, fit
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.turns import MAX_SHORT, MAX_TEXT
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.suite import MAX_STATE, Suite, parse_suite
from turnsignal.stream.testing import T0, FakeRecord, make_record

QUEUED = parse_suite("[exchanges]\nshare = 1")
NO = "No, I meant the blue one, not the red one."


def said(role: str, second: int, text: str, **more: Any) -> FakeRecord:
    return make_record(second, second, **({"turn_id": f"t{second}", "role": role, "text": text} | more))


def user(second: int, text: str = "How do I change the colour?", **more: Any) -> FakeRecord:
    return said("user", second, text, **more)


def reply(second: int, text: str = "Look here [a].", **more: Any) -> FakeRecord:
    return said("assistant", second, text, **({"retrieved": [{"doc_id": "a"}, {"doc_id": "b"}]} | more))


def played(*records: FakeRecord, suite: Suite = QUEUED) -> tuple[list[ExchangeRecord], list[Any], PartitionProcessor]:
    """Work the records through; return the exchanges, the score rows and the partition."""
    processor = PartitionProcessor(suite)
    outputs = []
    for record in records:  # one batch each, so that every state is stored and read again
        batch = processor.process([record], T0)
        processor.accept(batch)
        outputs += batch.outputs
    exchanges = [EXCHANGE_RECORDS.validate_json(out.value or b"") for out in outputs if out.topic == "exchanges"]
    return exchanges, [orjson.loads(out.value or b"") for out in outputs if out.topic == "scores"], processor


def test_an_exchange_names_its_row_its_suite_and_what_was_scored() -> None:
    exchanges, rows, _ = played(user(0), reply(1), user(2, NO))
    response, follow_up = exchanges
    assert [(row["stage"], row["id"]) for row in rows] == [("response", response.row), ("follow_up", follow_up.row)]
    for exchange in exchanges:
        assert (exchange.schema, exchange.suite, exchange.environment) == (2, QUEUED.fingerprint, "production")
        assert (exchange.relevancy, exchange.compliance, exchange.inclusion) == (1.0, 1.0, 1.0)
        assert (exchange.before, exchange.cut) == (None, [])
    assert (response.rules, response.follow_up, response.outcome) == (None, None, None)
    assert (follow_up.follow_up, follow_up.follow_up_id, follow_up.outcome) == (NO, "t2", "followed_up")


def test_a_corrected_exchange_names_the_row_that_corrects() -> None:
    exchanges, rows, _ = played(user(0), reply(2), user(4, NO), user(3, "Thank you, that helps a lot!"))
    newest = [row for row in rows if row["stage"] == "follow_up"][-1]
    assert newest["replaces"]
    assert (exchanges[-1].row, exchanges[-1].follow_up_id) == (newest["id"], "t3")


def test_the_rules_say_what_they_read_and_why_they_say_nothing() -> None:
    exchanges, rows, _ = played(user(0), reply(1), user(2, NO), reply(3), user(4, "Und jetzt bitte die blauen Schuhe."))
    for exchange, row in zip((one for one in exchanges if one.rules), rows[1::2], strict=True):
        score = row["scores"][0]
        assert exchange.rules is not None
        assert (exchange.rules.strict, exchange.rules.unscored) == (score["value"], score.get("unscored"))
    assert exchanges[1].rules is not None
    assert (exchanges[1].rules.label, exchanges[1].rules.strict) == ("correction", 0.2)
    assert 0 < exchanges[1].rules.confidence <= 1


def test_the_exchange_before_is_the_last_prompt_and_its_last_answer() -> None:
    exchanges, _, _ = played(
        user(0, "First?"), user(1, "Really."), reply(2, "Old."), reply(3, "New."), user(4, "Second?"), reply(5, "So.")
    )
    assert exchanges[0].before is None
    before = exchanges[-1].before
    assert before is not None
    assert (before.prompt, before.response, exchanges[-1].prompt) == ("First?\nReally.", "New.", "Second?")


def test_texts_are_whole_when_the_response_comes_and_named_when_they_are_not_any_more() -> None:
    prompt, answer, last = "why? " * 30_000, "Because. " * 22_000, "Thank you! " * 1_000
    (response, follow_up, _), _, _ = played(user(0, prompt), reply(1, answer), user(2, last), reply(3))
    assert (response.prompt, response.response, response.cut) == (prompt, answer, [])
    assert (follow_up.prompt, follow_up.response) == (prompt[:2_000], answer[:2_000])
    assert (follow_up.follow_up, follow_up.cut) == (last, ["prompt", "response"])
    third = played(user(0, prompt), reply(1, answer), user(2, last), reply(3))[0][2]
    assert third.before is not None
    assert (third.prompt, third.before.prompt, third.before.response) == (last, prompt[:2_000], answer[:2_000])
    assert third.cut == ["before.prompt", "before.response"]


def test_a_text_as_long_as_what_is_kept_is_not_cut() -> None:
    exchanges, _, _ = played(user(0, "x" * 2_000), reply(1, "y" * 2_000), user(2, "z" * 2_000))
    assert [exchange.cut for exchange in exchanges] == [[], []]


def test_a_prompt_in_several_long_turns_is_whole_with_the_first_answer_to_it() -> None:
    first, second = "a" * 5_000, "b" * 5_000
    exchanges, _, _ = played(user(0, first), user(1, second), reply(2), reply(3))
    assert [(one.prompt, one.cut) for one in exchanges] == [
        (f"{first}\n{second}", []),
        (f"{first[:2_000]}\n{second[:2_000]}", ["prompt"]),
    ]


@pytest.mark.parametrize("share", [0, 1])
def test_the_rest_of_a_long_prompt_is_kept_for_judges_until_it_is_answered_and_no_longer(share: int) -> None:
    suite = parse_suite(f"[exchanges]\nshare = {share}")
    long = "pasted " * 20_000
    waiting = played(user(0, long), suite=suite)[2]
    assert (len(waiting.store[b"c"]) > 100_000) == bool(share)
    went_on = played(user(0, long), reply(1), suite=suite)[2]
    assert len(went_on.store[b"c"]) < 5_000
    waiting.accept(waiting.close_all())
    assert len(waiting.store[b"c"]) < 5_000


def test_long_prompts_never_make_a_state_that_no_topic_takes() -> None:
    ids = {"assistant": "\U0001f600" * MAX_SHORT, "version": "\U0001f600" * MAX_SHORT}
    long = MAX_TEXT * 3 // 4
    records = [user(second, "\U0001f600" * long) for second in range(4)]
    waiting = played(reply(0, "\U0001f600" * MAX_TEXT, **ids), *records)[2]
    assert 600_000 < len(waiting.store[b"c"]) < MAX_STATE
    exchanges, _, _ = played(*records, reply(5, "\U0001f600" * MAX_TEXT, **ids))
    assert exchanges[0].cut == ["prompt"]
    assert len(exchanges[0].prompt) == long + 3 * 2_000 + 3
    assert len(exchanges[0].response) == MAX_TEXT


def test_how_many_are_judged_changes_no_score() -> None:
    prompt = "I need the blue one. " * 2_000
    records = (user(0, prompt), reply(1, "Look. " * 3_000), user(2, prompt + "Still."), reply(3), user(4, prompt))
    rows = [played(*records, suite=suite)[1] for suite in (QUEUED, Suite())]
    assert rows[0] == rows[1]


KNOWN = {"reference": "Ask bob@example.com.", "chunks": ["The whole passage."], "doc_ids": ["a"], "difficulty": "easy"}


def test_known_labels_go_with_a_response_only_where_the_suite_asks() -> None:
    records = (user(0), reply(1, truth=KNOWN, environment="synthetic"), user(2, NO))
    assert [exchange.truth for exchange in played(*records)[0]] == [None, None]
    asked = parse_suite("[exchanges]\nshare = 1\ntruth = true")
    assert asked.fingerprint == Suite().fingerprint
    response, follow_up = played(*records, suite=asked.redacted_by(Redaction()))[0]
    assert response.truth is not None
    assert (response.truth.reference, response.truth.doc_ids) == ("Ask [email].", ["a"])
    assert follow_up.truth is None
    assert {response.environment, follow_up.environment} == {"synthetic"}


SCHEMA_1 = (
    b'{"schema":1,"conversation_id":"c","turn_id":"t2","stage":"response","assistant":"default","version":null,'
    b'"model":null,"platform":null,"time":1750000001.0,"inclusion":0.5,"prompt":"Why?","response":"So [a].",'
    b'"documents":[{"doc_id":"a","rank":null,"retrieval_rank":null,"score":null,"title":null,"url":null,"text":"T"}]}'
)


def test_a_reader_takes_records_of_the_schema_before_and_refuses_later_ones() -> None:
    record = EXCHANGE_RECORDS.validate_json(SCHEMA_1)
    assert (record.schema, record.prompt, record.row, record.environment, record.cut) == (
        1,
        "Why?",
        "",
        "production",
        [],
    )
    with pytest.raises(ValidationError, match="1 or 2"):
        EXCHANGE_RECORDS.validate_json(SCHEMA_1.replace(b'"schema":1', b'"schema":3'))


# -- fitting ---------------------------------------------------------------------------------------------------------


def record_of(**fields: Any) -> dict[str, Any]:
    return {
        "schema": 2,
        "conversation_id": "c",
        "turn_id": "t",
        "stage": "response",
        "assistant": "default",
        "time": 0.5,
        "inclusion": 1.0,
        "prompt": "",
        "response": "",
        "before": None,
        "cut": [],
    } | fields


def document(text: str | None, doc_id: str = "d", **more: Any) -> dict[str, Any]:
    return {"doc_id": doc_id, "rank": None, "score": 0.5, "title": None, "url": None, "text": text} | more


def test_what_fits_is_left_as_it_is() -> None:
    value = orjson.dumps(record_of(prompt="x" * 500))
    assert fit(value, len(value)) is value


def test_the_longest_documents_are_cut_first_and_no_text() -> None:
    documents = [document("a" * 60_000), document("b" * 20_000), document("c" * 100), document(None)]
    value = orjson.dumps(record_of(prompt="p" * 20_000, response="r" * 20_000, documents=documents))
    fitted = orjson.loads(fit(value, 100_000))
    lengths = [len(one["text"] or "") for one in fitted["documents"]]
    assert lengths[1:] == [20_000, 100, 0]
    assert 38_000 < lengths[0] < 40_000
    assert (len(fitted["prompt"]), len(fitted["response"]), fitted["cut"]) == (20_000, 20_000, ["documents"])


def test_texts_are_cut_only_when_no_document_is_left_and_the_longest_first() -> None:
    documents = [document("a" * 60_000, title="t" * 1_000, url="u" * 1_000, doc_id=f"d{n}") for n in range(100)]
    before = {"prompt": "P" * 100, "response": "R" * 50_000}
    value = orjson.dumps(record_of(prompt="p" * 400, response="r" * 90_000, documents=documents, before=before))
    fitted = orjson.loads(fit(value, 20_000))
    assert fitted["documents"] == []
    assert (fitted["prompt"], fitted["before"]["prompt"]) == ("p" * 400, "P" * 100)
    assert fitted["cut"] == ["documents", "response", "before.response"]
    assert abs(len(fitted["response"]) - len(fitted["before"]["response"])) <= 1


def test_the_last_documents_leave_where_their_ids_alone_are_too_many() -> None:
    documents = [document(None, doc_id=f"{n:03}" + "d" * 497) for n in range(1_000)]
    fitted = orjson.loads(fit(orjson.dumps(record_of(documents=documents, response="r" * 9_000)), 100_000))
    kept = [one["doc_id"][:3] for one in fitted["documents"]]
    assert kept == [f"{n:03}" for n in range(len(kept))]
    assert 100 < len(kept) < 200
    assert (fitted["response"], fitted["cut"]) == ("r" * 9_000, ["documents"])


def test_what_the_conversation_did_not_keep_stays_named() -> None:
    value = orjson.dumps(record_of(prompt="p" * 2_000, response="r" * 30_000, cut=["prompt"]))
    assert orjson.loads(fit(value, 20_000))["cut"] == ["prompt", "response"]


def shortened(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """Say which fields differ, having made sure that each is the beginning of what it was."""
    found = set()
    pairs = {name: (before.get(name), after.get(name)) for name in ("prompt", "response", "follow_up")}
    for name in ("prompt", "response"):
        pairs[f"before.{name}"] = ((before["before"] or {}).get(name), (after["before"] or {}).get(name))
    for name, (whole, part) in pairs.items():
        assert (whole or "").startswith(part or "")
        assert (whole is None) == (part is None)
        found |= {name} if whole != part else set()
    documents, left = before.get("documents") or [], after.get("documents") or []
    for whole, part in zip(documents, left, strict=False):
        assert {**whole, "text": "", "title": "", "url": ""} == {**part, "text": "", "title": "", "url": ""}
        assert all((whole[name] or "").startswith(part[name] or "") for name in ("text", "title", "url"))
    found |= {"documents"} if documents != left else set()
    known, rest = before.get("truth") or {}, after.get("truth") or {}
    assert known.keys() == rest.keys()
    for name in known.keys() - {"reference", "chunks"}:
        assert rest[name] == (known[name] if isinstance(known[name], str) else known[name][: len(rest[name])])
    assert all(
        whole.startswith(part) for whole, part in zip(known.get("chunks", ()), rest.get("chunks", ()), strict=False)
    )
    found |= {"truth"} if known != rest else set()
    return found


LONG = st.one_of(
    st.just(""),
    st.builds(
        lambda text, times: text * times,
        st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)
        | st.sampled_from(["\0", '"', "\\", "é", "漢", "😀", "👩‍👩‍👧", "e\u0301", "\u202e", "\n", "\x7f"]),
        st.integers(1, 4_000),
    ),
)
IDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=200)
RECORDS = st.fixed_dictionaries(
    {
        "conversation_id": IDS,
        "turn_id": IDS,
        "assistant": IDS,
        "prompt": LONG,
        "response": LONG,
        "before": st.none() | st.fixed_dictionaries({"prompt": LONG, "response": LONG}),
        "cut": st.sampled_from([[], ["prompt"], ["prompt", "before.response"]]),
    },
    optional={
        "version": IDS,
        "model": IDS,
        "follow_up": LONG,
        "documents": st.lists(
            st.builds(document, st.none() | LONG, IDS, title=st.none() | LONG, url=st.none() | LONG), max_size=6
        ),
        "truth": st.fixed_dictionaries(
            {}, optional={"reference": LONG, "chunks": st.lists(LONG, max_size=3), "doc_ids": st.lists(IDS, max_size=9)}
        ),
    },
)


@examples(300)
@given(RECORDS, st.integers(10_000, 60_000))
@example({"prompt": '"' * 9_999, "response": "\0" * 9_999, "before": None, "cut": []}, 10_000)
def test_whatever_the_texts_a_record_fits_and_names_what_was_shortened(fields: dict[str, Any], limit: int) -> None:
    before = record_of(**fields)
    fitted = fit(orjson.dumps(before), limit)
    assert len(fitted) <= limit
    after = orjson.loads(fitted)
    found = shortened(before, after)
    assert after["cut"] == [name for name in FIELDS if name in found or name in before["cut"]]
    assert bool(found) == (len(orjson.dumps(before)) > limit)
    same = before.keys() - {"prompt", "response", "follow_up", "before", "documents", "truth", "cut"}
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    EXCHANGE_RECORDS.validate_json(fitted)


@examples(100)
@given(LONG, st.integers(2_000, 20_000))
def test_a_lone_text_is_cut_no_shorter_than_it_has_to_be(text: str, limit: int) -> None:
    value = orjson.dumps(record_of(response=text))
    fitted = fit(value, limit)
    if fitted != value:
        assert len(fitted) > limit - 120  # the names of all fields have room, and one character of at most 6 bytes
