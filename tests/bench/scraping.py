"""Scraping: the page of metrics, read while a variant runs, as Prometheus would, but more often."""

import threading
import urllib.request
from contextlib import AbstractContextManager, nullcontext, suppress

from meanwhile import meanwhile

EVERY = 5.0  #: seconds between two, three times as often as Prometheus would


def scraped(port: int | None) -> AbstractContextManager[None]:
    """Read /metrics of a port every five seconds until the end of this context; None: of none."""

    def scrape(over: threading.Event) -> None:
        while not over.wait(EVERY):
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                answer.read()

    return nullcontext() if port is None else meanwhile(scrape)
