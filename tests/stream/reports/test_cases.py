"""Two systems that were asked the same questions: what is a pair, what is left out, what counts as one case."""

from typing import Any

import numpy as np
import orjson
import pytest

from turnsignal.stream.reports.cases import (
    CaseKey,
    CasePairs,
    ConversationRows,
    SystemCases,
    compare_cases,
    pair_cases,
)
from turnsignal.stream.reports.missing_cases import MissingCases
from turnsignal.stream.reports.paired import PairedScores
from turnsignal.stream.reports.planned_traffic import plan


def turn(conversation: str, text: str = "", role: str = "user", **more: Any) -> bytes:
    return orjson.dumps({"conversation_id": conversation, "role": role, "text": text} | more)


def system(*turns: bytes) -> SystemCases:
    cases = SystemCases()
    for line in turns:
        cases.add(line)
    return cases


def pairs(first: SystemCases, second: SystemCases) -> list[tuple[str, str]]:
    return [(mine, theirs) for _, mine, theirs in pair_cases(first, second).pairs]


def row(conversation: str, **values: float | None) -> dict[str, Any]:
    scores = [{"scorer": name, "value": value, "label": f"{value}"} for name, value in values.items()]
    return {"conversation_id": conversation, "turn_id": "a1", "stage": "response", "time": 0.0, "scores": scores}


def compared(known: CasePairs, first: list[dict[str, Any]], second: list[dict[str, Any]]) -> PairedScores:
    systems = []
    for place, rows in ((1, first), (2, second)):
        of = ConversationRows(pair[place] for pair in known.pairs)
        for each in rows:
            of.add(each)
        systems.append(of)
    return compare_cases(known, *systems)


def test_conversations_pair_by_the_case_that_truth_or_metadata_names() -> None:
    first = system(turn("a", "x", truth={"case_id": 7}), turn("b", "y", metadata={"case_id": "k"}))
    second = system(turn("c", "z", metadata={"case_id": "k"}), turn("d", "w", "assistant", truth={"case_id": "7"}))
    found = pair_cases(first, second)
    assert {(mine, theirs) for _, mine, theirs in found.pairs} == {("a", "d"), ("b", "c")}
    assert (found.by_id, found.by_question, found.alone) == (2, 0, (0, 0))


def asked(name: str, behind: str, count: int = 20) -> list[bytes]:
    lines = []
    for at in range(count):
        lines += [turn(f"{name}{at}", f"question {at}"), turn(f"{name}{at}", "answer", "assistant")]
        lines += [turn(f"{name}{at}", behind.format(at=at))] if behind else []
    return lines


@pytest.mark.parametrize(
    ("first", "second", "begins"),
    [
        ("and {at}?", "and {at}?", "users write the same to both systems in 20 of 20 cases"),
        ("And {at}?", "and  {at}?", "users write the same to both systems in 20 of 20 cases"),
        ("and {at}?", "no, that is wrong {at}", ""),
        ("and {at}?", "", ""),
        ("", "", ""),
    ],
)
def test_users_who_write_the_same_whatever_they_are_answered_say_nothing_of_it(
    first: str, second: str, begins: str
) -> None:
    known = pair_cases(system(*asked("a", first)), system(*asked("b", second)))
    assert known.unheard.startswith(begins)
    assert bool(known.unheard) == bool(begins)
    assert known.written == (20 * bool(first), 20 * bool(second))
    said = {"clarification_free": 1.0, "follow_up": 1.0, "cited": 1.0}
    scores = compared(known, [row(f"a{at}", **said) for at in range(20)], [row(f"b{at}", **said) for at in range(20)])
    comparison = scores.as_json("clarification_free", 0.01, 5)
    assert (comparison["unheard"], {"cited"} <= comparison["figures"].keys()) == (known.unheard, True)
    assert ("clarification_free" in comparison["figures"]) == (not begins)
    assert comparison["lost"] == []


def written(name: str, messages: list[int]) -> list[bytes]:
    return [
        line
        for at, count in enumerate(messages)
        for number in range(count)
        for line in (
            turn(f"{name}{at}", f"question {at}" if not number else f"and {name} {number}?"),
            turn(f"{name}{at}", "answer", "assistant"),
        )
    ]


