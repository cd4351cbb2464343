"""Scraping: the page of metrics, read while a variant runs, as Prometheus would, but more often."""

import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress

EVERY = 5.0  #: seconds between two, three times as often as Prometheus would


@contextmanager
def scraped(port: int | None) -> Iterator[None]:
    """Read /metrics of a port every five seconds meanwhile; None: of none."""
    if port is None:
        yield
        return
    over = threading.Event()

    def scrape() -> None:
        while not over.wait(EVERY):
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                answer.read()

    thread = threading.Thread(target=scrape)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
