"""A Prometheus of one's own: started on a history, on a free port, and gone afterwards."""

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WAIT = 60.0  #: seconds for it to answer


def import_history(file: Path, directory: Path) -> None:
    """Make blocks of an OpenMetrics file, in the directory that Prometheus will read; raises CalledProcessError."""
    command = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(file), str(directory)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def prometheus(directory: Path) -> Iterator[str]:
    """Run Prometheus on a directory of blocks while the caller asks it at the address that it is given."""
    configuration = directory / "prometheus.yml"
    configuration.write_text("global: {scrape_interval: 1m}\n", encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    process = subprocess.Popen(
        [
            shutil.which("prometheus") or "prometheus",
            f"--config.file={configuration}",
            f"--storage.tsdb.path={directory}",
            "--storage.tsdb.retention.time=100y",
            f"--web.listen-address={address}",
            "--web.cors.origin=.*",
            "--log.level=error",
        ]
    )
    try:
        _await(f"http://{address}/-/ready")
        yield f"http://{address}"
    finally:
        process.terminate()
        process.wait(30)


def ask(address: str, path: str, **parameters: object) -> Any:
    """Ask Prometheus, and return its data; raises ValueError with what it says where it refuses."""
    query = urllib.parse.urlencode(parameters)
    try:
        with urllib.request.urlopen(f"{address}/api/v1/{path}?{query}", timeout=30) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        msg = f"expected an answer to {parameters}; got {error.code} {error.read().decode()[:300]}"
        raise ValueError(msg) from None


def _await(address: str) -> None:
    deadline = time.monotonic() + WAIT
    while True:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