@pytest.mark.parametrize(
    ("first", "second", "limited"),
    [
        ([1, 2, 3, 4] * 10, [1, 2, 2, 2] * 10, "to the second system, and 20 of 40 did to the other"),
        ([1, 2, 2, 2] * 10, [1, 2, 3, 4] * 10, "to the first system, and 20 of 40 did to the other"),
        ([1, 2, 3, 4] * 10, [1, 2, 2, 2] * 9 + [1, 2, 2, 5], ""),
        ([1, 2, 3, 4] * 10, [1] * 40, ""),
        ([1, 2, 3, 4] * 10, [1, 2, 3, 3] * 10, "to the second system, and 10 of 40 did to the other"),
        ([1, 2, 3] * 10, [1, 2, 3] * 10, ""),
    ],
)
def test_a_limit_of_messages_makes_no_system_worse(first: list[int], second: list[int], limited: str) -> None:
    known = pair_cases(system(*written("a", first)), system(*written("b", second)))
    assert (limited in known.limit, bool(known.limit)) == (True, bool(limited))
    lost = compared(
        known,
        [row(f"a{at}", resolved=1.0, cited=1.0) for at in range(40)],
        [row(f"b{at}", resolved=0.0, cited=0.0) for at in range(40)],
    ).as_json("resolved", 0.01, 5)
    verdicts = {name: figure["verdict"] for name, figure in lost["figures"].items()}
    assert verdicts == {"resolved": "changed" if limited else "worse", "cited": "worse"}
    assert lost["record"] == ([known.limit] if limited else [])


def test_without_a_case_the_opening_question_pairs_whatever_its_case_and_blanks() -> None:
    first = system(turn("a", "How do I\nreturn it?"), turn("a", "Thanks"))
    second = system(turn("b", "Hello!", "assistant"), turn("b", "  how do i return IT? "))
    assert pairs(first, second) == [("a", "b")]


def test_a_case_that_only_one_system_has_a_record_of_is_missing_however_often_it_was_asked() -> None:
    def asked(greeting: str, *cases: str) -> SystemCases:
        return system(*(turn(f"{at}", greeting, metadata={"case_id": case}) for at, case in enumerate(cases)))

    found = pair_cases(asked("Hello", "a", "b", "b", "c", "d"), asked("Hi", "a", "a", "a", "b", "e"))
    assert found.missing == MissingCases(4, of_second=2, of_first=1)
    by_question = pair_cases(system(turn("a", "One?"), turn("b", "Two?")), system(turn("x", "Two?"), turn("y", "Two?")))
    assert by_question.missing == MissingCases(2, of_second=1, of_first=0)


@pytest.mark.parametrize(
    ("missing", "says"),
    [
        (MissingCases(150, 41), "41 of 150 cases have no record of the second system"),
        (MissingCases(150, 41, 12), "41 of 150 cases have no record of the second system"),
        (MissingCases(150, 41, 35), ""),  # each was asked what the other was not
        (MissingCases(150, 5), ""),  # no more than chance
        (MissingCases(150, 0, 41), ""),  # the first one lacks them
        (MissingCases(5_000, 30), ""),  # fewer than are worth naming
    ],
)
def test_where_far_more_cases_have_no_record_of_the_second_system_it_is_said(missing: MissingCases, says: str) -> None:
    assert missing.lacking(0.01) == says


def test_nothing_is_better_where_many_cases_have_no_record_of_the_second_system() -> None:
    known = CasePairs([(CaseKey(True, f"{n}"), f"a{n}", f"b{n}") for n in range(60)], 60, 0, (20, 0))
    first = [row(f"a{n}", better=0.2, worse=0.9) for n in range(60)]
    second = [row(f"b{n}", better=0.9, worse=0.2) for n in range(60)]
    for missing, verdict in ((MissingCases(80, 20), "changed"), (MissingCases(80, 20, 20), "better")):
        figures = compared(known._replace(missing=missing), first, second).as_json("better", 0.01, 30)["figures"]
        assert (figures["better"]["verdict"], figures["worse"]["verdict"]) == (verdict, "worse")


