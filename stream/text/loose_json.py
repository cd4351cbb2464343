"""JSON as Python and JavaScript write it, beyond what JSON has: NaN, Infinity, and halves of characters."""

import json
import re
from typing import Any

import orjson

NOT_A_NUMBER = "NaN or Infinity, which JSON does not have, read as null"
HALF_CHARACTERS = "characters of which JSON has one half alone, replaced"
_PAIR = rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALF = re.compile(rb"(\\\\|" + _PAIR + rb")|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")  # pairs stay, and what is no escape


def load_json(text: bytes | str) -> tuple[Any, str]:
    """Return what JSON says, and what was assumed to read it, empty where it is as JSON has to be.

    Raises orjson.JSONDecodeError for what is none.

    >>> load_json('{"a": NaN}')
    ({'a': None}, 'NaN or Infinity, which JSON does not have, read as null')
    """
    try:
        return orjson.loads(text), ""
    except orjson.JSONDecodeError:
        spelled = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        mended = _HALF.sub(_mended, spelled)
        try:
            if mended != spelled:
                return orjson.loads(mended), HALF_CHARACTERS
        except orjson.JSONDecodeError:
            pass
        if b"NaN" not in mended and b"Infinity" not in mended:
            raise
        try:
            return json.loads(mended, parse_constant=lambda _: None), NOT_A_NUMBER
        except (ValueError, RecursionError):
            pass
        raise


def _mended(escape: re.Match[bytes]) -> bytes:
    return escape[1] or rb"\ufffd"
