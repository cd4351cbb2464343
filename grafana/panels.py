"""Panels: the five kinds that we draw, each with what every panel of ours has.

The kit's own defaults hide legends, reduce to nothing and leave lines to the host's taste; nobody sees that in JSON. So
whatever a panel of ours needs to be read is set here: title, description, unit, legend, and where to read on.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from grafana_foundation_sdk.builders import bargauge, heatmap, prometheus, stat, table, timeseries
from grafana_foundation_sdk.builders import common as shown
from grafana_foundation_sdk.builders import dashboard as built
from grafana_foundation_sdk.models import common, dashboard
from grafana_foundation_sdk.models import heatmap as cells
from grafana_foundation_sdk.models.common import DataSourceRef
from grafana_foundation_sdk.models.dashboard import DynamicConfigValue
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

SOURCE = DataSourceRef(type_val="prometheus", uid="${datasource}")

RATIO = "percentunit"  #: 0–1, shown as per cent
SCORE = "none"  #: a mean of scores, 0–1
COUNT = "short"
WHOLE = "none"  #: a count that is shown to the last one
A_MINUTE = "suffix:/min"
SECONDS = "s"

GOOD_FROM = "good from"  #: legend of what is drawn as a dashed line
BASELINE = "usual:"
_DASHED = f"/^({GOOD_FROM}|{BASELINE})/"

Panel = stat.Panel | bargauge.Panel | timeseries.Panel | table.Panel | heatmap.Panel
P = TypeVar("P", stat.Panel, bargauge.Panel, timeseries.Panel, table.Panel, heatmap.Panel)


class Query(NamedTuple):
    """What a panel asks for, and how the legend names the answer: `{{version}}`, or words of its own."""

    expression: str
    legend: str


class Column(NamedTuple):
    """A column of numbers in a table: its title, what it asks for, and its unit; gauge: also drawn as a bar, 0–1."""

    title: str
    expression: str
    unit: str
    decimals: int | None = None
    gauge: bool = False


class Link(NamedTuple):
    """Where a panel is followed up: another dashboard by its uid, or an address."""

    title: str
    target: str

    def build(self) -> built.DashboardLink:
        """Build it; a dashboard is opened on the same time and the same choices."""
        here = "/" in self.target
        address = self.target if here else f"/d/{self.target}?${{__url_time_range}}&${{__all_variables}}"
        link = built.DashboardLink(self.title).type(dashboard.DashboardLinkType.LINK).url(address)
        return link.target_blank(here).tooltip(self.title).icon("external link" if here else "dashboard")


def stats(
    title: str,
    description: str,
    unit: str,
    *queries: Query,
    width: int,
    link: Link | None = None,
    steps: Sequence[tuple[float | None, str]] = ((None, "blue"),),
    decimals: int | None = None,
    empty: str | None = None,
) -> stat.Panel:
    """Show the latest values large; steps: colours, from value to value; empty: said where there is no value.

    Without the faint line of where they come from: it runs through the figures, and panels below show it with an axis.
    """
    panel = _dressed(stat.Panel(), title, description, unit, queries, width, 4, link, instant=True, empty=empty)
    panel.reduce_options(_latest()).graph_mode(common.BigValueGraphMode.NONE)
    panel.color_mode(common.BigValueColorMode.VALUE).justify_mode(common.BigValueJustifyMode.CENTER)
    panel.text_mode(common.BigValueTextMode.VALUE_AND_NAME if len(queries) > 1 else common.BigValueTextMode.AUTO)
    panel.orientation(common.VizOrientation.VERTICAL if len(queries) > 1 else common.VizOrientation.AUTO)
    panel.thresholds(_steps(steps)).color_scheme(_coloured(dashboard.FieldColorModeId.THRESHOLDS))
    return panel if decimals is None else panel.decimals(decimals)


def bars(
    title: str,
    description: str,
    unit: str,
    *queries: Query,
    width: int,
    link: Link | None = None,
    most: float | None = 1,
) -> bargauge.Panel:
    """Draw the latest values as bars beneath each other, from 0 to `most` (None: to the largest)."""
    panel = _dressed(bargauge.Panel(), title, description, unit, queries, width, 8, link, instant=True)
    panel.reduce_options(_latest()).orientation(common.VizOrientation.HORIZONTAL).min(0)
    panel.display_mode(common.BarGaugeDisplayMode.BASIC).show_unfilled(True)
    panel.value_mode(common.BarGaugeValueMode.TEXT).name_placement(common.BarGaugeNamePlacement.LEFT)
    panel.legend(shown.VizLegendOptions().show_legend(False).calcs([]))  # names stand beside the bars
    panel.thresholds(_steps([(None, "blue")])).color_scheme(_coloured(dashboard.FieldColorModeId.THRESHOLDS))
    return panel if most is None else panel.max(most)


def lines(
    title: str,
    description: str,
    unit: str,
    *queries: Query,
    width: int,
    link: Link | None = None,
    stacked: bool = False,
    ratio: bool = False,
    limit: float | None = None,
    empty: str | None = None,
) -> timeseries.Panel:
    """Draw values over time, with a legend.

    ratio: the axis goes from 0 to 1; stacked: areas that add up; limit: where a red line is drawn;
    empty: said where there is no value.
    """
    panel = _dressed(timeseries.Panel(), title, description, unit, queries, width, 8, link, empty=empty)
    panel.legend(
        shown.VizLegendOptions()
        .show_legend(True)
        .display_mode(common.LegendDisplayMode.LIST)
        .placement(common.LegendPlacement.BOTTOM)
        .calcs([])
    )
    panel.tooltip(shown.VizTooltipOptions().mode(common.TooltipDisplayMode.MULTI).sort(common.SortOrder.DESCENDING))
    panel.draw_style(common.GraphDrawStyle.LINE).line_interpolation(common.LineInterpolation.LINEAR).line_width(1)
    panel.show_points(common.VisibilityMode.NEVER).span_nulls(False).axis_placement(common.AxisPlacement.AUTO)
    panel.fill_opacity(40 if stacked else 0).gradient_mode(common.GraphGradientMode.NONE)
    mode = common.StackingMode.NORMAL if stacked else common.StackingMode.NONE
    panel.stacking(shown.StackingConfig().mode(mode).group("A"))
    if limit is not None:
        panel.thresholds_style(shown.GraphThresholdsStyleConfig().mode(common.GraphThresholdsStyleMode.LINE))
    panel.thresholds(_steps([(None, "green"), *([] if limit is None else [(limit, "red")])])).color_scheme(
        _coloured(dashboard.FieldColorModeId.PALETTE_CLASSIC)
    )
    if any(query.legend.startswith((GOOD_FROM, BASELINE)) for query in queries):
        dashes = {"fill": "dash", "dash": [6, 6]}
        panel.override_by_regexp(_DASHED, [DynamicConfigValue(id_val="custom.lineStyle", value=dashes)])
    return panel.min(0).max(1) if ratio else panel.axis_soft_min(0)


def distribution(title: str, description: str, query: str, *, width: int, link: Link | None = None) -> heatmap.Panel:
    """Draw how many values fell into each bucket over time, and exemplars: conversations with a bad one."""
    panel = _dressed(heatmap.Panel(), title, description, COUNT, (), width, 8, link)
    target = prometheus.Dataquery().expr(query).legend_format("{{le}}").format(PromQueryFormat.HEATMAP)
    panel.with_target(target.range().exemplar(True).ref_id("A"))
    panel.calculate(False).show_value(common.VisibilityMode.NEVER).cell_gap(1).show_legend()
    colours = heatmap.HeatmapColorOptions().mode(cells.HeatmapColorMode.SCHEME).scheme("Oranges").fill("dark-orange")
    panel.color(colours.scale(cells.HeatmapColorScale.EXPONENTIAL).exponent(0.5).steps(64).reverse(False))
    panel.y_axis(heatmap.YAxisConfig().axis_placement(common.AxisPlacement.LEFT).unit("none"))
    tooltip = heatmap.HeatmapTooltip().mode(common.TooltipDisplayMode.SINGLE)
    return panel.tooltip(tooltip.y_histogram(False).show_color_scale(False))


def rows(
    title: str,
    description: str,
    labels: Mapping[str, str],
    *columns: Column,
    width: int,
    height: int = 8,
    link: Link | None = None,
    mapped: Mapping[str, Mapping[str, str]] | None = None,
    widths: Mapping[str, int] | None = None,
    addresses: Mapping[str, str] | None = None,
    dropped: Sequence[str] = (),
    sorted_by: str | None = None,
    empty: str | None = None,
    steps: Sequence[tuple[float | None, str]] = ((None, "blue"),),
) -> table.Panel:
    """List what there is, largest first.

    labels: label → title of its column, in their order, before those of numbers; mapped: title → word → what is shown
    for it; widths: title → pixels; addresses: title → where a click leads; dropped: labels that have no column;
    sorted_by: a column's title, the first one of numbers unless told otherwise; empty: said where there is nothing;
    steps: colours of gauges, from value to value.
    """
    panel = _dressed(table.Panel(), title, description, columns[0].unit, (), width, height, link, empty=empty)
    names = {"Value": columns[0].title}
    for letter, column in zip("ABCDEFGH", columns, strict=False):
        target = prometheus.Dataquery().expr(column.expression).format(PromQueryFormat.TABLE).legend_format("__auto")
        panel.with_target(target.instant().ref_id(letter))
        names[f"Value #{letter}"] = column.title
        panel.override_by_name(column.title, _properties(column, (widths or {}).get(column.title)))
    order = [*labels, *names]
    arranged = {
        "excludeByName": dict.fromkeys(("Time", *dropped), True),
        "indexByName": {name: at for at, name in enumerate(order)},
        "renameByName": {**labels, **names},
    }
    panel.with_transformation(dashboard.DataTransformerConfig(id_val="merge", options={}))
    panel.with_transformation(dashboard.DataTransformerConfig(id_val="organize", options=arranged))
    for name in labels.values():
        properties = [DynamicConfigValue(id_val="unit", value="string")]
        if name in (widths or {}):
            properties.append(DynamicConfigValue(id_val="custom.width", value=(widths or {})[name]))
        if words := (mapped or {}).get(name):
            shown_for = {word: {"text": text} for word, text in words.items()}
            properties.append(DynamicConfigValue(id_val="mappings", value=[{"type": "value", "options": shown_for}]))
        if address := (addresses or {}).get(name):
            link_to = {"title": f"Open {address}", "url": address, "targetBlank": True}
            properties.append(DynamicConfigValue(id_val="links", value=[link_to]))
        panel.override_by_name(name, properties)
    panel.show_header(True).cell_height(common.TableCellHeight.SM).filterable(False)
    panel.thresholds(_steps(steps)).color_scheme(_coloured(dashboard.FieldColorModeId.THRESHOLDS))
    return panel.sort_by([shown.TableSortByFieldState().display_name(sorted_by or columns[0].title).desc(True)])


def _dressed(
    panel: P,
    title: str,
    description: str,
    unit: str,
    queries: Sequence[Query],
    width: int,
    height: int,
    link: Link | None,
    *,
    instant: bool = False,
    empty: str | None = None,
) -> P:
    if empty is not None:
        panel.no_value(empty)
    panel.title(title).description(description).unit(unit).datasource(SOURCE).span(width).height(height)
    for letter, query in zip("ABCDEFGHIJ", queries, strict=False):
        target = prometheus.Dataquery().expr(query.expression).legend_format(query.legend).ref_id(letter)
        panel.with_target(target.instant() if instant else target.range())
    return panel.links([link.build()]) if link else panel


def _properties(column: Column, width: int | None) -> list[DynamicConfigValue]:
    values: dict[str, Any] = {"unit": column.unit}
    if column.decimals is not None:
        values["decimals"] = column.decimals
    if width is not None:
        values["custom.width"] = width
    if column.gauge:
        values |= {
            "min": 0,
            "max": 1,
            "custom.cellOptions": {"type": "gauge", "mode": "basic", "valueDisplayMode": "text"},
        }
    return [DynamicConfigValue(id_val=name, value=value) for name, value in values.items()]


def _latest() -> shown.ReduceDataOptions:
    return shown.ReduceDataOptions().calcs(["lastNotNull"]).values(False)


def _steps(steps: Sequence[tuple[float | None, str]]) -> built.ThresholdsConfig:
    thresholds = [dashboard.Threshold(value=value, color=colour) for value, colour in steps]
    return built.ThresholdsConfig().mode(dashboard.ThresholdsMode.ABSOLUTE).steps(thresholds)


def _coloured(mode: dashboard.FieldColorModeId) -> built.FieldColor:
    return built.FieldColor().mode(mode)
