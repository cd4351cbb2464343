"""Endpoints: where a judge's model is reached, and with which key, from the environment.

TURNSIGNAL_JUDGE_<ENDPOINT>_URL, _KEY or _KEY_FILE; four endpoints have a URL of their own.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from pydantic import SecretStr

from turnsignal.agents.environment import is_loopback, judge_variable, read_secret, split_url
from turnsignal.stream.errors import ConfigError

KNOWN_URLS = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "ollama": "http://localhost:11434/v1",
}
_WITH_KEYS = {urlsplit(KNOWN_URLS[name]).hostname for name in ("openai", "anthropic", "google")}
#: a name without a dot, which is looked up near here; not a number, which is an address anywhere: 134744072 is 8.8.8.8
_NEAR = re.compile(r"(?!(?:0x[0-9a-f]*|[0-9]+)\Z)[a-z0-9_-]+\Z")


class Endpoint(NamedTuple):
    """Where one endpoint is. key: None where it wants none."""

    name: str
    url: str
    key: SecretStr | None


def find_endpoint(name: str, env: Mapping[str, str]) -> Endpoint:
    """Find an endpoint's URL and key.

    Raises ConfigError that names the variable: without a URL for an endpoint that has none of its own, for something
    that is no URL, without a key where one is sure to be needed, and for a key that would go over the net unencrypted.
    """
    variable = judge_variable(name, "URL")
    url = env.get(variable, "").strip() or KNOWN_URLS.get(name, "")
    if not url:
        msg = f"{variable}: expected the URL of the endpoint {name} that a judge names, got none; endpoints with a URL"
        msg += f" of their own are {', '.join(KNOWN_URLS)}, scripted needs none"
        raise ConfigError(msg)
    parts = _read_url(variable, url)
    key = _read_key(name, env)
    if key is None and parts.hostname in _WITH_KEYS:
        msg = f"{judge_variable(name, 'KEY')}: expected the key of the endpoint {name} that a judge names, got none;"
        msg += f" or put it into a file and name that in {judge_variable(name, 'KEY_FILE')}"
        raise ConfigError(msg)
    host = str(parts.hostname)  # in lower case, as is the scheme
    if key is not None and parts.scheme != "https" and not is_loopback(host) and not _NEAR.match(host):
        msg = f"{variable}: expected https, as a key is sent there; got http to another machine"
        raise ConfigError(msg)
    return Endpoint(name, parts.geturl().rstrip("/"), key)


def _read_url(variable: str, url: str) -> SplitResult:
    """Return the parts of a URL; the URL itself is not repeated, as somebody may have put a password into it."""
    parts = split_url(url)
    if parts is None or parts.query or parts.fragment:
        msg = f"{variable}: expected a URL such as https://gateway.example/v1, got something else"
        raise ConfigError(msg)
    if parts.username or parts.password:
        msg = f"{variable}: expected a URL without user and password, got one with; a key goes into"
        msg += f" {variable.removesuffix('URL')}KEY"
        raise ConfigError(msg)
    return parts


def _read_key(name: str, env: Mapping[str, str]) -> SecretStr | None:
    plain, in_file = judge_variable(name, "KEY"), judge_variable(name, "KEY_FILE")
    key, path = env.get(plain, "").strip(), env.get(in_file, "").strip()
    if key and path:
        msg = f"{in_file}: expected none beside {plain}, got both; keep one"
        raise ConfigError(msg)
    key = read_secret(in_file, path).strip() if path else key
    if not key.isascii() or any(not letter.isprintable() for letter in key):
        msg = f"{in_file if path else plain}: expected a key of printable ASCII characters, got others"
        raise ConfigError(msg)
    if any(letter in key for letter in "\"' "):
        msg = f"{in_file if path else plain}: expected the key alone, got one with quotes or spaces; without `Bearer`"
        msg += " or a variable's name before it"
        raise ConfigError(msg)
    return SecretStr(key) if key else None
