import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import islice, pairwise

import orjson
import pytest

from turnsignal.stream.errors import ConfigError, Reason, Refused
from turnsignal.stream.records.turns import Turn, decode_turn
from turnsignal.stream.simulation import Regression, SimulatedRecord, Traffic, simulate, steady
from turnsignal.stream.simulation.content import BY_NAME, TOPICS
from turnsignal.stream.simulation.malformed import FAULTS
from turnsignal.stream.simulation.users import CLARIFYING, GOING_ON, WORDINGS

START = 1_767_225_600.0  # 2026-01-01T00:00:00Z
CLEAN = Traffic(turns=4_000, start=START)
ROUGH = replace(
    CLEAN,
    seed=7,
    turns=8_000,
    disorder=0.05,
    late=0.01,
    duplicates=0.02,
    conflicts=0.01,
    naive=0.03,
    malformed=0.03,
    hot=0.05,
    gaps=0.05,
    superseded=0.05,
)
MARKER = re.compile(r"\[(doc_[0-9]+)\]")


@pytest.fixture(scope="module")
def clean() -> list[SimulatedRecord]:
    return list(simulate(CLEAN))


@pytest.fixture(scope="module")
def rough() -> list[SimulatedRecord]:
    return list(simulate(ROUGH))


def planted(records: list[SimulatedRecord], what: str) -> list[SimulatedRecord]:
    return [record for record in records if what in record.truth["planted"]]


def decode(record: SimulatedRecord) -> Turn:
    return decode_turn(record.value, record.key, record.time)


def by_conversation(records: list[SimulatedRecord]) -> dict[str, list[SimulatedRecord]]:
    out = defaultdict(list)
    for record in records:
        out[record.truth["conversation_id"]].append(record)
    return out


# ---- what is the same, what differs -----------------------------------------------------------------------------


def test_same_seed_gives_the_same_bytes(rough):
    assert list(simulate(ROUGH)) == rough


def test_another_seed_gives_other_conversations(clean):
    other = list(simulate(replace(CLEAN, seed=1)))
    assert not {record.key for record in clean} & {record.key for record in other}


def test_a_bad_road_changes_the_arrival_and_not_what_is_said(clean):
    bad = list(simulate(replace(CLEAN, disorder=0.2, late=0.05, duplicates=0.1)))
    assert [record.value for record in bad] != [record.value for record in clean]
    assert {record.value for record in bad} == {record.value for record in clean}


# ---- records ----------------------------------------------------------------------------------------------------


def test_every_valid_record_is_read(rough):
    fine = [record for record in rough if record.truth["reason"] in (None, Reason.CONFLICT)]
    for record in fine:
        turn = decode(record)
        truth = record.truth
        assert (turn.conversation_id, turn.turn_id, turn.role) == (
            truth["conversation_id"],
            truth["turn_id"],
            truth["role"],
        )
        assert turn.time == truth["time"]
    assert len(fine) > 7_000


def test_timestamps_are_iso_8601_in_utc_and_end_in_z_unless_naive(rough):
    for record in rough:
        if record.truth["reason"] is None:
            stamp = orjson.loads(record.value)["timestamp"]
            assert stamp.endswith("Z") != ("naive" in record.truth["planted"])
            assert "+" not in stamp


@pytest.mark.parametrize("fault", list(FAULTS))
def test_every_malformed_record_is_refused_with_the_reason_in_its_side_truth(rough, fault):
    records = planted(rough, fault)
    assert records
    for record in records:
        with pytest.raises(Refused) as refused:
            decode(record)
        assert refused.value.reason == record.truth["reason"]


def test_nothing_comes_from_the_future_and_arrival_never_goes_back(rough):
    for record in rough:
        assert START <= record.truth["time"] <= record.time
    times = [record.time for record in rough]
    assert times == sorted(times)


def test_turn_ids_are_unique_in_their_conversation(clean):
    names = [(record.truth["conversation_id"], record.truth["turn_id"]) for record in clean]
    assert len(set(names)) == len(names)


def test_event_times_are_distinct(rough):
    first = [r for r in rough if not {"duplicate", "conflict"} & set(r.truth["planted"])]
    assert len({record.truth["time"] for record in first}) == len(first) == 8_000


# ---- how much, and when -----------------------------------------------------------------------------------------


