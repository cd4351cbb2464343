"""Variables: what Grafana puts in their place before it asks Prometheus."""

import re
from collections.abc import Mapping
from typing import Any

from grafana_foundation_sdk.models.dashboard import VariableSort

from grafana.preview.prometheus import ask

_VALUES = re.compile(r"label_values\((.*), (\w+)\)")
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")


def durations(begin: float, end: float, step: float, scraped: float) -> dict[str, str]:
    """Return the variables that time has: all that is shown, and what a rate needs at this step (all in seconds)."""
    return {
        "__range": f"{end - begin:.0f}s",
        "__interval": f"{step:.0f}s",
        "__rate_interval": f"{max(step + scraped, 4 * scraped):.0f}s",
    }


def chosen(board: Mapping[str, Any], address: str, begin: float, end: float, **values: str) -> dict[str, str]:
    """Choose what a dashboard has chosen when it is opened; values: what the reader chose instead.

    All where there may be several; the first one, as Prometheus knows them, where there may not.
    """
    for variable in board["templating"]["list"]:
        name = variable["name"]
        if name in values:
            continue
        if variable["type"] == "query" and not variable.get("includeAll"):
            offered = options(variable, values, address, begin, end)
            values[name] = offered[0] if offered else ""
        elif variable["type"] == "query":
            values[name] = variable["allValue"]
        elif variable["type"] == "interval":
            values[name] = variable["current"]["value"]
    return values


def options(
    variable: Mapping[str, Any], values: Mapping[str, str], address: str, begin: float, end: float
) -> list[str]:
    """Ask Prometheus what a variable offers, in the variable's order."""
    (query,) = [_VALUES.fullmatch(variable["query"])]
    if query is None:
        msg = f"expected label_values(METRIC, LABEL); got {variable['query']!r}"
        raise ValueError(msg)
    match = {"match[]": fill(query[1], values)}
    found: list[str] = ask(address, f"label/{query[2]}/values", start=begin, end=end, **match)
    return sorted(found, reverse=variable["sort"] == VariableSort.ALPHABETICAL_DESC)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values in the place of variables; what is not known stays."""
    return _VARIABLE.sub(lambda match: values.get(match[1] or match[2], match[0]), text)
