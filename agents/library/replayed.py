"""Replaying from Python: the engine of `turnsignal replay`, and its result as plain data."""

import shutil
import time
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import TYPE_CHECKING, Any

import orjson

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import read_lines
from turnsignal.agents.files.recognising import read_how
from turnsignal.agents.files.sample import write_sample
from turnsignal.agents.replaying.files import FILES
from turnsignal.agents.replaying.result import ReplayResult
from turnsignal.agents.replaying.result import read_result as read_files
from turnsignal.agents.replaying.run import replay_files
from turnsignal.frames import make_pandas, make_polars
from turnsignal.given import Given, PathLike, as_files, choose_suite
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.records.environments import ENVIRONMENTS, PRODUCTION, read_environment
from turnsignal.stream.records.wire import DEAD_LETTERS
from turnsignal.stream.reports.findings import Finding
from turnsignal.stream.suite import Suite
from turnsignal.stream.text.counts import count_of
from turnsignal.stream.text.timestamps import read_given_time

if TYPE_CHECKING:
    import pandas
    import polars
    from rich.console import Console

WIDTH = 100  #: columns of the text that a notebook shows


class Replayed:
    """The result of a replay: what it says, the figures behind it, and every row.

    directory: where its files are, as the command would have written them. Without `out=` it is a temporary one that
    goes when nobody holds the result any more. assumed: what was read of turns that deviate a little → how often.
    """

    def __init__(self, result: ReplayResult, assumed: Counter[str]) -> None:
        self._result = result
        self.assumed = assumed

    @property
    def directory(self) -> Path:
        """Return the directory of its files.

        >>> import turnsignal
        >>> result = turnsignal.replay(turnsignal.sample_turns()[:60])
        >>> sorted(path.name for path in result.directory.glob("s*"))
        ['scores.jsonl', 'summary.json']
        """
        return self._result.directory

    @property
    def summary(self) -> Mapping[str, Any]:
        """Return all figures, as in `summary.json`.

        >>> import turnsignal
        >>> turnsignal.replay(turnsignal.sample_turns()[:60]).summary["turns"]
        {'assistant': 31, 'user': 29}
        """
        return self._result.summary

    def findings(self) -> list[Finding]:
        """Return what the replay says, in sentences, the gravest first.

        Each has a `change` (worse, better or changed of a release, note for everything else), a `sentence`, and the
        `evidence` behind it.

        >>> import turnsignal
        >>> result = turnsignal.replay(turnsignal.sample_turns())
        >>> result.findings()[0].change
        'worse'
        """
        return list(self._result.findings)

    def worst(self, n: int = 10) -> list[dict[str, Any]]:
        """Return the worst exchanges with their texts, the worst first; a replay keeps ten of them.

        >>> import turnsignal
        >>> result = turnsignal.replay(turnsignal.sample_turns()[:60])
        >>> [sorted(exchange)[0] for exchange in result.worst(2)]
        ['answer', 'answer']
        """
        return [dict(exchange) for exchange in self._result.worst[: max(0, n)]]

    def compare(self) -> list[dict[str, Any]]:
        """Return the differences from one release to the next, a dict for each assistant and figure.

        value, low, high: the difference and its 95 % interval; verdict: worse, better, changed, or why there is none.

        >>> import turnsignal
        >>> result = turnsignal.replay(turnsignal.sample_turns())
        >>> [row["value"] < 0 for row in result.compare() if row["figure"] == "nDCG@5"]
        [True, True, True]
        """
        return [
            {"assistant": row["assistant"], "before": row["before"], "after": row["after"], "figure": name, **delta}
            for row in self.summary["comparisons"]
            for name, delta in row["deltas"].items()
        ]

    def judged(self) -> list[dict[str, Any]]:
        """Return what judges said, a dict for each release and judge; empty where no verdicts were given.

        mean: weighted by the inverse of the probability with which each answer was judged; n: answers with a value;
        coverage: their share of what came to the judge; unscored: the others by reason; cost.

        >>> import turnsignal
        >>> turnsignal.replay(turnsignal.sample_turns()[:60]).judged()
        []
        """
        return [dict(row) for row in self.summary.get("judged", ())]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give every score row, in the order of `scores.jsonl`.

        >>> import turnsignal
        >>> row = next(turnsignal.replay(turnsignal.sample_turns()[:60]).rows())
        >>> row["stage"], row["scores"][0]["scorer"]
        ('response', 'nDCG@5')
        """
        yield from self._result.rows()  # a generator, so that whoever reads rows holds the result and its directory

    def conversations(self) -> Iterator[dict[str, Any]]:
        """Give the summary of every conversation, in the order of `conversations.jsonl`.

        >>> import turnsignal
        >>> next(turnsignal.replay(turnsignal.sample_turns()[:60]).conversations())["turns"] > 1
        True
        """
        yield from self._result.conversations()

    def dead_letters(self) -> Iterator[dict[str, Any]]:
        """Give what could not be read, with its file, its line (of given turns: its number) and the reason.

        >>> import turnsignal
        >>> [letter["reason"] for letter in turnsignal.replay([{"text": "Hello"}]).dead_letters()]
        ['missing_field']
        """
        for block in read_lines(self.directory / FILES[DEAD_LETTERS]):
            yield from map(orjson.loads, block.lines)

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a DataFrame of pandas with a line for each score; a missing value keeps its reason in `unscored`.

        Leave out what is `replaced`, a row that a later one corrects, before you take a mean. Raises TurnsignalError
        where pandas is not installed.

        >>> import turnsignal
        >>> frame = turnsignal.replay(turnsignal.sample_turns()[:60]).to_pandas()
        >>> frame[(frame.scorer == "nDCG@5") & ~frame.replaced].groupby("version").value.count()
        version
        v2    29
        Name: value, dtype: int64
        """
        return make_pandas(self.rows())

    def to_polars(self) -> "polars.DataFrame":
        """Return a DataFrame of polars with a line for each score, the columns those of `to_pandas`.

        Raises TurnsignalError where polars is not installed.

        >>> import turnsignal
        >>> turnsignal.replay(turnsignal.sample_turns()[:60]).to_polars()["scorer"].n_unique() > 10
        True
        """
        return make_polars(self.rows())

    def text(self, width: int = WIDTH) -> str:
        """Return the first screen of what the command prints: findings, and the figures of each release.

        >>> import turnsignal
        >>> turnsignal.replay(turnsignal.sample_turns()[:60]).text().splitlines()[0]
        '60 turns, 9 conversations, 2 assistants, 2 releases'
        """
        return self._print(width).export_text()

    def __repr__(self) -> str:
        headline, n = self.text().partition("\n")[0].strip(), len(self.findings())
        suite = self.summary["suite"]
        return (
            f"<turnsignal.Replayed: {headline}; {count_of(n, 'finding')}; suite {suite['name']} {suite['fingerprint']}>"
        )

    def _repr_html_(self) -> str:
        """Show the first screen in a notebook; rich escapes what stands in texts and names."""
        block = '<pre style="line-height:1.3;font-family:monospace">{code}</pre>'
        return self._print(WIDTH).export_html(code_format=block, inline_styles=True)

    def _print(self, width: int) -> "Console":
        from rich.console import Console
        from rich.text import Text

        from turnsignal.agents.report.escaping import plain
        from turnsignal.agents.report.overview import format_overview

        # Not jupyter's own: there rich would show each line at once, beside what is returned.
        console = Console(
            file=StringIO(),
            width=width,
            record=True,
            color_system="truecolor",
            force_terminal=True,
            force_jupyter=False,
        )
        for line in format_overview(self._result, width):
            console.print(line, highlight=False)
        if self.assumed:
            counts = "; ".join(f"{what} ({n:,})" for what, n in sorted(self.assumed.items()))
            console.print(Text(plain(f"assumed: {counts}. strict=True refuses such turns.", 2_000)))
        return console


