"""Notify settings: where the watch app posts incidents, for those without Prometheus and Alertmanager."""

from typing import Annotated, Literal
from urllib.parse import SplitResult, unquote, urlsplit

from pydantic import AfterValidator, BaseModel, Field, SecretStr

from turnsignal.agents.environment import split_url

_SLACK = "hooks.slack.com"
_MAX_ADDRESS = 2_000  # characters


def _read_address(secret: SecretStr) -> SecretStr:
    text = secret.get_secret_value().strip()
    parts = split_url(text)
    if parts is None or len(text) > _MAX_ADDRESS or not _can_be_asked(parts):
        raise ValueError("no address")
    return SecretStr(text)


def _can_be_asked(parts: SplitResult) -> bool:
    """Say whether clients can ask an address: they look its host up by labels, and send who asks as Latin-1."""
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    try:
        (parts.hostname or "").encode("idna")
        (user + password).encode("latin-1")
    except UnicodeError:
        return False
    return ":" not in user


class NotifySettings(BaseModel):
    """The variables about it: TURNSIGNAL_NOTIFY, which is a secret as such addresses let anybody post."""

    notify: Annotated[SecretStr, AfterValidator(_read_address)] | None = Field(
        default=None, description="an address (http:// or https://) to which incidents are posted"
    )
    #: None: Slack's where the address is one of theirs, JSON otherwise.
    notify_form: Literal["json", "slack"] | None = Field(
        default=None, description="json, or slack (also for Mattermost and others that take its form)"
    )

    @property
    def notifies_slack(self) -> bool:
        """Whether incidents are posted in Slack's form."""
        if self.notify_form is not None or self.notify is None:
            return self.notify_form == "slack"
        return urlsplit(self.notify.get_secret_value()).hostname == _SLACK