def test_what_has_no_partner_is_counted_and_left_out() -> None:
    first = system(turn("a", "One?"), turn("b", "Two?"), turn("c", "", "assistant"))
    second = system(turn("x", "Two?"), turn("y", "Three?"), turn("z", "Four?"))
    found = pair_cases(first, second)
    assert (len(found.pairs), found.alone) == (1, (1, 2))


def test_an_id_that_only_one_system_has_falls_back_to_the_question() -> None:
    assert pairs(system(turn("a", "One?", truth={"case_id": "1"})), system(turn("b", "One?"))) == [("a", "b")]


def test_conversation_ids_that_both_systems_have_mean_nothing() -> None:
    first = system(turn("c1", "One?"), turn("c2", "Two?"))
    second = system(turn("c1", "Two?"), turn("c2", "One?"))
    assert set(pairs(first, second)) == {("c1", "c2"), ("c2", "c1")}


def test_a_question_asked_three_times_is_three_pairs_and_one_case() -> None:
    names = [f"{number}" for number in range(3)]
    known = pair_cases(*(system(*(turn(name, "Again?") for name in names)) for _ in range(2)))
    scores = compared(known, [row(name, compliance=0.0) for name in names], [row(n, compliance=1.0) for n in names])
    assert scores.exchanges == 3
    assert scores.differences()["compliance"].n == 1


def test_conversations_are_compared_by_their_means_and_labels_where_they_agree() -> None:
    known = pair_cases(system(turn("a", "One?")), system(turn("b", "One?")))
    scores = compared(known, [row("a", compliance=0.0), row("a", compliance=1.0)], [row("b", compliance=1.0)])
    assert scores.differences()["compliance"].value == 0.5
    assert dict(scores.labels["compliance"]) == {("several", "1.0"): 1}
    assert scores.moved.furthest(1)[0].turn_id == "a · b"


def test_what_one_system_could_not_score_is_no_zero() -> None:
    known = pair_cases(system(turn("a", "One?")), system(turn("b", "One?")))
    scores = compared(known, [row("a", compliance=None, cited=1.0)], [row("b", compliance=1.0, cited=1.0)])
    assert set(scores.differences()) == {"cited"}
    assert scores.coverages()["compliance"].value == 1.0


@pytest.mark.parametrize(
    "line",
    [
        b"no JSON",
        b"[]",
        b'{"conversation_id": "a"}',
        b"[" * 10_000,
        turn("a", "\ud800".encode("utf-8", "replace").decode()),
    ],
)
def test_a_line_that_cannot_be_read_has_no_case_and_ends_nothing(line: bytes) -> None:
    system(line, turn("b", "One?", truth={"case_id": [1]}), turn("c", "", truth={"case_id": "x" * 1_000}))


def test_a_plan_says_conversations_and_days_at_this_traffic() -> None:
    scores = PairedScores()
    for number, change in enumerate(np.random.default_rng(5).normal(0, 0.1, 100)):
        before = row(f"c{number}", compliance=0.5) | {"time": number * 864.0}
        scores.add(before, row(f"c{number}", compliance=0.5 + float(change)))
    needed = plan(scores, 0.02, "compliance", 0.01)["compliance"]
    assert needed.conversations is not None
    assert 150 < needed.conversations < 350
    assert needed.days == pytest.approx(needed.conversations / 100, rel=0.02)
    scores.until = scores.since
    assert plan(scores, 0.02, "compliance", 0.01)["compliance"].days is None


def test_what_is_seen_of_answers_stands_beside_their_scores_case_by_case() -> None:
    documents = [{"doc_id": f"d{at}"} for at in range(5)]

    def asked(number: int, text: str, given: list[dict[str, str]]) -> list[bytes]:
        about = {"turn_id": "a1", "timestamp": "2026-01-05T10:00:00Z"}
        name = f"{number}"
        question = turn(name, f"Question {number}?", turn_id="u1", timestamp="2026-01-05T09:59:00Z")
        return [question, turn(name, text, "assistant", retrieved=given, **about)]

    sides = [
        system(*(line for number in range(60) for line in asked(number, *answer)))
        for answer in (("Open the settings [d3].", documents), ("I'm sorry, but I can't help with that.", []))
    ]
    known, of = pair_cases(*sides), []
    for place, cases in enumerate(sides, 1):
        rows = ConversationRows(
            (pair[place] for pair in known.pairs), cases.answers.by_conversation, "nDCG@5", ["check"]
        )
        for pair in known.pairs:
            rows.add(row(str(pair[place]), **{"nDCG@5": 0.43, "check": 1.0 if place == 1 else None, "a": place / 2}))
        of.append(rows)
    named = compare_cases(known, *of, same_suite=True).as_json("a", 0.01, 30)["figures"]
    assert {"failed", "answers_with_documents"} == {
        name for name, found in named.items() if found["verdict"] == "worse"
    }
    assert (named["checks_applied"]["value"], named["a"]["verdict"]) == (-1.0, "changed")
    assert named["a"]["why"].startswith("not called better: ")
    assert named["same_first_answers"]["n"] == 60


