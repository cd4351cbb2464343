"""The waterfall: shares by the first failing stage, gains with intervals, and what is said of them."""

import random

import pytest

from turnsignal.stream.reports.answers import Answers, is_good
from turnsignal.stream.reports.waterfall import (
    Waterfall,
    bases,
    compare_stages,
    lost_evidence,
    newest_versions,
    waterfall,
)
from turnsignal.stream.reports.waterfall_text import describe_meaning, describe_waterfall
from turnsignal.stream.truth.stages import AnswerStage, Basis, StageFinding

RIGHT, WRONG = StageFinding(True, Basis.TRUTH), StageFinding(False, Basis.DIAGNOSIS)


def findings(word: str) -> dict[AnswerStage, StageFinding]:
    """Read `+-?…`: right, wrong or not known, a letter a stage."""
    told = {"+": RIGHT, "-": WRONG}
    return {stage: told[letter] for stage, letter in zip(AnswerStage, word, strict=False) if letter in told}


def answers(*words: str, version: str = "v1", each: int = 1) -> Answers:
    made = Answers()
    for number in range(each):
        for word in words:
            made.add(f"c{number}", version, findings(word))
    return made


def flow(made: Answers) -> Waterfall:
    flowing = waterfall(made.of_version())
    assert flowing is not None
    return flowing


def test_each_answer_counts_at_the_first_stage_that_it_fails() -> None:
    made = flow(answers("+++++", "-----", "+-+--", "++?-+", "????-", "?????", each=2))
    assert (made.answers, made.conversations) == (10, 2)
    assert (made.complete, made.good.value) == (8, 0.25), "of the last two, retrieval and generation are not known"
    assert {figures.stage.value: (figures.judged, figures.failed) for figures in made.stages} == {
        "routing": (8, 2),
        "retrieval": (6, 2),
        "chunks": (2, 0),
        "generation": (4, 2),
        "format": (4, 2),
    }
    assert sum(figures.of_bad.value for figures in made.stages) == 1


def test_a_gain_is_also_of_the_stage_before_where_hardly_anything_is_known_of_that() -> None:
    unknown, right = "???-", "?+?-"
    told = " ".join(describe_waterfall(flow(answers(unknown, unknown, right, "?+?+", each=40)), [], 30))
    assert "Mending it, or retrieval where that was wrong, would make about " in told
    told = " ".join(describe_waterfall(flow(answers(unknown, right, "?+?+", each=40)), [], 30))
    assert "Mending it would make about " in told


def test_a_gain_is_what_fails_times_what_becomes_of_those_that_pass() -> None:
    made = flow(answers("-", "-", "+-", "++", "++", "++", each=40))
    routing, retrieval = made.stages[:2]
    assert routing.gain.value == pytest.approx(2 / 6 * 3 / 4)
    assert retrieval.gain.value == pytest.approx(1 / 6)
    assert made.first is routing
    assert routing.gain.low < routing.gain.value < routing.gain.high


def test_where_nothing_passes_a_stage_its_gain_is_not_known_and_it_is_still_the_first_to_mend() -> None:
    made = flow(answers("-", each=40))
    assert made.stages[0].gain is None
    assert made.first is made.stages[0]
    assert "nothing shows" in made.as_json()["stages"][0]["why"]
    assert "Mending" not in " ".join(describe_waterfall(made, [], 30))


@pytest.mark.parametrize("words", [["+++++"], ["-"], ["----+"], ["+-", "-"], ["?+"], ["+", "-", "++", "+-"]])
@pytest.mark.parametrize("conversations", [1, 2, 50])
def test_every_figure_is_a_number_between_nothing_and_all(words: list[str], conversations: int) -> None:
    made = flow(answers(*words, each=conversations))
    for figures in made.stages:
        for interval in (figures.share.interval, figures.of_bad, figures.gain):
            if interval is not None:
                assert 0 <= interval.low <= interval.value <= interval.high <= 1, (figures.stage, interval)


