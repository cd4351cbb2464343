"""Judge settings: how long verdicts are kept; judges stand in the suite, and endpoints have variables of their own."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from turnsignal.agents.environment import read_duration
from turnsignal.agents.notify_settings import NotifySettings


class JudgeSettings(NotifySettings):
    """The variables about judges: TURNSIGNAL_RETENTION_VERDICTS."""

    retention_verdicts: Annotated[float, BeforeValidator(read_duration), Field(gt=0)] = Field(
        default="30d", description="a duration such as 12h, 30d or forever", validate_default=True
    )
