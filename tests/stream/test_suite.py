"""A suite is read from TOML, refused in one line, and known by its fingerprint."""

import pytest

from turnsignal.stream.checks.citations import MaxConsecutive
from turnsignal.stream.detection.detector import HIGHER, LOWER, Paging
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.pipeline.scoring import describe_scorers, policy_of, scorer_names
from turnsignal.stream.suite import Suite, load_suite, parse_suite

WRONG = {
    "no TOML": ("x =", ["TOML", "Invalid value"]),
    "unknown section": ("[colours]", ["colours"]),
    "misspelt section": ("[alrets]", ["alrets", "did you mean alerts?"]),
    "unknown key of a section": ("[alerts]\nalrets = 1", ["alerts.alrets", "suite show"]),
    "unknown key": ("[retrieval]\nbest = 1", ["retrieval.best"]),
    "a key with a line break": ('"a\\nb" = 1', ["a b"]),
    "wrong type": ('[retrieval]\nmeasures = "nDCG@5"', ["retrieval.measures", "array", "nDCG@5"]),
    "a number for a text": ("name = 5", ["name", "string", "5"]),
    "truth for a number": ("[conversations]\nkept_turns = true", ["conversations.kept_turns", "integer", "True"]),
    "below its range": ("[conversations]\nkept_turns = 2", ["conversations.kept_turns", "3", "2"]),
    "above its range": ("[retrieval]\ngood = 1.5", ["retrieval.good", "1", "1.5"]),
    "no duration": ('[conversations]\nidle = "soon"', ["conversations.idle", "30m", "soon"]),
    "no time at all": ("[conversations]\nidle = 0", ["conversations.idle", "greater than 0", "0"]),
    "longer than times go": ("[conversations]\nidle = 1e12", ["conversations.idle", "less than or equal to"]),
    "not a number": ("[conversations]\nidle = nan", ["conversations.idle"]),
    "no amount": ("[judging]\nbudget = nan", ["judging.budget", "nan"]),
    "beyond 64 bits": ("[conversations]\nidle = 99999999999999999999", ["64"]),
    "unknown measure": ('[retrieval]\nmeasures = ["nDGC@5"]', ["retrieval.measures.0", "nDCG", "nDGC"]),
    "no name": ('[retrieval]\nmeasures = ["nDCG@x"]', ["retrieval.measures.0", "family", "nDCG@x"]),
    "unknown check": ('[[checks]]\ncheck = "citation.nope"', ["checks.0.check", "citation.format", "citation.nope"]),
    "no check": ("[[checks]]\nweight = 2.0", ["checks.0.check", "required"]),
    "unknown label": ("[follow_ups.strict]\nrude = 0.1", ["follow_ups.strict.rude", "frustration", "rude"]),
    "value of a label": ("[follow_ups.strict]\nthanks = 1.1", ["follow_ups.strict.thanks", "1", "1.1"]),
    "unknown style": ('[citations]\nstyles = ["runes"]', ["citations", "doc_id", "runes"]),
    "no pattern": ('[citations]\nid_pattern = "("', ["citations", "("]),
    "a measure twice": ('[retrieval]\nmeasures = ["nDCG@5", "nDCG@5"]', ["once", "nDCG@5"]),
    "a check twice, spelled in two ways": (
        '[[checks]]\ncheck = "citation.max_consecutive"\n[[checks]]\ncheck = "citation.max_consecutive(at_most=3)"',
        ["once", "citation.max_consecutive"],
    ),
    "a window twice": ('[[windows]]\nsize = 60\nkeep = 60\n[[windows]]\nsize = "1m"\nkeep = 90', ["once", "60"]),
    "an unknown primary figure": (
        '[aggregates]\nprimary = "nDCG@7"',
        ["aggregates.primary", "clarification_free", "nDCG@7"],
    ),
    "a share as change": ("[aggregates]\nleast_change = 2", ["aggregates.least_change", "1"]),
    "a page for no scorer": ('[alerts]\npage = ["nDGC@5"]', ["alerts.page", "nDGC@5", "did you mean nDCG@5?"]),
    "a direction that is none": ('[alerts]\nworse = {cited = "down"}', ["alerts.worse.cited", "lower", "down"]),
    "a direction of no scorer": ('[alerts]\nworse = {xyzzy = "lower"}', ["alerts.worse", "xyzzy", "follow_up"]),
    "paging and ignored": ('[alerts]\npage = ["cited"]\nignore = ["cited"]', ["alerts.ignore", "cited"]),
    "nobody to promise": ("[alerts]\nassistants = 0", ["alerts.assistants", "1", "0"]),
    "too many windows": ('[[windows]]\nsize = 1\nkeep = "1d"', ["windows.0", "300", "86400"]),
}


