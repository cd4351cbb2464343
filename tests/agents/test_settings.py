import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from turnsignal.agents.settings import Settings, variables
from turnsignal.agents.worker.apps import consumer_options
from turnsignal.stream.errors import ConfigError

BROKERS = {"TURNSIGNAL_BROKERS": "kafka-1:9092,kafka-2:9092"}
SASL = {
    "TURNSIGNAL_SECURITY_PROTOCOL": "SASL_SSL",
    "TURNSIGNAL_SASL_MECHANISM": "SCRAM-SHA-512",
    "TURNSIGNAL_SASL_USERNAME": "scorer",
    "TURNSIGNAL_SASL_PASSWORD": "correct horse ",
}


def refusal(**fields: str) -> str:
    """Read an environment that is expected to be refused, and return the line."""
    environment = BROKERS | {f"TURNSIGNAL_{name.upper()}": value for name, value in fields.items()}
    with pytest.raises(ConfigError) as caught:
        Settings.from_env(environment)
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.fixture
def key_pair(tmp_path: Path) -> tuple[Path, Path, Path]:
    """A certificate, its key, and the same key encrypted with the password `open sesame`."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=2))
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    certificate, plain, locked = (tmp_path / file for file in ("cert.pem", "key.pem", "locked.pem"))
    certificate.write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(pem))
    plain.write_bytes(key.private_bytes(pem, form, serialization.NoEncryption()))
    locked.write_bytes(key.private_bytes(pem, form, serialization.BestAvailableEncryption(b"open sesame")))
    return certificate, plain, locked


def test_only_the_brokers_are_required_and_the_rest_has_defaults() -> None:
    settings = Settings.from_env(BROKERS)
    assert settings.brokers == "kafka-1:9092,kafka-2:9092"
    assert settings.delivery == "exactly_once"
    assert settings.auto_offset_reset == "earliest"
    assert settings.partitions == 4
    assert settings.max_poll_records == 2000
    assert settings.store == "memory"
    assert settings.app_id("score") == "turnsignal-score"


def test_other_programs_variables_are_left_alone_and_an_empty_one_counts_as_not_set() -> None:
    settings = Settings.from_env(BROKERS | {"KAFKA_HOME": "/opt", "TURNSIGNAL_PREFIX": " "})
    assert settings.prefix == "turnsignal"


def test_missing_brokers_are_named_with_what_was_expected() -> None:
    with pytest.raises(ConfigError, match=r"^TURNSIGNAL_BROKERS: expected host:port,host:port,…, got nothing$"):
        Settings.from_env({})


@pytest.mark.parametrize(
    "text", ["kafka", "kafka:", ":9092", "kafka:0", "kafka:65536", "a:1,,b:2", "a:1 b:2", "a:1\nb:2"]
)
def test_brokers_that_are_not_host_and_port_are_refused(text: str) -> None:
    assert refusal(brokers=text).startswith("TURNSIGNAL_BROKERS: expected host:port,host:port,…, got ")


def test_an_address_of_ip_version_6_reaches_all_three_clients() -> None:
    settings = Settings.from_env({"TURNSIGNAL_BROKERS": "[::1]:9092"})
    assert settings.confluent()["bootstrap.servers"] == "[::1]:9092"
    assert settings.aiokafka()["bootstrap_servers"] == ["[::1]:9092"]
    assert settings.faust()["broker"] == ["kafka://[::1]:9092"]


def test_an_unknown_variable_is_refused_with_the_nearest_known_one() -> None:
    assert refusal(partitons="4").endswith("did you mean TURNSIGNAL_PARTITIONS?")


def test_every_setting_is_a_variable() -> None:
    assert variables()["TURNSIGNAL_SASL_PASSWORD"] == "sasl_password"
    assert len(variables()) == len(Settings.model_fields)


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("partitions", "four", "expected a whole number from 1 to 10000, got 'four'"),
        ("partitions", "0", "expected a whole number from 1 to 10000, got '0'"),
        ("prefix", "a/b", "expected 1 to 200 of the characters A-Z a-z 0-9 . _ -, got 'a/b'"),
        ("delivery", "twice", "expected exactly_once, or at_least_once for brokers without transactions, got 'twice'"),
        ("session_timeout", "soon", "expected a duration from 1s to 1d, such as 10s or 2m, got 'soon'"),
        ("session_timeout", "nan", "expected a duration from 1s to 1d, such as 10s or 2m, got 'nan'"),
        ("poll_interval", "forever", "expected a duration from 1s to 1d, such as 10s or 2m, got 'forever'"),
        ("poll_interval", "1ms", "expected a duration from 1s to 1d, such as 10s or 2m, got '1ms'"),
        ("transaction_timeout", "1ms", "expected a duration from 1s to 1d, such as 10s or 2m, got '1ms'"),
        ("rebalance_timeout", "9999w", "expected a duration from 1s to 1d, such as 10s or 2m, got '9999w'"),
        ("stall_timeout", "1ms", "expected a duration from 5s to 1d, such as 10s or 2m, got '1ms'"),
        ("metrics_port", "70000", "expected a port from 1 to 65535, or 0 for any that is free, got '70000'"),
        ("ssl_cafile", "/no/such", "expected a readable PEM file, got '/no/such'"),
        ("suite", "/no/such", "expected a suite file (TOML); none is the built-in default, got '/no/such'"),
    ],
)
def test_a_wrong_value_is_named_with_what_was_expected_and_what_came(field: str, value: str, expected: str) -> None:
    assert refusal(**{field: value}) == f"TURNSIGNAL_{field.upper()}: {expected}"


def test_several_wrong_values_are_counted() -> None:
    assert refusal(partitions="x", replication="y").endswith("(and 1 more)")


def test_a_very_long_value_is_cut_in_the_message() -> None:
    assert len(refusal(partitions="1" * 100_000)) < 300


def test_more_in_sync_replicas_than_replicas_are_refused() -> None:
    assert refusal(min_insync_replicas="2").startswith("TURNSIGNAL_MIN_INSYNC_REPLICAS: expected at most the 1 of")


def test_a_heartbeat_too_slow_for_the_session_is_refused() -> None:
    assert refusal(session_timeout="6s", heartbeat_interval="3s").startswith("TURNSIGNAL_HEARTBEAT_INTERVAL: expected")


def test_durations_are_seconds() -> None:
    given = {"TURNSIGNAL_SESSION_TIMEOUT": "1.5m", "TURNSIGNAL_HEARTBEAT_INTERVAL": "500ms"}
    settings = Settings.from_env(BROKERS | given | {"TURNSIGNAL_RETENTION_SCORES": "forever"})
    assert settings.session_timeout == 90.0
    assert settings.heartbeat_interval == 0.5
    assert settings.retention_scores == float("inf")
    assert settings.retention_turns == 604_800.0


def test_a_password_is_never_shown() -> None:
    settings = Settings.from_env(BROKERS | SASL)
    assert "correct horse" not in f"{settings!r} {settings} {settings.model_dump_json()}"
    assert "correct horse" not in refusal(sasl_password="correct horse")
    assert "hunter2" not in refusal(brokers="user:hunter2@kafka")


def test_the_exemplar_secret_is_long_enough_and_never_shown() -> None:
    secret = "correct horse battery"
    settings = Settings.from_env(BROKERS | {"TURNSIGNAL_EXEMPLAR_SECRET": secret})
    assert secret not in f"{settings!r} {settings} {settings.model_dump_json()}"
    assert settings.exemplar_secret is not None
    assert settings.exemplar_secret.get_secret_value() == secret
    line = refusal(exemplar_secret="short horse")
    assert "TURNSIGNAL_EXEMPLAR_SECRET: expected a secret of 16 or more characters" in line
    assert "horse" not in line


def test_credentials_on_a_connection_without_them_are_refused_rather_than_ignored() -> None:
    assert refusal(sasl_username="me") == "TURNSIGNAL_SASL_USERNAME: expected none with PLAINTEXT, got one that is set"
    assert refusal(security_protocol="SASL_SSL") == "TURNSIGNAL_SASL_MECHANISM: expected one with SASL_SSL, got nothing"


def test_certificates_on_a_connection_in_the_clear_are_refused(key_pair: tuple[Path, Path, Path]) -> None:
    certificate, _, _ = key_pair
    assert "expected none with PLAINTEXT" in refusal(ssl_cafile=str(certificate))


def test_plaintext_is_the_same_for_all_three_clients() -> None:
    settings = Settings.from_env(BROKERS)
    assert settings.confluent()["security.protocol"] == "PLAINTEXT"
    assert settings.aiokafka()["security_protocol"] == "PLAINTEXT"
    assert settings.aiokafka()["ssl_context"] is None
    assert settings.faust()["broker_credentials"] is None


def test_sasl_over_tls_is_the_same_for_all_three_clients(key_pair: tuple[Path, Path, Path]) -> None:
    certificate, key, _ = key_pair
    tls = {
        "TURNSIGNAL_SSL_CAFILE": str(certificate),
        "TURNSIGNAL_SSL_CERTFILE": str(certificate),
        "TURNSIGNAL_SSL_KEYFILE": str(key),
    }
    settings = Settings.from_env(BROKERS | SASL | tls)
    confluent, aiokafka, credentials = settings.confluent(), settings.aiokafka(), settings.faust()["broker_credentials"]
    assert confluent["security.protocol"] == aiokafka["security_protocol"] == credentials.protocol.value == "SASL_SSL"
    assert confluent["sasl.mechanism"] == aiokafka["sasl_mechanism"] == credentials.mechanism.value == "SCRAM-SHA-512"
    assert confluent["sasl.username"] == aiokafka["sasl_plain_username"] == credentials.username == "scorer"
    assert confluent["sasl.password"] == aiokafka["sasl_plain_password"] == credentials.password == "correct horse "
    assert confluent["ssl.ca.location"] == confluent["ssl.certificate.location"] == str(certificate)
    for context in (aiokafka["ssl_context"], credentials.ssl_context):
        assert context.verify_mode is ssl.CERT_REQUIRED
        assert context.check_hostname
        assert context.cert_store_stats()["x509"] == 1


def test_an_encrypted_key_needs_its_password_and_never_asks_the_terminal(key_pair: tuple[Path, Path, Path]) -> None:
    certificate, _, locked = key_pair
    tls = {"security_protocol": "SSL", "ssl_certfile": str(certificate), "ssl_keyfile": str(locked)}
    assert "belong together" in refusal(**tls)
    assert "wrong guess" not in refusal(**tls, ssl_key_password="wrong guess")
    good = BROKERS | {f"TURNSIGNAL_{name.upper()}": value for name, value in tls.items()}
    settings = Settings.from_env(good | {"TURNSIGNAL_SSL_KEY_PASSWORD": "open sesame"})
    assert settings.ssl_context() is not None
    assert settings.confluent()["ssl.key.password"] == "open sesame"


def test_a_producer_partitions_as_java_does_and_writes_transactions_when_given_an_id() -> None:
    producer = Settings.from_env(BROKERS).producer("turnsignal-score-3")
    assert producer["partitioner"] == "murmur2_random"
    assert producer["transactional.id"] == "turnsignal-score-3"
    assert producer["transaction.timeout.ms"] == 15_000
    assert "transactional.id" not in Settings.from_env(BROKERS).producer()


def test_records_gather_between_commits_for_as_long_as_the_setting_says() -> None:
    assert Settings.from_env(BROKERS).commit_interval == 0.032
    assert Settings.from_env(BROKERS | {"TURNSIGNAL_COMMIT_INTERVAL": "0"}).commit_interval == 0
    assert Settings.from_env(BROKERS | {"TURNSIGNAL_COMMIT_INTERVAL": "250ms"}).commit_interval == 0.25
    assert refusal(commit_interval="1h").startswith("TURNSIGNAL_COMMIT_INTERVAL: expected a duration up to 10s")


def test_what_is_written_is_compressed_as_the_setting_says() -> None:
    assert Settings.from_env(BROKERS).producer()["compression.type"] == "lz4"
    plain = Settings.from_env(BROKERS | {"TURNSIGNAL_COMPRESSION": "none"})
    assert plain.producer("turnsignal-score-3")["compression.type"] == "none"
    assert refusal(compression="brotli") == (
        "TURNSIGNAL_COMPRESSION: expected lz4, zstd, snappy, gzip or none, got 'brotli'"
    )


def test_faust_is_told_to_make_no_topics_and_no_standbys() -> None:
    arguments = Settings.from_env(BROKERS).faust()
    assert arguments["topic_allow_declare"] is False
    assert arguments["topic_disable_leader"] is True
    assert arguments["table_standby_replicas"] == 0
    assert arguments["broker_max_poll_records"] == 2000


@pytest.mark.parametrize(
    ("host", "asked", "shown"),
    [
        ("127.0.0.1", None, True),
        ("localhost", None, True),
        ("::1", None, True),
        ("0.0.0.0", None, False),
        ("10.1.2.3", None, False),
        ("0.0.0.0", "true", True),
        ("127.0.0.1", "false", False),
    ],
)
def test_conversations_are_shown_unasked_only_where_no_other_machine_reaches(
    host: str, asked: str | None, shown: bool
) -> None:
    given = {"TURNSIGNAL_METRICS_HOST": host} | ({"TURNSIGNAL_SHOW_CONVERSATIONS": asked} if asked else {})
    assert Settings.from_env(BROKERS | given).shows_conversations == shown


def test_a_worker_is_asked_by_its_own_address_and_by_names_that_were_allowed() -> None:
    given = {"TURNSIGNAL_METRICS_HOST": "Worker-1", "TURNSIGNAL_ALLOWED_HOSTS": "score.example, Other."}
    assert Settings.from_env(BROKERS | given).hosts == ("worker-1", "score.example", "other")
    assert refusal(allowed_hosts="http://a").startswith("TURNSIGNAL_ALLOWED_HOSTS: expected names ")


@pytest.mark.parametrize(
    ("host", "port", "found"),
    [
        ("127.0.0.1", "9999", ["127.0.0.1:9999", "127.0.0.1:10000"]),
        ("0.0.0.0", "9999", ["127.0.0.1:9999", "127.0.0.1:10000"]),
        ("::", "9999", ["[::1]:9999", "[::1]:10000"]),
        ("::1", "9999", ["[::1]:9999", "[::1]:10000"]),
        ("worker-1", "1", ["worker-1:1", "worker-1:2"]),
        ("127.0.0.1", "0", [None, None]),
    ],
)
def test_pages_are_where_a_program_of_this_machine_finds_them(host: str, port: str, found: list[str | None]) -> None:
    settings = Settings.from_env(BROKERS | {"TURNSIGNAL_METRICS_HOST": host, "TURNSIGNAL_METRICS_PORT": port})
    assert [settings.page_address(), settings.page_address(1)] == found


def test_below_the_first_port_there_are_no_pages() -> None:
    assert Settings.from_env(BROKERS | {"TURNSIGNAL_METRICS_PORT": "1"}).page_address(-1) is None


def test_dead_letters_keep_no_text_unless_asked_and_never_beside_a_redaction(tmp_path: Path) -> None:
    env = {"TURNSIGNAL_BROKERS": "localhost:9092"}
    assert Settings.from_env(env).dead_letters == "headers"
    assert Settings.from_env(env | {"TURNSIGNAL_DEAD_LETTERS": "full"}).dead_letters == "full"
    (tmp_path / "redaction.toml").touch()
    both = {"TURNSIGNAL_DEAD_LETTERS": "full", "TURNSIGNAL_REDACTION": str(tmp_path / "redaction.toml")}
    with pytest.raises(ConfigError, match="TURNSIGNAL_DEAD_LETTERS: expected headers with TURNSIGNAL_REDACTION"):
        Settings.from_env(env | both)


def test_a_worker_may_be_named_so_that_it_comes_back_as_the_same_member() -> None:
    settings = Settings.from_env(BROKERS | {"TURNSIGNAL_INSTANCE": "turnsignal-score-0"})
    assert consumer_options(settings, "turnsignal-score")["group_instance_id"] == "turnsignal-score-0"
    assert refusal(instance="pod 0").startswith("TURNSIGNAL_INSTANCE: expected a name that no other worker")


def test_what_is_read_before_deploying_names_every_variable() -> None:
    text = Path("deploy/README.md").read_text(encoding="utf-8")
    named = {name for name in Settings.model_fields if not name.startswith("retention_")} | {"retention_…"}
    assert [name for name in sorted(named) if f"`{name.upper()}`" not in text and f"`{name.upper()}=" not in text] == []
