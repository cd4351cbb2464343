"""Instruction checks: a file per family, joined in `CHECKS` and read back from their names by `parse_check`.

Hoffer: specific instructions, each pass or fail, are what a prompt engineer can act on; vague quality scores are not.
"""

from collections.abc import Sequence
from dataclasses import MISSING, Field, fields
from types import ModuleType
from typing import Any, cast, get_type_hints

from turnsignal.stream.checks import (
    case,
    citations,
    combination,
    content,
    format,  # noqa: A004 - the family's name
    keywords,
    language,
    length,
    pattern,
    platform,
    punctuation,
    python,
    startend,
    tables,
)
from turnsignal.stream.checks.instruction_check import InstructionCheck
from turnsignal.stream.checks.loose import PREFIX, Loose
from turnsignal.stream.checks.protocol import Check, CheckResult, Result
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.names import Value, parse_name
from turnsignal.stream.text.misspelt import got

#: A file for each family; every class in it that names its `family` is a check.
_FILES: tuple[ModuleType, ...] = (
    citations,
    tables,
    platform,
    length,
    keywords,
    format,
    content,
    case,
    punctuation,
    startend,
    combination,
    language,
    pattern,
)


def _checks_in(module: ModuleType) -> list[type[InstructionCheck]]:
    own = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
    return [one for one in own if issubclass(one, InstructionCheck) and "family" in vars(one)]


#: family → class
CHECKS: dict[str, type[InstructionCheck]] = {one.family: one for module in _FILES for one in _checks_in(module)}
#: Users' own functions: what they promise is their authors' business, so they stand apart from ours.
USERS: dict[str, type[InstructionCheck]] = {one.family: one for one in (python.Function, python.EntryPoint)}


def parse_check(name: str) -> Check:
    """Make the check that a name spells; `loose.` before the name makes its loose form (IFEval).

    Raises ConfigError naming the unknown family or parameter, what was expected and what came.

    >>> parse_check("citation.max_consecutive(at_most=3)").name
    'citation.max_consecutive'
    """
    strict = _parse(name.strip().removeprefix(PREFIX))
    if isinstance(strict, python.Python) and name.strip().startswith(PREFIX):
        msg = f"{PREFIX} is for the built-in checks, as it calls a check up to eight times; got {name!r}"
        raise ConfigError(msg)
    # The protocol declares plain attributes; frozen ones are read-only, which no reader of a check can tell.
    return cast("Check", Loose(inner=strict) if name.strip().startswith(PREFIX) else strict)


def compliance(results: Sequence[tuple[CheckResult, float]]) -> float | None:
    """Return weighted passes ÷ applicable, 0 to 1; None when no check applies.

    results: each with its weight (> 0); a check in error says nothing about the response and counts as not applicable.
    Source: Hoffer, "then aggregate into an overall compliance score".
    """
    passed = applicable = 0.0
    for checked, weight in results:
        if checked.result is Result.PASS:
            passed += weight
            applicable += weight
        elif checked.result is Result.FAIL:
            applicable += weight
    return passed / applicable if applicable > 0 else None


def _parse(name: str) -> InstructionCheck:
    family, params, cutoff = parse_name(name)
    known_families = CHECKS | USERS
    chosen = known_families.get(family)
    if chosen is None:
        msg = f"expected one of the checks {', '.join(known_families)}; {got(family, known_families)}"
        raise ConfigError(msg)
    if cutoff is not None:
        msg = f"{family}: a check has no cutoff; got @{cutoff} in {name!r}"
        raise ConfigError(msg)
    known = {one.name: one for one in fields(chosen) if one.init}
    for key in params:
        if key not in known:
            msg = f"{family}: expected {_list(known)}; got the parameter {key!r}"
            raise ConfigError(msg)
    missing = [key for key, one in known.items() if one.default is MISSING and key not in params]
    if missing:
        msg = f"{family}: expected {', '.join(missing)} to be given; got {name!r}"
        raise ConfigError(msg)
    types = get_type_hints(chosen)
    return chosen(**{key: _typed(family, key, types[key], value) for key, value in params.items()})


def _typed(family: str, key: str, wanted: Any, value: Value) -> Value:
    """Check one parameter's type; a bool is no number here."""
    kinds = {int: "a whole number", str: "a text", bool: "true or false"}
    kind = next(kind for kind in kinds if wanted == kind or wanted == kind | None)
    if type(value) is kind:
        return value
    hint = f"; write {key}='{value}'" if kind is str else ""
    msg = f"{family}: expected {key} to be {kinds[kind]}; got {value!r}{hint}"
    raise ConfigError(msg)


def _list(known: dict[str, Field[Any]]) -> str:
    return f"the parameters {', '.join(known)}" if known else "no parameters"
