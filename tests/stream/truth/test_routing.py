"""Every way in which a question can be routed has one label, and a sentence that is safe to show."""

import pytest

from turnsignal.stream.truth.routing import RoutingLabel, compare_routing

CASES = [
    (["billing"], ["billing"], "exact", "sent to billing, as it should be"),
    (["billing", "shipping"], ["shipping", "billing"], "exact", "sent to billing and shipping, as it should be"),
    ([], [], "exact", "sent to nobody, as it should be"),
    (["billing", "shipping"], ["billing"], "missed", "not sent to shipping"),
    (["billing"], [], "missed", "not sent to billing"),
    (["billing"], ["billing", "refunds"], "extra", "sent to refunds besides"),
    (
        ["billing", "shipping"],
        ["billing", "refunds"],
        "partial",
        "sent to refunds instead of shipping, the rest is right",
    ),
    (["billing"], ["refunds"], "wrong", "sent to refunds; it belongs to billing"),
    ([], ["refunds"], "out_of_scope", "sent to refunds; it belongs to nobody"),
]


@pytest.mark.parametrize(("expected", "routed", "label", "sentence"), CASES)
def test_each_way_of_routing_has_its_label_and_names_the_agents(
    expected: list[str], routed: list[str], label: str, sentence: str
) -> None:
    assert compare_routing(expected, routed) == (label, sentence)


def test_all_labels_are_among_the_cases() -> None:
    assert {label for _, _, label, _ in CASES} == set(RoutingLabel)


def test_case_blanks_and_repetition_make_no_difference() -> None:
    assert compare_routing([" Billing ", "SHIPPING", "shipping"], ["billing", "Shipping", ""]).is_exact


def test_a_sentence_names_three_labels_and_counts_the_rest() -> None:
    many = compare_routing([f"agent {number}" for number in range(300)], ["other"])
    assert many.sentence == "sent to other; it belongs to agent 0, agent 1, agent 2 and 297 more"


def test_a_hostile_label_is_cut_and_shown_with_nothing_hidden() -> None:
    sentence = compare_routing(["billing"], ["\x1b[31m\u202e" + "x" * 200]).sentence
    assert sentence.isprintable()
    assert len(sentence) < 120
