"""Senders: that users send messages, too, so that what a prompt says of "messages" may be said of theirs.

"Customers may only send 3 messages per day. Messages over 500 characters are rejected." limits no answer.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path

from turnsignal.stream.prompts.wording import read_patterns

_BUILT = tomllib.loads(Path(__file__).with_name("senders.toml").read_text(encoding="utf-8"))
_SAYS = read_patterns(_BUILT["patterns"], **_BUILT["words"])
_SHOWN = 80  #: characters of the other sentence in the reason for a doubt


def sent_by_users(sentences: Sequence[str]) -> str | None:
    """Return the sentence that says what users send, None if there is none; sentences: with quoted text masked."""
    sending = (one for one in sentences if _SAYS["sends"].search(one) is not None)
    return next((one for one in sending if _SAYS["case"].search(one) is None), None)


def of_senders(masked: str, sending: str | None) -> str | None:
    """Return why a sentence may be about what users send; None if it is of answers, or they send nothing.

    sending: the sentence that says so.
    """
    if sending is None or _SAYS["sent"].match(masked) is None:
        return None
    if _SAYS["answer"].search(masked) is not None and _SAYS["answer"].search(sending) is None:
        return None
    return f"may be about what users send (“{sending[:_SHOWN]}{'…' if len(sending) > _SHOWN else ''}”)"
