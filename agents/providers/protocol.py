"""What a provider is: something that answers one prompt, or says why not."""

from typing import Any, NamedTuple, Protocol

from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.judging.prompt import Prompt
from turnsignal.stream.records.verdicts import MAX_NAME, MAX_REASONING, Unjudged, clean

MOST_TOKENS = 10_000_000  #: that an endpoint may count for one call: no model reads or writes more


class ProviderCall(NamedTuple):
    """One call. verdict: id of the verdict that it is for; temperature: None leaves it to the endpoint."""

    verdict: str
    model: str
    prompt: Prompt
    max_output: int
    temperature: float | None
    structured: bool
    timeout: float


class ProviderReply(NamedTuple):
    """What came back. text: None where the model wrote none; problem: why it cannot be read, as when it was cut off.

    model: that says it answered; input, output: tokens as the endpoint counted them, also beyond what was asked for;
    None where it did not.
    """

    text: str | None
    model: str | None = None
    input: int | None = None
    output: int | None = None
    problem: str = ""


class ProviderError(TurnsignalError):
    """Say why there is no reply, without anything secret.

    reason: of the verdict; again: whether another try may help; after: seconds to wait before it, if the endpoint
    says; down: whether the endpoint as a whole fails, and not only this call: no connection, no answer in time, or a
    status that says so, while whatever is wrong with a reply is wrong with that one; free: whether nothing was done for
    it that anybody pays for.
    """

    def __init__(
        self,
        detail: str,
        *,
        reason: Unjudged = Unjudged.PROVIDER,
        again: bool = False,
        after: float | None = None,
        down: bool = False,
        free: bool = False,
    ) -> None:
        super().__init__(detail)
        self.reason = reason
        self.again = again
        self.after = after
        self.down = down
        self.free = free


def clean_reply(reply: object) -> ProviderReply:
    """Return a reply of texts that can be written and of counts that can be counts, whoever made it.

    No tokens that were read, or none that were written beside a text, are no count. Raises ProviderError where it is no
    reply.
    """
    if not isinstance(reply, ProviderReply):
        msg = f"expected a ProviderReply, got {type(reply).__name__}"
        raise ProviderError(msg, reason=Unjudged.ERROR)
    text, model, tokens_in, tokens_out, problem = reply
    return ProviderReply(
        text.encode("utf-8", "replace").decode() if isinstance(text, str) else None,
        clean(model, MAX_NAME) or None if isinstance(model, str) else None,
        _count(tokens_in, 1),
        _count(tokens_out, 1 if text else 0),
        clean(str(problem or ""), MAX_REASONING),  # a user's own provider may say None where there is none
    )


def _count(tokens: Any, least: int) -> int | None:
    """Return a count of tokens, None where it is none."""
    is_count = isinstance(tokens, int) and not isinstance(tokens, bool) and least <= tokens <= MOST_TOKENS
    return tokens if is_count else None


class Provider(Protocol):
    """Who answers. A user's own is made by a function without arguments, named as model `python:module:function`."""

    async def ask(self, call: ProviderCall) -> ProviderReply:
        """Answer one prompt; raises ProviderError. May be called many times at once."""
        ...

    async def close(self) -> None:
        """Let go of connections. Called once."""
        ...
