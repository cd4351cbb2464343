"""Which apps `turnsignal worker` runs, and each of them made."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnsignal.stream.text.toml import parse_toml

if TYPE_CHECKING:
    from turnsignal.agents.settings import Settings


def all_apps(settings: "Settings") -> list[str]:
    """Name the apps that a suite needs; one that is wrong is each app's to refuse.

    Only its judges are looked for, and not read as a suite: a supervisor has no use for the rules, which would keep its
    processes waiting, and stay in its memory for as long as it lives.
    """
    from turnsignal.agents.worker.supervisor import apps_of

    judges: object = None
    if settings.suite is not None:
        with suppress(OSError, ValueError):  # those of TOML and of texts are ValueErrors
            judges = parse_toml(Path(settings.suite).read_text(encoding="utf-8")).get("judges")
    return apps_of(judged=bool(judges))


def make_app(app: str, settings: "Settings") -> Any:
    """Make an app by its name; each has a port of its own for its pages, on from score's."""
    from turnsignal.agents.suite_files import suite_in_force

    suite = suite_in_force(settings.suite, settings.redaction)
    if app == "score":
        from turnsignal.agents.score import make_score_app

        return make_score_app(settings, suite)
    port = settings.metrics_port
    if app == "judge":
        from turnsignal.agents.judge import make_judge_app

        return make_judge_app(settings.model_copy(update={"metrics_port": port + 2 if port else 0}), suite)
    from turnsignal.agents.watch import make_watch_app

    return make_watch_app(settings.model_copy(update={"metrics_port": port + 1 if port else 0}), suite)
