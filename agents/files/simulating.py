"""Simulating: traffic from `stream.simulation` into a file, with the knobs as text."""

import sys
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import orjson

from turnsignal.agents.files.writing import written
from turnsignal.stream.errors import ConfigError
from turnsignal.stream.simulation import Regression, Traffic, simulate
from turnsignal.stream.simulation.traffic import Kind

_OWN = ("turns", "seed", "regression")  #: knobs that have an option of their own


def make_traffic(turns: int, seed: int, knobs: Iterable[str] = (), worse: str | None = None) -> Traffic:
    """Read the knobs, `name=value` each, lists with commas; worse: `minute:version:kind`.

    Raises ConfigError that names the knob, what was expected and what came.
    """
    defaults = {field.name: field.default for field in fields(Traffic) if field.name not in _OWN}
    given: dict[str, Any] = {}
    for knob in knobs:
        name, equals, text = knob.partition("=")
        if not equals or name not in defaults:
            msg = f"--set: expected KNOB=VALUE with one of {', '.join(defaults)}; got {knob!r}"
            raise ConfigError(msg)
        given[name] = _read(name, text, defaults[name])
    regression = None if worse is None else _read_worse(worse)
    return Traffic(turns=turns, seed=seed, regression=regression, **given)


def write_simulation(traffic: Traffic, out: Path | None, truth: Path | None = None) -> int:
    """Write the records' values one a line, in the order of their arrival; return how many.

    out: None is standard output, .gz is compressed; truth: file for what the simulation knows of each line. A tombstone
    has no line.
    """
    count = 0
    with ExitStack() as stack:
        named = {path: stack.enter_context(written(path, zipped=path.suffix == ".gz")) for path in (out, truth) if path}
        file = sys.stdout.buffer if out is None else named[out]
        side = None if truth is None else named[truth]
        for record in simulate(traffic):
            if record.value is None:
                continue
            file.write(record.value.replace(b"\n", b" ") + b"\n")
            if side is not None:
                side.write(orjson.dumps(record.truth) + b"\n")
            count += 1
        file.flush()
    return count


def _read(name: str, text: str, default: object) -> Any:
    try:
        if isinstance(default, bool):
            return {"true": True, "false": False}[text]
        if isinstance(default, tuple):
            parts = tuple(text.split(","))
            return tuple(map(int, parts)) if isinstance(default[0], int) else parts
        return int(text) if isinstance(default, int) or (default is None and text.isdigit()) else float(text)
    except (ValueError, KeyError):
        msg = f"--set: {name}: expected a value such as {default!r}, got {text!r}"
        raise ConfigError(msg) from None


def _read_worse(text: str) -> Regression:
    """Read `minute:version:kind`, or `minute:version:kind:share`; a version may have colons."""
    minute, _, rest = text.partition(":")
    version, _, kind = rest.rpartition(":")
    share = "1"
    if kind not in get_args(Kind):
        share = kind
        version, _, kind = version.rpartition(":")
    try:
        at, part = float(minute), float(share)
    except ValueError:
        at = part = -1.0
    if not (at >= 0 and 0 <= part <= 1) or kind not in get_args(Kind):
        msg = "--worse: expected MINUTE:VERSION:KIND or MINUTE:VERSION:KIND:SHARE, SHARE from 0 to 1, KIND one of"
        msg += f" {', '.join(get_args(Kind))}; got {text!r}"
        raise ConfigError(msg)
    return Regression(minute=at, version=version, kind=kind, share=part)  # type: ignore[arg-type]
