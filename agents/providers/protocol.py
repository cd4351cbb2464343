"""What a provider is: something that answers one prompt, or says why not."""

from typing import Any, NamedTuple, Protocol

from turnsignal.stream.errors import TurnsignalError
from turnsignal.stream.judging.prompt import Prompt
from turnsignal.stream.records.verdicts import MAX_NAME, MAX_REASONING, Unjudged, clean


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

    model: that says it answered; input, output: tokens as the endpoint counted them, None where it did not.
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


def clean_reply(reply: object, call: ProviderCall) -> ProviderReply:
    """Return a reply of texts that can be written and of counts that the call can have had, whoever made it.

    Raises ProviderError where it is none.
    """
    if not isinstance(reply, ProviderReply):
        msg = f"expected a ProviderReply, got {type(reply).__name__}"
        raise ProviderError(msg, reason=Unjudged.ERROR)
    text, model, tokens_in, tokens_out, problem = reply
    return ProviderReply(
        text.encode("utf-8", "replace").decode() if isinstance(text, str) else None,
        clean(model, MAX_NAME) or None if isinstance(model, str) else None,
        _count(tokens_in, call.prompt.most_tokens),
        _count(tokens_out, call.max_output),
        clean(str(problem), MAX_REASONING),
    )


def _count(tokens: Any, most: int) -> int | None:
    """Return a count as far as it is possible, None where there is none: nobody pays for more than was asked for."""
    return min(tokens, most) if isinstance(tokens, int) and not isinstance(tokens, bool) and tokens >= 0 else None


class Provider(Protocol):
    """Who answers. A user's own is made by a function without arguments, named as model `python:module:function`."""

    async def ask(self, call: ProviderCall) -> ProviderReply:
        """Answer one prompt; raises ProviderError. May be called many times at once."""
        ...

    async def close(self) -> None:
        """Let go of connections. Called once."""
        ...
