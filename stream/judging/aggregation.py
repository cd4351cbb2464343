"""Aggregation: one value from the labels of several items.

The power mean is the literature's generalised mean; a temperature from 0.1 (one bad item sinks the whole) over 0.5 (the
arithmetic mean) to 1 (forgiving) chooses its exponent. It is not a softmax, whatever it is called elsewhere.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

_EACH = 0.1  #: that each worthless item takes away under the penalty `count`


class Aggregation(BaseModel):
    """How strict a power mean is. penalty: for items worth nothing, by their share or their count."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    temperature: Annotated[float, Field(ge=0.1, le=1, strict=False)] = 0.5
    penalty: Literal["none", "count", "fraction"] = "none"


def power_mean(values: Sequence[float], temperature: float) -> float:
    """Return the power mean of values from 0 to 1, with exponent 22.5 · temperature − 10.25.

    >>> [round(power_mean([1, 1, 1, 0], temperature), 4) for temperature in (0.1, 0.5, 1.0)]
    [0.0, 0.75, 0.9768]
    """
    exponent = 22.5 * temperature - 10.25
    if exponent <= 0 and min(values) <= 0:
        return 0.0
    if abs(exponent) < 1e-9:
        return math.exp(math.fsum(map(math.log, values)) / len(values))
    return float((math.fsum(value**exponent for value in values) / len(values)) ** (1 / exponent))


def aggregate(values: Sequence[float], how: Literal["mean", "power"], given: Aggregation) -> float | None:
    """Return one value from 0 to 1 for those of several items; None without any.

    >>> round(aggregate([1, 1, 1, 0], "power", Aggregation(temperature=1, penalty="fraction")), 4)
    0.8459
    """
    if not values:
        return None
    if how == "mean":
        return math.fsum(values) / len(values)
    value = power_mean(values, given.temperature)
    worthless = sum(value <= 0 for value in values)
    if given.penalty == "count":
        value *= max(0.0, 1 - _EACH * worthless)
    elif given.penalty == "fraction":
        value *= (1 - worthless / len(values)) ** (1.5 - given.temperature)
    return min(1.0, max(0.0, value))


def value_also(labels: Iterable[str], values: Mapping[str, float]) -> float | None:
    """Return the mean by other values of the same labels; labels without one do not count, None if none has one.

    >>> value_also(["inferable", "generic", "ungrounded"], {"inferable": 1.0, "ungrounded": 0.0})
    0.5
    """
    counted = [values[label] for label in labels if label in values]
    return math.fsum(counted) / len(counted) if counted else None
