"""Pages of our own programs are read from them, whatever proxy the environment names."""

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from turnsignal.agents.process.loopback import open_page


class _Says(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.path.encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_no_proxy_is_told_of_a_conversation(monkeypatch: pytest.MonkeyPatch) -> None:
    with HTTPServer(("127.0.0.1", 0), _Says) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")  # nobody listens there
        monkeypatch.delenv("no_proxy", raising=False)
        with open_page(f"http://127.0.0.1:{server.server_port}/conversations/c-1", timeout=10.0) as answer:
            assert answer.read() == b"/conversations/c-1"
        server.shutdown()
