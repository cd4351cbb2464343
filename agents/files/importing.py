"""Importing: files of any known format → turns in files of our own, which are then replayed, sent or measured.

A file of turns is left where it is. Everything else is read once, the files of one format as if they were one, in
their order: exports put traces and their parts into files of their own, and logs are cut between the calls of a
conversation.
"""

from array import array
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from turnsignal.agents.files.blocks import Progress, read_blocks
from turnsignal.agents.files.containers import Kind
from turnsignal.agents.files.file_reports import FileReport
from turnsignal.agents.files.flat_rows import is_ready
from turnsignal.agents.files.format_reading import FilesOfFormat, FormatReading, GivenFile
from turnsignal.agents.files.human_scores import ScoredFile, write_feedback
from turnsignal.agents.files.reading import Origin, TurnFile
from turnsignal.agents.files.recognising import HowToRead, choose_format, doubt_format
from turnsignal.agents.files.said_twice import GivenAnswers
from turnsignal.agents.files.standard_input import keep_standard_input, naming
from turnsignal.agents.files.users import HiddenUsers
from turnsignal.stream.formats import OWN


class Imported(ExitStack):
    """Files ready to be read as turns, until the end of this context.

    sources: for `Recording`; reports: one for each format whose files were not ones of turns; refused: file of dead
    letters, None without any; feedback: what people said of answers in these files.
    """

    def __init__(
        self,
        paths: Iterable[Path],
        how: HowToRead,
        progress: Progress = lambda _: None,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self.sources: list[TurnFile] = []
        self.reports: list[FileReport] = []
        self.refused: Path | None = None
        self.feedback: list[TurnFile] = []
        self._paths = list(paths)
        self._how = how
        self._progress = progress
        self._say = say
        self._scored: list[ScoredFile] = []
        self._users = None if how.user_key is None else HiddenUsers(how.user_key)

    def __enter__(self) -> "Imported":
        with ExitStack() as on_error:
            on_error.push(self)
            directory = Path(self.enter_context(TemporaryDirectory(prefix="turnsignal-import-")))
            chosen: dict[str | Path, TurnFile | FilesOfFormat] = {}  # by format, files of turns each by itself
            for named, path in zip(self._paths, keep_standard_input(self._paths, directory), strict=True):
                if not any(block.strip() for block in islice(read_blocks(path), 1)):
                    self._say(f"{named}: is empty")
                with naming(named, path):
                    kind, name, each, why = choose_format(path, self._how)
                is_own = kind is Kind.LINES and name == OWN and self._how.user_key is None
                if is_own and (self._how.strict or is_ready(path)):
                    origins = () if named == path else (Origin(named),)
                    chosen[path] = TurnFile(path, origins, lenient=not self._how.strict)
                    continue
                self._say(f"{named}: taken for {name}, by {why}")
                together = chosen.setdefault(name, FilesOfFormat(each, FileReport([], name, why), []))
                assert isinstance(together, FilesOfFormat), "files of turns stand under their paths"
                together.files.append(GivenFile(named, path, kind))
                together.report.files.append(str(named))
                if self._how.format is not None and (doubt := doubt_format(path, kind, name)) is not None:
                    together.report.warnings.append(doubt)
            given: list[GivenAnswers] = []
            for number, source in enumerate(chosen.values()):
                if isinstance(source, FilesOfFormat):
                    self.reports.append(source.report)
                    answers = GivenAnswers(source.report.name)
                    source = self._convert(source, directory / str(number), answers)
                    self.reports[-1].warnings += answers.doubts(given)
                    given.append(answers)
                self.sources.append(source)
            self.feedback += write_feedback(self._scored, directory)
            if self._users is not None:
                written = [scored.turns for scored in self._scored] + [source.path for source in self.feedback]
                self._users.hide_in_ids(written)
            on_error.pop_all()
        return self

    def _convert(self, together: FilesOfFormat, to: Path, answers: GivenAnswers) -> TurnFile:
        to.mkdir()
        turns, lines, refused = to / "turns.jsonl", to / "lines", to.parent / "refused.jsonl"
        report = together.report
        with turns.open("wb") as out, lines.open("wb") as places, refused.open("ab") as rejected:
            reading = FormatReading(together, rejected, self._how, self._users)
            self.callback(reading.human_scores.close)
            for turn, line in reading.turns(self._progress):
                formatted = reading.format_turn(turn, line)
                if formatted is not None:
                    answers.add(turn)
                    out.write(formatted + b"\n")
                    places.write(array("Q", [line]).tobytes())
        origins = tuple(reading.origins)
        self._scored.append(ScoredFile(turns, together.format, origins, reading.human_scores, report.assumed))
        if report.refused:
            self.refused = refused
        return TurnFile(turns, origins, lines, whole=not reading.has_times)
