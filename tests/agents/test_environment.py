"""The environment: a Service of Kubernetes refuses no start, a typo still does, and secrets may lie in files."""

from pathlib import Path

import pytest

from turnsignal.agents.environment import split_url
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError

BROKERS = {"TURNSIGNAL_BROKERS": "kafka:9092"}


def service(name: str, address: str = "10.96.3.7", port: str = "9108") -> dict[str, str]:
    """The variables that Kubernetes 1.34 puts into every pod beside a Service with one port, named http."""
    shown = f"[{address}]" if ":" in address else address
    link = f"{name}_PORT_{port}_TCP"
    return {
        f"{name}_SERVICE_HOST": address,
        f"{name}_SERVICE_PORT": port,
        f"{name}_SERVICE_PORT_HTTP": port,
        f"{name}_PORT": f"tcp://{shown}:{port}",
        link: f"tcp://{shown}:{port}",
        f"{link}_PROTO": "tcp",
        f"{link}_PORT": port,
        f"{link}_ADDR": address,
    }


@pytest.mark.parametrize("name", ["TURNSIGNAL", "TURNSIGNAL_SCORE", "TURNSIGNAL_METRICS", "TURNSIGNAL_WATCH_2"])
@pytest.mark.parametrize("address", ["10.96.3.7", "fd00:10:96::1"])
def test_what_kubernetes_says_of_a_service_is_no_setting(name: str, address: str) -> None:
    assert Settings.from_env(BROKERS | service(name, address)) == Settings.from_env(BROKERS)


def test_a_metrics_port_that_is_a_port_is_a_setting_beside_a_service_of_that_name() -> None:
    env = BROKERS | service("TURNSIGNAL_METRICS") | {"TURNSIGNAL_METRICS_PORT": "9200"}
    assert Settings.from_env(env).metrics_port == 9200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TURNSIGNAL_SERVICE_HOST", "kafka"),
        ("TURNSIGNAL_SERVICE_PORT", "70000"),
        ("TURNSIGNAL_PORT", "9108"),
        ("TURNSIGNAL_METRIC_PORT", "9108"),
        ("TURNSIGNAL_METRICS_PORTS", "tcp://10.0.0.1:9108"),
        ("TURNSIGNAL_PORT_9108_TCP_ADDR", "somewhere"),
        ("TURNSIGNAL_PORT_9108_TCP_PROTO", "TCP"),
        ("TURNSIGNAL_PORT_HTTP_TCP", "tcp://10.0.0.1:9108"),
        ("TURNSIGNAL_PORT", "http://10.0.0.1:9108"),
        ("TURNSIGNAL_SERVICE", "10.0.0.1"),
    ],
)
def test_a_name_or_a_value_of_another_shape_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: expected a variable that turnsignal knows, got this one; "):
        Settings.from_env(BROKERS | {name: value})


SASL = {
    "TURNSIGNAL_SECURITY_PROTOCOL": "SASL_PLAINTEXT",
    "TURNSIGNAL_SASL_MECHANISM": "PLAIN",
    "TURNSIGNAL_SASL_USERNAME": "scorer",
}


@pytest.mark.parametrize(
    ("content", "secret"),
    [(b"hunter 2", "hunter 2"), (b"hunter2 \n", "hunter2 "), (b"hunter2\r\n", "hunter2"), (b"a\n\n", "a\n")],
)
def test_a_password_comes_from_a_file_without_the_newline_at_its_end(
    tmp_path: Path, content: bytes, secret: str
) -> None:
    (tmp_path / "password").write_bytes(content)
    settings = Settings.from_env(BROKERS | SASL | {"TURNSIGNAL_SASL_PASSWORD_FILE": f"{tmp_path / 'password'}"})
    assert settings.sasl_password is not None
    assert settings.sasl_password.get_secret_value() == secret


def test_every_secret_may_lie_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("0123456789abcdef\n")
    settings = Settings.from_env(BROKERS | {"TURNSIGNAL_EXEMPLAR_SECRET_FILE": f"{tmp_path / 'secret'}"})
    assert settings.exemplar_secret is not None
    with pytest.raises(ConfigError, match=r"^TURNSIGNAL_SSL_KEY_PASSWORD: expected none with PLAINTEXT"):
        Settings.from_env(BROKERS | {"TURNSIGNAL_SSL_KEY_PASSWORD_FILE": f"{tmp_path / 'secret'}"})


def test_a_secret_and_its_file_together_are_refused(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("hunter2")
    both = {"TURNSIGNAL_SASL_PASSWORD": "hunter2", "TURNSIGNAL_SASL_PASSWORD_FILE": f"{tmp_path / 'password'}"}
    with pytest.raises(ConfigError, match=r"^TURNSIGNAL_SASL_PASSWORD_FILE: expected none beside .*, got both") as told:
        Settings.from_env(BROKERS | SASL | both)
    assert "hunter2" not in str(told.value)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "No such file or directory"),
        (b"", "got an empty one"),
        (b"\n", "got an empty one"),
        (b"\xff\xfe", "not UTF-8"),
        (b"x" * 70_000, "more than 65536 bytes"),
    ],
)
def test_a_file_that_holds_no_secret_is_named_in_one_line(tmp_path: Path, content: bytes | None, reason: str) -> None:
    if content is not None:
        (tmp_path / "password").write_bytes(content)
    with pytest.raises(ConfigError, match=r"^TURNSIGNAL_SASL_PASSWORD_FILE: expected a ") as told:
        Settings.from_env(BROKERS | SASL | {"TURNSIGNAL_SASL_PASSWORD_FILE": f"{tmp_path / 'password'}"})
    assert reason in str(told.value)
    assert "\n" not in str(told.value)


def test_a_secret_that_was_typed_where_the_name_of_its_file_belongs_is_not_shown() -> None:
    with pytest.raises(ConfigError, match=r"got a name that is not shown: No such file or directory$"):
        Settings.from_env(BROKERS | SASL | {"TURNSIGNAL_SASL_PASSWORD_FILE": "correct/horse"})


def test_a_mistyped_file_of_a_secret_is_named() -> None:
    with pytest.raises(ConfigError, match=r"did you mean TURNSIGNAL_SASL_PASSWORD_FILE\?$"):
        Settings.from_env(BROKERS | {"TURNSIGNAL_SASL_PASWORD_FILE": "/run/secrets/p"})


@pytest.mark.parametrize(
    "text", ["ftp://a/b", "a:9090", "http:///x", "https://a b/c", "http://a:0/", "http://é.example/"]
)
def test_what_http_cannot_ask_is_no_address(text: str) -> None:
    assert split_url(text) is None


def test_an_address_is_split_into_host_port_and_path() -> None:
    parts = split_url("https://[::1]:9090/hooks?x=1")
    assert parts is not None
    assert (parts.hostname, parts.port, parts.path, parts.query) == ("::1", 9090, "/hooks", "x=1")