def test_of_nothing_there_is_no_waterfall() -> None:
    assert waterfall(Answers().of_version()) is None
    assert waterfall(answers("?????").of_version()) is None
    assert describe_waterfall(None, [], 30) == [
        "Nothing is known of any answer, so nothing can be said of where they fail."
    ]


def test_few_conversations_say_nothing() -> None:
    (said,) = describe_waterfall(flow(answers("-", "+", each=29)), [], 30)
    assert said == "29 conversations are too few to say where answers fail; 30 are needed."


def versions(*shares: float, conversations: int = 400) -> Answers:
    """Versions of which this share of answers fails at retrieval, and a tenth of the others at generation."""
    made, draw = Answers(), random.Random(7)
    for number, share in enumerate(shares, 1):
        for conversation in range(conversations):
            for _ in range(3):
                word = "?-?+" if draw.random() < share else "?+?-" if draw.random() < 0.1 else "?+?+"
                made.add(f"v{number}-{conversation}", f"v{number}", findings(word))
    return made


def test_a_product_manager_reads_since_when_what_fails_and_what_mending_it_gives() -> None:
    made = versions(0.08, 0.31)
    said = describe_waterfall(flow(made), newest_versions(made, 30), 30)
    assert said[0] == "In v2, 61 of 100 answers fail nowhere; in v1, 82 of 100."
    assert said[1].startswith("Since v2, 31 of 100 answers fail at retrieval, 9 of 100 before: the right documents did")
    assert said[2].startswith("Mending it would make about 28 of those good (")


def test_a_change_is_said_in_the_numbers_that_are_compared() -> None:
    made, draw = Answers(), random.Random(11)
    for version, lost, broken in (("v1", 0.1, 0.04), ("v2", 0.75, 0.12)):
        for number in range(600):
            for _ in range(2):
                word = "?-?++" if draw.random() < lost else "?+?+-" if draw.random() < broken else "?+?++"
                made.add(f"{version}-{number}", version, findings(word))
    said = describe_waterfall(flow(made), newest_versions(made, 30), 30)
    assert said[1].startswith("Since v2, 76 of 100 answers fail at retrieval, 10 of 100 before: ")
    assert said[-1] == "More fail at format, too, of answers that get that far: 10 of 100, 4 of 100 before."


def test_a_stage_that_few_answers_reach_is_named_with_both_shares() -> None:
    made, draw = Answers(), random.Random(12)
    for version, broken in (("v1", 0.1), ("v2", 0.9)):
        for number in range(400):
            word = "?-?+" if draw.random() < 0.3 else "?+?-" if draw.random() < broken else "?+?+"
            made.add(f"{version}-{number}", version, findings(word))
    said = describe_waterfall(flow(made), newest_versions(made, 30), 30)
    assert said[1].startswith("Since v2, 92 of 100 answers that get that far fail at generation, 5 of 100 before: ")
    assert said[2] == "Of all answers that is 67 of 100."
    assert said[3].startswith("Mending it would make about ")


def mixed(*labelled: str, unlabelled_wrong: tuple[float, float] = (0.5, 0.5)) -> Answers:
    """Versions with these labelled answers, and one without documents beside each, of which this share is wrong."""
    made, draw = Answers(), random.Random(13)
    for number, (word, wrong) in enumerate(zip(labelled, unlabelled_wrong, strict=True), 1):
        for conversation in range(150):
            made.add(f"v{number}-{conversation}", f"v{number}", findings(word))
            other = "???-" if draw.random() < wrong else "???+"
            made.add(f"v{number}-{conversation}", f"v{number}", findings(other))
    return made


def test_generation_is_not_blamed_for_the_answers_that_still_reach_it_where_retrieval_broke() -> None:
    made = mixed("?+?+", "?-?+")
    said = describe_waterfall(flow(made), newest_versions(made, 30), 30)
    assert any(
        sentence.startswith("Since v2, 100 of 100 answers that get that far fail at retrieval") for sentence in said
    )
    assert not any("generation" in sentence for sentence in said if not sentence.startswith("In v2"))


