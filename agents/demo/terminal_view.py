"""The terminal view: live statistics drawn for a terminal of any size, or told in lines where there is none.

A terminal shows what fits: columns, rows and texts are left out, the least important first, and nothing wraps. Colour
is never alone: red is ▼ worse, yellow ◆ changed, and both only where a comparison of releases says so. Every text that
came in a record is shown as text: markup is escaped, control characters are made visible.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from turnsignal.agents.demo.headlines import Headline, cut, format_mean, headlines, name_figure, name_version
from turnsignal.agents.demo.live_statistics import BadExchange, LiveStatistics, ReleaseStatistics
from turnsignal.agents.demo.trends import scale
from turnsignal.agents.report.escaping import plain
from turnsignal.stream.pipeline.metric_deltas import Release
from turnsignal.stream.statistics.directions import CHANGED, WORSE

STYLES = {WORSE: "bold red", CHANGED: "bold yellow"}
BARS = {WORSE: "bold white on red", CHANGED: "bold black on yellow"}
MARKS = {WORSE: "▼", CHANGED: "◆"}
LEVELS = "▁▂▃▄▅▆▇█"
DIAGNOSES_SHOWN = 5

_AFTER_SUMMARY = 8  #: lines that are printed after the summary
_TEXT_LINES = 4  #: of a bad exchange: whose it is, question, answer, what the user said then
_NARROWEST, _WIDEST_TREND = 16, 24  #: a figure with its trend, and a trend, in cells
#: for terminals that show ASCII only, character by character
_ASCII = str.maketrans("▁▂▃▄▅▆▇█▼◆→·…–", "_,.-=+*#v*>:.-")


class Texts(NamedTuple):
    """What was said in an exchange; "" where it is not known any more."""

    question: str = ""
    answer: str = ""
    follow_up: str = ""


class Vitals(NamedTuple):
    """How the system runs.

    elapsed: seconds since turns are sent, None while workers join; lag: turns on the topic that are not scored yet,
    None while unknown; sent: turns sent so far, of `total` if known; pages: addresses; note: what to say now.
    """

    broker: str
    elapsed: float | None
    seconds: float | None
    turns_per_second: float
    exchanges_per_second: float
    lag: int | None
    sent: int
    total: int | None
    pages: tuple[str, ...]
    note: str = ""


@dataclass(slots=True)
class View:
    """The whole view, as wide and as high as the terminal is when it is drawn. texts: what was said in an exchange."""

    statistics: LiveStatistics
    vitals: Vitals
    texts: Callable[[BadExchange], Texts] = lambda _: Texts()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw for this terminal."""
        for line in self.lines(options.max_width, options.height or options.size.height):
            yield to_ascii(line) if options.ascii_only else line

    def lines(self, width: int, height: int) -> list[Text]:
        """Return at most `height` lines of `width` cells: what matters most, in the order in which it is read."""
        return _draw(self.statistics, self.vitals, self.texts, width, height)