def test_turns_and_conversations_are_limits():
    assert len(list(simulate(replace(CLEAN, turns=123)))) == 123
    whole = by_conversation(list(simulate(replace(CLEAN, turns=None, conversations=50))))
    assert len(whole) == 50
    endings = Counter(turns[-1].truth["role"] for turns in whole.values())
    assert endings["assistant"] > 40


def test_without_limits_it_goes_on():
    assert len(list(islice(simulate(Traffic(turns=None, conversations=None)), 5_000))) == 5_000


def test_rate_is_the_turns_per_second_of_event_time():
    records = list(simulate(replace(CLEAN, rate=400.0, day_night=False, gaps=0.0)))
    assert 9.0 < records[-1].truth["time"] - START < 11.0


def test_afternoons_have_nine_times_the_traffic_of_the_night():
    day = list(simulate(replace(CLEAN, turns=20_000, rate=20_000 / 86_400, documents=0)))
    hours = Counter(int((record.truth["time"] - START) // 3600) for record in day)
    assert 6 < sum(hours[hour] for hour in (14, 15)) / sum(hours[hour] for hour in (2, 3)) < 13


def test_open_conversations_are_bounded():
    records = list(simulate(replace(CLEAN, rate=1000.0, open_conversations=20, gaps=0.0)))
    open_now: set[str] = set()
    most, last = 0, {record.key: number for number, record in enumerate(records)}
    for number, record in enumerate(records[:-200]):
        open_now.add(record.key)
        most = max(most, len(open_now))
        if last[record.key] == number:
            open_now.discard(record.key)
    assert most <= 21


def test_user_and_assistant_take_turns_unless_a_response_is_regenerated(clean):
    for records in by_conversation(clean).values():
        assert records[0].truth["role"] == "user"
        for before, after in pairwise(records):
            again = before.truth["role"] == after.truth["role"]
            assert again == ("superseded" in before.truth["planted"])


# ---- how it arrives ---------------------------------------------------------------------------------------------


def test_shares_of_the_road_are_kept(rough):
    share = {
        what: len(planted(rough, what)) / 8_000 for what in ("displaced", "late", "duplicate", "conflict", "naive")
    }
    assert share == {
        "displaced": pytest.approx(0.05, abs=0.015),
        "late": pytest.approx(0.01, abs=0.005),
        "duplicate": pytest.approx(0.02, abs=0.006),
        "conflict": pytest.approx(0.01, abs=0.005),
        "naive": pytest.approx(0.03, abs=0.008),
    }
    assert len(planted(rough, "malformed")) / 8_000 == pytest.approx(0.03, abs=0.008)


def test_displaced_turns_are_overtaken_in_their_own_conversation():
    records = list(simulate(replace(CLEAN, disorder=0.1, disorder_places=2)))
    overtaken = 0
    for turns in by_conversation(records).values():
        newest = 0.0
        for record in turns:
            backwards = record.truth["time"] < newest
            assert backwards <= ("displaced" in record.truth["planted"])
            overtaken += backwards
            newest = max(newest, record.truth["time"])
    assert overtaken > 0.9 * len(planted(records, "displaced")) > 200


def test_late_turns_arrive_after_the_set_time():
    records = list(simulate(replace(CLEAN, late=0.05, late_seconds=120.0)))
    late = planted(records, "late")
    assert 150 < len(late) < 250
    assert {round(record.time - record.truth["time"], 3) for record in late} == {120.0}


def test_duplicates_repeat_the_bytes_and_conflicts_another_text_after_the_original(rough):
    seen = {}
    for record in rough:
        name = (record.truth["conversation_id"], record.truth["turn_id"])
        if "duplicate" in record.truth["planted"]:
            assert record.value == seen[name]
        elif "conflict" in record.truth["planted"]:
            assert record.truth["reason"] == "conflict"
            first, second = orjson.loads(seen[name]), orjson.loads(record.value)
            assert first["text"] != second["text"]
            assert {**first, "text": ""} == {**second, "text": ""}
        else:
            assert name not in seen
            seen[name] = record.value


# ---- who and what -----------------------------------------------------------------------------------------------


def test_hot_turns_belong_to_one_conversation(rough):
    hot = planted(rough, "hot")
    assert len({record.truth["conversation_id"] for record in hot}) == 1
    assert len(hot) / len(rough) == pytest.approx(0.05, abs=0.015)


def test_users_who_left_come_back_after_more_than_half_an_hour():
    records = list(simulate(replace(CLEAN, turns=None, conversations=400, gaps=0.1)))
    assert 25 < len(planted(records, "returns")) < 60
    for turns in by_conversation(records).values():
        for before, after in pairwise(turns):
            away = after.truth["time"] - before.truth["time"]
            assert (away > 1_800) == ("returns" in after.truth["planted"])


def test_regenerated_responses_are_planted_at_their_share(rough):
    responses = [record for record in rough if record.truth["quality"] is not None]
    assert len(planted(responses, "superseded")) / len(responses) == pytest.approx(0.05, abs=0.015)


def test_follow_ups_of_every_class_judge_the_last_response(clean):
    classes = Counter(record.truth["follow_up"] for record in clean)
    del classes[None]
    assert set(classes) == set(CLARIFYING) | set(GOING_ON) == set(WORDINGS)
    for records in by_conversation(clean).values():
        answered = None
        for record in records:
            if record.truth["role"] == "user":
                assert record.truth["judges"] == answered
            else:
                answered = record.truth["turn_id"]


def test_better_answers_are_clarified_less_often(clean):
    clarified = {True: [], False: []}
    for records in by_conversation(clean).values():
        for before, after in pairwise(records):
            if before.truth["quality"] is not None and after.truth["follow_up"]:
                clarified[before.truth["quality"] > 0.8].append(after.truth["follow_up"] in CLARIFYING)
    share = {good: sum(flags) / len(flags) for good, flags in clarified.items()}
    assert share[True] < 0.15 < 0.25 < share[False]


def test_a_corrected_response_was_about_the_wrong_topic(clean):
    last = {}
    checked = 0
    for record in clean:
        if record.truth["follow_up"] in ("correction", "misunderstanding"):
            response = last[record.key]
            assert not set(response.truth["relevant"]) & set(MARKER.findall(decode(response).text))
            checked += 1
        last[record.key] = record
    assert checked > 50


def test_documents_are_ranked_distinct_and_within_their_length(clean):
    turns = [decode(record) for record in clean if record.truth["quality"] is not None]
    for turn in turns:
        assert [document.rank for document in turn.retrieved] == [1, 2, 3, 4, 5, 6, 7, 8]
        assert sorted(document.retrieval_rank or 0 for document in turn.retrieved) == [1, 2, 3, 4, 5, 6, 7, 8]
        assert len({document.doc_id for document in turn.retrieved}) == 8
        assert all(70 <= len(document.text or "") <= 600 for document in turn.retrieved)
        assert all(document.title and document.url for document in turn.retrieved)
    assert any([document.retrieval_rank for document in turn.retrieved] != [*range(1, 9)] for turn in turns)


@pytest.mark.parametrize("documents", [0, 1, 3, 30])
def test_any_number_of_documents_is_retrieved(documents):
    records = list(simulate(replace(CLEAN, turns=600, documents=documents, format_faults=0.5)))
    for record in records:
        turn = decode(record)
        if record.truth["quality"] is not None:
            assert len(turn.retrieved) == documents
            assert max(record.truth["cited"], default=0) <= documents


def test_cited_ranks_are_what_the_markers_say(clean):
    for record in clean:
        turn = decode(record)
        marked = set(MARKER.findall(turn.text))
        ranks = [document.rank for document in turn.retrieved if document.doc_id in marked]
        assert ranks == record.truth["cited"]


def test_a_few_responses_cite_nothing_and_thanks_are_answered_without_documents(clean):
    responses = [record for record in clean if record.truth["role"] == "assistant"]
    silent = [r for r in responses if r.truth["quality"] is not None and not r.truth["cited"]]
    replies = [r for r in responses if r.truth["quality"] is None]
    assert 0.01 < len(silent) / len(responses) < 0.06
    assert replies
    assert all(not decode(record).retrieved for record in replies)


def test_format_faults_are_in_the_text_where_the_side_truth_says_so():
    records = list(simulate(replace(CLEAN, format_faults=0.5)))
    signs = {
        "citation_malformed": re.compile(r"\(doc_\d+\)"),
        "citation_dangling": re.compile(r"\[doc_9999999\]"),
        "citation_run": re.compile(r"(?:\[doc_\d+\]){4}"),
        "citation_opens_line": re.compile(r"^\[doc_\d+\]", re.M),
        "source_url": re.compile(r"https://"),
        "break_in_cell": re.compile(r"<br>"),
        "heading_on_slack": re.compile(r"^# ", re.M),
    }
    seen = Counter()
    for record in records:
        text = decode(record).text if record.truth["role"] == "assistant" else ""
        found = [fault for fault, sign in signs.items() if sign.search(text)]
        assert found == ([record.truth["fault"]] if record.truth["fault"] else [])
        seen.update(found)
    assert set(seen) == set(signs)


def test_markdown_stays_on_the_web_and_slack_markup_on_slack(clean):
    turns = [decode(r) for r in clean if r.truth["role"] == "assistant" and not r.truth["fault"]]
    tables = {turn.platform for turn in turns if "| --- |" in turn.text}
    lists = {turn.platform for turn in turns if "\n2. " in turn.text or "\n- " in turn.text}
    bullets = {turn.platform for turn in turns if "• " in turn.text}
    assert (tables, lists, bullets) == ({"web"}, {"web"}, {"slack"})


def test_names_are_drawn_per_conversation_and_only_responses_carry_a_version():
    traffic = replace(CLEAN, versions=("v1", "v1", "v1", "v2"), assistants=("helpdesk",), platforms=("sms",))
    versions = Counter()
    for records in by_conversation(list(simulate(traffic))).values():
        turns = [decode(record) for record in records]
        assert {turn.assistant for turn in turns} == {"helpdesk"}
        assert {turn.platform for turn in turns} == {"sms"}
        assert all((turn.version is None) == (turn.role == "user") for turn in turns)
        versions.update({turn.version for turn in turns if turn.version})
    assert versions["v2"] / sum(versions.values()) == pytest.approx(0.25, abs=0.07)


def test_an_assistant_named_after_a_domain_stays_in_it():
    records = list(simulate(replace(CLEAN, turns=400, assistants=("billing",), labelled=1.0)))
    labels = [decode(record).truth for record in records if record.truth["quality"] is not None]
    assert {label.domain for label in labels if label} == {"billing"}


def test_labelled_conversations_carry_their_relevant_documents():
    for record in simulate(replace(CLEAN, turns=400, labelled=1.0)):
        label = decode(record).truth
        if record.truth["quality"] is None:
            assert label is None
        else:
            assert label is not None
            assert label.doc_ids == record.truth["relevant"]


def test_every_topic_is_paired_with_another_of_its_domain():
    for topic in TOPICS:
        assert BY_NAME[topic.confused_with].confused_with == topic.name
        assert BY_NAME[topic.confused_with].domain == topic.domain
        assert not [fact for fact in topic.facts if fact.endswith(".")]


# ---- planted regressions ----------------------------------------------------------------------------------------


def worse_from_minute_30(kind, **knobs):
    """Records of v2 before and after; v2 is one of two versions from the start."""
    traffic = replace(CLEAN, turns=8_000, versions=("v1", "v2"), **knobs)
    traffic = replace(traffic, regression=Regression(minute=30, version="v2", kind=kind))
    version, before, after, others = {}, [], [], []
    for record in simulate(traffic):
        if record.truth["role"] == "assistant":
            version[record.key] = orjson.loads(record.value)["version"]
        later = record.truth["time"] >= START + 1_800
        (others if version.get(record.key) != "v2" else after if later else before).append(record)
    return before, after, others


def reciprocal_rank(records):
    ranks = []
    for record in records:
        turn = decode(record)
        cited = set(MARKER.findall(turn.text))
        ranks += [next((1 / d.rank for d in turn.retrieved if d.doc_id in cited), 0.0)] if turn.retrieved else []
    return sum(ranks) / len(ranks)


def clarification(records):
    labels = [record.truth["follow_up"] for record in records if record.truth["follow_up"]]
    return sum(label in CLARIFYING for label in labels) / len(labels)


def malformed_citations(records):
    texts = [decode(record).text for record in records if record.truth["quality"] is not None]
    return sum(re.search(r"\(doc_\d+\)", text) is not None for text in texts) / len(texts)


def correlation_within(records, value):
    """Correlation of what two neighbouring responses of a conversation have of a value."""
    pairs = [pair for own in by_conversation(records).values() for pair in pairwise(filter(None, map(value, own)))]
    means = [sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1)]
    spread = [sum((pair[side] - means[side]) ** 2 for pair in pairs) for side in (0, 1)]
    return sum((a - means[0]) * (b - means[1]) for a, b in pairs) / (spread[0] * spread[1]) ** 0.5


def best_rank(record):
    """1 ÷ rank of the best cited document; None for what cites none."""
    return 1.0 / min(record.truth["cited"]) if record.truth["cited"] else None


@pytest.mark.parametrize(
    ("alike", "least", "most"),
    [
        pytest.param(0.0, -0.1, 0.1, marks=pytest.mark.slow),
        (0.3, 0.15, 0.4),
        pytest.param(0.9, 0.5, 0.9, marks=pytest.mark.slow),
    ],
)
def test_responses_of_a_conversation_are_as_alike_as_is_asked_for(alike, least, most):
    records = list(simulate(replace(CLEAN, turns=12_000, correlation=alike)))
    assert least < correlation_within(records, best_rank) < most


def test_a_share_of_the_responses_gets_worse_and_the_rest_stays():
    traffic = replace(CLEAN, regression=Regression(minute=0, version="v1", kind="breaks_format", share=0.3))
    answers = [record for record in simulate(traffic) if record.truth["role"] == "assistant"]
    assert 0.27 < len(planted(answers, "breaks_format")) / len(answers) < 0.33


def test_a_version_that_retrieves_worse_cites_from_further_down_and_nothing_else_changes():
    before, after, others = worse_from_minute_30("retrieves_worse")
    assert reciprocal_rank(before) > 0.8 > 0.45 > reciprocal_rank(after)
    assert reciprocal_rank(others) > 0.8
    assert clarification(after) < 0.25


def test_a_version_that_answers_worse_is_clarified_more_and_retrieves_as_before():
    before, after, others = worse_from_minute_30("answers_worse")
    assert clarification(before) < 0.28 < 0.34 < clarification(after)
    assert clarification(others) < 0.25
    assert reciprocal_rank(after) > 0.8


def test_a_version_that_breaks_a_format_malforms_a_citation_and_keeps_the_others():
    before, after, others = worse_from_minute_30("breaks_format")
    assert malformed_citations(before) < 0.03
    assert malformed_citations(others) < 0.03
    assert malformed_citations(after) > 0.9
    assert reciprocal_rank(after) > 0.8


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("answers_errors", "Internal error 500."),
        pytest.param("answers_empty", "", marks=pytest.mark.slow),
        pytest.param("refuses", "I'm sorry, but I can't help with that.", marks=pytest.mark.slow),
    ],
)
def test_a_version_that_breaks_says_the_same_to_everybody_and_half_of_the_users_leave(kind, text):
    before, after, others = worse_from_minute_30(kind)
    assert {decode(record).text for record in after if record.truth["role"] == "assistant"} == {text}
    assert text not in {decode(record).text for record in (*before, *others) if record.truth["role"] == "assistant"}
    answered = [record for record in after if record.truth["role"] == "assistant"]
    assert sum(bool(record.truth["follow_up"]) for record in after) < 0.6 * len(answered)


