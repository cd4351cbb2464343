"""Explain one conversation: what was said, what each scorer said of it and why, from files or from Kafka."""

import contextlib
import os
import time
import urllib.error
import urllib.parse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from turnsignal.agents.commands.judged import choose_judged, explain_unqueued, explain_verdict, explain_waiting
from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.reading import Recording
from turnsignal.agents.files.recognising import HowToRead
from turnsignal.agents.files.standard_input import DASH
from turnsignal.agents.kafka.topics import partition_for, topic_names
from turnsignal.agents.process.loopback import open_page
from turnsignal.agents.python_checks.host import hosted
from turnsignal.agents.replaying.files import FILES, SUMMARY
from turnsignal.agents.replaying.rereading import find_replayed
from turnsignal.agents.report.escaping import safe
from turnsignal.agents.settings import Settings
from turnsignal.agents.suite_files import load_redaction
from turnsignal.stream.errors import ConfigError, Refused, TurnsignalError
from turnsignal.stream.follow_ups.rules import CLARIFICATIONS
from turnsignal.stream.records.feedback import VOTE
from turnsignal.stream.records.scores import FOLLOW_UP
from turnsignal.stream.records.turns import MAX_ID, decode_turn
from turnsignal.stream.records.wire import CONVERSATIONS, DEAD_LETTERS, SCORES
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.replay import Indexer, Recorded, Replay
from turnsignal.stream.suite import Suite, load_suite

if TYPE_CHECKING:
    from turnsignal.agents.kafka.log_records import LogRecord

_TEXT, _TEXT_LINES = 1_000, 30  #: characters and lines of a text that are shown
_WITHHELD = "(not shown: to be forgotten)"
_ON_ITS_PAGE = ("kept", "other_rows", "not_kept")


