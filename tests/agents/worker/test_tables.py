"""What the partition tasks keep is a Faust table to whoever knows Faust: read by key and by window, never changed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import faust
import orjson
import pytest
from click.testing import CliRunner
from faust.cli.faust import cli
from faust.tables import TableManager
from faust.tables.recovery import Recovery

import turnsignal.agents.score as score
from tests.kafka.faults.oracle import Kept
from turnsignal.agents.settings import Settings
from turnsignal.agents.watch import make_watch_app
from turnsignal.agents.worker.consumer import PartitionApp
from turnsignal.agents.worker.partition_task import PartitionTask
from turnsignal.agents.worker.transactions import TransactionWriter
from turnsignal.stream.suite import Suite

SETTINGS = Settings(brokers="127.0.0.1:9")
OPTIONS = {"bootstrap.servers": "127.0.0.1:9", "log_level": 0}
NOON = 1_749_988_800  # 2025-06-15 12:00 UTC


def turn(conversation: str, turn_id: str, time: int) -> Kept:
    role = "assistant" if turn_id.startswith("a") else "user"
    documents = [{"doc_id": "a", "text": "Hold the button."}, {"doc_id": "b"}] if role == "assistant" else []
    text = "Hold the button [a]." if role == "assistant" else "How do I reset it?"
    said = {"conversation_id": conversation, "turn_id": turn_id, "role": role, "text": text}
    value = orjson.dumps(said | {"retrieved": documents, "timestamp": datetime.fromtimestamp(time, UTC)})
    return Kept(0, 0, conversation.encode(), value, time * 1000)


def make_app(*partitions: list[Kept]) -> PartitionApp:
    """Make the score app with a task for each partition, which has taken in some records."""
    app = score.make_score_app(SETTINGS, Suite())
    spec = app.task_manager.spec
    for number, records in enumerate(partitions):
        writer = TransactionWriter(OPTIONS, number, {}, spec.changelog, 1.0)
        task = PartitionTask(number, spec.make(number, {}), writer)
        task.processor.accept(spec.work(task.processor, {spec.inputs[0]: records}, 0.0))
        app.task_manager.tasks[number] = task
    return app


def two_conversations() -> PartitionApp:
    """c-1 has answers at 12:01 and 12:08, c-2 has one at 12:02."""
    first = [turn("c-1", "u-1", NOON + 50), turn("c-1", "a-1", NOON + 60), turn("c-1", "a-2", NOON + 480)]
    return make_app(first, [turn("c-2", "u-1", NOON + 110), turn("c-2", "a-1", NOON + 120)])


def test_a_conversation_is_read_by_its_key_from_whichever_partition_has_it() -> None:
    conversations = two_conversations().tables["conversations"]
    assert isinstance(conversations, faust.Table)
    assert (conversations["c-1"]["turns"], conversations["c-2"]["turns"]) == (3, 2)
    assert sorted(conversations) == sorted(conversations.keys()) == ["c-1", "c-2"]
    assert {key: kept["responses"] for key, kept in conversations.items()} == {"c-1": 2, "c-2": 1}
    assert (len(conversations), "c-2" in conversations, "c-3" in conversations) == (2, True, False)
    assert conversations.get("c-3") is None
    with pytest.raises(KeyError, match="c-3"):
        conversations["c-3"]


def test_a_conversation_of_which_only_feedback_came_has_nothing_to_show_yet() -> None:
    app = two_conversations()
    task, spec = app.task_manager.tasks[0], app.task_manager.spec
    vote = {"id": "f-1", "conversation_id": "c-9", "turn_id": "a-1", "kind": "vote", "vote": 1}
    value = orjson.dumps(vote | {"timestamp": datetime.fromtimestamp(NOON, UTC)})
    records = {spec.inputs[2]: [Kept(0, 0, b"c-9", value, NOON * 1000)]}
    task.processor.accept(spec.work(task.processor, records, 0.0))
    assert app.tables["conversations"]["c-9"] == {}
    assert {key: kept.get("turns") for key, kept in app.tables["conversations"].items()}["c-9"] is None
    assert len(app.tables["windows-5m"]) == 3
    assert "c-9" not in app.tables["windows-5m"].windows


def test_what_is_not_committed_is_not_in_a_table() -> None:
    app = two_conversations()
    task = app.task_manager.tasks[1]
    spec = app.task_manager.spec
    batch = spec.work(task.processor, {spec.inputs[0]: [turn("c-2", "a-2", NOON + 130)]}, 0.0)
    assert app.tables["conversations"]["c-2"]["turns"] == 2
    task.processor.accept(batch)
    assert app.tables["conversations"]["c-2"]["turns"] == 3


def test_a_window_is_read_at_the_newest_turn_or_before_it() -> None:
    windows = two_conversations().tables["windows-5m"]
    now, before = windows["c-1"].current(), windows["c-1"].delta(timedelta(minutes=5))
    assert (now["nDCG@5"]["n"], before["nDCG@5"]["n"]) == (1, 1)
    assert windows["c-1"].value() == now == windows["c-1", (NOON + 300, NOON + 599.9)]
    assert windows["c-1"].delta(420) == before == windows["c-1", (NOON, NOON + 299.9)]
    for unknown in (lambda: windows["c-1"].delta(600), lambda: windows["c-3"].current(), windows["c-1"].now):
        with pytest.raises(KeyError):
            unknown()
    both = two_conversations().tables["windows-1h"]["c-1"].current()
    assert both["nDCG@5"]["n"] == 2


def test_windows_of_all_conversations_are_read_as_from_a_windowed_table_of_faust() -> None:
    table = two_conversations().tables["windows-5m"]
    assert sorted(table) == [
        ("c-1", (NOON, NOON + 299.9)),
        ("c-1", (NOON + 300, NOON + 599.9)),
        ("c-2", (NOON, NOON + 299.9)),
    ]
    assert sorted(table.windows.keys()) == ["c-1", "c-2"]
    assert len(table.windows) == 2
    assert "c-1" in table.windows
    assert "c-3" not in table.windows
    assert [key for key, _ in table.windows.items().delta(300)] == ["c-1"]
    assert sorted(key for key, _ in table.windows.items().current()) == ["c-1", "c-2"]


def change(table: Any) -> None:
    table["c-1"] = {}


def remove(table: Any) -> None:
    del table["c-1"]


def change_window(table: Any) -> None:
    table.windows["c-1"][NOON, NOON + 299.9] = {}


@pytest.mark.parametrize(
    ("name", "doing"),
    [
        ("conversations", change),
        ("conversations", remove),
        ("conversations", lambda table: table.clear()),
        ("conversations", lambda table: table.update({"c-1": {}})),
        ("conversations", lambda table: table.pop("c-1")),
        ("conversations", lambda table: table.data.update({})),
        ("conversations", lambda table: table.reset_state()),
        ("windows-5m", change),
        ("windows-5m", change_window),
    ],
)
def test_a_table_cannot_be_changed(name: str, doing: Any) -> None:
    app = two_conversations()
    with pytest.raises(TypeError, match=f"expected to read the table {name}, got a change"):
        doing(app.tables[name])
    assert app.tables["conversations"]["c-1"]["turns"] == 3


def test_a_table_that_faust_would_have_to_restore_is_refused() -> None:
    app = make_app()
    with pytest.raises(TypeError, match="nobody would restore it here"):
        app.Table("mine")


def test_faust_restores_nothing_and_subscribes_to_no_changelog() -> None:
    tables = make_app().tables
    assert isinstance(tables, TableManager)
    assert tables.changelog_topics == set()
    assert isinstance(tables.recovery, Recovery)
    assert len(tables.recovery.tables) == 0
    assert tables["conversations"].changelog_topic_name == "turnsignal-score-conversations-changelog"


def test_the_state_of_watch_is_a_table_without_windows() -> None:
    assert list(make_watch_app(SETTINGS, Suite()).tables) == ["series"]


@pytest.mark.slow
def test_fausts_own_command_lists_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNSIGNAL_BROKERS", "127.0.0.1:9")
    found = CliRunner().invoke(cli, ["--json", "-A", "turnsignal.agents.score", "tables"])
    assert found.exit_code == 0, found.output
    listed = {table["name"]: table["help"] for table in orjson.loads(found.output)}
    assert list(listed) == ["conversations", "windows-5m", "windows-1h"]
    assert listed["windows-5m"] == "means of scores in windows of 5m, kept for 15m, by conversations"


def test_a_module_of_the_app_has_no_other_attributes_than_it_says() -> None:
    with pytest.raises(AttributeError, match="apps"):
        score.apps  # noqa: B018
