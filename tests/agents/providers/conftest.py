"""An endpoint as a process, for all tests of providers."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


class Served:
    """A running endpoint. url: for a judge."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/v1"

    def calls(self, model: str) -> list[dict[str, Any]]:
        """The calls for one model so far, in their order."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/calls") as response:
            return [call for call in json.load(response) if call["body"]["model"] == model]


@contextmanager
def serve(port: int = 0) -> Iterator[Served]:
    """Run an endpoint on a port, by default on any that is free."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("endpoint.py")), str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield Served(json.loads(process.stdout.readline()))
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


@pytest.fixture(scope="session")
def endpoint() -> Iterator[Served]:
    with serve() as served:
        yield served