@pytest.mark.parametrize(("text", "said"), WRONG.values(), ids=WRONG)
def test_a_wrong_suite_is_refused_in_one_line_that_names_the_key_and_what_came(text: str, said: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_suite(text, "my.toml")
    message = str(caught.value)
    assert message.startswith("my.toml: ")
    assert "\n" not in message
    for word in said:
        assert word in message


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        load_suite("nowhere.toml")


def test_what_is_left_out_has_its_default() -> None:
    assert parse_suite("") == Suite() == load_suite(None)
    limits = Suite().limits
    assert (limits.idle, limits.retention, limits.recent_turns) == (1800.0, 86_400.0, 256)
    assert [(spec.size, spec.keep) for spec in Suite().window_specs] == [(300.0, 900.0), (3600.0, 3600.0)]


def test_durations_are_seconds_or_have_a_unit() -> None:
    limits = parse_suite('[conversations]\nidle = 90\nretention = "7d"\ngrace = "500ms"').limits
    assert (limits.idle, limits.retention, limits.grace) == (90.0, 604_800.0, 0.5)


SAME = [
    ("", "# a comment\n"),
    ("", 'name = "another"'),
    ("", "[exchanges]\nshare = 0.5"),
    ("", '[aggregates]\nminimum_n = 100\nprimary = "nDCG@5"\nleast_change = 0.05\nwhole = true'),
    ("", "[retrieval]\ngood = 0.8"),
    ("[retrieval]\ngood = 0.7\nmoderate = 0.4", "[retrieval]\nmoderate = 0.4\ngood = 0.7  # first"),
    (
        "[retrieval]\ngood = 0.7\n[thresholds]\nrelevancy = 0.4",
        "[thresholds]\nrelevancy = 0.4\n[retrieval]\ngood = 0.7",
    ),
    ('[conversations]\nidle = "30m"', "[conversations]\nidle = 1800"),
    (
        '[[checks]]\ncheck = "citation.max_consecutive"',
        '[[checks]]\nweight = 1.0\ncheck = "citation.max_consecutive(at_most=3)"',
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_comments_order_spelling_and_name_leave_the_fingerprint(one: str, other: str) -> None:
    assert parse_suite(one).fingerprint == parse_suite(other).fingerprint


OTHER = [
    "[thresholds]\nrelevancy = 0.6",
    "[retrieval]\nmoderate = 0.4",
    '[retrieval]\nmeasures = ["nDCG@5"]',
    '[citations]\nid_pattern = "doc_[0-9]+"',
    "[follow_ups.strict]\ncorrection = 0.1",
    "[conversations]\nkept_turns = 7",
    "[[windows]]\nsize = 300\nkeep = 900",
    '[[checks]]\ncheck = "citation.required"',
]


def test_whatever_decides_scores_changes_the_fingerprint() -> None:
    assert len({parse_suite(text).fingerprint for text in ["", *OTHER]}) == len(OTHER) + 1


def test_an_instruction_in_the_words_of_the_prompt_moves_no_score() -> None:
    block = '[[checks]]\ncheck = "citation.required"\n'
    said = parse_suite(f'{block}says = "Cite what you use."')
    assert said.fingerprint == parse_suite(block).fingerprint
    assert said.checks[0].says == "Cite what you use."


def test_a_check_whose_meaning_changed_changes_the_fingerprint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Suite().fingerprint
    check = next(check for _, check in Suite().parsed_checks if isinstance(check, MaxConsecutive))
    monkeypatch.setattr(MaxConsecutive, "version", check.version + 1)
    assert Suite().fingerprint != before


def test_a_fingerprint_is_the_same_in_every_process() -> None:
    assert len(Suite().fingerprint) == 12
    assert int(Suite().fingerprint, 16) >= 0
    assert Suite().fingerprint == Suite().fingerprint


def test_a_suite_whose_states_no_broker_takes_is_refused() -> None:
    kept = "[conversations]\nkept_turns = 80\nkept_characters = 1000\n"
    assert parse_suite(kept).limits.kept_turns == 80
    with pytest.raises(ConfigError, match="the state of a conversation to take 1040000 bytes at most"):
        parse_suite(
            kept + "recent_turns = 10000\n" + "".join(f"[[windows]]\nsize = {n}\nkeep = {300 * n}\n" for n in (1, 2))
        )


# -- alerts --------------------------------------------------------------------------------------------------


def test_alerts_leave_the_fingerprint() -> None:
    text = '[alerts]\npage = ["cited"]\nignore = ["wasted_context"]\nworse = {cited = "both"}\nassistants = 7'
    assert parse_suite(text).fingerprint == Suite().fingerprint


def test_the_suite_says_who_pages_in_which_direction_and_over_how_many() -> None:
    named = '[alerts]\npage = ["cited", "groundedness(by=mini)"]\nignore = ["vote"]'
    policy = policy_of(parse_suite(f'{named}\nworse = {{cited = "higher"}}\nassistants = 4'))
    assert policy.paging_of("cited") == Paging(frozenset({HIGHER}), 8)
    assert policy.paging_of("groundedness(by=mini)") == Paging(frozenset({LOWER}), 8)
    assert policy.paging_of("follow_up") == Paging(frozenset(), 8)
    assert policy.ignored == {"vote"}
    assert policy_of(parse_suite("[alerts]\npage = []")).paging_of("follow_up").directions == frozenset()


def budgets(suite: Suite) -> dict[str, float]:
    return {facts.name: facts.bad_budget for facts in describe_scorers(suite) if facts.bad_budget is not None}


def test_a_fifth_of_the_scores_of_each_scorer_that_pages_may_be_bad_unless_the_suite_says_otherwise() -> None:
    assert budgets(Suite()) == {"nDCG@5": 0.2, "follow_up": 0.2, "compliance": 0.2}
    assert budgets(parse_suite('[alerts]\npage = ["cited", "wasted_context"]')) == {"cited": 0.2}
    assert budgets(parse_suite("[alerts]\nbad_budget = {follow_up = 0.05}")) == {"follow_up": 0.05}
    assert budgets(parse_suite("[alerts]\nbad_budget = {}")) == {}


@pytest.mark.parametrize("name", ["wasted_context", "groundedness(by=mini)"])
def test_a_budget_of_bad_scores_is_for_scorers_that_have_any(name: str) -> None:
    with pytest.raises(ConfigError, match="to name scorers whose scores are good or bad"):
        parse_suite(f'[alerts.bad_budget]\n"{name}" = 0.1')


def test_what_is_ignored_does_not_page_by_default_either() -> None:
    assert policy_of(parse_suite('[alerts]\nignore = ["follow_up"]')).paging == {"nDCG@5", "compliance"}


def test_every_scorer_of_a_suite_can_be_named_in_alerts() -> None:
    names = [*scorer_names(Suite()), "vote"]
    assert parse_suite(f"[alerts]\nignore = {names}").alerts.ignore == tuple(names)
