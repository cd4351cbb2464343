"""Embeddings: cosines of pairs in their order, by the endpoint that was named, or one line that says why not."""

import pytest
from pydantic import SecretStr

from tests.agents.providers.conftest import Served
from turnsignal.agents.providers.embedding import compare_embeddings
from turnsignal.agents.providers.endpoints import Endpoint
from turnsignal.stream.errors import TurnsignalError

PAIRS = [("abc", "cba"), ("aaa", "bbb"), ("ab", "a"), *[("a", "a")] * 40]


def named(endpoint: Served) -> Endpoint:
    return Endpoint("gateway", endpoint.url, SecretStr("k-secret"))


@pytest.mark.parametrize("model", ["embed", "embed-busy"])
async def test_cosines_are_those_of_each_pair_whatever_order_vectors_come_in(endpoint: Served, model: str) -> None:
    done: list[int] = []
    cosines = await compare_embeddings(named(endpoint), model, PAIRS, done.append)
    assert cosines == pytest.approx([1.0, 0.0, 0.5**0.5, *[1.0] * 40])
    assert sum(done) == len(PAIRS)


@pytest.mark.parametrize(
    ("model", "told"),
    [("embed-denied", "HTTP status 401"), ("embed-few", "something else"), ("embed-zero", "something else")],
)
async def test_what_is_no_answer_is_one_line_without_the_key(endpoint: Served, model: str, told: str) -> None:
    with pytest.raises(TurnsignalError, match=f"gateway: expected embeddings of {model}, got {told}") as raised:
        await compare_embeddings(named(endpoint), model, PAIRS[:2])
    assert "k-secret" not in str(raised.value)


async def test_an_endpoint_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = Endpoint("gateway", "http://127.0.0.1:1/v1", None)
    monkeypatch.setattr("turnsignal.agents.providers.embedding._ATTEMPTS", 1)
    with pytest.raises(TurnsignalError, match="got no connection"):
        await compare_embeddings(gone, "embed", PAIRS[:1])