@dataclass(slots=True)
class StoredConversation:
    """What there is of a conversation.

    queued: its exchanges in the judges' queue; unqueued: why there are none, "" where that is not known; kept: what a
    worker keeps of it; notes: what could not be looked at, in words.
    """

    conversation_id: str
    turns: list[Mapping[str, Any]] = field(default_factory=list)
    rows: list[Mapping[str, Any]] = field(default_factory=list)
    queued: list[Mapping[str, Any]] = field(default_factory=list)
    unqueued: str = ""
    summary: Mapping[str, Any] | None = None
    kept: Mapping[str, Any] | None = None
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return it for `--json`."""
        return asdict(self)

    @property
    def known(self) -> bool:
        """Whether there is anything."""
        return bool(self.turns or self.rows or self.summary or self.kept)


def from_directory(directory: Path, conversation_id: str) -> StoredConversation:
    """Look into the files of a replay or a demo; raises TurnsignalError when it is not one."""
    if not (directory / FILES[SCORES]).is_file():
        msg = f"{directory}: expected a directory of a replay or demo, with {FILES[SCORES]}; got none"
        raise TurnsignalError(msg)
    stored = StoredConversation(conversation_id)
    stored.rows = list(_rows_of(directory / FILES[SCORES], conversation_id))
    for row in _rows_of(directory / FILES[CONVERSATIONS], conversation_id):
        stored.summary = row
    if stored.known:
        _add_texts(stored, directory)
    return stored


def _add_texts(stored: StoredConversation, directory: Path) -> None:
    """Add the turns from the files that were replayed, read as they were then, as far as they are still there."""
    try:
        summary = orjson.loads((directory / SUMMARY).read_bytes())
        replayed = find_replayed(summary, directory)
    except ConfigError as error:
        stored.notes.append(f"texts are not shown: {error}")
        return
    except (OSError, orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
        stored.notes.append("these files hold no texts, and do not say which turns were scored")
        return
    for name in replayed.gone:
        is_kept = name != str(DASH)
        what = (
            f"a file that is not here any more, or not as it was: {name}" if is_kept else "what came by standard input"
        )
        stored.notes.append(f"texts are not shown of {what}")
    redaction = load_redaction(os.environ.get("TURNSIGNAL_REDACTION") or None)
    try:
        with Imported(replayed.paths, replayed.how) as imported:
            lines, _ = _recorded(Recording(imported.sources), stored.conversation_id)
    except TurnsignalError as error:
        stored.notes.append(f"texts are not shown: {error}")
        return
    stored.turns = _decode_turns(lines, redaction)


def from_file(path: Path, conversation_id: str, suite: Suite, how: HowToRead | None = None) -> StoredConversation:
    """Read a conversation from recorded turns, or any known log, and score it now, with nothing written.

    Raises TurnsignalError when the file cannot be read.
    """
    stored = StoredConversation(conversation_id)
    with Imported([path], how or HowToRead()) as imported:
        lines, indexer = _recorded(Recording(imported.sources), conversation_id)
    stored.turns = _decode_turns(lines, suite.redaction)
    with hosted(suite) as ready:
        replay = Replay(ready, None, indexer)
        for _, outputs in (*replay.feed(lines), *replay.finish(indexer.end)):
            for output in outputs:
                if output.topic == SCORES and output.value is not None:
                    stored.rows.append(orjson.loads(output.value))
                elif output.topic == CONVERSATIONS and output.value is not None:
                    stored.summary = orjson.loads(output.value)
                elif output.topic == DEAD_LETTERS:
                    detail = dict(output.headers or ()).get("detail", b"").decode("utf-8", "replace")
                    stored.notes.append(f"a line of it could not be read: {detail}")
    return stored


def _recorded(recording: Recording, conversation_id: str) -> tuple[list[Recorded], Indexer]:
    """Return the lines of one conversation in the order of their event times, and what they were indexed with."""
    indexer = Indexer(time.time(), mend=recording.mend)
    key = conversation_id.encode("utf-8", "replace")
    return sorted(line for line in recording.index(indexer) if line.key == key), indexer


def _decode_turns(lines: Iterable[Recorded], redaction: Redaction | None) -> list[Mapping[str, Any]]:
    """Return what was said, redacted as it is scored; each turn once, and no feedback."""
    turns: dict[str, Mapping[str, Any]] = {}
    for line in lines:
        try:
            turn = decode_turn(line.value)
        except Refused:
            continue
        if redaction is not None:
            redaction.apply(turn, Counter())
        stamp = turn.timestamp.isoformat()
        turns.setdefault(
            turn.turn_id, {"turn_id": turn.turn_id, "role": turn.role, "timestamp": stamp, "text": turn.text}
        )
    return list(turns.values())


def _rows_of(path: Path, conversation_id: str) -> Iterator[Mapping[str, Any]]:
    needle = orjson.dumps({"conversation_id": conversation_id})[1:-1]
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if needle in line:
                try:
                    row = orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    msg = f"{path}, line {number}: expected a row of a replay, got: {error}; replay again"
                    raise TurnsignalError(msg) from None
                if isinstance(row, dict) and row.get("conversation_id") == conversation_id:
                    yield row


def from_kafka(settings: Settings, conversation_id: str) -> StoredConversation:
    """Read the conversation's partitions of the topics, and ask the worker what it keeps.

    Raises TurnsignalError when the broker does not answer.
    """
    stored = StoredConversation(conversation_id)
    names, key = topic_names(settings.prefix), conversation_id.encode("utf-8", "replace")
    asked = _asked_to_forget(settings, names, key, stored)
    forgotten = _add_turns(settings, names, key, stored, asked)

    def since(topic: str) -> list[Mapping[str, Any]]:
        """What a topic has of the conversation as it was begun anew: rows quote answers, also those that come late."""
        rows = ((record.timestamp, _object(record)) for record in _records(settings, topic, key, stored))
        return [row for at, row in rows if at > asked and row is not None and row.get("turn_id") not in forgotten]

    stored.rows = since(names["scores"])
    stored.queued = [
        {name: exchange.get(name) for name in ("turn_id", "stage", "row")} for exchange in since(names["exchanges"])
    ]
    if (suite := _suite_in_force(settings, stored)) is not None:
        if not stored.queued:
            stored.unqueued = explain_unqueued(suite, conversation_id)
        stored.queued = choose_judged(suite, stored.queued)
    for record in _records(settings, names["conversations"], key, stored):  # the last one holds, also if it is none
        stored.summary = _object(record) if record.timestamp > asked else None
    stored.kept = _ask_worker(settings, conversation_id, stored)
    return stored


def _suite_in_force(settings: Settings, stored: StoredConversation) -> Suite | None:
    """Return the suite whose judges are asked; None where that is not known, or nothing is there to be judged."""
    if not stored.rows:
        return None
    try:
        return load_suite(settings.suite)
    except ConfigError as error:
        stored.notes.append(f"which judges there are is not known: {error}")
        return None


def _asked_to_forget(settings: Settings, names: Mapping[str, str], key: bytes, stored: StoredConversation) -> int:
    """Return when somebody asked last to forget the conversation, in milliseconds of the broker; 0 for never."""
    asked: int = max((record.timestamp for record in _records(settings, names["forget"], key, stored)), default=0)
    if asked:
        stored.notes.append(
            f"asked at {_show_time(asked / 1000)} to be forgotten: texts and scores from before that are not shown,"
            " though they stay on the broker until its topics expire (`turnsignal forget` says when)"
        )
    return asked


def _add_turns(
    settings: Settings, names: Mapping[str, str], key: bytes, stored: StoredConversation, asked: int
) -> set[Any]:
    """Add the turns on the topic, those from before a request to forget them without texts; return the ids of these."""
    redaction = load_redaction(settings.redaction)
    forgotten: set[Any] = set()
    for record in _records(settings, names["turns"], key, stored):
        if (turn := _shown_turn(record, redaction)) is None:
            continue
        if record.timestamp <= asked:
            forgotten.add(turn["turn_id"])
            turn["text"] = _WITHHELD
        else:
            forgotten.discard(turn["turn_id"])  # it was sent anew
        stored.turns.append(turn)
    return forgotten


def _shown_turn(record: "LogRecord", redaction: Redaction | None) -> dict[str, Any] | None:
    """Return who said what and when in a turn on the topic, redacted as it is scored; None for what is none."""
    turn = _object(record)
    if turn is None or not isinstance(text := turn.get("text"), str):
        return None
    if redaction is not None:
        try:
            read = decode_turn(record.value, record.key)
            redaction.apply(read, Counter())
            text = read.text
        except Refused:  # a lenient worker may take it in all the same; no id of a document keeps anything then
            text = redaction.redact(text, Counter()).text
    return {name: turn.get(name) for name in ("turn_id", "role", "timestamp")} | {"text": text}


def _object(record: "LogRecord") -> dict[str, Any] | None:
    with contextlib.suppress(orjson.JSONDecodeError):
        row = orjson.loads(record.value or b"")
        if isinstance(row, dict):
            return row
    return None


def _records(settings: Settings, topic: str, key: bytes, stored: StoredConversation) -> Iterator["LogRecord"]:
    """Give the committed records under a key, from the beginning of its partition to its present end."""
    from turnsignal.agents.kafka.logs import find_log, read_log

    try:
        log = find_log(settings, topic)
        number = partition_for(key, len(log))
        for records in read_log(settings, topic, {number: log[number]}, committed=True):
            yield from (record for record in records if record.key == key)
    except TurnsignalError as error:
        stored.notes.append(f"{error}; what is shown may be incomplete")


def _ask_worker(settings: Settings, conversation_id: str, stored: StoredConversation) -> Mapping[str, Any] | None:
    """Return what the worker of this machine keeps of a conversation; None, with a note of why, if it says nothing."""
    host = settings.page_address()
    if host is None:
        stored.notes.append("no worker is asked, as TURNSIGNAL_METRICS_PORT=0 is any that is free; set the worker's")
        return None
    name = urllib.parse.quote(conversation_id[:MAX_ID], safe="")
    try:
        with open_page(f"http://{host}/conversations/{name}", timeout=3.0) as answer:
            kept = orjson.loads(answer.read())
    except urllib.error.HTTPError as error:
        stored.notes.append(
            f"the worker on {host} does not show it: {_reason(error)}"
            if error.code == 403
            else f"the worker on {host} keeps nothing of it (HTTP {error.code}); another worker may"
        )
        return None
    except (OSError, ValueError):
        stored.notes.append(f"no worker answers on {host}, so its windows are not shown")
        return None
    # What its page says of turns and scores stands above already, whole, from the topics.
    return {name: kept[name] for name in kept if name not in _ON_ITS_PAGE} if isinstance(kept, dict) else None


def _reason(refusal: urllib.error.HTTPError) -> str:
    """Return what a worker says of why it refuses."""
    with contextlib.suppress(OSError, ValueError):
        answer = orjson.loads(refusal.read(2_000))
        if isinstance(answer, dict) and "error" in answer:
            return str(answer["error"])
    return str(refusal.reason)


def explain(stored: StoredConversation) -> Iterator[str]:
    """Tell what was stored, as lines of rich markup; every text from a record is escaped."""
    yield f"[bold]{safe(stored.conversation_id, MAX_ID)}[/bold]"
    if not stored.known:
        yield "Nothing is known of this conversation. Is the id right, and are its records, on topics, still kept?"
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for row in stored.rows:
        rows.setdefault(str(row.get("turn_id")), []).append(row)
    replaced = {row.get("replaces") for row in stored.rows}
    for turn in sorted(stored.turns, key=lambda turn: str(turn.get("timestamp"))):
        head = f"{safe(turn.get('timestamp'), 40)}  {safe(turn.get('role'), 20)}"
        first, *more = _text_lines(str(turn["text"]))
        yield f"\n[cyan]{head}[/cyan]  {first}"
        yield from (f"    {line}" for line in more)
        yield from _explain_rows(rows.pop(str(turn.get("turn_id")), ()), replaced)
    for turn_id, left in rows.items():
        yield f"\n[cyan]turn {safe(turn_id, 80)}[/cyan]"
        yield from _explain_rows(left, replaced)
    if stored.unqueued:
        yield f"\n[bold]Judges[/bold]\n  [yellow]not judged[/yellow]  {safe(stored.unqueued, 300)}"
    if waiting := list(explain_waiting(stored.queued, stored.rows)):
        yield from ("\n[bold]Judges[/bold]", *waiting)
    if stored.summary is not None:
        yield from _explain_summary(stored.summary)
    if stored.kept is not None:
        yield "\n[bold]Kept by the worker[/bold]"
        yield from (f"  {safe(key, 80)}: {safe(orjson.dumps(kept).decode(), 200)}" for key, kept in stored.kept.items())
    for note in stored.notes:
        yield f"[dim]({safe(note, 300)})[/dim]"


def _text_lines(text: str) -> list[str]:
    """Return a text safe to print, its line breaks kept; a long one is cut."""
    lines = text[: _TEXT + 1].replace("\r\n", "\n").split("\n")
    shown = [safe(line, _TEXT) for line in lines[:_TEXT_LINES]]
    return [*shown, "…"] if len(text) > _TEXT or len(lines) > _TEXT_LINES else shown


def _explain_rows(rows: Sequence[Mapping[str, Any]], replaced: set[Any]) -> Iterator[str]:
    """Tell the rows of one turn, and whether what was voted and what was said next contradict each other."""
    score_windows: dict[str, Mapping[str, Any]] = {}
    for row in rows:
        yield from _explain_row(row, replaced)
        if row.get("id") not in replaced and "replaced_by" not in row:
            score_windows |= {score["scorer"]: score for score in row["scores"] if score.get("value") is not None}
    vote, follow_up = score_windows.get(VOTE), score_windows.get(FOLLOW_UP)
    if vote is not None and follow_up is not None and vote["value"] == (follow_up.get("label") in CLARIFICATIONS):
        went_on = "asked again" if vote["value"] else "went on"
        yield f"  [yellow]The vote contradicts the follow-up: thumbs {vote['label']}, and the user {went_on}.[/yellow]"


def _explain_row(row: Mapping[str, Any], replaced: set[Any]) -> Iterator[str]:
    gone = "  [dim](replaced by a later row)[/dim]" if row.get("id") in replaced or "replaced_by" in row else ""
    where = f"  {safe(row['environment'], 20)}" if "environment" in row else ""
    at = _show_time(float(row["time"]))
    yield f"  [bold]{safe(row['stage'], 20)}[/bold] {at} {safe(row.get('version') or '', 40)}{where}{gone}"
    for score in row["scores"]:
        value = score.get("value")
        shown = "-" if value is None else f"{value:.3f}"
        about = (row.get("feedback") or {}).get("scorer")
        words = [
            score.get("label"),
            about and f"of {about}",
            score.get("unscored") and f"unscored: {score['unscored']}",
            score.get("explanation"),
            score.get("confidence") is not None and f"confidence {score['confidence']:g}",
        ]
        words_shown = " · ".join(safe(word, 200) for word in words if word)
        yield f"    {safe(score['scorer'], 60):40} {shown:>6}  {words_shown}"
    if row.get("verdict"):
        yield from explain_verdict(row)


def _explain_summary(summary: Mapping[str, Any]) -> Iterator[str]:
    known = summary.get("clarification_free")
    free = "" if known is None else f"{'' if known else 'not '}clarification-free, "
    outcome = safe(summary.get("outcome") or "none", 20)
    yield f"\n[bold]Summary[/bold]  outcome {outcome}, {free}{summary['turns']} turns,"
    diagnosis = f"{safe(summary['diagnosis'], 40)}: {safe(summary['meaning'], 200)}"
    yield f"  {summary['clarifications']} clarifications; diagnosis {diagnosis}"
    if votes := summary.get("votes"):
        met = f"{votes['agree']} agree with the follow-up, {votes['disagree']} do not, {votes['only_vote']} have none"
        yield f"  votes: {votes['up']} up, {votes['down']} down; {met}"
    if summary.get("awaiting"):
        yield f"  not judged: {summary['awaiting']} verdicts are awaited"
    for scorer, mean in summary["scores"].items():
        yield f"    {safe(scorer, 60):40} {mean['mean']:6.3f}  of {mean['n']}"


def _show_time(seconds: float) -> str:
    """Write an event time; strangers choose them, and some lie before the year 1 in UTC."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):
        return f"{seconds:.0f} s"
