"""A summary is declared once: what is written is what the schema says, and what older versions wrote is still read."""

import orjson

from turnsignal.agents.commands.schemas import schema_of
from turnsignal.stream.records.summaries import SUMMARIES, Summary
from turnsignal.stream.testing import Played, make_record, reply, user


def closed() -> Played:
    return Played().say(user("u1", 0), reply("a1", 1, version="v2"), user("u2", 2, "Thank you, that helps a lot!"))


def test_a_summary_holds_the_fields_of_its_schema_in_their_order() -> None:
    (written,) = closed().close().written("conversations")
    assert [*written, "votes", "awaiting"] == list(schema_of("conversation")["properties"])
    summary = SUMMARIES.validate_json(orjson.dumps(written), strict=True)
    assert (summary.conversation_id, summary.version, summary.turns, summary.went_on) == ("c", "v2", 3, 1)
    assert orjson.loads(summary.encode()) == written


def test_votes_are_written_where_there_are_any() -> None:
    played = closed()
    vote = make_record(0, 3, id="f1", turn_id="a1", kind="vote", vote=-1)
    (written,) = played.keep(played.processor.process([], 0.0, feedback=[vote])).close().written("conversations")
    assert (written["votes"]["down"], written["votes"]["contradicted"]) == (1, ["a1"])
    assert SUMMARIES.validate_json(orjson.dumps(written), strict=True).votes == written["votes"]


def test_a_summary_of_an_earlier_version_is_read_with_defaults() -> None:
    (written,) = closed().close().written("conversations")
    for name in ("went_on", "clarification_free", "environment"):
        del written[name]
    summary: Summary = SUMMARIES.validate_python(written)
    assert (summary.went_on, summary.clarification_free, summary.environment) == (None, None, "production")