@dataclass(slots=True)
class FinalView:
    """What stays on the screen at the end, with room for the lines that come after it."""

    statistics: LiveStatistics
    texts: Callable[[BadExchange], Texts] = lambda _: Texts()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw for this terminal; all of it where there is none."""
        height = max(16, options.size.height - _AFTER_SUMMARY) if console.is_terminal else 200
        for line in _draw(self.statistics, None, self.texts, options.max_width, height):
            yield to_ascii(line) if options.ascii_only else line


def describe_state(statistics: LiveStatistics, vitals: Vitals) -> str:
    """Tell how it goes in one line, for where there is no terminal."""
    parts = [*_vitals(statistics, vitals)[:6]]
    for release, known in _releases(statistics):
        figures = (f"{name_figure(name)} {format_mean(name, known.mean(name))}" for name in statistics.figures[:2])
        parts.append(f"{plain(_name(release), 40)}: {', '.join(figures)}")
    return "  ".join(parts) + (f"  ({plain(vitals.note)})" if vitals.note else "")


def describe_headlines(statistics: LiveStatistics) -> list[str]:
    """Tell what the comparisons say, a line for each."""
    lines = []
    for headline in headlines(statistics, statistics.latest):
        figures = f": {', '.join(headline.figures)}" if headline.figures else ""
        lines.append(plain(f"{headline.sentence}{figures}", 1000))
    return lines


def to_ascii(line: Text) -> Text:
    """Return a line for a terminal that shows ASCII only, with the same styles."""
    shown = line.copy()
    shown.plain = line.plain.translate(_ASCII).encode("ascii", "replace").decode()
    return shown


def _draw(
    statistics: LiveStatistics,
    vitals: Vitals | None,
    texts: Callable[[BadExchange], Texts],
    width: int,
    height: int,
) -> list[Text]:
    lines = _headlines(headlines(statistics, statistics.latest), width, most=max(1, height // 12))
    if vitals is not None:
        lines.append(_joined(_vitals(statistics, vitals), width, "dim"))
        if vitals.note:
            lines.append(Text(plain(vitals.note, 200), "yellow"))
    if statistics.rows:
        lines += _sections(statistics, texts, width, height - len(lines))
    if vitals is not None and vitals.pages and height - len(lines) >= 2:
        lines += [Text(), Text(plain("pages: " + "  ".join(vitals.pages), 300), "dim")]
    return [_fit(line, width) for line in lines[:height]]


def _sections(statistics: LiveStatistics, texts: Callable[[BadExchange], Texts], width: int, height: int) -> list[Text]:
    """Draw releases, diagnosis and bad exchanges, as much of each as there is room for."""
    lines = [Text(), *_table(statistics, width, max(2, height - 3 - _TEXT_LINES))]
    left = height - len(lines)
    bad = [_bad(exchange, texts(exchange), width) for exchange in reversed(statistics.bad)]
    shown = max(0, min(len(bad), 2, (left - 2) // _TEXT_LINES))  # two before the diagnosis, the others after it
    left -= 2 + _TEXT_LINES * max(1, shown)
    diagnosis = _diagnosis(statistics, min(DIAGNOSES_SHOWN, left - 2)) if left >= 3 else []
    left -= len(diagnosis)
    shown += max(0, min(len(bad) - shown, left // _TEXT_LINES))
    lines += diagnosis
    if shown or not bad:
        lines += [Text(), Text("Last bad exchanges", "bold"), *(line for block in bad[:shown] for line in block)]
    if not bad:
        lines.append(Text("none so far", "dim"))
    return lines


def _fit(line: Text, width: int) -> Text:
    line.no_wrap, line.overflow = True, "ellipsis"
    line.stylize_before(line.style)  # rich leaves it out of a line without any other style
    line.truncate(width, overflow="ellipsis")
    return line


def _headlines(news: Sequence[Headline], width: int, most: int) -> list[Text]:
    """Write each headline as a bar, as high as its sentence needs, and its figures beneath."""
    lines = []
    for headline in news[:most]:
        style = BARS.get(headline.change, "bold")
        mark = f" {MARKS[headline.change]} " if headline.change in MARKS else ""
        for part in Text(mark + plain(headline.sentence, 300)).wrap(Console(width=width), width)[:2]:
            part.rstrip()
            part.pad_right(max(0, width - cell_len(part.plain)) if mark else 0)
            part.stylize(style)
            lines.append(part)
        if headline.figures:
            parts = [plain(figure, 80) for figure in headline.figures]
            lines.append(Text("   ") + _joined(parts, width - 3, STYLES.get(headline.change, "")))
    if len(news) > most:
        lines.append(Text(f"… and {len(news) - most} more", "dim"))
    return lines


def _joined(parts: Sequence[str], width: int, style: str) -> Text:
    """Write as many parts side by side as fit, one at least."""
    shown = parts[0]
    for part in parts[1:]:
        if cell_len(shown) + 3 + cell_len(part) > width:
            break
        shown += f" · {part}"
    return Text(shown, style)


def _vitals(statistics: LiveStatistics, vitals: Vitals) -> list[str]:
    clock = "not begun"
    if vitals.elapsed is not None:
        most = vitals.seconds or math.inf
        clock = f"{min(vitals.elapsed, most):.0f} s" + (f" of {most:.0f}" if vitals.seconds else "")
    return [
        clock,
        f"sent {vitals.sent:,}" + (f" of {vitals.total:,}" if vitals.total else ""),
        f"{vitals.turns_per_second:,.0f} turns/s",
        f"lag {'?' if vitals.lag is None else f'{vitals.lag:,}'}",
        f"{statistics.conversations:,} conversations closed",
        f"{vitals.exchanges_per_second:,.0f} exchanges/s",
        f"{statistics.rows:,} score rows",
        f"{statistics.dead_letters.total():,} dead letters",
        plain(vitals.broker, 80),
    ]


def _releases(statistics: LiveStatistics) -> list[tuple[Release, ReleaseStatistics]]:
    """Return the releases that answered, by assistant, each in the order in which it came."""
    answered = [(release, known) for release, known in statistics.releases.items() if known.responses]
    return sorted(answered, key=lambda item: item[0][0])


def _name(release: Release) -> str:
    return f"{cut(release[0], 20)} {name_version(release[1])}"


def _table(statistics: LiveStatistics, width: int, height: int) -> list[Text]:
    """Draw figures and trends, a line for each release, as many columns and lines as there is room for."""
    releases = _releases(statistics)
    if not releases:
        return [Text("No answers yet", "dim")]
    names = {release: plain(_name(release), 40) for release, _ in releases}
    first = min(max(cell_len(name) for name in names.values()), max(10, width // 4)) + 3
    room = width - first - 9
    figures = statistics.figures[: max(1, room // _NARROWEST)]
    each = max(_NARROWEST, min(room // len(figures), 8 + _WIDEST_TREND))
    lines = [_table_line("release", first, "answers", [name_figure(figure) for figure in figures], each)]
    lines[0].stylize("bold")
    changes = {(finding.assistant, finding.after): finding.changes for finding in statistics.findings}
    trends = {figure: _trends(statistics, figure, [r for r, _ in releases], each - 8) for figure in figures}
    shown = releases if len(releases) < height else releases[: max(1, height - 2)]
    for release, known in shown:
        named = changes.get(release, {})
        worst = next((change for change in (WORSE, CHANGED) if change in named.values()), "")
        mark = MARKS.get(worst, " ")
        line = _table_line(f"{mark} {names[release]}", first, f"{known.responses:,}", [], each)
        line.stylize(STYLES.get(worst, ""), 0, first)
        for figure in figures:
            change = named.get(figure, "")
            value = format_mean(figure, known.mean(figure)) + MARKS.get(change, "")
            line.append(f"{value:<6}{trends[figure][release]:<{each - 6}}", STYLES.get(change, ""))
        lines.append(line)
    if len(shown) < len(releases):
        lines.append(Text(f"  … and {len(releases) - len(shown)} more releases", "dim"))
    return lines


def _table_line(name: str, first: int, answers: str, cells: Sequence[str], each: int) -> Text:
    line = Text(name)
    line.truncate(first - 1, overflow="ellipsis")
    line.pad_right(first - cell_len(line.plain))
    line.append(f"{answers:>7}  ")
    for cell in cells:
        line.append(f"{cut(cell, each - 2):<{each}}")
    return line


def _trends(statistics: LiveStatistics, figure: str, releases: Sequence[Release], width: int) -> dict[Release, str]:
    """Draw how a figure went over the same time in all releases, on the same scale."""
    points = {release: statistics.trends.points((release, figure), width) for release in releases}
    low, high = scale(list(points.values()))
    step = (high - low) / (len(LEVELS) - 1)
    return {
        release: "".join(" " if point is None else LEVELS[round((point - low) / step)] for point in trend)
        for release, trend in points.items()
    }


def _diagnosis(statistics: LiveStatistics, rows: int) -> list[Text]:
    """Draw diagnoses with their share by version, and the instruction that is broken most often.

    The commonest come first: of the version that a headline is about, else of all.
    """
    versions = list(dict.fromkeys(version for (_, version), _ in _releases(statistics)))[-4:]
    lines = [Text(), Text("Diagnosis (relevancy/follow-ups/instructions)", "bold")]
    worse = next((finding.after for finding in statistics.findings if finding.changes), None)
    for word, n in statistics.diagnosis(worse).most_common(max(1, rows - 1)):
        if n > 0:
            shares = "  ".join(f"{plain(name_version(v), 10)} {_share(statistics, v, word)}" for v in versions)
            meaning = plain(statistics.meanings.get(word, ""), 200)
            lines.append(Text(f"{plain(word, 24):<20}{shares}  {meaning}"))
    if len(lines) == 2:
        lines.append(Text("no exchanges yet", "dim"))
    failing = [(worst, release) for release, known in _releases(statistics) if (worst := known.worst()) is not None]
    if failing and rows > 1:
        worst, release = max(failing)
        words = f"{worst.check}, by {worst.share:.0%} of {worst.n} answers of {_name(release)}"
        lines.append(Text(plain(f"broken most often: {words}", 200)))
    return lines


def _share(statistics: LiveStatistics, version: str | None, word: str) -> str:
    """Write the share of a diagnosis among the exchanges of a version of all assistants."""
    counts = statistics.diagnosis(version)
    return f"{counts[word] / counts.total():>4.0%}" if counts.total() else "   -"


def _bad(exchange: BadExchange, texts: Texts, width: int) -> list[Text]:
    """Draw an exchange in four lines: whose it is and why it is bad, and what was said."""
    name, turn = plain(_name(exchange.release), 40), plain(exchange.turn_id, 12)
    first = Text()
    first.append(f"{name} · ", "bold")
    first.append(plain(exchange.label, 24), "bold magenta")
    first.append(f" · {plain(exchange.conversation_id, 40)} {turn} · {plain(exchange.explanation, 200)}", "dim")
    return [first, *(_quote(who, text, width) for who, text in zip(("user", "answer", "user"), texts, strict=True))]


def _quote(who: str, text: str, width: int) -> Text:
    line = Text(f"  {who:<8}", "dim")
    line.append(plain(" ".join(text[: 4 * width].split()), 2 * width) if text else "(not at hand)", "not dim")
    return line
