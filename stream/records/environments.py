"""Environments: what a turn was said for: real users, an experiment, or questions of one's own with known answers.

An exchange belongs to the environment of its answer, which is known when the answer is scored and never changes. A
conversation belongs to the one furthest from production among its turns, in whatever order they come: what somebody
tried out must not count as what users met. Only one environment moves means, windows, series, release figures and
tables, production by default; the others have rows.

In turns and in state None stands for production: it takes a byte, and is what older state has.
"""

from typing import Literal, cast, get_args

Environment = Literal["production", "experiment", "synthetic"]

ENVIRONMENTS: tuple[str, ...] = get_args(Environment)  #: from production on outwards
PRODUCTION = ENVIRONMENTS[0]


def name_environment(environment: str | None) -> Environment:
    """Return the name of an environment in records and labels."""
    return cast("Environment", environment or PRODUCTION)


def read_environment(name: str | None) -> str | None:
    """Return how an environment stands in turns and in state."""
    return None if name == PRODUCTION else name


def furthest(left: str | None, right: str | None) -> str | None:
    """Return which of two environments is further from production."""
    if left is None or right is None:
        return left or right
    return max(left, right, key=ENVIRONMENTS.index)
