"""Frame: what every dashboard has around its panels: variables, links to the others, and marks of what happened."""

from collections.abc import Sequence

from grafana_foundation_sdk.builders import dashboard as built
from grafana_foundation_sdk.builders import prometheus
from grafana_foundation_sdk.models import dashboard

from grafana.panels import SOURCE, Panel
from grafana.queries import select

TAG = "turnsignal"
REFRESHED = "1m"

_FIRING = 'alertname=~"Turnsignal.+",alertstate="firing",severity=~"page|ticket"'
_APPEARED = "5m"  #: for how long what is new is marked
_KNOWN = "1d"  #: what was seen within so long is not new: a quiet night is no release


def choice(
    name: str, label: str, description: str, query: str, *, several: bool = True, hidden: bool = False
) -> built.QueryVariable:
    """Offer the values of a label, as Prometheus knows them; several: any number of them, all to begin with."""
    variable = built.QueryVariable(name).label(label).description(description).datasource(SOURCE).query(query)
    variable.refresh(dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED).sort(dashboard.VariableSort.ALPHABETICAL_ASC)
    variable.hide(dashboard.VariableHide.HIDE_VARIABLE if hidden else dashboard.VariableHide.DONT_HIDE)
    if several:
        everything = dashboard.VariableOption(selected=True, text="All", value="$__all")
        variable.multi(True).include_all(True).all_value(".*").current(everything)
    return variable


def scorer_of(quality: str, label: str) -> built.QueryVariable:
    """Offer the scorers that are about a quality, one at a time: values of several make no distribution."""
    facts = select("scorer_info", f'quality="{quality}"')
    asked = f"label_values({facts}, scorer)"
    # The first one is chosen: no order is right for every suite, and this one begins with nDCG@5 in the default suite.
    chosen = choice("scorer", label, "Of the suite in force.", asked, several=False)
    return chosen.sort(dashboard.VariableSort.ALPHABETICAL_DESC)


def dashboard_of(
    uid: str,
    title: str,
    description: str,
    panels: Sequence[Panel],
    *further: built.QueryVariable,
    since: str = "now-24h",
) -> built.Dashboard:
    """Put panels, left to right and top to bottom, into a dashboard; further: variables of this one only."""
    board = built.Dashboard(f"turnsignal · {title}").uid(f"turnsignal-{uid}").description(description).tags([TAG])
    board.readonly().refresh(REFRESHED).time(since, "now").timezone("browser").version(1)
    board.tooltip(dashboard.DashboardCursorSync.CROSSHAIR)
    others = built.DashboardLink("turnsignal").type(dashboard.DashboardLinkType.DASHBOARDS).tags([TAG])
    board.link(others.as_dropdown(False).include_vars(True).keep_time(True).icon("external link").tooltip(""))
    for variable in (*_variables(), *further):
        board.with_variable(variable)
    for mark in _marks():
        board.annotation(mark)
    for number, panel in enumerate(panels, 1):
        board.with_panel(panel.id(number))
    return board


def _variables() -> Sequence[built.DatasourceVariable | built.QueryVariable | built.IntervalVariable]:
    answers = 'turnsignal_turns_total{job=~"$job",role="assistant"'
    worker = select("build_info", 'app="score"')
    watch = select("build_info", 'app="watch"')
    windows = built.IntervalVariable("window").label("Window").values("5m,15m,1h,6h,1d")
    return (
        built.DatasourceVariable("datasource").label("Prometheus").type("prometheus"),
        choice("job", "Job", "As scraped.", "label_values(turnsignal_build_info, job)"),
        choice("assistant", "Assistant", "Who answers.", f"label_values({answers}}}, assistant)"),
        choice("version", "Version", "What answers.", f'label_values({answers},assistant=~"$assistant"}}, version)'),
        windows.description("What means and shares are taken over.").current(
            dashboard.VariableOption(selected=True, text="1h", value="1h")
        ),
        choice("worker", "Pages of", "Whose pages links lead to.", f"label_values({worker}, instance)", several=False),
        choice(
            "watch", "Changes of", "Where changes are.", f"label_values({watch}, instance)", several=False, hidden=True
        ),
    )


def _marks() -> Sequence[built.AnnotationQuery]:
    answers = select("turns_total", 'role="assistant"')
    builds = select("build_info")
    return (
        _mark(
            "Releases",
            "blue",
            f"group by (assistant, version) ({answers}) unless on (assistant, version)"
            f" last_over_time({answers}[{_KNOWN}] offset {_APPEARED})",
            "{{assistant}} {{version}}",
            "Its first answers.",
        ),
        _mark(
            "Builds",
            "purple",
            f"group by (app, version, revision) ({builds}) unless on (app, version, revision)"
            f" last_over_time({builds}[{_KNOWN}] offset {_APPEARED})",
            "turnsignal {{app}} {{version}}",
            "Another build of turnsignal: revision {{revision}}.",
        ),
        _mark(
            "Changes",
            "red",
            f"group by (assistant, tier) ({select('regression_open')} == 1)",
            "{{assistant}} is not what it was",
            "A change that is open, called as {{tier}}.",
        ),
        _mark(
            "Alerts",
            "orange",
            f"group by (alertname, severity, assistant, scorer) (ALERTS{{{_FIRING}}})",
            "{{alertname}} {{assistant}} {{scorer}}",
            "Fires as {{severity}}.",
        ),
    )


def _mark(name: str, colour: str, expression: str, title: str, text: str) -> built.AnnotationQuery:
    asked = prometheus.Dataquery().expr(expression).ref_id("Anno").range().interval("60s")
    mark = built.AnnotationQuery().name(name).datasource(SOURCE).enable(True).hide(False).icon_color(colour)
    return mark.title_format(title).text_format(text).target(asked)