def test_generation_that_got_worse_is_named_beside_retrieval_that_did() -> None:
    made = mixed("?+?+", "?-?+", unlabelled_wrong=(0.3, 0.8))
    said = describe_waterfall(flow(made), newest_versions(made, 30), 30)
    (beside,) = (sentence for sentence in said if sentence.startswith("More fail at generation, too"))
    assert beside.startswith("More fail at generation, too, of answers that get that far and are known alike: 7")


def test_stages_of_which_nothing_is_known_alike_are_not_compared() -> None:
    made = Answers()
    for number in range(60):
        made.add(f"v1-{number}", "v1", findings("?+?+"))
        made.add(f"v2-{number}", "v2", findings("???-" if number % 2 else "?-"))
    mine, theirs = (version for _, version in reversed(newest_versions(made, 30)))
    assert [change.stage for change in compare_stages(mine, theirs, 1)] == [AnswerStage.RETRIEVAL]
    assert compare_stages(mine, theirs, 61) == [], "too few conversations are judged"


def test_a_release_that_logs_no_documents_any_more_is_compared_at_generation_all_the_same() -> None:
    made = blind("v2", "???-+", "???-+", "???-+")
    mine, theirs = (version for _, version in reversed(newest_versions(made, 30)))
    (generation,) = (each for each in compare_stages(mine, theirs, 1) if each.stage is AnswerStage.GENERATION)
    assert (generation.direction, generation.in_parts) == ("fails more", False)


def test_shares_of_the_answers_that_are_judged_are_not_called_shares_of_all() -> None:
    made = answers("?+?-", "?+?+", "?????", each=40)
    said = describe_waterfall(flow(made), [], 30)
    assert any(
        sentence.startswith("50 of 100 answers of which anything is known fail at generation") for sentence in said
    )


def test_failures_of_which_everything_is_known_count_for_no_more_than_their_share() -> None:
    made = Answers()
    for number in range(40):
        made.add(f"c{number}", "v1", findings("?+?+"))
        made.add(f"c{number}", "v1", findings("????+"))
        made.add(f"c{number}", "v1", findings("????+"))
        made.add(f"c{number}", "v1", findings("???-"), failed=True)
    assert flow(made).good.value == pytest.approx(0.75), "the complete one stands for the two others"


def test_versions_that_do_not_differ_are_not_said_to() -> None:
    made = versions(0.2, 0.2)
    said = describe_waterfall(flow(made), newest_versions(made, 30), 30)
    assert said[-1] == "No difference between v2 and v1 is shown at any stage."
    assert not any(sentence.startswith("Since") for sentence in said)


def blind(version: str, *words: str, conversations: int = 60) -> Answers:
    """Return v1, of which all is known, and a version of these answers."""
    made = Answers()
    for number in range(conversations):
        for name, said in (("v1", ("?+?++", "?+?++", "?+?-+")), (version, words)):
            for word in said:
                made.add(f"{name}-{number}", name, findings(word))
    return made


def test_where_retrieval_of_a_release_is_not_known_that_comes_first_and_no_documents_were_right() -> None:
    made = blind("v2", "???++", "???++", "???-+")
    said = describe_waterfall(flow(made), newest_versions(made, 30), 30)
    assert said[:3] == [
        "Retrieval is known of none of 180 answers in v2, of 180 of 180 in v1: it cannot be compared.",
        "In v1, 67 of 100 answers fail nowhere; of how many that holds in v2 is not known.",
        "33 of 100 answers fail at generation: the answer did not help; whether its documents were right is not known.",
    ]
    assert said[-1] == "No difference between v2 and v1 is shown at any stage that is known in both."


