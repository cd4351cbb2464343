"""File reports: what became of the files of one format, for people and for `--json`."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from turnsignal.stream.formats.protocol import Assumed

_NAMED = 3  #: files of one format that are named; of more the first


@dataclass(slots=True)
class FileReport:
    """What became of a file, or of several of one format.

    records: read; human_scores: by people; votes: that stand with their answers; strangers: records of other formats,
    which were not read; refused: reason → records; first: reason → (line, detail); warnings: what a mapping
    names in vain; is_cut: a file ends early.
    """

    files: list[str]
    format: str
    why: str
    records: int = 0
    turns: Counter[str] = field(default_factory=Counter)
    conversations: int = 0
    human_scores: int = 0
    votes: int = 0
    strangers: int = 0
    assumed: Assumed = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[int, str]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    is_cut: bool = False

    @property
    def name(self) -> str:
        """The file; of several their names, or the first one's and how many more there are."""
        if len(self.files) <= _NAMED:
            return ", ".join(self.files)
        return f"{self.files[0]} and {len(self.files) - 1} more files"

    def as_json(self) -> dict[str, Any]:
        """Return it for `convert --json`."""
        described = {"file": self.name, "files": self.files, "format": self.format, "why": self.why}
        return (
            described
            | {"records": self.records, "turns": self.turns, "conversations": self.conversations}
            | {"human_scores": self.human_scores, "votes": self.votes}
            | {"assumed": self.assumed, "warnings": self.warnings}
        )
