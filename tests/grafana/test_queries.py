"""Queries: what a panel's author writes, and what Prometheus is asked."""

import pytest

from grafana.queries import about, mean, select, share


def test_a_metric_is_filtered_by_the_choices_that_it_has_labels_for() -> None:
    assert select("pairing_total") == 'turnsignal_pairing_total{job=~"$job"}'
    assert select("turns_total", 'role="user"') == (
        'turnsignal_turns_total{job=~"$job",assistant=~"$assistant",version=~"$version",role="user"}'
    )


def test_evidence_is_of_no_version_and_is_shown_whichever_is_chosen() -> None:
    assert "version" not in select("regression_evidence_log10")


def test_a_metric_that_no_worker_shows_is_refused_when_the_dashboard_is_built() -> None:
    with pytest.raises(KeyError, match="expected a metric of agents"):
        select("turn_total")


def test_a_share_of_nothing_is_nothing() -> None:
    assert share("", "pairing_total", 'outcome="late"') == (
        'sum (rate(turnsignal_pairing_total{job=~"$job",outcome="late"}[$window]))'
        ' / (sum (rate(turnsignal_pairing_total{job=~"$job"}[$window])) > 0)'
    )


def test_scorers_are_picked_by_what_they_are_about() -> None:
    facts = 'turnsignal_scorer_info{job=~"$job",quality="relevancy"}'
    assert about("x", "relevancy") == f"(x and on (scorer) {facts})"
    assert mean("scorer", quality="relevancy").count(facts) == 2
