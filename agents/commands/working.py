"""Which apps `turnsignal worker` runs, and each of them made."""

from typing import TYPE_CHECKING, Any

from turnsignal.stream.errors import ConfigError

if TYPE_CHECKING:
    from turnsignal.agents.settings import Settings


def all_apps(settings: "Settings") -> list[str]:
    """Name the apps that a suite needs; one that is wrong is each app's to refuse."""
    from turnsignal.agents.worker.supervisor import apps_of
    from turnsignal.stream.suite import Suite, load_suite

    try:
        return apps_of(load_suite(settings.suite))
    except ConfigError:
        return apps_of(Suite())


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
