"""Loopback: reading pages that programs of ours serve, by default on this machine."""

import urllib.request
from typing import Any

#: A proxy of the environment (`http_proxy`) is for strangers' pages: it would be told ids of conversations, and its
#: answer be taken for the worker's.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def open_page(url: str, timeout: float) -> Any:
    """Open a page, through no proxy; timeout: seconds. Raises OSError, urllib's HTTPError among them."""
    return _OPENER.open(url, timeout=timeout)
