"""App table: the apps that a worker can run, by name. Whatever lists apps, or knows where their pages are, reads it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple, cast

from turnsignal.stream.errors import ConfigError


class App(NamedTuple):
    """One app.

    factory: `module:function` that makes it of settings and a suite, imported by whoever runs it alone; entry:
    `module:function` that reads one entry of its state, key and value; port: its pages are so many ports above
    TURNSIGNAL_METRICS_PORT; for_judges: whether only suites with judges need it; own_variables: how the
    environment variables begin that no other app needs, "" where it has none.
    """

    factory: str
    entry: str
    port: int
    for_judges: bool = False
    own_variables: str = ""

    def load(self) -> Callable[[Any, Any], Any]:
        """Import the factory."""
        return cast("Callable[[Any, Any], Any]", _import(self.factory))

    def load_entry_check(self) -> Callable[[bytes, bytes], Any]:
        """Import what reads an entry of the state, and raises SchemaError for one that it cannot read."""
        return cast("Callable[[bytes, bytes], Any]", _import(self.entry))


def _import(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(module), function)


APPS: Mapping[str, App] = {
    "score": App(
        "turnsignal.agents.score:make_score_app",
        "turnsignal.stream.pipeline.processor:check_entry",
        port=0,
        own_variables="TURNSIGNAL_EXEMPLAR_SECRET",
    ),
    "judge": App(
        "turnsignal.agents.judge:make_judge_app",
        "turnsignal.stream.pipeline.docket_processor:check_entry",
        port=2,
        for_judges=True,
        own_variables="TURNSIGNAL_JUDGE_",
    ),
    "watch": App(
        "turnsignal.agents.watch:make_watch_app",
        "turnsignal.stream.pipeline.series:check_entry",
        port=1,
        own_variables="TURNSIGNAL_NOTIFY",
    ),
}


def find_app(name: str) -> App:
    """Return an app by its name; raises ConfigError where there is none of it."""
    if name not in APPS:
        msg = f"expected an app ({describe_apps()}), got {name!r}"
        raise ConfigError(msg)
    return APPS[name]


def environment_of(name: str, env: Mapping[str, str]) -> dict[str, str]:
    """Return an environment without what other apps alone need: a process holds no secret that it has no use for.

    >>> environment_of("score", {"PATH": "/bin", "TURNSIGNAL_NOTIFY": "https://hooks.example/T0"})
    {'PATH': '/bin'}
    """
    others = tuple(app.own_variables for other, app in APPS.items() if other != name and app.own_variables)
    return {variable: value for variable, value in env.items() if not variable.startswith(others)}


def describe_apps() -> str:
    """Name all of them, for people.

    >>> describe_apps().split()[-2:]
    ['or', 'watch']
    """
    *others, last = APPS
    return f"{', '.join(others)} or {last}"


def apps_of(*, judged: bool) -> list[str]:
    """Name the apps that a suite needs. judged: whether it has judges."""
    return [name for name, app in APPS.items() if judged or not app.for_judges]