def test_a_stage_that_is_known_of_fewer_answers_than_before_is_compared_of_those_alone() -> None:
    made = blind("v2", "?+?++", "???++", "???-+")
    mine, theirs = (version for _, version in reversed(newest_versions(made, 30)))
    assert lost_evidence(mine, theirs) == [AnswerStage.RETRIEVAL]
    assert lost_evidence(theirs, mine) == []
    said = describe_waterfall(flow(made), newest_versions(made, 30), 30)
    assert (
        said[0] == "Retrieval is known of 60 of 180 answers in v2, of 180 of 180 in v1: it is compared of those alone."
    )
    assert said[1].endswith(
        "(of those whose retrieval and generation are known, or that are no answers: 60 of 180 and 180 of 180)."
    )


def test_of_a_recording_without_documents_it_is_not_said_that_answers_fail_nowhere() -> None:
    said = describe_waterfall(flow(answers("???+", "???-", each=40)), [], 30)
    assert said[:2] == [
        "Retrieval is known of none of 80 answers.",
        "How many answers fail nowhere is not known.",
    ]
    assert said[2].endswith("the answer did not help; whether its documents were right is not known.")


def test_an_answer_that_is_empty_fails_somewhere_though_nothing_else_is_known_of_it() -> None:
    made = Answers()
    for number in range(40):
        made.add(f"c{number}", "v1", findings("?+?+"))
        made.add(f"c{number}", "v1", findings("???-"), failed=True)
    assert (flow(made).complete, flow(made).good.value) == (80, 0.5)


def test_documents_are_called_right_only_where_they_are_known_to_be() -> None:
    assert describe_meaning(AnswerStage.GENERATION, 100, 96) == "the documents were right, but the answer did not help"
    assert describe_meaning(AnswerStage.GENERATION, 100, 60).endswith("is known of 60 of 100 only")
    cited = describe_meaning(AnswerStage.GENERATION, 100, 96, by_citations=True)
    assert cited.startswith(
        "the answer did not help; by what it cites its documents were right, but citations cannot tell"
    )
    few = describe_meaning(AnswerStage.GENERATION, 100, 60, by_citations=True)
    assert few.endswith("is known, by what was cited, of 60 of 100 only")
    assert describe_meaning(AnswerStage.FORMAT, 9, 0) == (
        "the answer broke an instruction; whether it was right otherwise is not known"
    )


def test_versions_side_by_side_stand_in_the_order_in_which_a_replay_compares_them() -> None:
    made = versions(0.31, 0.08)
    said = describe_waterfall(flow(made), newest_versions(made, 30, ["v2", "v1"]), 30)
    assert said[1].startswith("Since v1, 35 of 100 answers fail at retrieval, 8 of 100 before")
    assert [name for name, _ in newest_versions(made, 30, ["v2"])] == ["v2", "v1"], "others behind"


def test_versions_with_few_conversations_are_not_compared() -> None:
    made = versions(0.1, 0.9, conversations=20)
    assert newest_versions(made, 30) == []


def test_stages_of_two_versions_are_compared_under_one_promise() -> None:
    named = 0
    for seed in range(200):
        draw, sides = random.Random(seed), []
        for _ in range(2):
            made = Answers()
            for number in range(60):
                made.add(f"c{number}", "v1", findings(draw.choice(["-", "+-", "+++-", "++++-", "+++++"])))
            sides.append(flow(made))
        named += any(change.adjusted <= 0.05 for change in compare_stages(*sides, 1))
    assert named <= 0.08 * 200


def test_what_is_known_by_labels_is_told_from_what_is_guessed() -> None:
    assert bases(answers("+-", "+", each=3)) == {
        "routing": {"truth": 6, "diagnosis": 0},
        "retrieval": {"truth": 0, "diagnosis": 3},
    }


def test_more_versions_than_are_told_apart_share_one() -> None:
    made = Answers()
    for number in range(1_500):
        made.add("c", f"v{number}", findings("+"))
    assert len(made.versions.all) == 1_001
    assert made.versions.left_out == 500
    assert len(made.of_version("(others)")) == 500


def test_an_outcome_is_good_where_something_is_known_and_nothing_wrong() -> None:
    made = Answers()
    assert [is_good(made.add("c", None, findings(word))) for word in ("+", "?+", "+-", "?", "????-")] == [
        True,
        True,
        False,
        False,
        False,
    ]
