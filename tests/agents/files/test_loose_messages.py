"""Messages one a record that name no conversation: taken for one, and doubted where they show that they are several."""

from pathlib import Path

import orjson
import pytest

from turnsignal.agents.files.importing import Imported
from turnsignal.agents.files.recognising import HowToRead

SEVERAL = "look like several"


def warnings_of(path: Path, roles: str, *texts: str) -> list[str]:
    """Return what is said of messages, one a line, by the first letters of their roles."""
    names = {"u": "user", "a": "assistant", "s": "system"}
    messages = [{"role": names[role], "content": f"Text {number}"} for number, role in enumerate(roles)]
    for message, text in zip((each for each in messages if each["role"] != "user"), texts, strict=False):
        message["content"] = text or message["content"]
    path.write_bytes(b"".join(orjson.dumps(message) + b"\n" for message in messages))
    with Imported([path], HowToRead()) as imported:
        (report,) = imported.reports
    return report.warnings


@pytest.mark.parametrize(
    ("roles", "texts"),
    [
        ("ua" * 20 + "uuaa" * 5, ()),
        ("uuauaa" * 8, ()),
        ("sua" * 3, ("Be kind.", "") * 3),
        ("aua" * 3, ("Hello! How can I help?", "") * 3),
    ],
    ids=["two at once", "three at once", "system prompts", "greetings"],
)
def test_messages_that_show_several_conversations_are_doubted(
    roles: str, texts: tuple[str, ...], tmp_path: Path
) -> None:
    (warning,) = warnings_of(tmp_path / "log.jsonl", roles, *texts)
    assert warning.startswith(f"{len(roles)} messages one a record, taken for one conversation, {SEVERAL}")


@pytest.mark.parametrize(
    "roles",
    ["ua" * 100, "s" + "ua" * 50, "a" + "uua" * 30, "uaa" * 30, "ua" * 20 + "uuaa" * 2, "uuaua" * 10],
    ids=["exchanges", "a system prompt", "written twice", "answered twice", "both at times", "in haste"],
)
def test_one_conversation_is_not_doubted(roles: str, tmp_path: Path) -> None:
    assert not any(SEVERAL in warning for warning in warnings_of(tmp_path / "log.jsonl", roles))
