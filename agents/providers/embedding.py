"""How near answers are to references by a model's embeddings, asked of an endpoint that was named for it."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
import openai
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_random_exponential

from turnsignal.agents.providers.endpoints import Endpoint
from turnsignal.agents.providers.openai_compatible import TooLargeError, make_client
from turnsignal.stream.errors import TurnsignalError

_TOGETHER = 16  # pairs in a request
_TIMEOUT = 60.0
_ATTEMPTS = 4


def _may_pass(error: BaseException) -> bool:
    if isinstance(error, openai.APIStatusError):
        return error.status_code in (408, 409, 429) or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError)


async def compare_embeddings(
    endpoint: Endpoint,
    model: str,
    pairs: Sequence[tuple[str, str]],
    progress: Callable[[int], None] = lambda _: None,
) -> list[float]:
    """Return the cosine of each pair's embeddings, -1 to 1.

    pairs: texts that are short enough for the model; progress: told how many pairs more are done.

    Raises TurnsignalError when the endpoint does not answer, or not with one vector of numbers for each text.
    """
    async with make_client(endpoint) as client:

        @retry(
            retry=retry_if_exception(_may_pass),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_random_exponential(0.5, max=10),
            reraise=True,
        )
        async def ask(texts: list[str]) -> np.ndarray:
            reply = await client.embeddings.create(model=model, input=texts, encoding_format="float", timeout=_TIMEOUT)
            return _read(reply, len(texts))

        cosines: list[float] = []
        for first in range(0, len(pairs), _TOGETHER):
            part = pairs[first : first + _TOGETHER]
            try:
                vectors = await ask([text or " " for text in chain.from_iterable(part)])
            except (openai.OpenAIError, TooLargeError, ValueError, TypeError, RecursionError) as error:
                msg = f"{endpoint.name}: expected embeddings of {model}, got {_say(error)}"
                raise TurnsignalError(msg) from None
            cosines += np.sum(vectors[0::2] * vectors[1::2], axis=1).tolist()
            progress(len(part))
        return cosines


def compare_texts(
    endpoint: Endpoint, model: str, pairs: Sequence[tuple[str, str]], progress: Callable[[int], None]
) -> list[float]:
    """Do what `compare_embeddings` does, where nothing else runs."""
    return asyncio.run(compare_embeddings(endpoint, model, pairs, progress))


def _read(reply: object, texts: int) -> np.ndarray:
    """Return the vectors, each of length 1, in the order of the texts; ValueError where these are none."""
    data = getattr(reply, "data", None)
    if not isinstance(data, list) or len(data) != texts:
        msg = "another number of vectors than there were texts"
        raise ValueError(msg)
    vectors = np.array([each.embedding for each in sorted(data, key=lambda each: int(each.index))], dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if vectors.ndim != 2 or not np.isfinite(vectors).all() or not lengths.all():
        msg = "vectors that are none"
        raise ValueError(msg)
    unit: np.ndarray = vectors / lengths
    return unit


def _say(error: Exception) -> str:
    """Describe what came; what an endpoint says is not repeated, as it may hold the key."""
    if isinstance(error, openai.APIStatusError):
        return f"HTTP status {error.status_code}"
    if isinstance(error, openai.APIConnectionError):
        return f"no connection ({type(error.__cause__ or error).__name__})"
    return f"something else ({type(error).__name__})"
