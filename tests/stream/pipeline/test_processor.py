"""A partition gives the same for the same records, however they are batched, restarted or mixed with others."""

import itertools
from collections import Counter, defaultdict
from typing import Any, NamedTuple

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from turnsignal.stream.conversations.clock import Moment
from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.state import VERSION, Conversation, restore
from turnsignal.stream.errors import Reason, SchemaError
from turnsignal.stream.pipeline.allowance import BYTES
from turnsignal.stream.pipeline.batch_output import BatchOutput
from turnsignal.stream.pipeline.batch_result import BatchResult
from turnsignal.stream.pipeline.closing import Closing
from turnsignal.stream.pipeline.conversation_processor import ConversationProcessor
from turnsignal.stream.pipeline.feedback_scoring import FeedbackScorer
from turnsignal.stream.pipeline.processor import PartitionProcessor
from turnsignal.stream.records.scores import Outcome
from turnsignal.stream.records.wire import OutputRecord, size_of
from turnsignal.stream.suite import Suite, parse_suite
from turnsignal.stream.testing import T0, FakeRecord, decoded, make_record, play

ANSWER = "Look under settings [a]."
#: What each says does not depend on the prompt before it, so a late prompt changes no value.
SAYINGS = (
    "No, I meant the blue one, not the red one.",
    "Thank you, that helps a lot!",
    "This is useless, you keep failing me.",
    "Can you explain that in more detail?",
    "Please put that into a table.",
    "Can you search for trains instead?",
    "What about partial refunds?",
    "You misunderstood my question.",
    "How do I reset my password?",
    "Where is the nearest office?",
)


class Turn(NamedTuple):
    """role: as in a record, or gap_user, gap_assistant for one that cannot be read."""

    role: str
    turn_id: str
    time: float
    text: str = ANSWER
    conversation: str = "c"


def record(offset: int, turn: Turn) -> FakeRecord:
    text = None if turn.role.startswith("gap_") else turn.text
    more = {"retrieved": [{"doc_id": "a"}, {"doc_id": "b"}]} if turn.role == "assistant" else {}
    role = turn.role.removeprefix("gap_")
    return make_record(offset, turn.time, turn.conversation, turn_id=turn.turn_id, role=role, text=text, **more)


def records(turns: list[Turn]) -> list[FakeRecord]:
    return [record(offset, turn) for offset, turn in enumerate(turns)]


def newest(outputs: list[OutputRecord]) -> dict[tuple[str, str, str], Any]:
    """What a reader of scores holds: the newest row per conversation, turn and stage."""
    return {(row["conversation_id"], row["turn_id"], row["stage"]): row for row in decoded(outputs)}


def taken_apart(outputs: list[OutputRecord]) -> set[tuple[str, str, str]]:
    """Where messages were one follow-up until a late answer came between them: the row's id tells of that."""
    before: dict[tuple[str, str, str], list[str]] = {}
    apart = set()
    for row in decoded(outputs):
        name = (row["conversation_id"], row["turn_id"], row["stage"])
        messages = row.get("follow_ups", [row.get("follow_up")])
        if len(messages) < len(before.get(name, [])) and before[name][: len(messages)] == messages:
            apart.add(name)
        before[name] = messages
    return apart


def everything(outputs: list[OutputRecord]) -> dict[tuple[str, bytes | None], list[bytes | None]]:
    """All outputs in their order by topic and key, but the series, whose packing follows the batches."""
    written = defaultdict(list)
    for out in outputs:
        if out.topic != "series":
            written[out.topic, out.key].append(out.value)
    return dict(written)


# -- against a reference that sorts first and decides everything from scratch --------------------------------


class Paired(NamedTuple):
    outcome: str
    follow_up: str | None
    label: str | None
    unscored: str | None


def reference(turns: list[Turn]) -> tuple[dict[str, Paired], int, int, list[float]]:
    """Pair one conversation: turn id → how its exchange closed; clarifications; superseded; follow-up scores."""
    latest, heard, gaps = None, [], 0
    for arrival, turn in enumerate(turns):
        if turn.role.startswith("gap_"):
            if latest is None:
                continue  # of a conversation that nobody knows yet
            gaps += 1
            turn = turn._replace(turn_id=f"gap:{gaps}", time=latest)
        else:
            latest = turn.time if latest is None else max(latest, turn.time)
        heard.append((turn.time, arrival, turn))
    ordered = [turn for _, _, turn in sorted(heard, key=lambda one: one[:2]) if turn.role not in ("system", "tool")]
    paired, values = {}, []
    clarifications = superseded = 0
    for place, turn in enumerate(ordered):
        if turn.role != "assistant" or not any(t.role in ("user", "gap_user") for t in ordered[:place]):
            continue
        rest = ordered[place + 1 :]
        after = next((t for t in rest if t.role != "gap_assistant"), None)
        if after is None:
            continue
        if after.role == "assistant":
            paired[turn.turn_id] = Paired("superseded", None, "superseded", "not_applicable")
            superseded += 1
        elif after.role == "gap_user" or rest[0].role == "gap_assistant":
            paired[turn.turn_id] = Paired("followed_up", after.turn_id, None, "gap")
        else:
            together = itertools.takewhile(lambda t: t.role == "user", rest)
            text = "\n".join(said.text for said in together)
            reading = SUITE.follow_up_rules.read(Exchange("", turn.text, text))
            label = reading.label if reading.unscored is None else None
            paired[turn.turn_id] = Paired("followed_up", after.turn_id, label, reading.unscored)
            clarifications += reading.clarification
            if reading.strict is not None:
                values.append(reading.strict)
    return paired, clarifications, superseded, values


