"""Any endpoint that speaks OpenAI's chat completions: OpenAI itself, Anthropic, Google, Ollama, vLLM, a gateway.

Its own retries are off: a call that is not counted would be a call that no budget knows. Replies are read by ourselves,
as `.parse()` loses the token counts of a reply that does not fit. No redirect is followed, and nothing of the
environment (OPENAI_API_KEY, OPENAI_ORG_ID, OPENAI_CUSTOM_HEADERS, …) is sent to an endpoint that may be another's.

An endpoint counts as down by what HTTP says before there is a reply: no connection, no status in time, a redirect, 401,
403, 404 or 5xx. What is wrong with a reply of status 200 (no completion, too large, broken off) is one exchange's.
"""

import re
import time
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import openai

from turnsignal.agents.providers.endpoints import Endpoint
from turnsignal.agents.providers.protocol import ProviderCall, ProviderError, ProviderReply
from turnsignal.stream.records.verdicts import Unjudged, clean

MAX_REPLY = 4_000_000  #: bytes, unpacked: ten times what max_output allows
_LONGEST_WAIT = 3_600.0  #: seconds that an endpoint may ask us to wait
_GIVEN_UP = (408, 502, 504, 524)  #: statuses of gateways behind which a model may have answered all the same
_UNSENT = ("ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "ProxyError")  #: of its client
_TIMEOUTS = ("ReadTimeout", "WriteTimeout")  #: of its client, which are no fault of a reply
_NO_KEY = "none"  #: the client sends one always
_SHORTEST_KEY = 8  #: characters; what is shorter ("EMPTY", "ollama") is no secret, and may be a word of an answer
_KEY_MARKER = "[key]"
_FINAL = {400: "the request", 401: "the key", 403: "the key", 404: "the model or the URL", 422: "the request"}


class TooLargeError(Exception):
    """Say that a reply was given up before it was read whole."""


class TornError(Exception):
    """Say that a reply broke off behind its status."""


class _BoundedClient(openai.DefaultAsyncHttpxClient):
    """A client that reads so much of a reply and no more, whatever its headers say, and however it is packed."""

    async def send(self, *args: Any, **more: Any) -> Any:
        """Send a request, and read the reply up to the bound."""
        response = await super().send(*args, **{**more, "stream": True})
        content = bytearray()
        try:
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > MAX_REPLY:
                    msg = f"expected a reply of at most {MAX_REPLY:,} bytes, got more"
                    raise TooLargeError(msg)
        except Exception as error:
            if isinstance(error, TooLargeError) or type(error).__name__ in _TIMEOUTS:
                raise
            raise TornError(type(error).__name__) from error
        else:
            response._content = bytes(content)  # as its own `aread` does
        finally:
            content.clear()  # whoever keeps an error keeps what its frames hold
            await response.aclose()
        return response


def make_client(endpoint: Endpoint) -> openai.AsyncOpenAI:
    """Make a client of one endpoint, to which nothing of the environment goes.

    Only a proxy of the environment is taken, and that for https alone, of which it sees no more than the host: over
    http it would see the key. A reply of more than MAX_REPLY bytes raises TooLargeError.
    """
    client = openai.AsyncOpenAI(
        api_key=endpoint.key.get_secret_value() if endpoint.key else _NO_KEY,
        base_url=endpoint.url,
        max_retries=0,
        http_client=_BoundedClient(follow_redirects=False, trust_env=endpoint.url.startswith("https:")),
    )
    client.organization = client.project = client.admin_api_key = None
    client._custom_headers = {}
    return client


class OpenAICompatible:
    """Ask one endpoint."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        # OpenAI's newer models refuse max_tokens; most other servers know nothing else.
        self._limit = "max_completion_tokens" if endpoint.name == "openai" else "max_tokens"
        self._sdk = make_client(endpoint)
        self._key = _key_pattern(endpoint)

    async def ask(self, call: ProviderCall) -> ProviderReply:
        """Answer one prompt; raises ProviderError, which holds nothing of the reply."""
        try:
            return await self._ask(call)
        except ProviderError as error:
            # What it came of leads to the frames that read the reply, and to megabytes of it. Kept with the error by
            # whoever tries again, and in circles, they would stay until garbage is looked for, which is seldom.
            error.__context__ = None
            error.__traceback__ = None
            raise

    async def _ask(self, call: ProviderCall) -> ProviderReply:
        try:
            completion = await self._sdk.chat.completions.create(**self._request(call))
        except TooLargeError as error:
            detail = f"{self._endpoint.name}: {error}"
            raise ProviderError(detail, reason=Unjudged.PARSE) from None
        except TornError as error:
            detail = f"{self._endpoint.name}: expected a whole reply, got a part of it ({error})"
            raise ProviderError(detail, again=True) from None
        except openai.APITimeoutError as error:
            detail = f"{self._endpoint.name}: no answer within {call.timeout:g} s"
            free = _is_unsent(error.__cause__)
            raise ProviderError(detail, reason=Unjudged.TIMEOUT, again=True, down=True, free=free) from None
        except openai.APIStatusError as error:
            raise self._status_error(error) from None
        except openai.APIConnectionError as error:
            raise self._connection_error(error.__cause__ or error) from None
        except (openai.OpenAIError, ValueError, TypeError, RecursionError) as error:
            raise self._malformed_reply(type(error).__name__) from None
        return self._read(completion)

    async def close(self) -> None:
        """Close the connections."""
        await self._sdk.close()

    def _request(self, call: ProviderCall) -> dict[str, Any]:
        """Return the arguments of a call.

        What stands in `extra_body` is sent as it is. All else the client walks through by its types, schema and texts,
        which takes a third of the processor time of a call.
        """
        prompt = call.prompt
        body: dict[str, Any] = {
            "messages": [
                {"role": "system", "content": prompt.instructions},
                {"role": "user", "content": prompt.material},
            ],
            self._limit: call.max_output,
        }
        if call.temperature is not None:
            body["temperature"] = call.temperature
        if call.structured:
            schema = {"name": prompt.name, "schema": prompt.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return {"model": call.model, "messages": (), "timeout": call.timeout, "extra_body": body}

    def _read(self, completion: Any) -> ProviderReply:
        """Read a completion as little as needed: the client takes whatever an endpoint sends for one."""
        choices = getattr(completion, "choices", None)
        if not isinstance(choices, list) or not choices or (message := getattr(choices[0], "message", None)) is None:
            raise self._malformed_reply(type(completion).__name__)
        usage = getattr(completion, "usage", None)
        text, refusal = (self._text(getattr(message, name, None)) for name in ("content", "refusal"))
        finish = getattr(choices[0], "finish_reason", None)
        problem = ""
        if refusal:
            problem = f"the model refused: {clean(refusal, 200)}"
        elif finish == "length":
            problem = "the reply was cut off: max_output of the judge is too small for it"
        elif finish == "content_filter":
            problem = "the endpoint's filter kept the reply back"
        if refusal and not text:
            text = refusal  # it was written and is paid for, too
        return ProviderReply(
            text,
            self._text(getattr(completion, "model", None)),
            getattr(usage, "prompt_tokens", None),
            getattr(usage, "completion_tokens", None),
            problem,
        )

    def _text(self, value: object) -> str | None:
        """Return a text of a reply without the endpoint's key, which a gateway may quote; None for what is no text."""
        if not isinstance(value, str):
            return None
        return value if self._key is None else self._key.sub(_KEY_MARKER, value)

    def _malformed_reply(self, got: str) -> ProviderError:
        detail = f"{self._endpoint.name}: expected a chat completion, got something else ({got})"
        return ProviderError(detail, again=True)

    def _connection_error(self, cause: BaseException) -> ProviderError:
        """Say what happened on the way to a status."""
        parts = urlsplit(self._endpoint.url)  # without what stands before an @ in it
        port = f":{parts.port}" if parts.port else ""
        detail = f"{self._endpoint.name}: expected to reach {parts.hostname}{port}, got {type(cause).__name__}"
        return ProviderError(detail, again=True, down=True, free=_is_unsent(cause))

    def _status_error(self, error: openai.APIStatusError) -> ProviderError:
        """Describe a status; what the endpoint says about it is not repeated, as it may hold the key."""
        status, name = error.status_code, self._endpoint.name
        if status in (408, 409, 429) or status >= 500:
            detail = f"{name}: expected an answer, got HTTP status {status}"
            after = retry_after(error.response.headers.get("retry-after"), time.time())
            free = status not in _GIVEN_UP
            return ProviderError(detail, again=True, after=after, down=status >= 500, free=free)
        if 300 <= status < 400:
            detail = f"{name}: expected an answer, got a redirect ({status}), which is not followed; mend the URL"
            return ProviderError(detail, down=True, free=True)
        detail = f"{name}: it refuses {_FINAL.get(status, 'the request')} (HTTP status {status})"
        return ProviderError(detail, down=status in (401, 403, 404), free=True)


def _key_pattern(endpoint: Endpoint) -> re.Pattern[str] | None:
    """Match an endpoint's key, also as JSON may spell it: a text of a reply is most often JSON itself."""
    key = endpoint.key.get_secret_value() if endpoint.key else ""
    if len(key) < _SHORTEST_KEY:
        return None
    return re.compile("".join(rf"(?:\\?{re.escape(letter)}|\\u00(?i:{ord(letter):02x}))" for letter in key))


def _is_unsent(cause: BaseException | None) -> bool:
    """Say whether no connection was made, so that no model saw the request."""
    return type(cause).__name__ in _UNSENT


def retry_after(value: str | None, now: float) -> float | None:
    """Return the seconds to wait that a Retry-After header asks for, as seconds or as a date; None if it says nothing.

    >>> retry_after("7", 0.0), retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 15.0), retry_after("soon", 0.0)
    (7.0, 45.0, None)
    """
    if value is None:
        return None
    text = value.strip()
    try:
        seconds = float(text) if text[:1].isdigit() else parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError):
        return None
    return min(_LONGEST_WAIT, max(0.0, seconds))
