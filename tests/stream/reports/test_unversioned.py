"""Models that answer without a version are told apart: nothing else says that two of them share the traffic."""

import pytest

from tests.stream.reports.test_aggregates import summary, turn
from turnsignal.stream.reports.findings import find
from turnsignal.stream.reports.unversioned import Unversioned


def conversations(models: list[str | None], version: str | None = None) -> list[bytes]:
    lines: list[bytes] = []
    for number, model in enumerate(models):
        name = f"c{number}"
        lines.append(turn(name, 0, "user", "How do I reset my password?", number, version=version))
        lines.append(turn(name, 1, "assistant", "Open Settings.", number, version=version, model=model))
    return lines


@pytest.mark.parametrize(
    ("models", "version", "told"),
    [
        (["a", "b", "a", "b"], None, "2 models answered (a in 2 conversations, b in 2 conversations)"),
        (["a", "a", "a", "a"], None, None),
        (["a", None, None, None], None, None),
        (["a", "b", "a", "b"], "v1", None),
        (["a"] * 20 + ["b"], None, None),  # a fallback
    ],
)
def test_two_models_without_a_version_are_told(models: list[str | None], version: str | None, told: str | None) -> None:
    said = [finding.sentence for finding in find(summary(*conversations(models, version)))]
    about = [sentence for sentence in said if "models answered" in sentence]
    assert len(about) == (told is not None)
    assert all(str(told) in sentence for sentence in about)


def test_models_beyond_so_many_take_no_room() -> None:
    counted, other = Unversioned(), Unversioned()
    for number in range(1_000):
        (counted if number % 2 else other).count(f"model-{number}")
        (counted if number % 2 else other).count_user(f"v{number}")
    counted.merge(other)
    assert len(counted.models()) == len(counted.versions_of_users()) == 64


@pytest.mark.parametrize("answered", ["v1", None])
def test_versions_that_only_users_name_are_told(answered: str | None) -> None:
    lines: list[bytes] = []
    for number in range(4):
        name, version = f"c{number}", f"v{number % 2}"
        lines.append(turn(name, 0, "user", "How do I reset my password?", number, version=version))
        if number:  # to the first nobody answers
            lines.append(turn(name, 1, "assistant", "Open Settings.", number, version=answered))
    said = [finding.sentence for finding in find(summary(*lines))]
    about = [sentence for sentence in said if "turns of users name 2 (v0 on 2 turns, v1 on 2 turns)" in sentence]
    assert len(about) == (answered is None)
