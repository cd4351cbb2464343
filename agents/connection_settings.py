"""Connection settings: where Kafka is and how it is reached, the same for librdkafka, aiokafka and Faust.

One place gives all three their connection, so that none of them speaks in the clear while the others are encrypted.
"""

import logging
import ssl
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, SecretStr, model_validator

from turnsignal.agents.environment import PREFIX, read_brokers
from turnsignal.stream.errors import ConfigError

_FILE_TEXT = "a readable PEM file"


def _is_file(path: Path) -> Path:
    if not path.is_file():
        raise ValueError("no such file")
    return path


File = Annotated[Path, AfterValidator(_is_file)]


def expect(holds: bool, field: str, expected: str, got: str) -> None:
    """Raise ValueError where a field is wrong, in a line that names its variable, what was expected and what came."""
    if not holds:
        msg = f"{PREFIX}{field.upper()}: expected {expected}, got {got}"
        raise ValueError(msg)


class ConnectionSettings(BaseModel):
    """The variables about brokers, TLS and SASL, and the connection in the words of each client."""

    brokers: Annotated[str, AfterValidator(read_brokers)] = Field(description="host:port,host:port,…")
    #: Begins every topic, group and transactional id, so that two installations can share a broker. The longest name
    #: made of it has 40 more characters; Kafka takes 249.
    prefix: str = Field(
        default="turnsignal",
        pattern=r"^[A-Za-z0-9._-]{1,200}$",
        description="1 to 200 of the characters A-Z a-z 0-9 . _ -",
    )

    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = Field(
        default="PLAINTEXT", description="PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL"
    )
    ssl_cafile: File | None = Field(default=None, description=_FILE_TEXT)
    ssl_certfile: File | None = Field(default=None, description=_FILE_TEXT)
    ssl_keyfile: File | None = Field(default=None, description=_FILE_TEXT)
    ssl_key_password: SecretStr | None = Field(default=None, description="the password of the key file")
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] | None = Field(
        default=None, description="PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512"
    )
    sasl_username: str | None = Field(default=None, min_length=1, description="the user's name")
    sasl_password: SecretStr | None = Field(default=None, description="the user's password")

    @model_validator(mode="after")
    def _secured_as_said(self) -> Self:
        tls, sasl = "SSL" in self.security_protocol, self.security_protocol.startswith("SASL")
        for field in ("ssl_cafile", "ssl_certfile", "ssl_keyfile", "ssl_key_password"):
            expect(tls or getattr(self, field) is None, field, f"none with {self.security_protocol}", "one that is set")
        for field in ("sasl_mechanism", "sasl_username", "sasl_password"):
            is_set = getattr(self, field) is not None
            expect(is_set or not sasl, field, f"one with {self.security_protocol}", "nothing")
            expect(sasl or not is_set, field, f"none with {self.security_protocol}", "one that is set")
        certified = self.ssl_certfile is not None
        expect(certified or not self.ssl_keyfile, "ssl_certfile", "one beside the key file", "nothing")
        expect(certified or not self.ssl_key_password, "ssl_certfile", "one beside the key password", "nothing")
        return self

    def ssl_context(self) -> ssl.SSLContext | None:
        """Make the TLS context for aiokafka and Faust, None without TLS.

        Raises ConfigError when certificate, key and password do not belong together.
        """
        if "SSL" not in self.security_protocol:
            return None
        from aiokafka.helpers import create_ssl_context  # it brings all of the client, which most commands do without

        password = self.ssl_key_password.get_secret_value() if self.ssl_key_password else ""
        try:
            context: ssl.SSLContext = create_ssl_context(
                cafile=self.ssl_cafile,
                certfile=self.ssl_certfile,
                keyfile=self.ssl_keyfile,
                password=lambda: password,  # without one OpenSSL would stop and ask the terminal
            )
        except (ssl.SSLError, ValueError, OSError) as error:
            msg = (
                "TURNSIGNAL_SSL_CAFILE, _CERTFILE, _KEYFILE, _KEY_PASSWORD: expected certificates and a key in PEM that"
                f" belong together, got files that OpenSSL refuses: {error}"
            )
            raise ConfigError(msg) from None
        return context

    def confluent(self) -> dict[str, Any]:
        """Give the connection as librdkafka's properties; add what is special to a consumer or an admin client.

        What librdkafka says goes to the logger of its name, when the client is polled, and not past us to stderr.
        """
        properties: dict[str, Any] = {
            "bootstrap.servers": self.brokers,
            "security.protocol": self.security_protocol,
            "client.id": self.prefix,
            # After an outage librdkafka would wait up to ten seconds before it looks again.
            "reconnect.backoff.max.ms": 1000,
        }
        if "SSL" in self.security_protocol:
            # librdkafka looks for authorities in places of its own: name the ones that Python trusts.
            properties["ssl.ca.location"] = self.ssl_cafile or ssl.get_default_verify_paths().cafile
            properties["ssl.certificate.location"] = self.ssl_certfile
            # OpenSSL also takes a key from the certificate's file; librdkafka wants to be told.
            properties["ssl.key.location"] = self.ssl_keyfile or self.ssl_certfile
            if self.ssl_key_password:
                properties["ssl.key.password"] = self.ssl_key_password.get_secret_value()
        if self.sasl_mechanism and self.sasl_password:
            properties["sasl.mechanism"] = self.sasl_mechanism
            properties["sasl.username"] = self.sasl_username
            properties["sasl.password"] = self.sasl_password.get_secret_value()
        given = {name: str(value) for name, value in properties.items() if value is not None}
        return {**given, "logger": logging.getLogger("librdkafka")}

    def aiokafka(self) -> dict[str, Any]:
        """Give the connection as the keyword arguments of aiokafka's clients."""
        arguments: dict[str, Any] = {
            "bootstrap_servers": self.brokers.split(","),
            "security_protocol": self.security_protocol,
            "ssl_context": self.ssl_context(),
        }
        if self.sasl_mechanism and self.sasl_password:
            arguments["sasl_mechanism"] = self.sasl_mechanism
            arguments["sasl_plain_username"] = self.sasl_username
            arguments["sasl_plain_password"] = self.sasl_password.get_secret_value()
        return arguments
