"""The environment: which TURNSIGNAL_ variables are settings, which hold a file's name, and which are Kubernetes' own.

Kubernetes describes every Service to every pod beside it: a Service named turnsignal, or turnsignal-metrics, puts
variables with our prefix there. Only name and value together tell them from a setting that somebody mistyped.
"""

import ipaddress
import os
import re
from collections.abc import Callable, Collection, Mapping
from urllib.parse import SplitResult, urlsplit

from turnsignal.stream.errors import ConfigError
from turnsignal.stream.text.misspelt import hint

PREFIX = "TURNSIGNAL_"
SECRETS = ("PASSWORD", "SECRET", "NOTIFY")  #: how the names of variables end whose values are not to be shown

_FILE = "_FILE"
_JUDGE = re.compile(r"TURNSIGNAL_JUDGE_[A-Z0-9_]+_(?:URL|KEY|KEY_FILE)")
_MAX_SECRET = 65_536  #: bytes of a file with a secret
_SERVICE = r"TURNSIGNAL(?:_[A-Z0-9_]+)?"
_PROTOCOL = r"(?:TCP|UDP|SCTP)"
_ADDRESS = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):(\d{1,5})")


def _is_ip(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address; any name but localhost may be somebody else's.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host.lower() == "localhost" or (_is_ip(host) and ipaddress.ip_address(host).is_loopback)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and 0 < int(text[:6]) < 65_536


def _is_url(text: str) -> bool:
    match = re.fullmatch(r"(?:tcp|udp|sctp)://(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+)):([0-9]{1,5})", text)
    return match is not None and _is_ip(match[1] or match[2]) and _is_port(match[3])


#: How the variables of a Service are called, and what they look like.
_SERVICE_VARIABLES: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    (re.compile(rf"{_SERVICE}_SERVICE_HOST"), _is_ip),
    (re.compile(rf"{_SERVICE}_SERVICE_PORT(?:_[A-Z0-9_]+)?"), _is_port),
    (re.compile(rf"{_SERVICE}_PORT(?:_[0-9]+_{_PROTOCOL})?"), _is_url),
    (re.compile(rf"{_SERVICE}_PORT_[0-9]+_{_PROTOCOL}_PROTO"), {"tcp", "udp", "sctp"}.__contains__),
    (re.compile(rf"{_SERVICE}_PORT_[0-9]+_{_PROTOCOL}_PORT"), _is_port),
    (re.compile(rf"{_SERVICE}_PORT_[0-9]+_{_PROTOCOL}_ADDR"), _is_ip),
)


def describes_service(name: str, value: str) -> bool:
    """Whether Kubernetes put a variable there for a Service whose name begins with turnsignal.

    >>> describes_service("TURNSIGNAL_METRICS_PORT", "tcp://10.0.0.7:9108")
    True
    >>> describes_service("TURNSIGNAL_METRICS_PORT", "9108")
    False
    """
    return any(pattern.fullmatch(name) and fits(value.strip()) for pattern, fits in _SERVICE_VARIABLES)


def read_environment(env: Mapping[str, str], known: Collection[str]) -> dict[str, str]:
    """Give the values of the known variables that are set, a secret also from the file that NAME_FILE names.

    An empty variable counts as not set. Raises ConfigError, one line, for a variable with our prefix that is neither
    known nor Kubernetes', and for a file that cannot be read.
    """
    refuse_unknown(env, known)
    files = _files(known)
    given = {}
    for name, value in env.items():
        if not value.strip():
            continue
        if name in files:
            if env.get(files[name], "").strip():
                msg = f"{name}: expected none beside {files[name]}, got both; keep one"
                raise ConfigError(msg)
            given[files[name]] = read_secret(name, value.strip())
        elif name in known and not describes_service(name, value):
            given[name] = value if name.endswith(SECRETS) else value.strip()  # spaces of a secret may be meant
    return given


def refuse_unknown(env: Mapping[str, str], known: Collection[str]) -> None:
    """Refuse a variable that is set, has our prefix and is neither known nor Kubernetes' nor a judge's.

    Raises ConfigError, one line, with the name that may be meant.
    """
    files = _files(known)
    for name, value in env.items():
        if not name.startswith(PREFIX) or not value.strip() or describes_service(name, value):
            continue
        if name not in known and name not in files and not _JUDGE.fullmatch(name):  # which is read where one is asked
            raise ConfigError(_refuse(name, [*known, *files]))


def _files(known: Collection[str]) -> dict[str, str]:
    """Return the variables that name a file with a secret, each with the one that would hold it."""
    return {name + _FILE: name for name in known if name.endswith(SECRETS)}


def judge_variable(endpoint: str, what: str) -> str:
    """Return the variable that holds the URL, KEY or KEY_FILE of a judge's endpoint.

    >>> judge_variable("gateway", "KEY_FILE")
    'TURNSIGNAL_JUDGE_GATEWAY_KEY_FILE'
    """
    return f"{PREFIX}JUDGE_{endpoint.upper()}_{what}"


def _refuse(name: str, known: Collection[str]) -> str:
    return f"{name}: expected a variable that turnsignal knows, got this one; {hint(name, known)}"


def read_secret(name: str, path: str) -> str:
    """Read a secret as editors and Kubernetes leave it: one newline at its end is not part of it."""
    try:
        with open(path, "rb") as file:
            content = file.read(_MAX_SECRET + 1)
        text = content.decode()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "a text that is not UTF-8"
        # Somebody may have put the secret itself there: a name is shown only where there is something of that name.
        shown = repr(path) if isinstance(error, UnicodeDecodeError) or _is_there(path) else "a name that is not shown"
        msg = f"{name}: expected a readable file with a secret, got {shown}: {reason}"
        raise ConfigError(msg) from None
    text = text.removesuffix("\n").removesuffix("\r")
    if not text.strip() or len(content) > _MAX_SECRET:
        got = "an empty one" if not text.strip() else f"more than {_MAX_SECRET} bytes"
        msg = f"{name}: expected a file with a secret, got {got} in {path!r}"
        raise ConfigError(msg)
    return text


def _is_there(path: str) -> bool:
    """Say whether a file has this name, or a directory is where it would be."""
    return os.path.lexists(path) or os.path.isdir(os.path.dirname(path))


def split_url(text: str) -> SplitResult | None:
    """Split an http(s) URL; None if it is not one.

    >>> split_url("http://localhost:9090").port, split_url("localhost:9090")
    (9090, None)
    """
    try:
        parts = urlsplit(text)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return None
    return parts if fine and text.isascii() and not any(char.isspace() for char in text) else None


def read_brokers(text: str) -> str:
    """Read host:port,host:port,…; raises ValueError for anything else."""
    addresses = [part.strip() for part in text.split(",")]
    ports = [match[1] if (match := _ADDRESS.fullmatch(part)) else "0" for part in addresses]
    if not all(0 < int(port) < 65_536 for port in ports):
        raise ValueError("not host:port")
    return ",".join(addresses)


def read_hosts(text: str) -> str:
    """Read host,host,…; raises ValueError for anything else."""
    hosts = [part.strip().lower().rstrip(".") for part in text.split(",")]
    if text and not all(re.fullmatch(r"[a-z0-9._-]+|[0-9a-f:.]+", host) for host in hosts):
        raise ValueError("not host,host")
    return ",".join(hosts)