def test_a_version_that_invents_citations_names_documents_that_were_not_retrieved():
    _, after, others = worse_from_minute_30("invents_citations")

    def resolved(records):
        turns = [decode(record) for record in records if record.truth["role"] == "assistant"]
        found = [(mark in {d.doc_id for d in t.retrieved}) for t in turns for mark in MARKER.findall(t.text)]
        return sum(found) / len(found)

    assert resolved(others) > 0.98
    assert 0.4 < resolved(after) < 0.6
    for record in after:
        if record.truth["role"] == "assistant":
            ids = [d.doc_id for d in decode(record).retrieved]
            cited = {ids.index(mark) + 1 for mark in MARKER.findall(decode(record).text) if mark in ids}
            assert cited == set(record.truth["cited"])


@pytest.mark.slow
def test_a_version_that_cites_nothing_has_no_marker():
    _, after, _ = worse_from_minute_30("cites_nothing")
    assert not any(MARKER.findall(decode(record).text) for record in after if record.truth["role"] == "assistant")


@pytest.mark.slow
def test_a_version_that_loses_its_users_has_no_follow_ups():
    before, after, _ = worse_from_minute_30("loses_users")
    begun = {record.key for record in before}
    assert sum(bool(record.truth["follow_up"]) for record in before) > 50
    assert not [
        r for r in after if r.key not in begun and r.truth["follow_up"] and "superseded" not in r.truth["planted"]
    ]


