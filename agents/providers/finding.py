"""Finding providers: by the endpoints that the models of judges name."""

import importlib
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import cast

from turnsignal.agents.providers.endpoints import find_endpoint
from turnsignal.agents.providers.protocol import Provider
from turnsignal.agents.providers.scripted import Scripted
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.judging.judges import PYTHON, SCRIPTED, EndpointPart, Judge, JudgingPart


def make_provider(endpoint: str, model: str, env: Mapping[str, str]) -> Provider:
    """Make the provider that answers for an endpoint; of `python`, the model is `module:function`.

    Raises ConfigError where its variables, or the function, are not there or not right.
    """
    if endpoint == SCRIPTED:
        return Scripted()
    if endpoint == PYTHON:
        return _own(model)
    from turnsignal.agents.providers.openai_compatible import OpenAICompatible  # takes half a second

    return OpenAICompatible(find_endpoint(endpoint, env))


def make_providers(
    judges: Sequence[Judge], judging: JudgingPart, env: Mapping[str, str], recorded: Provider | None = None
) -> dict[str, tuple[Provider, EndpointPart]]:
    """Return who answers at each endpoint, with its limits; recorded: in the place of all. Raises ConfigError."""
    providers: dict[str, tuple[Provider, EndpointPart]] = {}
    for judge in chain.from_iterable(each.members for each in judges):
        name = judge.endpoint_name
        if name not in providers:
            provider = recorded or make_provider(judge.endpoint, judge.model, env)
            providers[name] = provider, judging.endpoints.get(judge.endpoint, EndpointPart())
    return providers


def warn_of_endpoints(judges: Sequence[Judge], env: Mapping[str, str]) -> list[str]:
    """Say of each endpoint and function why nobody could ask there from here."""
    problems: dict[str, str] = {}
    for judge in chain.from_iterable(each.members for each in judges):
        if judge.endpoint_name not in problems:
            try:
                if judge.endpoint == PYTHON:
                    _own(judge.model)
                elif judge.endpoint != SCRIPTED:
                    find_endpoint(judge.endpoint, env)
            except ConfigError as error:
                problems[judge.endpoint_name] = f"The judge worker would not start in this environment: {error}"
    return list(problems.values())


def _own(name: str) -> Provider:
    module, _, function = name.partition(":")
    try:
        provider = getattr(importlib.import_module(module), function)()
    except Exception as error:  # whatever a user's module does when it is imported
        msg = f"model python:{name}: expected python:MODULE:FUNCTION that makes a provider,"
        msg += f" got {type(error).__name__}: {error}"
        raise ConfigError(msg) from None
    if not hasattr(provider, "ask") or not hasattr(provider, "close"):
        msg = f"model python:{name}: expected a provider with `ask` and `close`, got {type(provider).__name__}"
        raise ConfigError(msg)
    return cast("Provider", provider)
