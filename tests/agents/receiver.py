"""A receiver of posts: what came, and answers as a test wants them."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Post(NamedTuple):
    """What was posted."""

    path: str
    headers: dict[str, str]
    body: Any


class Receiver:
    """Takes posts; answer: (number of the post) → status, or the handler's own doing with None."""

    def __init__(self, answer: Callable[[int], int] = lambda _: 200) -> None:
        self.posts: list[Post] = []
        self.came = threading.Condition()
        self.over = threading.Event()  # ends what hangs
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                with receiver.came:
                    receiver.posts.append(Post(self.path, dict(self.headers), json.loads(body)))
                    status = answer(len(receiver.posts))
                    receiver.came.notify_all()
                if not status:  # hangs
                    receiver.over.wait(60)
                    return
                self.send_response(status)
                if 300 <= status < 400:
                    self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def wait(self, count: int, seconds: float = 60.0) -> list[Post]:
        """Wait until so many posts have come."""
        with self.came:
            assert self.came.wait_for(lambda: len(self.posts) >= count, seconds), self.posts
            return list(self.posts)


@contextmanager
def receiving(answer: Callable[[int], int] = lambda _: 200) -> Iterator[Receiver]:
    receiver = Receiver(answer)
    thread = threading.Thread(target=receiver.server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield receiver
    finally:
        receiver.over.set()
        receiver.server.shutdown()
        thread.join()
        receiver.server.server_close()