@pytest.mark.slow
def test_a_version_that_answers_slowly_takes_twice_as_long():
    def wait(records):
        times = {(record.key, record.truth["turn_id"]): record.truth["time"] for record in records}
        waits = [
            time - times[key, f"t{int(turn_id[1:]) - 1}"]
            for record in records
            for key, turn_id, time in [(record.key, record.truth["turn_id"], record.truth["time"])]
            if record.truth["role"] == "assistant" and (key, f"t{int(turn_id[1:]) - 1}") in times
        ]
        return sum(waits) / len(waits)

    before, after, _ = worse_from_minute_30("answers_slowly")
    assert wait(after) == pytest.approx(2 * wait(before), rel=0.25)


def test_a_regression_can_hit_a_share_of_the_responses():
    regression = Regression(minute=0, version="v1", kind="breaks_format", share=0.25)
    records = list(simulate(replace(CLEAN, regression=regression, format_faults=0.0)))
    responses = [record for record in records if record.truth["quality"] is not None]
    assert len(planted(responses, "breaks_format")) / len(responses) == pytest.approx(0.25, abs=0.04)


def test_a_version_that_is_not_among_the_versions_is_released_at_its_minute():
    regression = Regression(minute=10, version="2026.1", kind="retrieves_worse")
    for record in simulate(replace(CLEAN, regression=regression)):
        if record.truth["role"] == "assistant":
            released = record.truth["time"] >= START + 600
            assert decode(record).version == ("2026.1" if released else "v1")


