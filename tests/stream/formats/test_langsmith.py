"""Runs of LangSmith: what stands in their metadata."""

from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.formats.langsmith import LangSmith


@pytest.mark.parametrize(
    ("metadata", "version"),
    [
        ({"revision_id": "2026.11.1"}, "2026.11.1"),
        ({"revision_id": "abc123", "version": "v7"}, "v7"),
        ({"revision_id": None}, None),
    ],
)
def test_the_revision_of_a_deployment_is_its_version_unless_another_is_named(
    metadata: Any, version: str | None
) -> None:
    run = {"id": "r1", "run_type": "chain", "inputs": {"question": "How?"}, "extra": {"metadata": metadata}}
    (call,) = LangSmith().read(run, Counter())
    assert call.fields.get("version") == version