def as_paired(row: dict[str, Any]) -> Paired:
    score = row["scores"][0]
    return Paired(row["outcome"], row.get("follow_up"), score.get("label"), score.get("unscored"))


@st.composite
def conversations(draw: st.DrawFn, name: str = "c", roles: str = "uuuaaasUA") -> list[Turn]:
    """One conversation in its order of arrival: event times in any order, some equal, some records unreadable."""
    names = {"u": "user", "a": "assistant", "s": "system", "U": "gap_user", "A": "gap_assistant"}
    drawn = draw(st.lists(st.tuples(st.sampled_from(roles), st.integers(0, 12)), min_size=1, max_size=12))
    turns, said = [], iter(draw(st.permutations(SAYINGS)))
    for number, (role, time) in enumerate(drawn):
        text = next(said, None) if role == "u" else ANSWER
        if text is not None:
            turns.append(Turn(names[role], f"{role}{number}", time, text, name))
    return turns


SUITE = Suite()
ROOMY = parse_suite("[conversations]\nkept_turns = 50")


@examples(200)
@given(conversations())
def test_any_order_of_arrival_pairs_as_sorting_the_whole_conversation_does(turns: list[Turn]) -> None:
    processor = PartitionProcessor(ROOMY)
    outputs = play(processor, records(turns))
    paired, clarifications, superseded, values = reference(turns)
    rows = {turn: row for (_, turn, stage), row in newest(outputs).items() if stage == "follow_up"}
    assert {turn: as_paired(row) for turn, row in rows.items()} == paired
    about = processor.describe(b"c")
    if about is None:
        return
    assert (about["clarifications"], about["superseded"]) == (clarifications, superseded)
    kept = about["scores"].get("follow_up", {"n": 0, "mean": 0.0})
    assert kept["n"] == len(values)
    assert kept["n"] * kept["mean"] == pytest.approx(sum(values))
    for size in (300, 3600):
        inside = [w["scores"].get("follow_up", {"n": 0})["n"] for w in about["windows"] if w["size"] == size]
        assert sum(inside) == len(values)


@examples(100)
@given(conversations())
def test_a_replaced_row_is_named_by_the_row_that_replaces_it(turns: list[Turn]) -> None:
    current: dict[tuple[str, str], str] = {}
    ids = set()
    for row in decoded(play(PartitionProcessor(ROOMY), records(turns))):
        assert row["id"] not in ids
        ids.add(row["id"])
        place = (row["turn_id"], row["stage"])
        assert row.get("replaces") == current.get(place)
        current[place] = row["id"]


# -- batches, restarts, neighbours ---------------------------------------------------------------------------


@st.composite
def traffic(draw: st.DrawFn) -> list[Turn]:
    """Three conversations, mixed, with silences long enough to close and to forget, and turns that come twice."""
    turns = [turn for name in "cde" for turn in draw(conversations(name))]
    scale = draw(st.sampled_from([1, 200, 1000, 9000]))
    turns = [turn._replace(time=turn.time * scale) for turn in draw(st.permutations(turns))]
    again = draw(st.lists(st.sampled_from(turns), max_size=3))
    return turns + again


@examples(100)
@given(traffic(), st.data())
def test_batches_may_be_cut_anywhere(turns: list[Turn], data: st.DataObject) -> None:
    came = records(turns)
    cuts = data.draw(st.lists(st.integers(0, len(came)), max_size=5))
    whole, cut, single = PartitionProcessor(SUITE), PartitionProcessor(SUITE), PartitionProcessor(SUITE)
    expected = everything(play(whole, came))
    assert everything(play(cut, came, cuts)) == expected
    assert everything(play(single, came, list(range(1, len(came))))) == expected
    assert cut.store == single.store == whole.store
    assert everything(cut.close_all().outputs) == everything(whole.close_all().outputs)


@examples(100)
@given(traffic(), st.data())
def test_a_restart_changes_nothing(turns: list[Turn], data: st.DataObject) -> None:
    came = records(turns)
    at = data.draw(st.integers(0, len(came)))
    steady, first = PartitionProcessor(SUITE), PartitionProcessor(SUITE)
    outputs = play(steady, came, [at])
    again = play(first, came[:at])
    second = PartitionProcessor(SUITE, dict(first.store))
    assert second.read_store() == max((restore(value).offset for value in first.store.values()), default=-1)
    assert second.clock.time == first.clock.time
    again += play(second, came[at:])
    assert everything(again) == everything(outputs)
    assert second.store == steady.store
    late = [record(len(came), Turn("user", "last", 999_999, "Hello?", "z"))]
    assert everything(play(second, late)) == everything(play(steady, late))
    assert set(second.store) == set(steady.store) == {b"z"}