def test_two_systems_that_cite_other_numbers_of_the_same_documents_retrieve_alike() -> None:
    documents = [{"doc_id": f"d{at}"} for at in range(8)]
    sides, scores = [], ({"nDCG@5": 0.5, "wasted_context": 7 / 8}, {"nDCG@5": 0.8, "wasted_context": 5 / 8})
    for _ in scores:
        about = {"turn_id": "a1", "timestamp": "2026-01-05T10:00:00Z", "retrieved": documents}
        answered = [(turn(f"{n}", f"Question {n}?"), turn(f"{n}", "Open it.", "assistant", **about)) for n in range(60)]
        sides.append(system(*(line for lines in answered for line in lines)))
    known, of = pair_cases(*sides), []
    for place, (cases, values) in enumerate(zip(sides, scores, strict=True), 1):
        rows = ConversationRows((pair[place] for pair in known.pairs), cases.answers.by_conversation, "nDCG@5")
        for pair in known.pairs:
            rows.add(row(str(pair[place]), **values))
        of.append(rows)
    named = compare_cases(known, *of, same_suite=True).as_json("nDCG@5", 0.01, 30)["figures"]
    assert named["citations_per_answer"]["value"] == pytest.approx(2.0)
    assert named["nDCG@5"]["why"] == "not called better: beside more citations per answer"
    assert named["wasted_context"]["verdict"] == "changed"


@pytest.mark.parametrize(("in_order", "verdict"), [(True, "changed"), (False, "worse")])
def test_two_systems_that_found_the_same_do_not_retrieve_worse_whatever_they_cite(in_order: bool, verdict: str) -> None:
    documents = [{"doc_id": f"d{at}"} for at in (3, 1, 2)]
    sides = []
    for given in (documents, documents if in_order else documents[::-1]):
        about = {"turn_id": "a1", "timestamp": "2026-01-05T10:00:00Z", "retrieved": given}
        answered = [(turn(f"{n}", f"Question {n}?"), turn(f"{n}", "Open it.", "assistant", **about)) for n in range(60)]
        sides.append(system(*(line for lines in answered for line in lines)))
    known, of = pair_cases(*sides), []
    for place, (cases, ndcg) in enumerate(zip(sides, (0.8, 0.6), strict=True), 1):
        rows = ConversationRows((pair[place] for pair in known.pairs), cases.answers.by_conversation, "nDCG@5")
        for pair in known.pairs:
            rows.add(row(str(pair[place]), **{"nDCG@5": ndcg}))
        of.append(rows)
    named = compare_cases(known, *of, same_suite=True).as_json("nDCG@5", 0.01, 30)["figures"]
    assert named["nDCG@5"]["verdict"] == verdict
    if in_order:
        assert named["nDCG@5"]["why"].endswith("the same documents came, in one order, in 60 of 60")


def test_a_case_that_is_asked_again_is_one_first_answer() -> None:
    about = {"turn_id": "a1", "timestamp": "2026-01-05T10:00:00Z"}
    sides = [
        system(*(line for n in "123" for line in (turn(n, "Again?"), turn(n, "So.", "assistant", **about))))
        for _ in range(2)
    ]
    known = pair_cases(*sides)
    of = [ConversationRows("123", cases.answers.by_conversation) for cases in sides]
    assert [side.n for side in compare_cases(known, *of).first_answers] == [1, 1]