# ---- settings that are wrong ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("knob", "value"),
    [
        ("disorder", 1.5),
        ("malformed", -0.1),
        ("hot", float("nan")),
        ("turns", 0),
        ("conversations", -3),
        ("rate", 0.0),
        ("rate", float("inf")),
        ("start", -1.0),
        ("open_conversations", 0),
        ("documents", 101),
        ("document_chars", (600, 80)),
        ("versions", ()),
        ("assistants", ("",)),
        ("platforms", "web"),
        ("late_seconds", 0.0),
        ("rate", "5"),
        ("turns", 1.5),
        ("seed", None),
        ("document_chars", 600),
    ],
)
def test_a_wrong_knob_is_named_with_what_came(knob, value):
    with pytest.raises(ConfigError) as error:
        replace(CLEAN, **{knob: value})
    assert knob in str(error.value)
    assert repr(value) in str(error.value)


def test_shares_that_exclude_each_other_are_at_most_one_together():
    with pytest.raises(ConfigError, match=r"disorder \+ late must be at most 1 together; got \(0\.7, 0\.4\)"):
        replace(CLEAN, disorder=0.7, late=0.4)


def test_a_regression_of_an_unknown_kind_is_refused():
    with pytest.raises(ConfigError, match="loses_users, answers_slowly; got 'slower'"):
        Regression(minute=1, version="v2", kind="slower")