@examples(200)
@given(traffic())
def test_a_snapshot_is_restored_as_it_was(turns: list[Turn]) -> None:
    processor = PartitionProcessor(SUITE)
    play(processor, records(turns))
    for value in processor.store.values():
        assert restore(value).snapshot() == value


@examples(100)
@given(traffic())
def test_sorted_turns_give_each_conversation_what_it_gets_alone(turns: list[Turn]) -> None:
    """Close rows too: in order of event time, nobody's neighbours can close a conversation before its own next turn."""
    turns = sorted((turn for turn in turns if not turn.role.startswith("gap_")), key=lambda turn: turn.time)
    came = records(turns)
    together = PartitionProcessor(SUITE)
    rows = Counter(map(orjson.dumps, decoded(play(together, came) + together.close_all().outputs)))
    apart: Counter[bytes] = Counter()
    for name in {one.key for one in came}:
        alone = PartitionProcessor(SUITE)
        mine = [one for one in came if one.key == name]
        apart.update(map(orjson.dumps, decoded(play(alone, mine) + alone.close_all().outputs)))
    assert rows == apart


@examples(100)
@given(traffic(), st.randoms(use_true_random=False))
def test_neighbours_may_be_mixed_in_any_way_within_the_idle_time(turns: list[Turn], random: Any) -> None:
    turns = [turn._replace(time=turn.time % 60) for turn in turns]
    queues = defaultdict(list)
    for turn in turns:
        queues[turn.conversation].append(turn)
    order = [turn.conversation for turn in turns]
    random.shuffle(order)
    mixed = [queues[name].pop(0) for name in order]
    scores = [
        {
            key: (row["id"], row["scores"], row["time"])
            for key, row in newest(play(PartitionProcessor(SUITE), came)).items()
        }
        for came in (numbered(turns), numbered(mixed))
    ]
    assert scores[0] == scores[1]


@examples(100)
@given(traffic(), st.data())
def test_what_came_in_disorder_ends_as_it_does_in_order(turns: list[Turn], data: st.DataObject) -> None:
    """Live and replay promise equal ids and values for response and follow-up rows."""
    turns = [turn._replace(time=turn.time % 60) for turn in turns if not turn.role.startswith("gap_")]
    turns = list({(turn.conversation, turn.turn_id): turn for turn in turns}.values())
    jitter = data.draw(st.lists(st.integers(0, 30), min_size=len(turns), max_size=len(turns)))
    ordered = sorted(turns, key=lambda turn: turn.time)
    late = [turn for _, turn in sorted(zip(jitter, ordered, strict=True), key=lambda pair: pair[0] + pair[1].time)]
    untied = [turn._replace(time=turn.time + ordered.index(turn) / 1000) for turn in late]
    live, replayed = (
        play(PartitionProcessor(ROOMY), records(untied)),
        play(PartitionProcessor(ROOMY), records(sorted(untied, key=by_time))),
    )
    apart = {place for outputs in (live, replayed) for place in taken_apart(outputs)}
    ours, theirs = ids_and_values(live), ids_and_values(replayed)
    assert {place: row[1:] for place, row in ours.items()} == {place: row[1:] for place, row in theirs.items()}
    assert {place: row for place, row in ours.items() if place not in apart} == {
        place: row for place, row in theirs.items() if place not in apart
    }


def by_time(turn: Turn) -> float:
    return turn.time


def ids_and_values(outputs: list[OutputRecord]) -> dict[tuple[str, str, str], tuple[str, Any]]:
    return {key: (row["id"], row["scores"]) for key, row in newest(outputs).items() if key[2] != "close"}


def numbered(turns: list[Turn]) -> list[FakeRecord]:
    """Number each conversation by itself, so that a gap is called the same wherever the neighbours stand."""
    counts: Counter[str] = Counter()
    came = []
    for turn in turns:
        came.append(record(counts[turn.conversation], turn))
        counts[turn.conversation] += 1
    return came


def test_a_batch_that_is_not_accepted_leaves_the_store_alone() -> None:
    processor = PartitionProcessor(SUITE)
    first = processor.process(records([Turn("user", "u1", 0)]), T0)
    assert processor.store == {}
    assert processor.conversation(b"c") is None
    again = PartitionProcessor(SUITE).process(records([Turn("user", "u1", 0)]), T0)
    assert (again.outputs, again.changes) == (first.outputs, first.changes)


def test_newer_state_is_refused_with_a_message_that_says_so() -> None:
    newer = PartitionProcessor(SUITE, {b"c": Conversation(version=VERSION + 1).snapshot()})
    with pytest.raises(SchemaError, match=f"version {VERSION} or older, got {VERSION + 1}"):
        newer.read_store()


def test_nothing_at_all_is_an_empty_batch() -> None:
    processor = PartitionProcessor(SUITE)
    batch = processor.process([], T0)
    assert (batch.outputs, batch.changes, set(batch.consumed.values())) == ([], {}, {0})
    assert processor.close_all().outputs == []


