"""Every panel has data on a real Prometheus with a history of workers' pages, and none where there was nothing."""

import json
import math
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grafana.build import DASHBOARDS
from grafana.preview.draw import is_built, parse_options, pictures, site
from grafana.preview.history import EVERY, MANY_VERSIONS, ONE_VERSION, TOLD, WORSE, Pages, Story, record
from grafana.preview.prometheus import ask, import_history, prometheus
from grafana.preview.variables import chosen, durations, fill

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("prometheus") is None and not os.environ.get("REQUIRE_TOOLS"),
        reason="Prometheus is not installed (Debian: apt-get install prometheus)",
    ),
]

BOARDS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(DASHBOARDS.glob("*.json"))}
PANELS = [(name, panel) for name, board in BOARDS.items() for panel in board["panels"]]
STEP = 300.0
#: Legends of what the simulated traffic has none of: eight documents are retrieved.
NOT_IN_THE_STORY = {"11-20", "21+"}
NOBODY = Story("nobody", hours=6.0)  #: a job that was never scraped
SHOWN = 6.0  #: hours that are asked for, around the release
#: No more pages than are read: those of these hours and, as some panels show what was a day before, of their end then.
SEEN = replace(TOLD, kept=((6.5, TOLD.hours - 24.0), (TOLD.hours - SHOWN, TOLD.hours)))
#: Of the others the end: more pages make no more series.
ALL = (SEEN, *(replace(story, kept=((story.hours - 1.25, story.hours),)) for story in (ONE_VERSION, MANY_VERSIONS)))

every_panel = pytest.mark.parametrize(("name", "panel"), PANELS, ids=[f"{n}: {p['title']}" for n, p in PANELS])


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Prometheus that has seen a release that is worse, one version for a short time, and too many."""
    directory: Path = tmp_path_factory.mktemp("prometheus")
    pages, file = Pages(), directory / "history.om"
    for story in ALL:
        record(story, pages)
    pages.write(file)
    import_history(file, directory)
    with prometheus(directory) as address:
        yield address


def answers(
    address: str, name: str, target: dict[str, Any], story: Story, hours: float, **values: str
) -> list[tuple[dict[str, str], dict[float, str]]]:
    """The labels and the values by time that a panel of a dashboard gets, which shows the last hours of a story."""
    begin, end = story.end - hours * 3600, story.end
    values = chosen(BOARDS[name], address, begin, end, job=story.job, **values)
    expression = fill(target["expr"], values | durations(begin, end, STEP, EVERY))
    if target.get("instant"):
        result = ask(address, "query", query=expression, time=end)["result"]
    else:
        result = ask(address, "query_range", query=expression, start=begin, end=end, step=STEP)["result"]
    return [(series["metric"], dict(series.get("values", [series.get("value")]))) for series in result]


@every_panel
def test_a_panel_has_data_and_no_value_that_is_none(address: str, name: str, panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        found = answers(address, name, target, SEEN, SHOWN)
        assert found or target["legendFormat"] in NOT_IN_THE_STORY, f"no data: {target['expr']}"
        for labels, values in found:
            assert all(math.isfinite(float(value)) for value in values.values()), labels


@every_panel
def test_a_panel_that_shows_values_over_time_shows_them_to_the_end(
    address: str, name: str, panel: dict[str, Any]
) -> None:
    for target in panel["targets"]:
        times = {time for _, values in answers(address, name, target, SEEN, 6.0) for time in values}
        assert target.get("instant") or len(times) >= 6 * 3600 / STEP * 0.9, target["expr"]


@every_panel
@pytest.mark.parametrize("story", ALL[1:], ids=lambda story: story.job)
def test_one_version_and_too_many_with_hostile_names_are_asked_for_all_the_same(
    address: str, name: str, panel: dict[str, Any], story: Story
) -> None:
    for target in panel["targets"]:
        for labels, values in answers(address, name, target, story, 3.0):
            assert all(math.isfinite(float(value)) for value in values.values()), labels
            assert "<" not in labels.get("version", "")
            assert len(labels.get("version", "")) <= 64


@every_panel
def test_a_dashboard_that_nothing_was_scraped_for_says_nothing(address: str, name: str, panel: dict[str, Any]) -> None:
    for target in panel["targets"]:
        assert answers(address, name, target, NOBODY, 3.0, worker="", scorer="nobody") == []


@pytest.mark.parametrize("name", BOARDS)
def test_what_is_offered_is_offered_by_name(address: str, name: str) -> None:
    begin = SEEN.end - SHOWN * 3600
    values = chosen(BOARDS[name], address, begin, SEEN.end, job=SEEN.job)
    assert values["worker"] == "localhost:9108"
    assert values["version"] == values["assistant"] == ".*"
    assert values.get("scorer") != ""


def test_the_judges_of_the_history_answer(address: str) -> None:
    decided = 'sum by (outcome) (turnsignal_judge_verdicts_total{job="turnsignal"}) > 0'
    found = ask(address, "query", query=decided, time=SEEN.end)["result"]
    assert len(found) > 0
    assert not {series["metric"]["outcome"] for series in found} & {"error", "provider", "parse", "timeout"}, found


def test_a_release_is_marked_when_it_answers_first_and_not_again(address: str) -> None:
    (mark, *_) = [one for one in BOARDS["overview"]["annotations"]["list"] if one["name"] == "Releases"]
    found = answers(address, "overview", mark["target"], SEEN, SHOWN)
    assert {(labels["assistant"], labels["version"]) for labels, _ in found} == {
        (name, WORSE) for name in SEEN.assistants
    }
    assert all(len(values) <= 3 for _, values in found)


def test_the_change_that_the_release_brought_is_open(address: str) -> None:
    (panel,) = [panel for panel in BOARDS["overview"]["panels"] if panel["title"] == "What changed"]
    found = answers(address, "overview", panel["targets"][0], SEEN, SHOWN)
    assert {labels["assistant"] for labels, _ in found} == set(SEEN.assistants)
    assert {labels["direction"] for labels, values in found if float(max(values.values())) < 0} == {"lower"}


@pytest.mark.skipif(
    not is_built(), reason="what draws is not there: `make preview` brings it (npm, 430 MB), or Chromium"
)
@pytest.mark.parametrize("name", BOARDS)
def test_every_panel_is_drawn_by_grafanas_components_with_what_it_has(address: str, tmp_path: Path, name: str) -> None:
    with site() as (page, reports):
        options = parse_options(["--only", name, "--modes", "dark", "--into", str(tmp_path)])
        assert list(pictures(address, page, reports, options)) == []
    assert (tmp_path / f"{name}-dark.png").stat().st_size > 20_000