# ---- the benchmark's traffic ------------------------------------------------------------------------------------


def test_steady_turns_go_round_the_conversations_with_roles_in_turn():
    turns = [decode_turn(value, key) for key, value in steady(700, 100)]
    assert [turn.conversation_id for turn in turns[:100]] == [turn.conversation_id for turn in turns[300:400]]
    assert len({turn.conversation_id for turn in turns}) == 100
    assert [turn.role for turn in turns[::100]] == ["user", "assistant"] * 3 + ["user"]
    assert [turn.turn_id for turn in turns[::100]] == ["t1", "t2", "t3", "t4", "t5", "t6", "t7"]
    assert [turn.time for turn in turns] == sorted(turn.time for turn in turns)


def test_steady_turns_have_the_size_of_the_benchmark():
    records = list(steady(2_000, 500))
    sizes = {"user": [], "assistant": []}
    for key, value in records:
        turn = decode_turn(value, key)
        sizes[turn.role].append(len(value))
        if turn.role == "assistant":
            assert len(turn.retrieved) == 8
            assert all(530 <= len(document.text or "") <= 580 for document in turn.retrieved)
    assert 5_000 < sum(sizes["assistant"]) / 1_000 < 6_000
    assert 170 < sum(sizes["user"]) / 1_000 < 240


def test_steady_turns_are_the_same_for_the_same_seed():
    assert list(steady(300, 10, seed=3)) == list(steady(300, 10, seed=3)) != list(steady(300, 10, seed=4))


def test_steady_needs_a_conversation():
    with pytest.raises(ConfigError, match="conversations must be at least 1; got 0"):
        next(steady(10, 0))