def test_no_conversation_has_a_key_that_cannot_begin_an_id() -> None:
    """Such keys are reserved: positions lie beside the conversations in the changelog, under one that begins so."""
    processor = PartitionProcessor(SUITE, skip_applied=True)
    keys = [b"\xff", b"\xffpositions", b"\xfe", b"\x80c", "ÿc".encode("latin-1")]
    came = [
        FakeRecord(n, key, record(n, Turn(role, "u1", n)).value, STAMP)
        for n, key in enumerate(keys)
        for role in ("user", "gap_user")
    ]
    batch = processor.process(came, T0, [FakeRecord(n, key, None, STAMP) for n, key in enumerate(keys)])
    assert batch.changes == {}
    assert batch.deltas.records["turnsignal.turns", "dead_letter"] == 2 * len(keys)


# -- silence, in a partition whose owner changes -------------------------------------------------------------


def silent_since_25_minutes(boot: str = "boot", wall: float = T0 + 1500, steady: float = 2000.0) -> PartitionProcessor:
    """A partition just restored; the last turns came at T0, at 500 s of a clock that began with the machine."""
    before = PartitionProcessor(SUITE)
    play(before, records([Turn("user", "u1", 0), Turn("assistant", "a1", 1)]))
    processor = PartitionProcessor(SUITE, before.store)
    processor.read_store()
    processor.resume(Moment(T0, 500.0, "boot"), Moment(wall, steady, boot))
    return processor


def closed_after(processor: PartitionProcessor, begin: float) -> int | None:
    """Look every ten seconds for an hour, and return after how many the conversation was closed."""
    for second in range(0, 3600, 10):
        processor.accept(processor.process([], begin + second))
        if orjson.loads(orjson.dumps(processor.describe(b"c")))["closes"]:
            return second
    return None


def test_a_restart_does_not_begin_silence_anew() -> None:
    assert closed_after(silent_since_25_minutes(), 2000.0) == 320


@pytest.mark.parametrize("step", [1860.0, -1860.0, 1e9])
def test_a_wall_clock_that_is_stepped_closes_nothing(step: float) -> None:
    assert closed_after(silent_since_25_minutes(wall=T0 + 1500 + step), 2000.0) == 320


def test_on_another_machine_a_wrong_wall_clock_closes_nothing_that_was_in_use_a_quarter_of_an_hour_before() -> None:
    assert closed_after(silent_since_25_minutes("another", wall=T0 + 1e9, steady=7.0), 7.0) == 920
    assert closed_after(silent_since_25_minutes("another", wall=T0 + 600, steady=7.0), 7.0) == 1220


def test_a_restart_after_a_long_time_waits_for_what_may_be_on_its_way() -> None:
    processor = silent_since_25_minutes(steady=500.0 + 86_000)
    processor.accept(processor.process([], 86_501.0))
    processor.accept(processor.process([record(2, Turn("user", "u2", 20.0))], 86_502.0))
    assert closed_after(processor, 86_503.0) == 1800


# -- records that were taken in before -----------------------------------------------------------------------


def test_records_that_were_applied_before_are_skipped_when_asked_to() -> None:
    came = records([Turn("user", "u1", 0, SAYINGS[8]), Turn("gap_user", "x", 2), Turn("assistant", "a1", 1)])
    processor = PartitionProcessor(SUITE, skip_applied=True)
    play(processor, came)
    state = dict(processor.store)
    batch = processor.process(came, T0)
    assert [out for out in batch.outputs if out.topic == "scores"] == []
    assert batch.deltas.records["turnsignal.turns", "applied_before"] == 2
    assert {key: value for key, value in batch.changes.items() if value != state[key]} == {}
    more = play(processor, [record(3, Turn("user", "u2", 3, SAYINGS[0]))])
    assert set(newest(more)) == {("c", "a1", "follow_up")}


# -- bad input -----------------------------------------------------------------------------------------------


GOOD = orjson.loads(record(0, Turn("user", "u9", 5, SAYINGS[0])).value or b"")
STAMP = round(T0 * 1000)
DEEP = b"[" * 10_000 + b"]" * 10_000


def bad(**changes: Any) -> bytes:
    return orjson.dumps(GOOD | changes)


