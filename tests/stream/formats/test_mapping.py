"""A mapping says how a log writes lists, dates and roles; what it does not know it names with the way out."""

from collections import Counter
from typing import Any

import pytest

from turnsignal.stream.errors import ConfigError, Reason, Refused
from turnsignal.stream.formats.date_formats import read_date
from turnsignal.stream.formats.mapping import FormatMapping, parse_format_mapping, take_warnings

ROW = {"who": "user", "said": "How?", "c": "7", "at": "31.12.2024 13:45", "docs": "d1|d 2 | d3"}


def mapping(*more: str) -> FormatMapping:
    lines = ("[turns]", 'conversation_id = "c"', 'role = "who"', 'text = "said"', 'timestamp = "at"', *more)
    return parse_format_mapping("\n".join(lines), "m.toml")


def read(row: dict[str, Any], *more: str) -> Any:
    (turn,) = mapping(*more).read(row, Counter())
    return turn


def test_a_date_of_days_months_and_years_is_read_in_the_format_that_the_mapping_names() -> None:
    turn = read(ROW, 'date_format = "%d.%m.%Y %H:%M"')
    assert turn["timestamp"] == "2024-12-31T13:45:00+00:00"
    assert read_date("12/31/24 11:05 PM", "%m/%d/%y %I:%M %p") == 1_735_686_300.0
    assert read_date("31.12.2024 13:45 +0200", "%d.%m.%Y %H:%M %z") == 1_735_645_500.0


def test_documents_stand_apart_where_the_mapping_names_what_is_between_them() -> None:
    more = ('date_format = "%d.%m.%Y %H:%M"', 'documents = "docs"', 'separator = "|"')
    assert read(ROW, *more)["retrieved"] == [{"doc_id": "d1"}, {"doc_id": "d 2"}, {"doc_id": "d3"}]
    assert read(ROW | {"docs": '["a", "b"]'}, *more)["retrieved"] == [{"doc_id": "a"}, {"doc_id": "b"}]
    assert "retrieved" not in read(ROW | {"docs": " | "}, *more)


def test_labels_of_a_turn_and_of_an_exchange_are_read_under_their_names() -> None:
    labels = {"doc_ids": ["d1"], "reference": "So.", "note": "mine"}
    read_labels = {"doc_ids": ["d1"], "reference": "So."}
    assert read(ROW | {"gold": labels}, 'date_format = "%d.%m.%Y %H:%M"', 'truth = "gold"')["truth"] == read_labels
    log = parse_format_mapping('[exchanges]\nquestion = "q"\nanswer = "a"\ntruth = "gold"', "m.toml")
    (call,) = log.read({"q": "How?", "a": "So.", "gold": labels}, Counter())
    assert call.outputs[0].fields == {"truth": read_labels}
    assert "truth" not in read(ROW | {"gold": "d1"}, 'date_format = "%d.%m.%Y %H:%M"', 'truth = "gold"')


def test_labels_that_deviate_are_read_or_left_out_and_keep_no_turn_back() -> None:
    labels = {"doc_ids": "d1", "agents": [{}], "reference": 5, "chunks": [None]}
    log = parse_format_mapping('[exchanges]\nquestion = "q"\nanswer = "a"\ntruth = "gold"', "m.toml")
    assumed: Counter[str] = Counter()
    (call,) = log.read({"q": "How?", "a": "So.", "gold": labels}, assumed)
    assert call.outputs[0].fields == {"truth": {"doc_ids": ["d1"], "reference": "5"}}
    assert {what: n for what, n in assumed.items() if n and "truth." in what} == {
        "a lone value as truth.doc_ids is a list of one": 1,
        "truth.agents that cannot be read (expected `str`, got `object`) left out": 1,
        "empty places in truth.chunks left out": 1,
        "a number as truth.reference is a text": 1,
    }
    several = ROW | {"gold": {"doc_ids": "d1|d2"}}
    lines = ('date_format = "%d.%m.%Y %H:%M"', 'truth = "gold"', 'separator = "|"')
    assert read(several, *lines)["truth"] == {"doc_ids": ["d1", "d2"]}


def test_items_of_nobody_who_speaks_that_say_nothing_are_left_out() -> None:
    lines = '[turns]\nlist = "events"\nconversation_id = "c"\nrole = "event"\ntext = "text"\ntimestamp = "at"'
    events = [{"event": "slot", "at": 1}, {"event": "user", "text": "How?", "at": 2}, {"event": "bot", "at": 3}]
    assumed: Counter[str] = Counter()
    turns = parse_format_mapping(lines, "m.toml").read({"c": "7", "events": events}, assumed)
    assert next(turns)["text"] == "How?"  # type: ignore[index]
    with pytest.raises(Refused, match="expected the text at text"):
        next(turns)
    assert assumed["items of a list that say nothing left out"] == 1


