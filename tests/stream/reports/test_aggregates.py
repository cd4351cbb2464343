"""What a replay sums up: every conversation once, good and bad failures told apart, the same however it is divided."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import orjson
import pytest

from turnsignal.stream.replay import Indexer, Recorded, Replay, Run
from turnsignal.stream.reports.findings import find
from turnsignal.stream.suite import Suite, parse_suite

NOW = 1_800_000_000.0
SUITE = parse_suite("[aggregates]\nminimum_n = 2\nwhole = true")

ONE = SUITE.model_copy(update={"aggregates": SUITE.aggregates.model_copy(update={"minimum_n": 1})})


def turn(conversation: str, number: int, role: str, text: str, minute: int = 0, **more: Any) -> bytes:
    fields = {"conversation_id": conversation, "turn_id": f"{conversation}:{number}", "role": role, "text": text}
    day, clock = 15 + minute // 1440, f"{minute % 1440 // 60:02d}:{minute % 60:02d}:{number:02d}"
    return orjson.dumps(fields | {"timestamp": f"2025-06-{day:02d}T{clock}Z", "version": "v1"} | more)


def summary(*lines: bytes, suite: Suite = SUITE) -> dict[str, Any]:
    return _replay(sorted(Indexer(NOW).index(lines)), suite)


def summary_as_is(*lines: bytes) -> dict[str, Any]:
    return _replay(list(Indexer(NOW).index(lines)), SUITE)


def _replay(lines: list[Recorded], suite: Suite) -> dict[str, Any]:
    replay = Replay(suite)
    end = max([line.time for line in lines], default=0.0)
    for source in (replay.feed(lines), replay.finish(end)):
        for _ in source:
            pass
    whole = Run(suite)
    for number in sorted(replay.runs):
        whole.merge(replay.runs[number])
    return whole.summary(suite)


def asked_and_answered(name: str, minute: int = 0, number: int = 0) -> list[bytes]:
    answer = turn(name, number + 1, "assistant", "Open Settings [d2].", minute, retrieved=[{"doc_id": "d2"}])
    return [turn(name, number, "user", "How do I reset my password?", minute), answer]


def test_a_conversation_that_comes_back_is_counted_once_as_it_ended() -> None:
    back = asked_and_answered("c1", minute=60, number=2)
    lines = [*asked_and_answered("c1"), *back, *asked_and_answered("c2")]
    found = summary(*lines)
    # The counters count closes; c1 was silent until its question came again.
    assert {row["outcome"]: row["n"] for row in found["outcomes"]} == {"abandoned": 1, "silent": 2}
    (row,) = found["quality"]
    assert (row["version"], row["conversations"]) == ("v1", 2)
    assert (row["figures"]["silent"]["value"], row["figures"]["abandoned"]["value"]) == (0.5, 0.5)


def test_one_under_the_same_id_after_it_was_forgotten_is_another() -> None:
    lines = [*asked_and_answered("c1"), *asked_and_answered("c1", minute=3 * 1440, number=2)]
    lines += [line for i in range(3) for line in asked_and_answered(f"other{i}", minute=1440 * i)]
    assert summary(*lines)["quality"][0]["conversations"] == 5


def test_means_are_those_of_the_scores() -> None:
    found = summary(*[line for i in range(4) for line in asked_and_answered(f"c{i}")])
    scores = {row["scorer"]: row for row in found["scores"]}
    figures = found["quality"][0]["figures"]
    assert scores["nDCG@5"]["mean"] == figures["nDCG@5"]["value"] == 1.0
    assert scores["compliance"]["mean"] == figures["compliance"]["value"]


def test_how_many_questions_a_conversation_has_is_told_without_thanks() -> None:
    lines = [line for i in range(4) for n in (0, 2, 4) for line in asked_and_answered(f"c{i}", number=n, minute=n)]
    lines += [turn(f"c{i}", 6, "user", "Thanks!", 5) for i in range(4)]
    lines += [turn(f"c{i}", 7, "assistant", "You're welcome!", 5) for i in range(4)]
    figure = summary(*lines)["quality"][0]["figures"]["questions_per_conversation"]
    assert (figure["value"], figure["unit"], figure["n"]) == (3.0, "questions", 4)


def test_who_is_thanked_more_often_has_no_less_evidence() -> None:
    def thanked(name: str) -> list[bytes]:
        return [turn(name, 2, "user", "Thanks!"), turn(name, 3, "assistant", "You're welcome!")]

    suite = parse_suite('[aggregates]\nminimum_n = 2\nwhole = true\n[[checks]]\ncheck = "citation.format"')
    names = [f"c{i}" for i in range(4)]
    (row,) = summary(*[line for name in names for line in (*asked_and_answered(name), *thanked(name))], suite=suite)[
        "quality"
    ]
    values = {name: figure["value"] for name, figure in row["figures"].items()}
    assert (values["coverage(nDCG@5)"], values["coverage(follow_up)"], values["checks_applied"]) == (1.0, 1.0, 1.0)
    assert row["figures"]["nDCG@5"]["coverage"] == 0.5, "of all answers"


def test_an_answer_counts_for_the_release_that_gave_it() -> None:
    def answer(number: int, text: str, version: str) -> bytes:
        return turn("c1", number, "assistant", text, retrieved=[{"doc_id": "d2"}], version=version)

    lines = [
        turn("c1", 0, "user", "How do I reset my password?"),
        answer(1, "Open Settings [d2], see https://example.org/x.", "v1"),
        turn("c1", 2, "user", "No, I meant resetting the other password, not this one."),
        answer(3, "Open Settings [d2].", "v2"),
        *asked_and_answered("c2"),
        turn("c3", 0, "user", "How do I reset my password?"),
        turn("c3", 1, "assistant", "Open Settings [d2].", retrieved=[{"doc_id": "d2"}], version="v2"),
    ]
    found = summary(*lines)
    means = {(row["version"], row["scorer"]): row["mean"] for row in found["scores"]}
    figures = {row["version"]: row["figures"] for row in summary(*lines, suite=ONE)["quality"] if "figures" in row}
    assert means["v2", "compliance"] == figures["v2"]["compliance"]["value"] == 1.0
    # c1 ended under v2, and what followed the answer of v1 is v1's.
    assert [row["conversations"] for row in found["quality"]] == [1, 2]
    assert "clarification_free" not in figures["v2"]


def test_where_two_releases_take_turns_each_has_the_means_of_its_own_answers() -> None:
    asks = ["No, I meant the other one.", "Thanks, that worked! And what about billing?"]
    lines = [turn("c1", 0, "user", "How do I reset my password?")]
    for i in range(1, 90, 2):
        text = f"Open Settings [d{1 + i % 3}]." + " See https://example.org/x." * (i % 5 == 0)
        documents = [{"doc_id": f"d{j}", "url": "https://example.org/x"} for j in (1, 2, 3)]
        answered, asked = (f"2025-06-15T{i // 60:02d}:{i % 60:02d}:{second}Z" for second in (10, 40))
        more = {"retrieved": documents, "version": f"v{i // 2 % 2}", "timestamp": answered}
        lines.append(turn("c1", i, "assistant", text, **more))
        lines.append(turn("c1", i + 1, "user", asks[i // 2 % 3 == 0], timestamp=asked))
    found = summary(*lines, *asked_and_answered("c2", minute=3), suite=ONE)
    means = {(row["version"], row["scorer"]): row["mean"] for row in found["scores"] if row["mean"] is not None}
    figures = {row["version"]: row.get("figures", {}) for row in found["quality"]}
    compared = 0
    for (version, scorer), mean in means.items():
        if scorer in figures[version]:
            assert figures[version][scorer]["value"] == mean
            compared += 1
    assert compared > 15
    assert 0 < figures["v0"]["clarification_free"]["value"] < 1


def test_the_primary_figure_counts_every_follow_up_that_can_be_read_recognised_or_not() -> None:
    def followed_up(name: str, minute: int, version: str, reaction: str) -> list[bytes]:
        documents = [{"doc_id": "d2"}]
        return [
            turn(name, 0, "user", "How do I reset my password?", minute, version=version),
            turn(name, 1, "assistant", "Open Settings [d2].", minute, retrieved=documents, version=version),
            turn(name, 2, "user", reaction, minute, version=version),
            turn(name, 3, "assistant", "It is there [d2].", minute, retrieved=documents, version=version),
        ]

    unrecognised, unread = "Does it snow there", "Nie, to nadal nie działa"
    wrong = "No, I meant resetting the other password, not this one."
    before = [unrecognised, unrecognised, unread, "Thanks, that worked!"]
    lines = [line for i, text in enumerate(before) for line in followed_up(f"a{i}", i, "v1", text)]
    after = [unrecognised, unread, wrong, wrong]
    lines += [line for i, text in enumerate(after) for line in followed_up(f"b{i}", 100 + i, "v2", text)]
    found = summary(*lines)
    free, _ = (row["figures"]["clarification_free"] for row in found["quality"])
    assert (free["value"], free["n"], free["coverage"]) == (1.0, 3, 0.375)
    (change,) = found["comparisons"]
    assert change["primary"] == "clarification_free"
    assert change["deltas"]["clarification_free"]["value"] == -0.666667


def test_a_follow_up_that_a_late_turn_corrects_counts_once() -> None:
    lines = [line for i in range(3) for line in asked_and_answered(f"c{i}")]
    thanks = turn("c0", 3, "user", "Thanks, that worked!")
    late = turn("c0", 2, "user", "No, I meant resetting the other password, not this one.")
    (row,) = summary_as_is(*lines, thanks, late)["quality"]
    assert row["figures"]["coverage(follow_up)"]["value"] == round(1 / 3, 6)
    assert row["figures"]["cited"]["value"] == 1.0
    assert row["figures"]["answer_seconds"]["value"] == 1.0


def test_conversations_that_the_recording_cuts_are_left_out_of_release_figures() -> None:
    lines = [line for i in range(4) for line in asked_and_answered(f"c{i}", minute=20 * i)]
    lines.append(turn("c9", 0, "assistant", "Open Settings [d2].", 1, retrieved=[{"doc_id": "d2"}]))
    (row,) = summary(*lines, suite=parse_suite("[aggregates]\nminimum_n = 2"))["quality"]
    assert (row["conversations"], row["left_out"]) == (2, {"headless": 1, "young": 2})


def test_a_conversation_that_the_recording_cuts_has_no_outcome_and_is_counted_as_cut() -> None:
    cut = parse_suite("[aggregates]\nminimum_n = 2")
    lines = [line for i in range(4) for line in asked_and_answered(f"c{i}", minute=20 * i)]
    lines.append(turn("c3", 2, "user", "And where is that?", minute=60))
    assert {row["outcome"]: row["n"] for row in summary(*lines, suite=cut)["outcomes"]} == {"silent": 2, "cut": 2}
    assert {row["outcome"]: row["n"] for row in summary(*lines)["outcomes"]} == {"silent": 3, "unanswered": 1}


def test_questions_that_nobody_answers_count_for_the_release_that_they_were_put_to() -> None:
    lines = [turn(f"c{i}", 0, "user", "How do I reset my password?", 100 * i, version="v2") for i in range(3)]
    lines += [line for i in range(3) for line in asked_and_answered(f"d{i}", minute=100 * i)]
    found = summary(*lines)
    one, two = found["quality"]
    assert (one["version"], one["figures"]["silent"]["value"], one["turns_per_conversation"]) == ("v1", 1.0, 2.0)
    assert (two["version"], two["figures"]["unanswered"]["value"], two["turns_per_conversation"]) == ("v2", 1.0, 1.0)
    free = "clarification_free(per=conversation)"
    assert (one["figures"][free]["value"], two["figures"][free]["value"]) == (1.0, 0.0)


def test_a_question_that_is_answered_after_its_close_counts_once() -> None:
    late = turn("c1", 1, "assistant", "Open Settings [d2].", 90, retrieved=[{"doc_id": "d2"}])
    lines = [turn("c1", 0, "user", "How do I reset my password?"), late, *asked_and_answered("c2")]
    (row,) = summary(*lines)["quality"]
    assert (row["conversations"], row["figures"]["silent"]["value"]) == (2, 1.0)


def test_a_question_that_nobody_answers_twice_under_one_id_is_two_conversations() -> None:
    question = "How do I reset my password?"
    lines = [turn("c1", 0, "user", question), turn("c1", 1, "user", question, 3 * 1440)]
    lines += [line for i in range(3) for line in asked_and_answered(f"other{i}", minute=1440 * i)]
    (row,) = summary(*lines)["quality"]
    assert (row["conversations"], row["figures"]["unanswered"]["value"]) == (5, 0.4)


def test_what_was_put_to_no_release_counts_for_the_one_that_answered_around_its_time() -> None:
    lines = [turn(f"c{i}", 0, "user", "How do I reset my password?", 100 * i, version=None) for i in range(3)]
    lines += [line for i in range(3) for line in asked_and_answered(f"d{i}", minute=100 * i)]
    found = summary(*lines)
    ((version, n, attributed),) = [
        (row["version"], row["conversations"], row["attributed"]) for row in found["quality"]
    ]
    assert (version, n, attributed, found["comparisons"]) == ("v1", 6, 3, [])


def test_a_conversation_with_a_turn_of_another_environment_is_left_out_and_counted() -> None:
    lines = [*asked_and_answered("c1"), *asked_and_answered("c2"), *asked_and_answered("c3")]
    lines.append(turn("c2", 2, "user", "Does it answer?", environment="synthetic"))
    (row,) = summary(*lines)["quality"]
    assert (row["conversations"], row["left_out"]) == (2, {"other_environment": 1})


def test_the_share_of_answers_that_are_none_is_a_figure() -> None:
    lines = [*asked_and_answered("c1"), *asked_and_answered("c2")]
    lines += [turn("c3", 0, "user", "And?", 1), turn("c3", 1, "assistant", "Internal error 500.", 1)]
    lines += [turn("c4", 0, "user", "And?", 1), turn("c4", 1, "assistant", "", 1)]
    (row,) = summary(*lines)["quality"]
    assert row["figures"]["failed"]["value"] == 0.5


def test_an_answer_that_breaks_a_rule_and_ends_well_counts_as_good() -> None:
    def broken(name: str, reaction: str) -> list[bytes]:
        text = "Open Settings [d2], see https://example.org/x."
        return [
            turn(name, 0, "user", "How do I reset my password?"),
            turn(name, 1, "assistant", text, retrieved=[{"doc_id": "d2", "url": "https://example.org/x"}]),
            turn(name, 2, "user", reaction),
            turn(name, 3, "assistant", "It is there [d2].", retrieved=[{"doc_id": "d2"}]),
        ]

    good, bad = "Thanks, that worked!", "No, I meant resetting the other password, not this one."
    lines = [*broken("c1", good), *broken("c2", good), *broken("c3", good), *broken("c4", bad)]
    rows = {row["check"]: row for row in summary(*lines)["review"]}
    row = rows["citation.no_source_urls"]
    assert (row["fails"], row["conversations"]) == (4, 4)
    assert row["good_among_fails"]["value"] == 0.75
    # Of eight answers, those of c4 were not known to be good: one was corrected, one had no follow-up.
    assert row["good_among_all"] == 0.75


def test_an_answer_of_a_clarified_conversation_is_good_where_its_own_follow_up_was() -> None:
    text = "Open Settings [d2], see https://example.org/x."
    documents = [{"doc_id": "d2", "url": "https://example.org/x"}]
    lines = [
        turn("c1", 0, "user", "How do I reset my password?"),
        turn("c1", 1, "assistant", "Open Billing [d2].", retrieved=documents),
        turn("c1", 2, "user", "No, I meant resetting the password, not billing."),
        turn("c1", 3, "assistant", text, retrieved=documents),
        turn("c1", 4, "user", "Thanks, that worked!"),
        turn("c1", 5, "assistant", "You are welcome."),
    ]
    rows = {row["check"]: row for row in summary(*lines)["review"]}
    assert rows["citation.no_source_urls"]["good_among_fails"]["value"] == 1.0
    assert rows["citation.no_source_urls"]["good_among_all"] == round(1 / 3, 6)


def test_nothing_gives_empty_sections() -> None:
    found = summary()
    assert (found["quality"], found["comparisons"], found["cite_rates"], found["position_bias"]) == ([], [], [], [])
    assert {row["verdict"] for row in found["review"]} == {"too few to say"}
    assert orjson.dumps(found)


# -- what is retrieved ---------------------------------------------------------------------------------------

SIX = [f"d{i}" for i in range(6)]


def retrieved(version: str, minute: int, documents: list[str], text: str, reaction: str) -> list[bytes]:
    lines = []
    for i in range(40):
        name, at = f"{version}-{i}", minute + i
        more = {"version": version, "retrieved": [{"doc_id": one} for one in documents]}
        lines.append(turn(name, 0, "user", "How do I reset my password?", at))
        lines.append(turn(name, 1, "assistant", text, at, **more))
        lines.append(turn(name, 2, "user", reaction if i % 2 else "Thanks, that worked!", at))
        lines.append(turn(name, 3, "assistant", text, at, **more))
    return lines


def compared(*lines: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    found = summary(*lines, suite=SUITE)
    (change,) = found["comparisons"]
    return found["quality"][-1]["figures"], change["deltas"]


def test_retrieval_that_loses_documents_ranks_no_better() -> None:
    before = retrieved("v1", 0, SIX, "Open Settings [d3].", "Thanks, that worked!")
    after = retrieved("v2", 100, ["d3"], "Open Settings [d3].", "No, I meant the other one.")
    figures, deltas = compared(*before, *after)
    assert (figures["documents"]["value"], figures["documents"]["unit"]) == (1.0, "documents")
    assert (deltas["documents"]["value"], deltas["documents"]["verdict"]) == (round(1 / 6 - 1, 6), "changed")
    assert deltas["clarification_free"]["verdict"] == "worse"
    for name in ("nDCG@5", "wasted_context"):
        assert deltas[name]["verdict"] == "changed"
        assert deltas[name]["why"] == "not called better: beside fewer documents per answer"


def test_answers_that_cite_whatever_they_got_rank_it_no_better() -> None:
    everything = "Open Settings " + "".join(f"[{one}]" for one in SIX) + "."
    before = retrieved("v1", 0, SIX, "Open Settings [d3].", "Thanks, that worked!")
    _, deltas = compared(*before, *retrieved("v2", 100, SIX, everything, "Thanks, that worked!"))
    assert deltas["nDCG@5"]["why"] == "not called better: beside more answers that cite all their documents"


def test_some_answers_that_cite_whatever_they_got_rank_it_no_better_either() -> None:
    everything = "Open Settings " + "".join(f"[{one}]" for one in SIX) + "."
    before = retrieved("v1", 0, SIX, "Open Settings [d3].", "Thanks, that worked!")
    after = retrieved("v2", 100, SIX, "Open Settings [d3].", "Thanks, that worked!")
    for at in range(len(after)):
        if at // 4 < 20:
            after[at] = after[at].replace(b"Open Settings [d3].", everything.encode())
    figures, deltas = compared(*before, *after)
    assert figures["cites_all_documents"]["value"] == 0.5
    assert "better" not in {deltas[name]["verdict"] for name in ("nDCG@5", "wasted_context")}
    assert deltas["nDCG@5"]["why"] == "not called better: beside more answers that cite all their documents"


def cites(version: str, minute: int, places: Callable[[int], Sequence[int]]) -> list[bytes]:
    """Conversations about something else each; places: of the documents, out of eight, that each answer cites."""
    lines = []
    for i in range(60):
        found, at, name = [f"{i}-{place}" for place in range(8)], minute + i, f"{version}-{i}"
        text = f"Open Settings and choose {i} " + " ".join(f"[{found[place]}]" for place in places(i)) + "."
        more = {"version": version, "retrieved": [{"doc_id": each} for each in found]}
        lines.append(turn(name, 0, "user", f"How do I reset number {i}?", at))
        lines.append(turn(name, 1, "assistant", text, at, **more))
        lines.append(turn(name, 2, "user", "Thanks, that worked!" if i % 4 else "No, I meant the other one.", at))
    return lines


def three(i: int) -> tuple[int, ...]:
    return i % 2, 2 + i % 3, 5 + i % 2


@pytest.mark.parametrize("fewer", [False, True])
def test_another_number_of_citations_out_of_the_same_documents_is_no_better_or_worse_retrieval(fewer: bool) -> None:
    numbers: list[Callable[[int], Sequence[int]]] = [lambda i: [three(i)[1 + i % 2]], three]
    before, after = reversed(numbers) if fewer else numbers
    found = summary(*cites("v1", 0, before), *cites("v2", 100, after))
    (change,) = found["comparisons"]
    assert found["quality"][-1]["figures"]["citations_per_answer"]["value"] == (1.0 if fewer else 3.0)
    assert (change["deltas"]["nDCG@5"]["value"] < -0.1) is fewer
    assert {change["deltas"][name]["verdict"] for name in ("nDCG@5", "wasted_context")} == {"changed"}
    said = [one.sentence for one in find(found)]
    assert not [sentence for sentence in said if "retrieves better" in sentence or "retrieves worse" in sentence]
    assert [
        sentence
        for sentence in said
        if sentence.endswith(f"beside {'fewer' if fewer else 'more'} citations per answer")
    ]


def test_a_search_that_got_worse_is_worse_at_the_same_number_of_citations() -> None:
    _, deltas = compared(*cites("v1", 0, lambda i: [i % 2]), *cites("v2", 100, lambda i: [4 + i % 3]))
    assert (deltas["nDCG@5"]["verdict"], deltas["citations_per_answer"]["value"]) == ("worse", 0.0)


@pytest.mark.parametrize("habit", [lambda _: range(8), lambda _: [0], lambda i: range(len(three(i)))])
def test_who_ceases_to_cite_all_or_by_the_place_retrieves_no_worse(habit: Callable[[int], Sequence[int]]) -> None:
    _, deltas = compared(*cites("v1", 0, habit), *cites("v2", 100, three))
    assert (deltas["nDCG@5"]["value"] < -0.1, deltas["nDCG@5"]["verdict"]) == (True, "changed")


def asked_of(
    minute: int, version: str, documents: Callable[[int], list[str]], cited: Callable[[int], int]
) -> list[bytes]:
    """Conversations about something else each; cited: the place of what is cited."""
    lines = []
    for i in range(60):
        found, at = documents(i), minute + i
        more = {"version": version, "retrieved": [{"doc_id": one} for one in found]}
        name = f"{version}-{i}"
        lines.append(turn(name, 0, "user", f"How do I reset number {i}?", at))
        lines.append(turn(name, 1, "assistant", f"Open Settings and choose {i} [{found[cited(i)]}].", at, **more))
        lines.append(turn(name, 2, "user", "Thanks, that worked!" if i % 4 else "No, I meant the other one.", at))
    return lines


def test_a_search_that_is_dead_does_not_retrieve_better_because_the_first_document_is_cited() -> None:
    before = asked_of(0, "v1", lambda i: [f"{i}-{at}" for at in range(5)], lambda i: i % 3)
    _, deltas = compared(*before, *asked_of(100, "v2", lambda _: SIX[:5], lambda _: 0))
    assert (deltas["same_documents"]["value"], deltas["same_documents"]["verdict"]) == (1.0, "changed")
    assert deltas["nDCG@5"]["value"] > 0.2
    why = "not called better: the same few documents come for most questions (100% of what is retrieved, 0% before)"
    assert (deltas["nDCG@5"]["verdict"], deltas["nDCG@5"]["why"]) == ("changed", why)


WORDS = (
    "lamp",
    "radio",
    "router",
    "kettle",
    "oven",
    "fridge",
    "heater",
    "mixer",
    "toaster",
    "camera",
    "printer",
    "drill",
)


@pytest.mark.parametrize(
    ("share", "answer", "verdict"),
    [
        (1.0, "There are many ways to mend things, depending on your needs [d1].", "worse"),
        (0.4, "There are many ways to mend things, depending on your needs [d1].", "changed"),
        (1.0, "Hello! What can I do for you?", "changed"),
        (1.0, "Please name your customer number first.", "changed"),
    ],
)
def test_the_same_answer_to_most_is_worse_where_all_have_always_got_the_same_documents(
    share: float, answer: str, verdict: str
) -> None:
    lines, found = [], [{"doc_id": f"d{at}"} for at in range(1, 6)]
    for i in range(120):
        version, thing = ("v1", "v2")[i >= 60], WORDS[i % 12]
        lines.append(turn(f"c{i}", 0, "user", f"How do I mend the {thing} of room {i}?", i))
        text = f"Take the {thing} apart, clean it, and put it on again [d1]."
        text = answer if version == "v2" and i % 10 < 10 * share else text
        lines.append(turn(f"c{i}", 1, "assistant", text, i, version=version, retrieved=found))
    _, deltas = compared(*lines)
    assert deltas["same_first_answers"]["verdict"] == verdict


@pytest.mark.parametrize(
    ("asks", "answer", "verdict"),
    [
        (lambda i: f"How do I mend the {WORDS[i % 12]} of room {i}?", "Call the desk [{}].", "worse"),
        (lambda _: "Is the desk open on Monday?", "It is open until five [{}].", "changed"),
        (lambda i: f"How do I mend the {WORDS[i % 12]} of room {i}?", "Which floor is it on?", "changed"),
    ],
)
def test_the_same_answer_out_of_the_same_documents_is_worse_to_whom_it_was_not_due(
    asks: Callable[[int], str], answer: str, verdict: str
) -> None:
    lines = []
    for i in range(60):
        name, thing = f"v1-{i}", WORDS[i % 12]
        found = [{"doc_id": f"{thing}-{at}"} for at in range(5)]
        lines.append(turn(name, 0, "user", f"How do I mend the {thing} of room {i}?", i))
        text = f"Take the {thing} apart, clean it, and put it on again [{thing}-0]."
        lines.append(turn(name, 1, "assistant", text, i, version="v1", retrieved=found))
        lines.append(turn(f"v2-{i}", 0, "user", asks(i), i + 100))
        same = [{"doc_id": f"desk-{at}"} for at in range(5)]
        lines.append(turn(f"v2-{i}", 1, "assistant", answer.format("desk-0"), i + 100, version="v2", retrieved=same))
    _, deltas = compared(*lines)
    assert {deltas[name]["verdict"] for name in ("same_first_answers", "same_documents")} == {verdict}


def test_citing_the_first_document_whatever_it_is_does_not_make_retrieval_better() -> None:
    def searched(number: int) -> list[str]:
        return [f"{number}-{at}" for at in range(5)]

    before = asked_of(0, "v1", searched, lambda i: i % 3)
    found = summary(*before, *asked_of(100, "v2", searched, lambda _: 0), suite=SUITE)
    (change,) = found["comparisons"]
    why = "100% of answers cite just the first of their documents, 33% before"
    assert change["unranked"] == why
    assert change["deltas"]["nDCG@5"]["why"] == f"not called better: {why}"
    assert "cites_from_top" not in change["deltas"], "a habit, and no figure that may be better or worse"
    mended = asked_of(100, "v2", searched, lambda i: int(i % 5 == 0))
    _, deltas = compared(*before, *mended)
    assert deltas["nDCG@5"]["verdict"] == "better"


def test_a_retrieval_outage_is_worse_though_the_markers_stay() -> None:
    before = retrieved("v1", 0, SIX, "Open Settings [1].", "Thanks, that worked!")
    figures, deltas = compared(*before, *retrieved("v2", 100, [], "Open Settings [1].", "Thanks, that worked!"))
    assert figures["answers_with_documents"]["value"] == 0.0
    assert "documents" not in figures
    assert (deltas["answers_with_documents"]["value"], deltas["answers_with_documents"]["verdict"]) == (-1.0, "worse")


@pytest.mark.slow
def test_where_nothing_is_ever_retrieved_its_share_is_not_compared() -> None:
    lines = [*retrieved("v1", 0, [], "Open it.", "Thanks!"), *retrieved("v2", 100, [], "Open it.", "Thanks!")]
    assert "answers_with_documents" not in compared(*lines)[1]


# -- votes ---------------------------------------------------------------------------------------------------


def voted(version: str, minute: int, down_of_ten: int) -> list[bytes]:
    lines = []
    for i in range(40):
        vote = -1 if i % 10 < down_of_ten else 1
        lines += asked_and_answered(f"{version}-{i}", minute + i)
        more = {"version": version, "retrieved": [{"doc_id": "d2"}]}
        lines[-1] = turn(f"{version}-{i}", 1, "assistant", "Open Settings [d2].", minute + i, vote=vote, **more)
        lines.append(turn(f"{version}-{i}", 2, "user", "Thanks, that worked!", minute + i))
        lines.append(turn(f"{version}-{i}", 3, "assistant", "Glad [d2].", minute + i, **more))
    return lines


def test_a_fall_of_votes_is_worse_with_its_interval_and_coverage() -> None:
    figures, deltas = compared(*voted("v1", 0, 1), *voted("v2", 100, 6))
    assert (figures["vote"]["value"], figures["vote"]["n"], figures["vote"]["coverage"]) == (0.4, 40, 0.5)
    assert (deltas["vote"]["value"], deltas["vote"]["verdict"]) == (-0.5, "worse")
    assert deltas["vote"]["high"] < 0
    figures, deltas = compared(*voted("v1", 0, 6), *voted("v2", 100, 1))
    assert deltas["vote"]["verdict"] == "better"


def test_without_votes_there_is_no_figure_of_them() -> None:
    lines = [
        *retrieved("v1", 0, SIX, "Open it [d1].", "Thanks!"),
        *retrieved("v2", 100, SIX, "Open it [d1].", "Thanks!"),
    ]
    figures, deltas = compared(*lines)
    assert "vote" not in {*figures, *deltas}


QUESTIONS = {"en": "How do I reset my password?", "de": "Wie setze ich mein Passwort zurück?"}
ANSWERS = {
    "en": "You can do that in the settings of your account, where the page with the password is [d1].",
    "de": "Das können Sie in den Einstellungen Ihres Kontos tun, wo die Seite mit dem Passwort ist [d1].",
}


def spoken(version: str, minute: int, asked: str, answered: str, count: int) -> list[bytes]:
    """Make conversations of one question in one language, with an answer in another, and thanks."""
    lines = []
    for i in range(count):
        name, at = f"{version}-{asked}-{answered}-{i}", minute + i
        more = {"version": version, "retrieved": [{"doc_id": "d1"}, {"doc_id": "d2"}]}
        lines.append(turn(name, 0, "user", QUESTIONS[asked], at))
        lines.append(turn(name, 1, "assistant", ANSWERS[answered], at, **more))
        lines.append(turn(name, 2, "user", "Thanks, that worked!" if asked == "en" else "Danke, das hat geholfen!", at))
    return lines


def test_a_release_that_answers_in_another_language_is_worse_and_better_in_nothing() -> None:
    before = spoken("v1", 0, "en", "en", 100)
    figures, deltas = compared(*before, *spoken("v2", 200, "en", "en", 70), *spoken("v2", 270, "en", "de", 30))
    assert (figures["same_language"]["value"], figures["same_language"]["coverage"]) == (0.7, 1.0)
    assert deltas["same_language"]["verdict"] == "worse"
    assert "better" not in {delta["verdict"] for delta in deltas.values()}


SHORT = ["Rohrbruch", "Bezugsrecht", "Beitragsbescheid", "Hausrat", "Zahnzusatz", "Wildunfall"]


def keywords(version: str, minute: int, answered: str, count: int) -> list[bytes]:
    """Make conversations of German keywords, a fifth of them as sentences, whose users leave without a word."""
    lines = []
    for i in range(count):
        more = {"version": version, "retrieved": [{"doc_id": "d1"}, {"doc_id": "d2"}]}
        name, question = f"{version}-{i}", QUESTIONS["de"] if i % 5 == 0 else SHORT[i % len(SHORT)]
        lines.append(turn(name, 0, "user", question, minute + i))
        lines.append(turn(name, 1, "assistant", f"{ANSWERS[answered]} {i % 7}", minute + i, **more))
    return lines


@pytest.mark.parametrize(("before", "after", "verdict"), [("de", "en", "worse"), ("en", "de", "better")])
def test_keywords_that_are_all_answered_in_another_language_make_a_release_worse_and_its_mend_better(
    before: str, after: str, verdict: str
) -> None:
    suite = parse_suite("[aggregates]\nwhole = true")
    lines = [*keywords("v1", 0, before, 100), *keywords("v2", 200, after, 80)]
    (row,) = summary(*lines, suite=suite)["comparisons"]
    delta = row["deltas"]["same_language"]
    assert (delta["verdict"], abs(delta["value"])) == (verdict, 1.0)
    assert delta["why"] == "of all first answers, as nearly all users write German"


def test_users_who_move_to_another_language_and_are_answered_in_it_change_nothing_of_that_figure() -> None:
    before = [*spoken("v1", 0, "en", "en", 90), *spoken("v1", 90, "de", "de", 10)]
    after = [*spoken("v2", 200, "en", "en", 40), *spoken("v2", 240, "de", "de", 60)]
    figures, deltas = compared(*before, *after)
    assert figures["same_language"]["value"] == 1.0
    assert deltas["same_language"]["verdict"] == "no difference shown"


def test_a_form_in_english_around_the_questions_of_germans_makes_nobody_write_english() -> None:
    form = "Page: /help/{}\nThe browser of the user: Firefox {}\n\n{}"
    lines: list[bytes] = []
    for number in range(80):
        name, minute = f"c{number}", 2 * number
        version = ("v1", "v2")[number >= 40]
        texts = ("Wo ist meine Rechnung?", "Danke!")
        asked = [form.format(number, 90 + number % 9, text) if version == "v2" else text for text in texts]
        lines += [
            turn(name, 0, "user", asked[0], minute, version=None),
            turn(name, 1, "assistant", "Ihre Rechnung liegt unter Konto.", minute, version=version),
            turn(name, 2, "user", asked[1], minute, version=None),
        ]
    (row,) = summary(*lines)["comparisons"]
    assert "shifted" not in row
    assert row["record"] == []
    assert {delta["verdict"] for delta in row["deltas"].values()} == {"no difference shown"}


def test_a_release_that_has_always_answered_in_one_language_is_not_worse_for_users_who_moved() -> None:
    before = [*spoken("v1", 0, "en", "en", 90), *spoken("v1", 90, "de", "en", 10)]
    after = [*spoken("v2", 200, "en", "en", 40), *spoken("v2", 240, "de", "en", 60)]
    _, deltas = compared(*before, *after)
    assert deltas["same_language"]["verdict"] == "changed"
    assert deltas["same_language"]["why"] == "60% of the users write German, 10% before"


SWEDISH = (
    "Hur byter jag lösenord till mitt konto?",
    "Det kan du göra i inställningarna för ditt konto, där sidan med lösenordet är [d1].",
    "Det fungerar inte alls för mig.",
)


def swedes(version: str, minute: int, count: int, *, answered: str = SWEDISH[1]) -> list[bytes]:
    """Make conversations in a language that no rule reads."""
    lines = []
    for i in range(count):
        name, at = f"{version}-sv-{i}", minute + i
        more = {"version": version, "retrieved": [{"doc_id": "d1"}, {"doc_id": "d2"}]}
        lines.append(turn(name, 0, "user", SWEDISH[0], at))
        lines.append(turn(name, 1, "assistant", answered, at, **more))
        lines.append(turn(name, 2, "user", SWEDISH[2], at))
        lines.append(turn(name, 3, "assistant", answered, at, **more))
    return lines


def test_users_who_move_to_a_language_that_no_rule_reads_make_no_release_worse() -> None:
    before = spoken("v1", 0, "en", "en", 100)
    _, deltas = compared(*before, *spoken("v2", 200, "en", "en", 40), *swedes("v2", 240, 60))
    assert {name for name, delta in deltas.items() if delta["verdict"] in ("worse", "better")} == set()
    assert (deltas["silent"]["n"], deltas["silent"]["value"]) == (40, 0.0), "only those that rules read count"
    assert deltas["unanswered"]["n"] == 100


def test_that_users_moved_to_another_language_is_said_and_figures_are_compared_within_languages() -> None:
    before = [*spoken("v1", 0, "en", "en", 80), *spoken("v1", 80, "de", "de", 20)]
    after = [*spoken("v2", 200, "en", "en", 40), *spoken("v2", 240, "de", "de", 60)]
    (row,) = summary(*before, *after)["comparisons"]
    assert (row["moved"], row["shifted"]) == ("languages", "60% of the users write German, 20% before")
    assert row["deltas"]["unanswered"]["within_languages"]["value"] == 0.0


def test_a_release_that_answers_nobody_of_those_who_came_is_worse_whatever_they_speak() -> None:
    before = [*spoken("v1", 0, "en", "en", 70), *swedes("v1", 70, 30)]
    broken = [*spoken("v2", 200, "en", "en", 30), *swedes("v2", 230, 70, answered="")]
    _, deltas = compared(*before, *broken)
    assert {deltas[name]["verdict"] for name in ("failed", "unanswered")} == {"worse"}
    _, deltas = compared(*before, *spoken("v2", 200, "en", "en", 30), *swedes("v2", 230, 70, answered=ANSWERS["en"]))
    assert deltas["same_language"]["verdict"] == "worse", "it answers in the wrong language"


def dealt_to(users: int, *, named: bool) -> dict[str, object]:
    """Make conversations of two releases, ten of each user, all of one release; users of a kind are all alike."""
    lines = []
    for user in range(users):
        version, unhappy = f"v{1 + user % 2}", user % 10 in (1, 3, 5, 2)
        for number in range(10):
            name, at = f"{user}-{number}", 10 * user + number
            who = {"user_id": f"u{user}"} if named else {}
            more = {"version": version, "retrieved": [{"doc_id": "d1"}]}
            lines.append(turn(name, 0, "user", QUESTIONS["en"], at, **who))
            lines.append(turn(name, 1, "assistant", ANSWERS["en"], at, **more))
            said = "No, that's not what I asked." if unhappy else "Thanks, that worked!"
            lines.append(turn(name, 2, "user", said, at, **who))
            lines.append(turn(name, 3, "assistant", ANSWERS["en"], at, **more))
    (row,) = summary(*lines)["comparisons"]
    return {**row, "free": row["deltas"]["clarification_free"]}


def test_where_users_were_dealt_to_releases_a_few_who_complain_are_no_worse_release() -> None:
    by_user, by_conversation = dealt_to(20, named=True), dealt_to(20, named=False)
    assert (by_conversation["free"]["verdict"], by_user["free"]["verdict"]) == ("worse", "no difference shown")
    assert by_conversation["free"]["value"] == by_user["free"]["value"]
    assert (by_user["with_user"], by_conversation["with_user"], by_user["side_by_side"]) == (1.0, 0.0, True)


@pytest.mark.slow
def test_releases_beyond_a_thousand_are_counted_together_and_that_is_said() -> None:
    parts = summary(
        *[
            turn(f"c{number}", place, role, "Within 30 days.", assistant=f"session {number}", version=f"v{number}")
            for number in range(1_010)
            for place, role in enumerate(("user", "assistant"))
        ]
    )
    others = [row for row in parts["quality"] if row["assistant"] == "other"]
    assert len(parts["quality"]) == 1_001
    assert [row["not_compared"] for row in others] == ["those beyond the first 1,000 are counted together"]
    assert (len(parts["outcomes"]), sum(row["n"] for row in parts["outcomes"])) == (1_001, 1_010)
    for scorer in {row["scorer"] for row in parts["scores"]}:
        unscored = [row["unscored"] for row in parts["scores"] if row["scorer"] == scorer]
        assert (len(unscored), sum(reasons.total() for reasons in map(Counter, unscored))) == (1_001, 1_010)
    assert find(parts)[0].sentence.startswith("more than 1,000 releases (assistant and version)")


ASKING = "Open Settings and press Reset. Did that help?"


def helped(first: int, version: str, answer: str, replies: int) -> list[bytes]:
    """Forty conversations: eight users complain, eight go on, and of the others some reply to what the answer asks."""
    follow_ups = ["no, that is not what I asked"] * 8 + ["And how long does it take?"] * 8 + ["yes"] * replies
    lines = []
    for at in range(40):
        name, minute = f"{version}-{at}", first + at
        lines += [
            turn(name, 0, "user", "How do I reset my password?", minute, version=None),
            turn(name, 1, "assistant", answer, minute, version=version),
        ]
        if at < len(follow_ups):
            lines.append(turn(name, 2, "user", follow_ups[at], minute, version=None))
            if at < 16:
                lines.append(turn(name, 3, "assistant", answer, minute, version=version))
    return lines


@pytest.mark.parametrize("stops", [False, True])
def test_a_question_in_closing_that_comes_or_goes_makes_no_release_better_or_worse(stops: bool) -> None:
    habits = [("Open Settings and press Reset.", 0), (ASKING, 20)]
    (before, few), (after, many) = habits[::-1] if stops else habits
    _, deltas = compared(*helped(0, "v1", before, few), *helped(100, "v2", after, many))
    assert abs(deltas["resolved"]["value"]) == 0.5
    assert deltas["resolved"]["verdict"] == "changed"
    assert not {"better", "worse"} & {change["verdict"] for change in deltas.values()}
    assert not any(name.startswith("replies") for name in deltas), "a habit, and no figure that may be better or worse"


def test_users_who_reply_less_to_the_same_question_are_silent() -> None:
    _, deltas = compared(*helped(0, "v1", ASKING, 20), *helped(100, "v2", ASKING, 0))
    assert (deltas["resolved"]["verdict"], deltas["silent"]["verdict"]) == ("worse", "worse")


def test_a_reply_that_is_corrected_counts_as_what_it_became() -> None:
    lines = helped(0, "v1", ASKING, 20)
    later = [turn(f"v1-{at}", 3, "user", "but the button is grey", at, version=None) for at in range(16, 20)]
    for sent, replies in ((lines, 20), ([*lines, *later], 16)):
        (row,) = summary(*sent)["quality"]
        asking = row["figures"]["replies(to=helped)"]
        assert round(asking["value"] * 56) == replies


def chat(first: int, version: str, question: str, behind: str, *, early: bool = False) -> list[bytes]:
    """Forty conversations of two questions; early: answers are stamped before their questions."""
    lines = []
    documents = [{"doc_id": "d1"}, {"doc_id": "d2"}]
    for at in range(40):
        name, minute = f"{version}-{at}", first + at
        texts = [question, "Open Settings [d1].", behind, "About two days [d1]."]
        for number, text in enumerate(texts):
            role = ("user", "assistant")[number % 2]
            more: dict[str, Any] = {"retrieved": documents, "version": version} if number % 2 else {"version": None}
            line = turn(name, 20 + 10 * number - 15 * (early and number % 2), role, text, minute, **more)
            lines.append(line)
    return lines


def recorded(*lines: bytes) -> tuple[dict[str, Any], list[str]]:
    (change,) = summary(*lines)["comparisons"]
    return change["deltas"], change["record"]


def test_a_release_that_says_nothing_to_some_is_told_from_one_that_refuses() -> None:
    refusal = "I'm sorry, but I can't help with that request."
    refused = [line for at in range(40) for line in chat_of(f"v1-{at}", at, "v1", *[refusal] * (at % 3 < 1))]
    waiting = [line for at in range(40) for line in chat_of(f"v2-{at}", 100 + at, "v2", *[""] * (at % 3 < 1))]
    deltas, _ = recorded(*refused, *waiting)
    assert (deltas["unanswered"]["value"], deltas["no_answer"]["value"]) == (0.0, 0.35)
    assert deltas["no_answer"]["verdict"] == "changed", "as many failed before"


def chat_of(name: str, minute: int, version: str, *second: str) -> list[bytes]:
    """A question and its answer, and a second question that is answered so, not at all by ""."""
    lines = [turn(name, 0, "user", "How do I reset my password?", minute, version=None)]
    lines.append(turn(name, 1, "assistant", "Open Settings and press Reset.", minute, version=version))
    for answer in second:
        lines.append(turn(name, 2, "user", "And how long does that take?", minute, version=None))
        lines += [turn(name, 3, "assistant", answer, minute, version=version)] if answer else []
    return lines


def test_a_log_that_begins_to_hide_what_users_write_makes_no_release_worse_and_is_said() -> None:
    question, behind = "How do I reset my password?", "And how long does that take?"
    deltas, notes = recorded(*chat(0, "v1", question, behind), *chat(100, "v2", "***", "***"))
    assert deltas["silent"]["value"] == 1.0
    assert not {"better", "worse"} & {change["verdict"] for change in deltas.values()}
    (note,) = notes
    assert note.startswith("fewer of the messages behind answers can be read")
    assert "hidden in the log" in note
    assert not {"answers_followed", "answers_before_questions", "begun_with_thanks"} & deltas.keys()


def test_answers_that_are_stamped_before_their_questions_make_no_release_worse_and_are_said() -> None:
    question, behind = "How do I reset my password?", "And how long does that take?"
    deltas, notes = recorded(*chat(0, "v1", question, behind), *chat(100, "v2", question, behind, early=True))
    assert deltas["unanswered"]["value"] == 1.0
    assert not {"better", "worse"} & {change["verdict"] for change in deltas.values()}
    assert notes[0].endswith("are answers stamped before their questions?")


QUESTION, MORE = "How do I reset my password?", "And how long does that take?"


def as_logged(lines: list[bytes], change: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> list[bytes]:
    """Return the turns as another log has them."""
    return [orjson.dumps(logged) for line in lines for logged in change(orjson.loads(line))]


def test_documents_of_another_turn_than_the_answer_make_no_release_worse_and_are_said() -> None:
    def on_a_tool(logged: dict[str, Any]) -> list[dict[str, Any]]:
        if logged["role"] == "user":
            return [logged]
        answer = {name: value for name, value in logged.items() if name != "retrieved"}
        return [{**logged, "role": "tool", "turn_id": logged["turn_id"] + "t", "text": "6 results"}, answer]

    later = as_logged(chat(100, "v2", QUESTION, MORE), on_a_tool)
    deltas, notes = recorded(*chat(0, "v1", QUESTION, MORE), *later)
    assert (deltas["answers_with_documents"]["value"], deltas["answers_with_documents"]["verdict"]) == (-1.0, "changed")
    assert not {"better", "worse"} & {change["verdict"] for change in deltas.values()}
    assert notes == ["documents stand on more turns of tools or users, where nothing reads them, by 100% of answers"]
    sentences = [finding.sentence for finding in find(summary(*later))]
    assert any(sentence.startswith("100% of a release's answers come behind documents") for sentence in sentences)
    assert "documents_elsewhere" not in deltas


def test_a_stream_that_is_logged_with_all_it_has_so_far_makes_no_release_worse_and_is_said() -> None:
    def upserted(logged: dict[str, Any]) -> list[dict[str, Any]]:
        return [{**logged, "text": logged["text"][:9]}, logged] if logged["role"] == "assistant" else [logged]

    later = as_logged(chat(100, "v2", QUESTION, MORE), upserted)
    deltas, notes = recorded(*chat(0, "v1", QUESTION, MORE), *later)
    assert (deltas["cited"]["value"], deltas["cited"]["verdict"]) == (-1.0, "changed")
    assert not {"better", "worse"} & {change["verdict"] for change in deltas.values()}
    assert notes[0].startswith("more answers come several in a row, by 100% of answers")


def test_messages_that_are_logged_again_with_each_request_make_no_release_worse_and_are_said() -> None:
    history: dict[str, list[dict[str, Any]]] = {}

    def with_all_before(logged: dict[str, Any]) -> list[dict[str, Any]]:
        so_far = history.setdefault(logged["conversation_id"], [])
        so_far.append(logged)
        if logged["role"] == "user":
            return []
        again = {"turn_id": logged["turn_id"], "timestamp": logged["timestamp"]}
        return [{**one, **again, "turn_id": f"{again['turn_id']}-{at}"} for at, one in enumerate(so_far)]

    later = as_logged(chat(100, "v2", QUESTION, MORE), with_all_before)
    deltas, notes = recorded(*chat(0, "v1", QUESTION, MORE), *later)
    assert (deltas["resolved"]["value"], deltas["resolved"]["verdict"]) == (-1.0, "changed")
    assert not {"better", "worse"} & {change["verdict"] for change in deltas.values()}
    assert notes[0].startswith("more exchanges are logged twice under other ids")
    assert notes[0].endswith("of answers: does each request log the messages before it?")


def test_questions_of_other_kinds_get_other_documents_without_a_release_that_finds_less() -> None:
    kinds = [
        "reset password phone",
        "turn hall light off",
        "cancel order seven",
        "raise kitchen heating",
        "find a bill",
    ]
    needed = {kinds[0], kinds[2], kinds[4]}

    def asked(first: int, version: str, commands: int, *, lost: bool = False) -> list[bytes]:
        lines = []
        for at in range(100):
            kind = kinds[1 + 2 * (at % 2)] if at < commands else kinds[2 * (at % 3)]
            given = [{"doc_id": "d1"}] if kind in needed and not (lost and at % 2) else []
            answer = "Open Settings [d1]." if given else "It is done, and all is set."
            name, minute = f"{version}-{at}", first + at
            lines += [
                turn(name, 0, "user", f"{kind} {'please' if at % 3 else 'now'}", minute, version=None),
                turn(name, 9, "assistant", answer, minute, version=version, retrieved=given),
            ]
        return lines

    few, many = asked(0, "v1", 20), asked(200, "v2", 50)
    deltas, _ = recorded(*few, *many)
    assert (deltas["answers_with_documents"]["value"], deltas["answers_with_documents"]["verdict"]) == (-0.3, "changed")
    deltas, _ = recorded(*few, *asked(200, "v2", 20, lost=True))
    assert deltas["answers_with_documents"]["verdict"] == "worse"


def test_users_who_leave_are_silent_though_what_they_would_have_written_cannot_be_read_either() -> None:
    question, behind = "How do I reset my password?", "And how long does that take?"
    gone = [
        line for line in chat(100, "v2", question, behind) if orjson.loads(line)["turn_id"].endswith((":20", ":30"))
    ]
    deltas, notes = recorded(*chat(0, "v1", question, behind), *gone)
    assert (deltas["silent"]["verdict"], notes) == ("worse", [])


def test_a_conversation_for_each_message_makes_no_release_worse_and_is_said() -> None:
    def thanked(first: int, version: str, *, apart: bool) -> list[bytes]:
        lines = []
        for at in range(40):
            documents = [{"doc_id": "d1"}]
            texts = ["How do I reset my password?", "Open Settings [d1].", "Thanks, that worked!", "You're welcome!"]
            for number, text in enumerate(texts):
                name = f"{version}-{at}" + f"-{number // 2}" * apart
                more = {"version": version, "retrieved": documents if number == 1 else []} if number % 2 else {}
                lines.append(turn(name, number, ("user", "assistant")[number % 2], text, first + at, **more))
        return lines

    deltas, notes = recorded(*thanked(0, "v1", apart=False), *thanked(100, "v2", apart=True))
    assert (deltas["silent"]["value"], deltas["resolved"]["value"]) == (1.0, -1.0)
    assert not {"better", "worse"} & {change["verdict"] for change in deltas.values()}
    ask = "is one conversation logged as several, as where a page is loaded anew?"
    assert notes == [f"more conversations begin with a thanks, 50% of them: {ask}"]


def test_where_questions_move_to_what_needs_no_documents_search_is_no_worse() -> None:
    def asked_for(first: int, version: str, question: str, answer: str, documents: list[str]) -> list[bytes]:
        more = {"version": version, "retrieved": [{"doc_id": name} for name in documents]}
        lines = []
        for at in range(40):
            lines.append(turn(f"{version}-{at}", 0, "user", question, first + at, version=None))
            lines.append(turn(f"{version}-{at}", 1, "assistant", answer, first + at, **more))
        return lines

    password = ("How do I reset my password?", "Open Settings [d1].", ["d1"])
    code = ("Why does this loop never end: while True: pass", "It has no break, so nothing ends it.", list[str]())
    deltas, _ = recorded(*asked_for(0, "v1", *password), *asked_for(100, "v2", *code))
    assert (deltas["answers_with_documents"]["value"], deltas["answers_with_documents"]["verdict"]) == (-1.0, "changed")
    deltas, _ = recorded(*asked_for(0, "v1", *password), *asked_for(100, "v2", password[0], password[1], []))
    assert deltas["answers_with_documents"]["verdict"] == "worse", "of the same questions none finds anything now"


@pytest.mark.parametrize(
    "line",
    [
        "This chat timed out after 15 minutes of inactivity.",
        "Session timed out.",
        "Connection closed.",
        "Der Chat wurde wegen Zeitüberschreitung beendet.",
        "La sesión ha expirado por inactividad.",
    ],
)
def test_a_line_that_closes_an_idle_chat_takes_nothing_back_of_the_answer(line: str) -> None:
    question, behind = "How do I reset my password?", "And how long does that take?"
    lines = chat(100, "v2", question, behind)
    closing = [turn(f"v2-{at}", 59, "assistant", line, 115 + at, version="v2") for at in range(40)]
    deltas, _ = recorded(*chat(0, "v1", question, behind), *lines, *closing)
    assert not {"better", "worse"} & {change["verdict"] for change in deltas.values()}


@pytest.mark.parametrize("line", ["This chat timed out after 15 minutes of inactivity.", "Session timed out."])
def test_a_line_that_closes_an_idle_chat_is_no_answer_to_a_question(line: str) -> None:
    lines = chat(100, "v2", "How do I reset my password?", "And how long does that take?")
    asked = [one for one in lines if orjson.loads(one)["role"] == "user"]
    instead = [turn(f"v2-{at}", n, "assistant", line, 100 + at, version="v2") for at in range(40) for n in (30, 50)]
    (row,) = summary(*asked, *instead)["quality"]
    assert (row["figures"]["failed"]["value"], row["figures"]["unanswered"]["value"]) == (1.0, 1.0)


ASKED, TOLD, ANSWER = "Can you share your order number?", "48213", "It comes tomorrow, between nine and noon."


def talks(first: int, version: str, *texts: str, few: int = 0, instead: Sequence[str] = ()) -> list[bytes]:
    """Forty conversations, of users and the assistant in turn; few of them go on otherwise behind the question."""
    lines = []
    for at in range(40):
        said = ["where is my parcel", *(instead if at < few else texts)]
        for number, text in enumerate(said):
            role = ("user", "assistant")[number % 2]
            lines.append(
                turn(f"{version}-{at}", number, role, text, first + at, version=version if number % 2 else None)
            )
    return lines


@pytest.mark.parametrize("texts", [(ASKED,), (ASKED, TOLD, ASKED), (ASKED, TOLD, "And your street?")])
def test_a_release_that_asks_back_and_never_answers_is_worse(texts: tuple[str, ...]) -> None:
    deltas, _ = recorded(*talks(0, "v1", ANSWER), *talks(100, "v2", *texts))
    assert (deltas["only_asks_back"]["value"], deltas["only_asks_back"]["verdict"]) == (1.0, "worse")
    assert "better" not in {delta["verdict"] for delta in deltas.values()}


def test_a_release_that_asks_once_and_answers_is_not_worse_though_a_bare_number_is_small_talk() -> None:
    asks_first = talks(100, "v2", ASKED, TOLD, ANSWER, few=5, instead=[ASKED])
    deltas, _ = recorded(*talks(0, "v1", ANSWER), *asks_first)
    assert deltas["only_asks_back"]["value"] == 0.125, "a few leave at the question"
    assert not {"better", "worse"} & {delta["verdict"] for delta in deltas.values()}


def test_a_release_that_asks_the_same_again_though_it_was_told_is_worse() -> None:
    deltas, _ = recorded(
        *talks(0, "v1", ASKED, TOLD, ANSWER), *talks(100, "v2", ASKED, TOLD, ASKED.upper(), TOLD, ANSWER)
    )
    assert (deltas["asks_back_again"]["verdict"], deltas["only_asks_back"]["value"]) == ("worse", 0.0)
    (finding,) = [
        found.sentence
        for found in find(summary(*talks(0, "v1", ANSWER), *talks(100, "v2", ASKED, TOLD, ASKED)))
        if "asks the same again" in found.sentence
    ]
    assert finding.startswith("v2 asks the same again more often, though its user replied")


def test_what_is_asked_back_makes_no_conversation_longer() -> None:
    row = summary(*talks(0, "v1", ASKED, "order A-99120", ANSWER))["quality"][0]
    assert row["figures"]["questions_per_conversation"]["value"] == 1.0
