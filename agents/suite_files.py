"""Suite files: the suite in force, and the redaction that its texts go through."""

import tomllib
from pathlib import Path

import orjson
from pydantic import ValidationError

from turnsignal.stream.errors import ConfigError, describe_first_error, describe_unreadable
from turnsignal.stream.redaction import Redaction
from turnsignal.stream.suite import Suite, load_suite
from turnsignal.stream.text.toml import parse_toml


def suite_in_force(suite: str | Path | None, redaction: str | Path | None) -> Suite:
    """Read a suite file and the redaction that its texts go through; None: the default suite, and none.

    Raises ConfigError when a file is not there or not right.
    """
    return load_suite(suite).redacted_by(load_redaction(redaction))


def load_redaction(path: str | Path | None) -> Redaction | None:
    """Read a redaction file (TOML); None gives None, which leaves texts as they are.

    Raises ConfigError when the file is not there or not right, in one line: the key, what was expected, what came.
    """
    if path is None:
        return None
    try:
        data = parse_toml(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        msg = f"{path}: expected a redaction file in TOML, got {describe_unreadable(error)}"
        raise ConfigError(msg) from None
    try:
        return Redaction.model_validate_json(orjson.dumps(data))
    except (orjson.JSONEncodeError, ValidationError) as error:
        problem = describe_first_error(error, "redaction") if isinstance(error, ValidationError) else str(error)
        msg = " ".join(f"{path}: {problem}; known are builtin, and kind and regex of [[patterns]]".splitlines())
        raise ConfigError(msg) from None