def test_a_text_that_a_table_keeps_as_json_is_read_without_its_quotes() -> None:
    turn = read(ROW | {"said": '"How?\\nWhen?"', "at": 0})
    assert turn["text"] == "How?\nWhen?"
    assert read(ROW | {"said": '"How?" he asked', "at": 0})["text"] == '"How?" he asked'


def test_a_time_that_is_written_otherwise_is_refused_with_how_to_say_so() -> None:
    with pytest.raises(Refused) as refused:
        read(ROW)
    assert refused.value.reason is Reason.BAD_TIMESTAMP
    assert "got another: '31.12.2024 13:45'; try date_format = \"%d.%m.%Y %H:%M\"" in refused.value.shown
    with pytest.raises(Refused, match=r"expected a time at at written as %d %m %Y, got another"):
        read(ROW, 'date_format = "%d %m %Y"')


def test_an_exchange_with_a_time_that_cannot_be_read_is_refused_and_not_put_into_1970() -> None:
    exchange = '[exchanges]\nquestion = "said"\nanswer = "said"\ntimestamp = "at"\n'
    with pytest.raises(Refused, match="expected a time at at in ISO 8601"):
        list(parse_format_mapping(exchange, "m.toml").read(ROW, Counter()))
    (call,) = parse_format_mapping(exchange + 'date_format = "%d.%m.%Y %H:%M"', "m.toml").read(ROW, Counter())
    assert not isinstance(call, dict)
    assert call.start == 1_735_652_700.0


