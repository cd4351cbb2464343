"""A page with a worker's metrics, for Prometheus to scrape, and how one is asked."""

import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from turnsignal.agents.metrics.exposition import WorkerMetrics


@contextmanager
def served(metrics: WorkerMetrics) -> Iterator[str]:
    """Serve a worker's metrics on a port of their own; give host:port."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body, kind = metrics.render(self.headers["Accept"])
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def ask(address: str, path: str) -> Any:
    """Ask a Prometheus."""
    with urllib.request.urlopen(f"{address.rstrip('/')}/api/v1/{path}", timeout=10) as answer:
        return json.load(answer)["data"]