BAD: dict[str, tuple[bytes | None, bytes | None, Reason]] = {
    "tombstone": (b"c", None, Reason.TOMBSTONE),
    "no key": (None, bad(), Reason.EMPTY_KEY),
    "empty key": (b"", bad(), Reason.EMPTY_KEY),
    "another key": (b"d", bad(), Reason.KEY_MISMATCH),
    "not JSON": (b"c", b"\x00\x01\x02", Reason.NOT_JSON),
    "NaN": (b"c", bad()[:-1] + b',"x":NaN}', Reason.NOT_JSON),
    "lone surrogate": (b"c", bad()[:-1] + b',"x":"\\udc00"}', Reason.NOT_JSON),
    "too deep": (b"c", DEEP, Reason.TOO_DEEP),
    "1 000 deep in a field": (b"c", bad()[:-1] + b',"text":' + b"[" * 1000 + b"]" * 1000 + b"}", Reason.WRONG_TYPE),
    "missing field": (b"c", orjson.dumps({k: v for k, v in GOOD.items() if k != "text"}), Reason.MISSING_FIELD),
    "wrong type": (b"c", bad(text=5), Reason.WRONG_TYPE),
    "unknown role": (b"c", bad(role="bot"), Reason.UNKNOWN_ROLE),
    "NUL in an id": (b"c", bad(turn_id="a\0"), Reason.BAD_ID),
    "not a time": (b"c", bad(timestamp="soon"), Reason.BAD_TIMESTAMP),
    "the year 2200": (b"c", bad(timestamp="2200-01-01T00:00:00Z"), Reason.FUTURE_TIMESTAMP),
    "10 MB": (b"c", bad(text="x" * 10_000_000), Reason.TOO_LARGE),
    "50 000 documents": (b"c", bad(retrieved=[{"doc_id": "a"}] * 50_000), Reason.TOO_MANY_DOCUMENTS),
    "conflict": (b"c", bad(turn_id="u1", text="another"), Reason.CONFLICT),
}


@pytest.mark.parametrize(("key", "value", "reason"), BAD.values(), ids=BAD)
def test_a_bad_record_is_a_dead_letter_and_its_neighbours_are_scored(
    key: bytes | None, value: bytes | None, reason: Reason
) -> None:
    before = records([Turn("user", "u1", 0, SAYINGS[8], "c"), Turn("user", "v1", 0, SAYINGS[8], "d")])
    after = [Turn("assistant", "a1", 1, ANSWER, "c"), Turn("assistant", "b1", 1, ANSWER, "d")]
    after += [Turn("user", "u2", 2, SAYINGS[0], "c"), Turn("user", "v2", 2, SAYINGS[1], "d")]
    processor = PartitionProcessor(SUITE, topic="some.turns", partition=3)
    came = [*before, FakeRecord(2, key, value, STAMP), *[record(3 + n, turn) for n, turn in enumerate(after)]]
    batch = processor.process(came, T0)
    (letter,) = [out for out in batch.outputs if out.topic == "dead_letters"]
    headers = dict(letter.headers or [])
    assert (headers["reason"], headers["topic"], headers["partition"], headers["offset"]) == (
        reason.encode(),
        b"some.turns",
        b"3",
        b"2",
    )
    assert headers["detail"]
    assert letter.key == key
    assert letter.value == (None if value is None else b"")
    assert batch.deltas.dead_letters["some.turns", reason] == 1
    rows = newest(batch.outputs)
    assert set(rows) == {(c, t, s) for c, t in (("c", "a1"), ("d", "b1")) for s in ("response", "follow_up")}
    assert rows["d", "b1", "follow_up"]["scores"][0]["label"] == "thanks"


SAID = "call me tomorrow at nine"
SAYING = {
    "text too long": bad(text=SAID * 10_000),
    "text in the place of a role": bad(role=SAID),
    "text in the place of a time": bad(timestamp=SAID),
    "text in the place of documents": bad(retrieved=SAID),
    "text in the place of a rank": bad(retrieved=[{"doc_id": "a", "rank": SAID}]),
    "text in a list": bad(text=[SAID]),
    "no JSON": b"{" + SAID.encode(),
    "no conversation": orjson.dumps({"text": SAID}),
    "conflict": bad(turn_id="u1", text=SAID),
}


@pytest.mark.parametrize("value", SAYING.values(), ids=SAYING)
def test_a_dead_letter_keeps_nothing_that_was_said_unless_asked(value: bytes) -> None:
    came = [record(0, Turn("user", "u1", 0)), FakeRecord(1, b"c", value, STAMP)]
    letters = [
        next(
            out
            for out in PartitionProcessor(SUITE, full_letters=full).process(came, T0).outputs
            if out.topic == "dead_letters"
        )
        for full in (False, True)
    ]
    short, full = (b"".join([letter.value or b"", *(text for _, text in letter.headers or [])]) for letter in letters)
    assert b"tomorrow" not in short
    assert value[:100_000] in full


def test_a_full_dead_letter_also_shows_what_came_in_its_detail() -> None:
    came = [FakeRecord(1, b"c", bad(role="robot 7"), STAMP)]
    details = [
        dict(PartitionProcessor(SUITE, full_letters=full).process(came, T0).outputs[0].headers or [])["detail"]
        for full in (False, True)
    ]
    assert details[0].endswith(b"got a text of 7 characters")
    assert details[1].endswith(b"got a text of 7 characters: 'robot 7'")


def test_a_large_dead_letter_says_how_large_the_record_was() -> None:
    value = bad(text="x" * 10_000_000)
    (letter,) = PartitionProcessor(SUITE).process([FakeRecord(0, b"c", value, STAMP)], T0).outputs
    headers = dict(letter.headers or [])
    assert headers["length"] == str(len(value)).encode()
    assert len(headers["sha256"]) == 64
    assert letter.value == b""


