"""The one document that an answer cites, as a class: right, wrong, none, several."""

import pytest

from turnsignal.stream.truth.articles import ArticleLabel, compare_article

CASES = [
    (["d1"], ["d1"], False, "right", "cites d1, which is relevant"),
    (["d1", "d2"], ["d2"], False, "right", "cites d2, which is relevant"),
    (["d1", "d2"], ["d3"], False, "wrong", "cites d3; relevant would be d1 and 1 more"),
    (["d1"], [], False, "no_citation", "cites nothing; relevant would be d1"),
    (["d1"], [], True, "wrong", "cites what was not retrieved; relevant would be d1"),
    (["d1"], ["d1", "d2"], False, "several_citations", "cites 2 documents, 1 of them relevant"),
    (["d1"], ["d1"], True, "right", "cites d1, which is relevant"),
]


@pytest.mark.parametrize(("relevant", "cited", "dangling", "label", "sentence"), CASES)
def test_each_way_of_citing_has_its_label(
    relevant: list[str], cited: list[str], dangling: bool, label: str, sentence: str
) -> None:
    assert compare_article(relevant, cited, dangling=dangling) == (label, sentence)


def test_all_labels_are_among_the_cases_and_only_one_is_right() -> None:
    assert {label for *_, label, _ in CASES} == set(ArticleLabel)
    assert {label for *_, label, _ in CASES if label == "right"} == {"right"}
    assert [compare_article(case[0], case[1]).is_right for case in CASES[:4]] == [True, True, False, False]


def test_a_hostile_id_is_cut_and_shown_with_nothing_hidden() -> None:
    sentence = compare_article(["\u202e" + "d" * 500], ["\x00" * 300]).sentence
    assert sentence.isprintable()
    assert len(sentence) < 600