def replay(
    turns: Given,
    *,
    suite: Suite | PathLike | None = None,
    feedback: Given | None = None,
    verdicts: Given | None = None,
    environment: str = PRODUCTION,
    whole_conversations: bool = False,
    baseline: str | None = None,
    released: Iterable[str] = (),
    redaction: PathLike | None = None,
    out: PathLike | None = None,
    workers: int = 0,
    as_is: bool = False,
    strict: bool = False,
    format: str | None = None,  # noqa: A002 - the word that the command uses
    mapping: PathLike | None = None,
    alerts: bool = False,
) -> Replayed:
    """Score recorded turns without Kafka, exactly as a worker would, and return the result.

    turns: the path of a file of turns or of any known chat log, several paths, or records as dicts or Turn; suite: a
    file or a Suite, None for the built-in one; feedback: about them, given like turns; verdicts: what judges answered,
    given likewise, as `turnsignal judge` writes them; environment: whose turns the figures are of; whole_conversations:
    none is cut, so that the last ones are compared, too; baseline: a version that all others are compared with, None
    for the one before each; released: times in ISO 8601 at which releases came, which tell answers without a version
    apart; redaction: a file that says what to take out of texts first; out: directory for the
    results, None for a temporary one; workers: processes, 0 for one where there is little to read and one per core
    where there is much; as_is: keep the order of the turns, which are sorted by their time otherwise; strict: take
    turns alone, exactly as a topic does. Otherwise small deviations are read (`content` for `text`, the role `ai`, a
    time in seconds, …) and counted in `assumed`. format: what the files hold, None to find out by their content;
    mapping: a file that says how any JSON or CSV is read, as `turnsignal convert --propose` writes it; alerts: say in
    `summary["alerts"]` when an alert would have fired, and why.

    A turn that no worker could take in is counted and kept among `dead_letters()`. Raises TurnsignalError when a file,
    the directory or the suite cannot be used.

    >>> import turnsignal
    >>> turnsignal.replay(turnsignal.sample_turns()[:60])
    <turnsignal.Replayed: 60 turns, 9 conversations, 2 assistants, 2 releases; ... suite default ...>
    """
    if environment not in ENVIRONMENTS:
        msg = f"environment: expected one of {', '.join(ENVIRONMENTS)}; got {environment!r}"
        raise ConfigError(msg)
    times = [read_given_time(text, "released") for text in ([released] if isinstance(released, str) else released)]
    chosen = choose_suite(suite, redaction)
    how = read_how(format, None if mapping is None else Path(mapping), strict=strict)
    directory = Path(mkdtemp(prefix="turnsignal-")) if out is None else Path(out)
    try:
        files = as_files(turns, "turn", directory / "turns.jsonl")
        feedback_files = [] if feedback is None else as_files(feedback, "feedback", directory / "feedback.jsonl")
        judged = [] if verdicts is None else as_files(verdicts, "verdict", directory / "verdicts.jsonl")
        with Imported(files, how) as imported:
            replay_files(
                imported.sources,
                directory,
                chosen,
                time.time(),
                feedback=[*feedback_files, *imported.feedback],
                verdicts=judged,
                refused=imported.refused,
                workers=workers,
                as_is=as_is,
                environment=read_environment(environment),
                whole=whole_conversations,
                baseline=baseline,
                released=times,
                alerts=alerts,
                read_as=how,
            )
        result = read_result(directory)
        for report in imported.reports:
            result.assumed.update(report.assumed)
    except BaseException:
        if out is None:
            shutil.rmtree(directory, ignore_errors=True)
        raise
    if out is None:
        weakref.finalize(result, shutil.rmtree, directory, ignore_errors=True)
    return result


def read_result(directory: PathLike) -> Replayed:
    """Read the result that `turnsignal replay` or `replay(out=…)` wrote into a directory.

    Raises TurnsignalError when it holds none of this version.

    >>> import turnsignal
    >>> turnsignal.read_result("nowhere")
    Traceback (most recent call last):
    turnsignal.stream.errors.TurnsignalError: nowhere: expected a directory that `turnsignal replay --out` wrote, ...
    """
    result = read_files(Path(directory))
    assumed: Counter[str] = Counter()
    for counts in result.summary.get("assumed", {}).values():
        assumed.update(counts)
    return Replayed(result, assumed)


def sample_turns() -> list[dict[str, Any]]:
    """Return the turns of the sample: 500 simulated conversations, in which a release gets worse.

    >>> import turnsignal
    >>> turnsignal.sample_turns()[0]["role"]
    'user'
    """
    return [orjson.loads(line) for line in _sample_lines()]


@cache
def _sample_lines() -> list[bytes]:
    with TemporaryDirectory(prefix="turnsignal-") as directory:
        return [line for block in read_lines(write_sample(Path(directory))) for line in block.lines]
