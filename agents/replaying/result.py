"""The result of a replay, as its directory holds it: figures, findings, the worst exchanges, and all rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from turnsignal.agents.replaying.files import FILES, SUMMARY, WORST
from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.records.wire import CONVERSATIONS, SCORES
from turnsignal.stream.reports.findings import Finding, find
from turnsignal.stream.reports.unscored import UnscoredScorers, unscored


@dataclass(frozen=True)
class ReplayResult:
    """What came of a replay. Rendering it is somebody else's work: `agents/report/`.

    directory: where its files are; summary: the figures, as in `summary.json`; worst: the worst exchanges with their
    texts, the worst first, as in `worst.jsonl`.
    """

    directory: Path
    summary: Mapping[str, Any]
    worst: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What it says, in sentences, the gravest first."""
        return tuple(find(self.summary))

    @cached_property
    def unscored(self) -> tuple[UnscoredScorers, ...]:
        """What could not be scored, and why."""
        return tuple(unscored(self.summary["scores"]))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give every score row, in the order of the file."""
        return _lines(self.directory / FILES[SCORES])

    def conversations(self) -> Iterator[dict[str, Any]]:
        """Give every summary of a conversation, in the order of the file."""
        return _lines(self.directory / FILES[CONVERSATIONS])

    def as_json(self) -> dict[str, Any]:
        """Return the summary with findings and worst exchanges, as `replay --json` prints it."""
        findings = [finding.as_json() for finding in self.findings]
        return {**self.summary, "findings": findings, "worst": list(self.worst), "directory": str(self.directory)}


def read_result(directory: Path) -> ReplayResult:
    """Read what a replay wrote; raises TurnsignalError when the directory holds none of this version."""
    path = directory / SUMMARY
    try:
        summary = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        msg = f"{directory}: expected a directory that `turnsignal replay --out` wrote, with {SUMMARY}; got none"
        raise TurnsignalError(msg) from None
    if not isinstance(summary, dict) or "review" not in summary:
        msg = f"{path}: expected a section `review`, got none; replay again with this version of turnsignal"
        raise TurnsignalError(msg)
    worst = directory / WORST
    return ReplayResult(directory, summary, tuple(_lines(worst)) if worst.is_file() else ())


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open("rb") as file:
            yield from map(orjson.loads, file)
    except (OSError, orjson.JSONDecodeError) as error:
        msg = f"{path}: expected JSON lines that `turnsignal replay` wrote, got: {error}"
        raise TurnsignalError(msg) from None
