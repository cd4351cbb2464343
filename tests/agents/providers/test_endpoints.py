"""Where an endpoint is and its key come from the environment; what is wrong is named, never shown."""

from pathlib import Path

import pytest

from turnsignal.agents.providers.endpoints import find_endpoint
from turnsignal.agents.settings import Settings
from turnsignal.stream.errors import ConfigError

SECRET = "sk-very-secret"


def test_a_known_endpoint_needs_a_key_only_and_ollama_none() -> None:
    found = find_endpoint("openai", {"TURNSIGNAL_JUDGE_OPENAI_KEY": SECRET})
    assert found.url == "https://api.openai.com/v1"
    assert found.key is not None
    assert found.key.get_secret_value() == SECRET
    assert find_endpoint("ollama", {}) == ("ollama", "http://localhost:11434/v1", None)


def test_a_key_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(f"{SECRET}\n")
    env = {
        "TURNSIGNAL_JUDGE_LAB_URL": "https://lab.example/v1/",
        "TURNSIGNAL_JUDGE_LAB_KEY_FILE": str(tmp_path / "key"),
    }
    found = find_endpoint("lab", env)
    assert found.url == "https://lab.example/v1"
    assert found.key is not None
    assert found.key.get_secret_value() == SECRET


@pytest.mark.parametrize(
    ("host", "is_near"),
    [
        ("127.0.0.1:8000", True),
        ("[::1]", True),
        ("LocalHost", True),
        ("gateway", True),
        ("vllm-2_b", True),
        ("3scale", True),
        ("gateway.example", False),
        ("[2001:db8::1]", False),
        ("[fe80::1%25eth0]", False),
        ("134744072", False),
        ("0x08080808", False),
        ("0X8", False),
        ("010", False),
        ("gateway%2eexample", False),
        ("localhost.example", False),
    ],
)
@pytest.mark.parametrize("scheme", ["http", "HTTP"])
def test_a_key_goes_in_the_clear_to_this_machine_or_a_name_without_a_dot_only(
    scheme: str, host: str, *, is_near: bool
) -> None:
    env = {"TURNSIGNAL_JUDGE_LAB_URL": f"{scheme}://{host}/v1", "TURNSIGNAL_JUDGE_LAB_KEY": SECRET}
    if is_near:
        assert find_endpoint("lab", env).url == f"http://{host}/v1"
        return
    with pytest.raises(ConfigError, match=r"_URL: expected (https, as a key is sent there|a URL such as)"):
        find_endpoint("lab", env)


@pytest.mark.parametrize(
    ("name", "env", "complaint"),
    [
        ("lab", {}, "TURNSIGNAL_JUDGE_LAB_URL: expected the URL of the endpoint lab"),
        ("openai", {}, "TURNSIGNAL_JUDGE_OPENAI_KEY: expected the key"),
        ("lab", {"URL": "https://API.openai.com/v1/"}, "TURNSIGNAL_JUDGE_LAB_KEY: expected the key"),
        ("lab", {"URL": "lab.example"}, "TURNSIGNAL_JUDGE_LAB_URL: expected a URL such as"),
        ("lab", {"URL": "file:///etc/passwd"}, "expected a URL such as"),
        ("lab", {"URL": "http://[oops"}, "expected a URL such as"),
        ("lab", {"URL": "https://ann:sk-very-secret@lab.example"}, "without user and password"),
        ("lab", {"URL": "http://lab.example", "KEY": SECRET}, "expected https, as a key is sent there"),
        ("lab", {"URL": "https://lab.example", "KEY": SECRET, "KEY_FILE": "/x"}, "expected none beside"),
        ("lab", {"URL": "https://lab.example", "KEY_FILE": "/nowhere"}, "TURNSIGNAL_JUDGE_LAB_KEY_FILE: expected a re"),
        ("lab", {"URL": "https://lab.example", "KEY": "sk-very-secret\r\nX: y"}, "printable ASCII"),
        ("lab", {"URL": "https://lab.example", "KEY": f"Bearer {SECRET}"}, "_KEY: expected the key alone"),
        ("lab", {"URL": "https://lab.example", "KEY": f'"{SECRET}"'}, "_KEY: expected the key alone"),
        ("lab", {"URL": "https://lab.example", "KEY": f"'{SECRET}'"}, "_KEY: expected the key alone"),
    ],
)
def test_what_is_wrong_names_the_variable_and_shows_no_secret(name: str, env: dict[str, str], complaint: str) -> None:
    with pytest.raises(ConfigError) as error:
        find_endpoint(name, {f"TURNSIGNAL_JUDGE_{name.upper()}_{key}": value for key, value in env.items()})
    assert complaint in str(error.value)
    assert SECRET not in str(error.value)


def test_variables_of_judges_are_no_mistyped_settings() -> None:
    env = {"TURNSIGNAL_BROKERS": "kafka:9092", "TURNSIGNAL_JUDGE_LAB_URL": "https://lab.example/v1"}
    assert Settings.from_env(env).brokers == "kafka:9092"
    with pytest.raises(ConfigError, match="TURNSIGNAL_JUDGE_LAB_URLS"):
        Settings.from_env(env | {"TURNSIGNAL_JUDGE_LAB_URLS": "x"})
