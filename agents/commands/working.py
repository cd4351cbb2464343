"""Which apps `turnsignal worker` runs, and each of them made."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnsignal.agents.app_table import apps_of, find_app
from turnsignal.stream.text.toml import parse_toml

if TYPE_CHECKING:
    from turnsignal.agents.settings import Settings


def all_apps(settings: "Settings") -> list[str]:
    """Name the apps that a suite needs; one that is wrong is each app's to refuse.

    Only its judges are looked for, and not read as a suite: a supervisor has no use for the rules, which would keep its
    processes waiting, and stay in its memory for as long as it lives.
    """
    judges: object = None
    if settings.suite is not None:
        with suppress(OSError, ValueError):  # those of TOML and of texts are ValueErrors
            judges = parse_toml(Path(settings.suite).read_text(encoding="utf-8")).get("judges")
    return apps_of(judged=bool(judges))


def make_app(name: str, settings: "Settings") -> Any:
    """Make an app by its name; each has a port of its own for its pages, on from score's."""
    from turnsignal.agents.suite_files import suite_in_force

    app = find_app(name)
    suite = suite_in_force(settings.suite, settings.redaction)
    port = settings.metrics_port and settings.metrics_port + app.port
    return app.load()(settings.model_copy(update={"metrics_port": port}), suite)