def test_a_second_system_that_leaves_questions_without_any_answer_is_worse() -> None:
    about = {"turn_id": "a1", "timestamp": "2026-01-05T10:00:00Z"}
    sides = []
    for lost in (0, 12):
        lines = [(turn(f"{n}", f"Question {n}?"), turn(f"{n}", "Open it.", "assistant", **about)) for n in range(60)]
        sides.append(system(*(line for n, asked in enumerate(lines) for line in asked[: 1 if n < lost else 2])))
    known, of = pair_cases(*sides), []
    for place, cases in enumerate(sides, 1):
        rows = ConversationRows((pair[place] for pair in known.pairs), cases.answers.by_conversation)
        for _, *pair in known.pairs:
            label = "silent" if (name := pair[place - 1]) in cases.answers.by_conversation else "unanswered"
            free = {"scorer": "clarification_free(per=conversation)", "value": float(label == "silent")}
            rows.add({**row(name), "stage": "close", "scores": [free, {"scorer": "conversation", "label": label}]})
        of.append(rows)
    figures = compare_cases(known, *of, same_suite=True).as_json("clarification_free", 0.01, 30)["figures"]
    assert (figures["no_answer"]["verdict"], figures["no_answer"]["value"]) == ("worse", 0.2)
    assert figures["unanswered"]["verdict"] == "worse"
    of_users = {"silent", "resolved", "clarification_free(per=conversation)"}
    assert of_users.isdisjoint(figures), "no user wrote anything behind an answer"
    alike = compare_cases(known, of[0], of[0], same_suite=True).as_json("clarification_free", 0.01, 30)
    assert "no_answer" not in alike["figures"]


def chat(name: str, answers: list[str], follow_ups: list[str]) -> list[bytes]:
    """Give a conversation of a question, an answer and what its user wrote next for each of them."""
    lines = []
    for at, texts in enumerate(zip(answers, follow_ups, strict=True)):
        for number, text in enumerate((f"When is shop {at} open?", *texts)):
            role = "assistant" if number == 1 else "user"
            more = {"turn_id": f"t{number}", "timestamp": f"2026-11-02T10:0{number}:00Z", "version": "v1"}
            lines.append(turn(f"{name}{at}", text, role, metadata={"case_id": f"case {at}"}, **more))
    return lines


def _named(number: int) -> str:
    """Name a street by letters: texts that differ in numbers only are the same."""
    return f"{number:03}".translate(str.maketrans("0123456789", "aeioubdfgk")).title()


def followed(name: str, follow_ups: list[str]) -> list[dict[str, Any]]:
    """Give the rows of these conversations, as a replay reads the follow-ups."""
    rows = []
    for at, text in enumerate(follow_ups):
        free = float(text.startswith("Thanks"))
        score = {"scorer": "clarification_free", "value": free, "label": None}
        rows.append(
            {"conversation_id": f"{name}{at}", "turn_id": "t1", "stage": "follow_up", "time": 0.0, "scores": [score]}
        )
    return rows


NONE, OPEN = "I could not find anything about that.", "The shop in {} Street is open from 9 to 18 on weekdays."
THANKS, WRONG = "Thanks, that helps!", "No, that is wrong."


@pytest.mark.parametrize(("now", "is_better"), [(WRONG, False), (THANKS, True)])
def test_a_system_that_guesses_is_not_better_for_declining_less(now: str, *, is_better: bool) -> None:
    count, declined = 120, 60
    answers = [
        [NONE if at < declined and not answered else OPEN.format(_named(at)) for at in range(count)]
        for answered in (0, 1)
    ]
    said = [[of if at < declined else THANKS for at in range(count)] for of in ("OK, thanks. And on Sundays?", now)]
    sides = []
    for name, texts, follow_ups in zip("ab", answers, said, strict=True):
        side = system(*chat(name, texts, follow_ups))
        rows = ConversationRows([f"{name}{at}" for at in range(count)], side.answers.by_conversation)
        for each in followed(name, follow_ups):
            rows.add(each)
        sides.append((side, rows))
    (first, before), (second, after) = sides
    claimed = compare_cases(pair_cases(first, second), before, after).as_json("clarification_free", 0.01, 20)["figures"]
    assert (claimed["failed"]["verdict"] == "better") is is_better, claimed["failed"]
