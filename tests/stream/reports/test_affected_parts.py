"""Where a release is worse in one language or on one platform only, that part is named, and by chance hardly ever."""

import numpy as np
import pytest

from tests.stream.reports.test_quality import PRIMARY, SCORERS, values
from turnsignal.stream.reports.findings import find
from turnsignal.stream.reports.first_answers import first_answer
from turnsignal.stream.reports.newest_release import newest_releases
from turnsignal.stream.reports.quality import Quality
from turnsignal.stream.reports.release_totals import ConversationScores

LANGUAGES = ("en", "it", "pt")


def recorded(*broken: str, rate: float = 0.6, seed: int = 0, n: int = 120) -> Quality:
    """Two releases in three languages on two platforms, with 8 % complaints; v2 has more of them in some."""
    rng, found = np.random.default_rng(seed), Quality(SCORERS)
    for at, version in enumerate(("v1", "v2")):
        for i in range(n):
            language, platform = LANGUAGES[i % 3], ("web", "mobile")[i // 3 % 2]
            share = rate if version == "v2" and {language, platform} & set(broken) else 0.08
            release, first = ("support", version), at * 1e6 + i
            part = values(0.8, float(rng.binomial(2, share)))
            answer = first_answer(platform, "Open Settings.", "How do I reset it?")
            went = ConversationScores(release, "resolved", first, first, first, False, 3, {release: part}, first)
            found.add(went._replace(language=language, first_answer=answer))
    return found


@pytest.mark.parametrize(("broken", "sentence"), [("pt", "in Portuguese"), ("mobile", "on mobile")])
def test_the_part_that_is_worse_is_named_with_what_the_others_did(broken: str, sentence: str) -> None:
    (row,) = recorded(broken).comparisons(30, *PRIMARY)
    (part,) = row["affected_parts"]
    assert (part["name"], part["figure"]) == (broken, "clarification_free")
    assert part["here"]["high"] < -0.2 < part["elsewhere"]["value"]
    summary = {"comparisons": [row], "quality": [], "review": [], "diagnosis": [], "scores": []}
    said = [one.sentence for one in find(summary | {"suite": {"least_change": 0.01}})]
    assert any(one.startswith(f"v2 helps its users less {sentence} (support): clarification_free") for one in said)


def test_a_part_is_named_where_the_others_hide_it_and_a_build_fails_for_it() -> None:
    found = recorded("pt", rate=0.35, seed=5)
    (row,) = found.comparisons(30, *PRIMARY)
    assert row["deltas"]["clarification_free"]["verdict"] != "worse"
    assert [part["name"] for part in row["affected_parts"]] == ["pt"]
    (newest,) = newest_releases({"quality": found.rows(30), "comparisons": [row]})
    assert newest.verdicts["clarification_free(in=pt)"] == "worse"


def test_a_release_that_is_worse_everywhere_is_worse_in_no_part() -> None:
    (row,) = recorded(*LANGUAGES).comparisons(30, *PRIMARY)
    assert row["deltas"]["clarification_free"]["verdict"] == "worse"
    assert "affected_parts" not in row


def test_where_nothing_differs_hardly_ever_a_part_is_named() -> None:
    named = 0
    for seed in range(60):
        (row,) = recorded(seed=seed).comparisons(30, *PRIMARY)
        named += "affected_parts" in row
    assert named <= 2
