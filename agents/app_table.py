"""App table: the apps that a worker can run, by name. Whatever lists apps, or knows where their pages are, reads it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple, cast

from turnsignal.stream.errors import ConfigError


class App(NamedTuple):
    """One app.

    factory: `module:function` that makes it of settings and a suite, imported by whoever runs it alone; port: its pages
    are so many ports above TURNSIGNAL_METRICS_PORT; for_judges: whether only suites with judges need it.
    """

    factory: str
    port: int
    for_judges: bool = False

    def load(self) -> Callable[[Any, Any], Any]:
        """Import the factory."""
        module, _, function = self.factory.partition(":")
        return cast("Callable[[Any, Any], Any]", getattr(import_module(module), function))


APPS: Mapping[str, App] = {
    "score": App("turnsignal.agents.score:make_score_app", port=0),
    "judge": App("turnsignal.agents.judge:make_judge_app", port=2, for_judges=True),
    "watch": App("turnsignal.agents.watch:make_watch_app", port=1),
}


def find_app(name: str) -> App:
    """Return an app by its name; raises ConfigError where there is none of it."""
    if name not in APPS:
        msg = f"expected an app ({describe_apps()}), got {name!r}"
        raise ConfigError(msg)
    return APPS[name]


def describe_apps() -> str:
    """Name all of them, for people.

    >>> describe_apps()
    'score, judge or watch'
    """
    *others, last = APPS
    return f"{', '.join(others)} or {last}"


def apps_of(*, judged: bool) -> list[str]:
    """Name the apps that a suite needs. judged: whether it has judges."""
    return [name for name, app in APPS.items() if judged or not app.for_judges]
