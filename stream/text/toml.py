"""TOML: values as a file holds them: read back, they are the same, and a terminal shows all of them."""

import math
import tomllib
from collections.abc import Mapping
from typing import Any

import orjson


def parse_toml(text: str) -> dict[str, Any]:
    """Read a document, by whomever it was written; nan and inf, which nothing here could mean, stay texts.

    So whoever wants a number says under which key none is.

    Raises tomllib.TOMLDecodeError for all that cannot be read, also where Python's reader ends otherwise.
    """
    try:
        return tomllib.loads(text, parse_float=_finite)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        problem = "values that are nested too deep"
    except ValueError:  # a number of more digits than Python takes
        problem = "a number that is too long"
    raise tomllib.TOMLDecodeError(problem)


def _finite(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


def write_value(value: Any) -> str:
    """Write a text, a number, a boolean or a list of them.

    JSON's are TOML's too. What cannot be printed is escaped: a name from a stranger may turn the words around it.

    >>> write_value("a\u202eb")
    '"a\\\\U0000202eb"'
    """
    written = orjson.dumps(value).decode()
    return written if written.isprintable() else "".join(map(_escape, written))


def write_toml(data: Mapping[str, Any], path: str = "") -> str:
    """Write a document: plain values, then a table per section, and one per item of a list of tables.

    path: names the table that the values stand in, with a dot at its end; "" is the file itself.
    """
    plain = [f"{key} = {write_value(value)}\n" for key, value in data.items() if not _is_table(value)]
    tables = []
    for name, value in data.items():
        if isinstance(value, dict):
            tables.append(f"\n[{path}{name}]\n{write_toml(value, f'{path}{name}.')}")
        elif _is_table(value):
            tables += [f"\n[[{path}{name}]]\n{write_toml(item, f'{path}{name}.')}" for item in value]
    return "".join(plain + tables)


def _is_table(value: object) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _escape(char: str) -> str:
    return char if char.isprintable() else f"\\U{ord(char):08x}"
