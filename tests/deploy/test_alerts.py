"""Rules and alerts: each is tried by promtool, names what exists, and has a section of the runbook.

promtool and amtool come with Debian's packages prometheus and prometheus-alertmanager, which `.ci/run` installs.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import promql_parser
import pytest
import yaml

from turnsignal.agents.drilling.run import name_assistant
from turnsignal.agents.metrics.families import FAMILIES, PREFIX

DEPLOY = Path(__file__).parents[2] / "deploy"
RULES = sorted((DEPLOY / "prometheus" / "rules").glob("*.yml"))
TESTS = sorted((DEPLOY / "prometheus" / "tests").glob("*.yml"))
ALERTMANAGER = DEPLOY / "alertmanager" / "alertmanager.yml"
RUNBOOK = (DEPLOY / "runbook.md").read_text(encoding="utf-8")
DASHBOARDS = "".join(path.read_text("utf-8") for path in (DEPLOY.parent / "grafana" / "dashboards").glob("*.json"))
#: metrics that Prometheus makes of a scrape, and of alerts
FOREIGN = {
    "up": {"job", "instance"},
    "scrape_samples_scraped": {"job", "instance"},
    "ALERTS": {"alertname", "alertstate", "severity", "assistant", "scorer"},
}
SCRAPED = {"job", "instance"}  #: labels that it adds to every series


def tool(name: str, *arguments: str | Path) -> str:
    """Run promtool or amtool and return what it says; skip where it is not installed, but never in CI."""
    path = shutil.which(name)
    if path is None:
        why = f"{name} is not installed (Debian: apt-get install prometheus prometheus-alertmanager)"
        if os.environ.get("REQUIRE_TOOLS"):
            pytest.fail(why)
        pytest.skip(why)
    done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def rules() -> Iterator[dict[str, Any]]:
    """Every rule of every file."""
    for path in RULES:
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
            yield from group["rules"]


ALERTS = {rule["alert"]: rule for rule in rules() if "alert" in rule}
RECORDS = {rule["record"]: rule for rule in rules() if "record" in rule}
EXPRESSIONS = {**{name: rule["expr"] for name, rule in ALERTS.items()}, **{n: r["expr"] for n, r in RECORDS.items()}}


def test_the_configuration_and_the_rules_are_valid() -> None:
    assert "SUCCESS" in tool("promtool", "check", "config", DEPLOY / "prometheus" / "prometheus.yml")
    tool("promtool", "check", "rules", *RULES)


@pytest.mark.slow
@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_alerts_are_silent_and_fire_when_they_should(path: Path) -> None:
    assert "SUCCESS" in tool("promtool", "test", "rules", path)


def test_every_alert_is_tried_silent_and_firing() -> None:
    tried: dict[str, set[bool]] = {name: set() for name in ALERTS}
    for path in TESTS:
        for test in yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]:
            for case in test.get("alert_rule_test", ()):
                tried[case["alertname"]].add(bool(case["exp_alerts"]))
    assert {name: fired for name, fired in tried.items() if fired != {True, False}} == {}


def test_every_alert_says_how_urgent_it_is_what_happened_and_where_to_read_on() -> None:
    for name, alert in ALERTS.items():
        assert re.fullmatch(r"Turnsignal([A-Z][a-z]+){2,}", name)
        assert alert["labels"]["severity"] in ("page", "ticket", "info"), name
        assert set(alert["annotations"]) >= {"summary", "description", "runbook_url"}, name
        base = '{{ or $externalLabels.turnsignal_runbook "deploy/runbook.md" }}'
        assert alert["annotations"]["runbook_url"] == f"{base}#{name.lower()}"


def test_where_the_runbook_is_read_is_said_in_one_label_which_is_taken_off_what_is_sent() -> None:
    text = (DEPLOY / "prometheus" / "prometheus.yml").read_text(encoding="utf-8")
    uncommented = yaml.safe_load(
        re.sub(r"^  # (?=external_labels:|  turnsignal_runbook:)", "  ", text, flags=re.MULTILINE)
    )
    assert list(uncommented["global"]["external_labels"]) == ["turnsignal_runbook"]
    assert uncommented["alerting"]["alert_relabel_configs"] == [{"action": "labeldrop", "regex": "turnsignal_runbook"}]
    assert "external_labels" not in yaml.safe_load(text)["global"]
    assert "`turnsignal_runbook`" in (DEPLOY / "README.md").read_text(encoding="utf-8")


def test_the_rules_about_budgets_leave_out_drills_by_the_name_that_they_have_and_no_other_rule_does() -> None:
    left_out: dict[str, list[str]] = {}
    for name, expression in EXPRESSIONS.items():
        for _, matchers in selected(promql_parser.parse(expression)):
            left_out.setdefault(name, []).extend(
                v for label, op, v in matchers if (label, op) == ("assistant", "NotRe")
            )
    patterns = {name: patterns for name, patterns in left_out.items() if patterns}
    assert set(patterns) == {"TurnsignalBadTurnsFastBurn", "TurnsignalBadTurnsSlowBurn"}
    for (pattern,) in patterns.values():
        assert re.fullmatch(pattern, name_assistant(1_796_000_400.0))
        assert not re.fullmatch(pattern, "drill-down")


def test_every_alert_has_a_section_that_says_what_to_do_and_no_section_is_left_over() -> None:
    sections = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", RUNBOOK, re.MULTILINE | re.DOTALL))
    assert set(sections) == set(ALERTS)
    for name, text in sections.items():
        for part in ("Means", "Look", "Do", "Ignore when"):
            assert f"- **{part}**: " in text, (name, part)
        assert text.strip().startswith(ALERTS[name]["labels"]["severity"].capitalize()), name


class Selected(NamedTuple):
    """What an expression asks for: a metric, and label matchers as (label, operator, value)."""

    metric: str
    matchers: tuple[tuple[str, str, str], ...]


def selected(node: Any) -> Iterator[Selected]:
    """Walk a parsed expression down to what it selects."""
    if isinstance(node, promql_parser.VectorSelector):
        matchers = tuple((one.name, str(one.op).rpartition(".")[2], one.value) for one in node.matchers.matchers)
        yield Selected(node.name, matchers)
    elif isinstance(node, promql_parser.MatrixSelector):
        yield from selected(node.vector_selector)
    for name in ("expr", "lhs", "rhs", "param"):
        if (child := getattr(node, name, None)) is not None:
            yield from selected(child)
    for argument in getattr(node, "args", None) or ():
        yield from selected(argument)


def grouped(expression: str) -> set[str]:
    """The labels that an expression groups by or joins on."""
    lists = re.findall(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)", expression)
    return {label.strip() for labels in lists for label in labels.split(",") if label.strip()}


def labels_of(metric: str) -> set[str] | None:
    """The labels of a metric or record; None where there is none of that name."""
    if metric in FOREIGN:
        return FOREIGN[metric]
    if metric in RECORDS:
        return set(metric.split(":")[0].split("_"))
    name = metric.removeprefix(PREFIX)
    if name in FAMILIES and FAMILIES[name].kind != "histogram":
        return set(FAMILIES[name].labels) | SCRAPED
    name, _, part = name.rpartition("_")
    if name in FAMILIES and FAMILIES[name].kind == "histogram" and part in ("bucket", "sum", "count"):
        return set(FAMILIES[name].labels) | SCRAPED | ({"le"} if part == "bucket" else set())
    return None


def faults(expression: str) -> list[str]:
    """What an expression names that no worker shows."""
    found, known = [], set[str]()
    for metric, matchers in selected(promql_parser.parse(expression)):
        labels = labels_of(metric)
        if labels is None:
            found.append(f"no metric {metric}")
            continue
        known |= labels
        family = FAMILIES.get(re.sub(r"_(bucket|sum|count)$", "", metric.removeprefix(PREFIX)))
        family = FAMILIES.get(metric.removeprefix(PREFIX), family)
        for label, operator, value in matchers:
            words = family.words_of(label) if family else ()
            if label not in labels:
                found.append(f"{metric} has no label {label}")
            elif words and operator in ("Equal", "NotEqual") and value not in words:
                found.append(f"{metric}: {label} is never {value}")
            elif words and operator in ("Re", "NotRe") and not set(value.split("|")) <= set(words):
                found.append(f"{metric}: {label} is never one of {value}")
    return found + [f"no label {label}" for label in sorted(grouped(expression) - known)]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_a_rule_names_metrics_labels_and_words_that_exist(name: str) -> None:
    assert faults(EXPRESSIONS[name]) == []


@pytest.mark.parametrize(
    ("expression", "fault"),
    [
        ("rate(turnsignal_turn_total[5m])", "no metric turnsignal_turn_total"),
        ('sum(turnsignal_turns_total{rôle="user"})', ""),
        ('turnsignal_turns_total{speaker="user"} > 1', "turnsignal_turns_total has no label speaker"),
        ('sum(rate(turnsignal_turns_total{role="users"}[5m]))', "turnsignal_turns_total: role is never users"),
        (
            'up and on (job) turnsignal_score_verdicts_total{verdict=~"good|evil"}',
            "turnsignal_score_verdicts_total: verdict is never one of good|evil",
        ),
        ("sum by (score) (turnsignal_score_ratio_count)", "no label score"),
        ("turnsignal_score_ratio > 1", "no metric turnsignal_score_ratio"),
    ],
)
def test_a_rule_that_names_what_no_worker_shows_is_noticed(expression: str, fault: str) -> None:
    if not fault:
        with pytest.raises(ValueError):
            promql_parser.parse(expression)
    else:
        assert faults(expression) == [fault]


def level_of(expression: str) -> set[str]:
    """The labels of what an expression gives: those that it groups by, or those of the records that it divides."""
    levels = [labels_of(metric) or set() for metric, _ in selected(promql_parser.parse(expression))]
    return grouped(expression) or set.intersection(*levels)


def test_record_names_are_level_metric_operation_and_the_level_is_what_they_show() -> None:
    for name, rule in RECORDS.items():
        level, metric, operation = name.split(":")
        assert metric.startswith(PREFIX), name
        assert re.fullmatch(r"(?:ratio_)?(?:rate|increase)\d+[mhd]", operation), name
        assert level_of(rule["expr"]) == set(level.split("_")), name


def test_every_record_is_used() -> None:
    used = {metric for expression in EXPRESSIONS.values() for metric, _ in selected(promql_parser.parse(expression))}
    assert set(RECORDS) <= used


def families_in(text: str) -> set[str]:
    """The metrics of workers that a text names, a histogram by any of its parts."""
    named = {name for name in re.findall(r"\bturnsignal_\w+", text) if labels_of(name) is not None}
    return named | {re.sub(r"_(bucket|sum|count)$", "", name) for name in named}


def test_every_metric_is_used_by_a_panel_or_a_rule_or_has_a_row_in_the_runbook() -> None:
    table = RUNBOOK.split("\n## What each metric answers\n", 1)[1]
    asked = "".join(line for line in table.splitlines() if line.startswith("|"))
    used = families_in("\n".join([*EXPRESSIONS.values(), DASHBOARDS, asked]))
    assert {PREFIX + name for name in FAMILIES} - used == set()


def test_the_runbook_and_the_rules_name_no_metric_that_there_is_not() -> None:
    named = set(re.findall(r"\bturnsignal_\w+", RUNBOOK + "".join(EXPRESSIONS.values())))
    known = families_in(" ".join(named)) | {PREFIX + name for name in FAMILIES}
    assert named - known <= {record.split(":")[1] for record in RECORDS}


def test_alertmanager_takes_its_configuration_and_wakes_nobody_but_for_pages() -> None:
    assert "SUCCESS" in tool("amtool", "check-config", ALERTMANAGER)
    for severity, receiver in (("page", "pages"), ("ticket", "tickets"), ("info", "nobody")):
        told = tool("amtool", "config", "routes", "test", f"--config.file={ALERTMANAGER}", f"severity={severity}")
        assert told.split()[0] == receiver


def test_alertmanager_names_only_alerts_that_exist() -> None:
    named = set(re.findall(r"Turnsignal[A-Za-z]+", ALERTMANAGER.read_text(encoding="utf-8")))
    assert named - {"TurnsignalQualityRegression"} <= set(ALERTS)