def test_a_role_that_nobody_knows_is_named_with_the_line_that_gives_it_a_meaning() -> None:
    with pytest.raises(Refused) as refused:
        read(ROW | {"who": "Gast", "at": 0})
    assert refused.value.reason is Reason.UNKNOWN_ROLE
    assert '\'Gast\'; if it is the user: role = { path = "who", Gast = "user" }' in refused.value.shown
    assert "Gast" not in refused.value.detail


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('separator = ""', r'\[turns\] separator: expected what stands between ids, such as "\|", got \'\''),
        ('separator = "  "', "separator: expected"),
        ("separator = 3", "got `int` - at"),
        ('date_format = "%d.%m"', "does not name day, month and year once each"),
        ('date_format = "%d.%m.%Y %Q"', "in which %Q means nothing"),
        ('date_format = "%d.%d.%Y"', "does not name day, month and year"),
        ('date_format = "%d.%m.%Y %"', "in which % means nothing"),
        ('date_format = "DD.MM.YYYY"', "does not name day, month and year"),
        (f'date_format = "%d.%m.%Y{" " * 60}"', "got 68 characters"),
    ],
)
def test_a_separator_and_a_date_format_that_are_none_are_named_before_anything_is_read(line: str, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        mapping(line)


def mapped(lines: str) -> FormatMapping:
    return parse_format_mapping(f'[turns]\nrole = "who"\ntext = "said"\ntimestamp = "at"\n{lines}', "m.toml")


SAID = {"who": "user", "said": "Hi", "at": 0}


def test_the_key_of_a_documents_id_can_be_named() -> None:
    hits = [{"ref": "d1", "body": "So.", "w": 0.5}, {"ref": "d2"}]
    log = mapped('conversation_id = "c"\ndocuments = { path = "hits", id = "ref", text = "body", score = "w" }')
    (turn,) = log.read({**SAID, "c": "1", "hits": hits}, Counter())
    assert isinstance(turn, dict)
    assert turn["retrieved"] == [{"doc_id": "d1", "text": "So.", "score": 0.5}, {"doc_id": "d2"}]
    with pytest.raises(ConfigError, match=r"documents: expected path, and id, .* got 'ids'"):
        mapped('conversation_id = "c"\ndocuments = { path = "hits", ids = "ref" }')


def test_documents_that_nobody_can_read_and_paths_that_lead_nowhere_are_told() -> None:
    assumed: Counter[str] = Counter()
    log = mapped('conversation_id = "c"\ndocuments = "hits"\nversion = "releaze"\nmodel = "model"')
    for record in ({"hits": [{"ref": "d1"}, {"ref": "d2"}]}, {"model": "m1"}):
        list(log.read({**SAID, "c": "1", **record}, assumed))
    nowhere, unread = take_warnings(assumed)
    assert nowhere == "nothing at version = releaze in any of 2 records; is the mapping's path right?"
    assert unread.startswith("2 documents without a known id at hits (they have ref): left out;")
    assert unread.endswith('documents = { path = "hits", id = "…" }')
    assert not assumed


def test_a_list_is_looked_for_under_every_key_and_the_key_can_be_the_conversation() -> None:
    log = mapped('conversation_id = "*"\nlist = "chats.*.steps"\nversion = "meta.build"')
    chats = {"c1": {"meta": {"build": "v1"}, "steps": [SAID]}, "c2": {"meta": {"build": "v2"}, "steps": [SAID]}}
    turns = list(log.read({"by": "kit", "chats": chats}, Counter()))
    assert [(turn["conversation_id"], turn["version"]) for turn in turns if isinstance(turn, dict)] == [
        ("c1", "v1"),
        ("c2", "v2"),
    ]


def test_an_item_of_a_list_that_cannot_be_read_keeps_no_other_back() -> None:
    log, kept = mapped('conversation_id = "c"\nlist = "steps"'), []
    with pytest.raises(Refused, match="unknown_role"):
        kept.extend(log.read({"c": "1", "steps": [{**SAID, "who": "narrator"}, {}, SAID]}, Counter()))
    assumed: Counter[str] = Counter()
    parts = log.read({"c": "1", "steps": [{**SAID, "who": "narrator"}, {}, SAID]}, assumed)
    assert next(parts)
    assert assumed["items of a list that say nothing left out"] == 1


def test_a_path_that_begins_with_dots_leads_out_of_its_list_and_each_further_one_out_of_the_next() -> None:
    rooms = [{"id": "c1", "posts": [{"id": "m1", **SAID}]}, {"id": "c2", "posts": [{"id": "m2", **SAID}]}]
    lines = 'list = "rooms.*.posts"\nturn_id = "id"\nconversation_id = "../id"\nversion = "../../id"'
    turns = list(mapped(lines).read({"id": "v9", "rooms": rooms}, Counter()))
    assert [
        (turn["conversation_id"], turn["turn_id"], turn["version"]) for turn in turns if isinstance(turn, dict)
    ] == [("c1", "m1", "v9"), ("c2", "m2", "v9")]


def test_a_path_out_of_a_list_needs_a_list() -> None:
    with pytest.raises(ConfigError, match=r"\[turns\] conversation_id: expected \.\./ with a list alone"):
        mapped('conversation_id = "../id"')


def test_a_list_may_stand_at_several_paths_and_an_object_at_one_is_an_item() -> None:
    log = mapped('conversation_id = "../id"\nlist = ["source", "parts"]')
    record = {"id": "c1", "source": {"id": "s", "who": "user", "said": "Hi"}, "at": 0, "parts": [{"id": "p", **SAID}]}
    assert [turn["conversation_id"] for turn in log.read(record, Counter()) if isinstance(turn, dict)] == ["c1", "c1"]


def test_a_text_that_a_database_keeps_as_json_is_that_of_its_blocks() -> None:
    parts = '[{"type": "step-start"}, {"type": "text", "text": "Hello."}]'
    log = mapped('conversation_id = "c"')
    (turn,) = log.read({**SAID, "c": "1", "said": parts}, Counter())
    assert isinstance(turn, dict)
    assert turn["text"] == "Hello."


STEPS = [{"by": "user", "t": "How?"}, {"by": "bot", "t": "So.", "at": 160}, {"by": "user", "t": "Why?"}]
STEPS += [{"by": "bot", "t": "Because.", "at": 180}, {"by": "user", "t": "Thanks", "at": None}]


def listed(lines: str) -> FormatMapping:
    return parse_format_mapping(f'[turns]\nrole = "by"\ntext = "t"\nlist = "steps"\n{lines}', "m.toml")


def test_items_of_a_list_without_a_time_of_their_own_stand_between_their_neighbours() -> None:
    assumed: Counter[str] = Counter()
    log = listed('conversation_id = "c"\ntimestamp = "at"')
    turns: list[Any] = list(log.read({"c": "1", "at": 100, "steps": STEPS}, assumed))
    assert [turn["timestamp"][14:19] for turn in turns] == ["01:40", "02:40", "02:50", "03:00", "03:01"]
    told = "turns without a time of their own in a list of others that have one, put between their neighbours"
    assert assumed[told] == 3


def test_items_of_which_none_has_a_time_have_that_of_what_holds_them() -> None:
    steps = [{**step, "at": None} for step in STEPS]
    log = listed('conversation_id = "c"\ntimestamp = "at"')
    turns: list[Any] = list(log.read({"c": "1", "at": 100, "steps": steps}, Counter()))
    assert {turn["timestamp"][14:19] for turn in turns} == {"01:40"}


def test_a_list_without_times_is_a_conversation_in_the_order_in_which_it_stands() -> None:
    (call,) = listed('conversation_id = "c"\nmodel = "m"').read({"c": "1", "m": "m1", "steps": STEPS}, Counter())
    assert not isinstance(call, dict)
    assert [(message.role, message.text) for message in call.inputs][:2] == [("user", "How?"), ("assistant", "So.")]
    assert (call.conversation, call.inputs[0].fields) == ("1", {"model": "m1"})


def test_a_question_may_be_the_messages_of_a_request_and_an_answer_what_came_back() -> None:
    log = parse_format_mapping('[exchanges]\nquestion = "request"\nanswer = "response"\nvote = "thumb"', "m.toml")
    history = [{"role": "user", "content": "How?"}, {"role": "assistant", "content": "So."}]
    record = {
        "request": {"messages": [*history, {"role": "user", "content": "Why?"}]},
        "response": '{"choices": [{"message": {"role": "assistant", "content": "Because."}}]}',
        "thumb": "up",
    }
    (call,) = log.read(record, Counter())
    assert not isinstance(call, dict)
    assert [message.text for message in call.inputs] == ["How?", "So.", "Why?"]
    assert [(message.role, message.text, message.fields) for message in call.outputs] == [
        ("assistant", "Because.", {"vote": 1})
    ]


@pytest.mark.parametrize("value", [{"inner": {"deep": "How?"}}, [{"inner": "How?"}]])
def test_a_text_that_is_an_object_is_refused_with_what_it_has(value: Any) -> None:
    with pytest.raises(Refused, match="expected a text at said, got an object") as refused:
        list(mapped('conversation_id = "c"').read({**SAID, "c": "1", "said": value}, Counter()))
    assert refused.value.reason is Reason.WRONG_TYPE
    assert "it has inner" in refused.value.shown


def test_an_id_that_is_a_list_is_refused() -> None:
    with pytest.raises(Refused, match="expected an id at c, got list"):
        list(mapped('conversation_id = "c"').read({**SAID, "c": ["1"]}, Counter()))


def test_a_text_that_is_a_number_is_that_number() -> None:
    (turn,) = mapped('conversation_id = "c"').read({**SAID, "c": "1", "said": 7}, Counter())
    assert isinstance(turn, dict)
    assert turn["text"] == "7"


def test_a_word_can_mean_a_role_that_there_is_alone() -> None:
    lines = '[turns]\nconversation_id = "c"\ntext = "said"\nrole = { path = "who", desk = "king" }'
    with pytest.raises(ConfigError, match=r"\[turns\] role: expected user, .* as what 'desk' means, got 'king'"):
        parse_format_mapping(lines, "m.toml")


@pytest.mark.parametrize("value", ["[" * 5_000 + "]" * 5_000, "9" * 5_000])
def test_a_mapping_that_cannot_be_read_is_refused_in_one_line(value: str) -> None:
    with pytest.raises(ConfigError, match=r"^m.toml: expected TOML, got a file that does not parse: [^\n]{10,200}$"):
        parse_format_mapping(f"x = {value}", "m.toml")


def test_a_line_that_a_mapping_lacks_is_named() -> None:
    with pytest.raises(ConfigError, match=r"^m.toml: expected text in \[turns\], got no line for it"):
        parse_format_mapping('[turns]\nconversation_id = "c"\nrole = "who"', "m.toml")


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ('date_format = "%m/%d/%Y"', 'try date_format = "%d.%m.%Y %H:%M:%S"'),
        ("", 'try date_format = "%d.%m.%Y %H:%M:%S"'),
    ],
)
def test_a_time_that_is_written_otherwise_is_refused_with_its_own_format(given: str, hint: str) -> None:
    text = f'[turns]\nconversation_id = "c"\nrole = "r"\ntext = "t"\ntimestamp = "at"\n{given}\n'
    record = {"c": "1", "r": "user", "t": "Hi", "at": "20.11.2026 10:00:00"}
    with pytest.raises(Refused) as refused:
        list(parse_format_mapping(text, "a.toml").read(record, Counter()))
    assert hint in refused.value.shown
