"""Unversioned: which models answered where no answer names a version, so that no release can be compared.

Two models that share the traffic are two releases to whoever dealt it to them; nobody can tell unless it is said.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

_TOLD_APART = 64  #: models; answers of others count as of none
_NAMED = 3  #: of them
_SHARE = 0.1  #: of the conversations, from which a model is named


class Unversioned:
    """Counts conversations whose first answer names a model and no version."""

    def __init__(self) -> None:
        self._models: Counter[str] = Counter()

    def count(self, model: str) -> None:
        """Take in a conversation."""
        self._add(model, 1)

    def merge(self, other: "Unversioned") -> None:
        """Add another partition's."""
        for model, n in other._models.items():
            self._add(model, n)

    def rows(self) -> list[dict[str, Any]]:
        """Return models with their conversations, the most frequent first."""
        ordered = sorted(self._models.items(), key=lambda part: (-part[1], part[0]))
        return [{"model": model, "conversations": n} for model, n in ordered]

    def _add(self, model: str, n: int) -> None:
        if model in self._models or len(self._models) < _TOLD_APART:
            self._models[model] += n


def tell_models_apart(summary: Mapping[str, Any]) -> str | None:
    """Say that several models answered where no answer of a replay names a version; None where that is not so."""
    rows = summary.get("unversioned_models", ())
    if any(row["version"] is not None for row in summary["quality"]):
        return None
    total = sum(row["conversations"] for row in rows)
    named = [row for row in rows if row["conversations"] >= _SHARE * total]
    if len(named) < 2:
        return None
    models = ", ".join(f"{row['model']} in {row['conversations']:,} conversations" for row in named[:_NAMED])
    return (
        f"no answer names its version, so nothing is compared, though {len(named)} models answered ({models}): to "
        "compare them, log a version, or give each turn its model as its version (`turnsignal convert`, then "
        "`jq -c '.version = .model'`)"
    )
