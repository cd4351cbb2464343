"""The suite in force: a suite file, and the redaction file that its texts go through."""

from pathlib import Path

from turnsignal.agents.files.redacting import load_redaction
from turnsignal.stream.suite import Suite, load_suite


def suite_in_force(suite: str | Path | None, redaction: str | Path | None) -> Suite:
    """Read a suite file and the redaction that its texts go through; None: the default suite, and none.

    Raises ConfigError when a file is not there or not right.
    """
    return load_suite(suite).redacted_by(load_redaction(redaction))