@pytest.mark.parametrize("stamp", ["2025-06-15T15:06:45", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00"])
def test_odd_timestamps_are_taken_in(stamp: str) -> None:
    batch = PartitionProcessor(SUITE).process([FakeRecord(0, b"c", bad(timestamp=stamp), STAMP)], T0)
    assert batch.deltas.records["turnsignal.turns", "scored"] == 1
    assert batch.deltas.pairing["naive_timestamp"] == (0 if stamp.endswith("Z") else 1)


def test_a_record_without_a_broker_time_is_taken_in() -> None:
    processor = PartitionProcessor(SUITE)
    processor.process([FakeRecord(0, b"c", bad(), -1)], T0)
    assert processor.clock.time == T0 + 5


def test_a_rank_that_fits_no_integer_does_not_stop_the_judges_queue() -> None:
    processor = PartitionProcessor(parse_suite("[exchanges]\nshare = 1.0"))
    value = bad(role="assistant", retrieved=[{"doc_id": "a", "rank": "9" * 30}])
    assert [out.topic for out in processor.process([FakeRecord(0, b"c", value, STAMP)], T0).outputs] == ["dead_letters"]


def test_one_record_cannot_run_the_clock_ahead() -> None:
    processor = PartitionProcessor(SUITE)
    play(processor, records([Turn("user", "u1", 0)]))
    ahead = record(1, Turn("user", "v1", 80_000, conversation="d"))._replace(timestamp=round((T0 + 1) * 1000))
    play(processor, [ahead])
    assert processor.clock.time == T0 + 1
    about = processor.describe(b"c")
    assert about is not None
    assert about["open"]


def test_a_key_of_a_megabyte_is_a_dead_letter_that_fits_and_never_a_state() -> None:
    key = b"k" * 1_048_400
    came = [
        FakeRecord(0, key, b"x", STAMP),
        FakeRecord(1, key, bad(), STAMP),
        FakeRecord(2, key, None, STAMP),
        FakeRecord(3, b"c", bad(), STAMP),
    ]
    processor = PartitionProcessor(SUITE)
    batch = processor.process(came, T0, [FakeRecord(0, key, b"x", STAMP)])
    letters = [out for out in batch.outputs if out.topic == "dead_letters"]
    said = [dict(letter.headers or []) for letter in letters]
    assert [(one["topic"], one["reason"]) for one in said] == [
        *[(b"turnsignal.turns", b"bad_id")] * 3,
        (b"turnsignal.forget", b"bad_id"),
    ]
    assert {(one["key_length"], len(one["key_sha256"])) for one in said} == {(b"1048400", 64)}
    assert max(map(size_of, batch.outputs)) < 103_000
    assert set(batch.changes) == {b"c"}
    assert batch.deltas.dead_letters["turnsignal.forget", Reason.BAD_ID] == 1


@pytest.mark.parametrize(("key", "reason"), [(None, b"empty_key"), (b"", b"empty_key"), (b"\xff", b"bad_id")])
def test_a_request_to_forget_what_is_no_conversation_is_a_dead_letter_and_no_tombstone(
    key: bytes | None, reason: bytes
) -> None:
    batch = PartitionProcessor(SUITE).process([], T0, [FakeRecord(5, key, b"", STAMP), FakeRecord(6, b"c", b"", STAMP)])
    letter, tombstone = batch.outputs
    headers = dict(letter.headers or [])
    assert (letter.topic, headers["topic"], headers["offset"]) == ("dead_letters", b"turnsignal.forget", b"5")
    assert headers["reason"] == reason
    assert tombstone == OutputRecord("conversations", b"c", None)


# -- a budget --------------------------------------------------------------------------------------------------


class Ticking:
    """A clock that goes on by a step each time that it is asked."""

    def __init__(self, step: float = 1.0) -> None:
        self.time, self.step = 0.0, step

    def __call__(self) -> float:
        self.time += self.step
        return self.time


def test_a_batch_ends_when_its_time_is_over_and_says_how_far_it_came() -> None:
    processor = PartitionProcessor(
        SUITE, topic="some.turns", feedback_topic="some.feedback", forget_topic="some.forget"
    )
    came = records([Turn("user" if n % 2 == 0 else "assistant", f"t{n}", n, SAYINGS[8]) for n in range(20)])
    batch = processor.process(came, T0, clock=Ticking(), budget=5.0)
    assert batch.consumed == {"some.turns": 5, "some.feedback": 0, "turnsignal.verdicts": 0, "some.forget": 0}
    assert batch.deltas.records["some.turns", "scored"] == 5


def test_batches_that_end_early_write_the_same_as_one_that_does_not() -> None:
    came = records([Turn("user" if n % 2 == 0 else "assistant", f"t{n}", n, SAYINGS[n % 10]) for n in range(40)])
    whole, cut = PartitionProcessor(SUITE), PartitionProcessor(SUITE)
    outputs, left = [], came
    while left:
        batch = cut.process(left, T0, clock=Ticking(), budget=3.0)
        cut.accept(batch)
        outputs += batch.outputs
        left = left[batch.consumed["turnsignal.turns"] :]
    assert everything(outputs) == everything(play(whole, came))
    assert cut.store == whole.store


def test_a_batch_ends_when_much_is_to_be_written_and_the_rest_goes_on_in_the_next() -> None:
    suite = Suite.model_validate({"exchanges": {"share": 1.0}})
    long = [Turn("user", f"u{n}", n, "\x01" * 199_000, conversation=f"c{n}") for n in range(20)]
    came = records([*long, *(Turn("assistant", f"a{n}", 60 + n, "ok", conversation=f"c{n}") for n in range(20))])
    whole, cut = PartitionProcessor(suite), PartitionProcessor(suite)
    outputs, left, sizes = [], came, []
    while left:
        batch = cut.process(left, T0, clock=Ticking(0.0))
        cut.accept(batch)
        outputs += batch.outputs
        sizes.append(sum(len(output.value or b"") for output in batch.outputs))
        left = left[batch.consumed["turnsignal.turns"] :]
    assert (len(sizes), sum(sizes) > BYTES, max(sizes) < BYTES + 1_300_000) == (2, True, True)
    assert everything(outputs) == everything(play(whole, came))
    assert cut.store == whole.store


def test_one_record_is_done_however_little_time_there_is() -> None:
    came = records([Turn("user", "u1", 0), Turn("user", "u2", 1)])
    assert PartitionProcessor(SUITE).process(came, T0, clock=Ticking(), budget=0.0).consumed["turnsignal.turns"] == 1


def test_turns_that_use_up_the_time_hold_up_neither_requests_to_forget_nor_what_is_due() -> None:
    processor = PartitionProcessor(SUITE)
    play(processor, records([Turn("user", "u", n / 100, conversation=f"c{n}") for n in range(300)]))
    late = [record(9000 + n, Turn("user", f"z{n}", 5000 + n, conversation="z")) for n in range(3)]
    forget = [FakeRecord(n, f"c{n}".encode(), b"", STAMP) for n in range(200, 300)]
    batch = processor.process(late, T0, forget, clock=Ticking(), budget=0.0)
    nothing = {"turnsignal.feedback": 0, "turnsignal.verdicts": 0}
    assert batch.consumed == {**nothing, "turnsignal.turns": 1, "turnsignal.forget": 50}
    assert batch.deltas.pairing["forgotten"] == 50
    assert len(decoded(batch.outputs, "conversations")) == 50
    whole = {**nothing, "turnsignal.turns": 3, "turnsignal.forget": 100}
    assert processor.process(late, T0, forget).consumed == whole


# -- bounded -------------------------------------------------------------------------------------------------


def test_a_snapshot_does_not_grow_with_the_conversation() -> None:
    processor = PartitionProcessor(SUITE)
    sizes = []
    for part in range(4):
        turns = [
            Turn("user" if n % 2 == 0 else "assistant", f"turn-{n}", n, f"Message {n} " + "x" * 100)
            for n in range(part * 2000, (part + 1) * 2000)
        ]
        processor.accept(processor.process(records(turns), T0))
        sizes.append(len(processor.store[b"c"]))
    assert max(sizes) < 8_000
    assert sizes[3] - sizes[1] < 100


def test_no_text_beyond_what_is_kept_and_no_document_is_in_a_snapshot() -> None:
    processor = PartitionProcessor(parse_suite("[conversations]\nkept_characters = 100"))
    value = bad(
        turn_id="a1",
        role="assistant",
        text="é" * 100 + "SECRET TAIL" * 1000,
        retrieved=[
            {"doc_id": "DOCUMENT ID", "text": "DOCUMENT TEXT", "title": "DOCUMENT TITLE", "url": "DOCUMENT URL"}
        ],
        user_id="USER",
        metadata={"a": "METADATA"},
        truth={"reference": "TRUTH"},
    )
    processor.accept(processor.process([FakeRecord(0, b"c", value, STAMP)], T0))
    snapshot = processor.store[b"c"].decode(errors="replace")
    assert "é" * 100 in snapshot
    for word in ("SECRET", "DOCUMENT", "METADATA", "TRUTH", "USER"):
        assert word not in snapshot


def test_what_is_due_is_forgotten_with_its_conversation() -> None:
    """The schedule is memory too; nothing of it stays when the last conversation has left."""
    processor = PartitionProcessor(SUITE)
    for n in range(300):
        play(processor, records([Turn("user", f"u{n}", n * 4000, conversation=f"c{n % 50}")]))
    play(processor, records([Turn("user", "z", 9_000_000, conversation="z")]))
    play(processor, records([Turn("user", "z2", 9_000_001, conversation="z")]))
    assert set(processor.store) == {b"z"}
    assert sum(len(bucket) for bucket in processor.agenda._due.values()) == 1


def test_more_conversations_than_one_sweep_takes_are_closed_over_several_batches() -> None:
    processor = PartitionProcessor(SUITE)
    play(processor, records([Turn("user", "u", n / 100, conversation=f"c{n}") for n in range(4500)]))
    summaries = 0
    for n in range(3):
        batch: BatchResult = processor.process(
            [record(9000 + n, Turn("user", f"z{n}", 2000 + n, conversation="z"))], T0
        )
        processor.accept(batch)
        assert len(batch.changes) <= 2001
        summaries += len(decoded(batch.outputs, "conversations"))
    assert summaries == 4500


def test_a_conversation_that_cannot_be_closed_is_set_aside_and_the_others_are_closed() -> None:
    sick = b"\xfe"  # no conversation of ours: its key cannot be spelled out in a summary
    processor = PartitionProcessor(
        Suite(), {key: Conversation(first=T0, last=T0, clock=T0).snapshot() for key in (sick, b"well")}
    )
    processor.read_store()
    batch = processor.process([record(0, Turn("user", "t", 86_400.0, conversation="later"))], 0.0)
    letters = [output for output in batch.outputs if output.topic == "dead_letters"]
    assert [letter.key for letter in letters] == [sick]
    assert dict(letters[0].headers or ())["reason"] == Reason.POISON.encode()
    assert batch.deltas.dead_letters == {(processor.topic, Reason.POISON): 1}
    assert batch.deltas.records == {(processor.topic, "scored"): 1}, "a conversation is no record that was read"
    assert [output.key for output in batch.outputs if output.topic == "conversations"] == [b"well"]
    assert batch.changes[sick] is None


def fail_for(sick: bytes, known: Any) -> Any:
    """A step of the pipeline that cannot be done for one conversation."""

    def fail(scorer: Any, first: Any, *more: Any) -> Any:
        if getattr(first, "key", first) in (sick, sick.decode()):
            raise ArithmeticError
        return known(scorer, first, *more)

    return fail


def three_asked_and_answered() -> PartitionProcessor:
    processor = PartitionProcessor(Suite())
    asked = [Turn("user", "u", 0.0, SAYINGS[8], name) for name in ("sick", "well", "fine")]
    play(processor, records([*asked, *(turn._replace(role="assistant", turn_id="a", time=1.0) for turn in asked)]))
    return processor


@pytest.mark.parametrize("step", [(FeedbackScorer, "on_end"), (Closing, "close"), (BatchOutput, "_encode")])
def test_a_failed_close_writes_and_counts_its_dead_letter_and_nothing_else(
    step: tuple[type, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    processor = three_asked_and_answered()
    kind, name = step
    monkeypatch.setattr(kind, name, fail_for(b"sick", getattr(kind, name)))
    batch = processor.process([record(9, Turn("user", "t", 30 * 86_400.0, conversation="later"))], 0.0)
    topics = Counter(out.topic for out in batch.outputs if out.key == b"sick")
    assert topics == {"dead_letters": 1}
    assert sum(batch.deltas.dead_letters.values()) == 1
    assert {out.key for out in batch.outputs if out.topic == "conversations"} == {b"well", b"fine"}
    assert sum(batch.deltas.outcomes.values()) == 2
    assert batch.deltas.pairing[Outcome.ENDED] == 2
    assert batch.changes[b"sick"] is None


def test_a_record_whose_gap_cannot_be_noted_is_set_aside_and_nothing_else_is_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    processor = three_asked_and_answered()
    processor.clock.time = T0 + 86_400.0  # all are due, and no sweep has come to them
    monkeypatch.setattr(ConversationProcessor, "on_gap", fail_for(b"sick", ConversationProcessor.on_gap))
    monkeypatch.setattr(Conversation, "expired_at", lambda *_: False)
    (bad,) = records([Turn("assistant", "a2", 2.0, conversation="sick")])
    batch = processor.set_aside(processor.topic, bad, "it ended each worker")
    assert [out.topic for out in batch.outputs] == ["dead_letters"]
    assert batch.changes == {b"sick": None}
    assert not batch.deltas.outcomes
    assert not batch.deltas.pairing
    assert sum(batch.deltas.dead_letters.values()) == 1


def test_a_record_that_is_set_aside_leaves_a_gap_in_its_conversation() -> None:
    processor = PartitionProcessor(Suite())
    for number, turn in enumerate([Turn("user", "t1", 0), Turn("assistant", "t2", 1)]):
        processor.accept(processor.process([record(number, turn)], 0.0))
    bad = record(2, Turn("assistant", "t3", 2))
    batch = processor.set_aside(processor.topic, bad, "it ended each worker")
    processor.accept(batch)
    assert batch.consumed == {processor.topic: 1}
    assert [dict(output.headers or ())["reason"] for output in batch.outputs] == [b"poison"]
    state = processor.conversation(b"c")
    assert state is not None
    assert state.gaps == 1


def test_setting_a_record_aside_forgets_a_conversation_that_no_topic_would_take_with_its_gap() -> None:
    processor = PartitionProcessor(SUITE, {b"c": Conversation(recent=bytes(1_045_000)).snapshot()})
    (came,) = records([Turn("user", "u1", 0, "How do I reset my password?", "c")])
    batch = processor.set_aside(processor.topic, came, "it cannot be worked on")
    assert batch.changes == {b"c": None}
    assert [out.topic for out in batch.outputs] == ["dead_letters"]
