"""Formats: what teams log of their conversations → turns, a file per format and one line each in `FORMATS`.

A format is recognised by the content of its first records; where two fit that never stand in one file, whoever asks
has to choose.
"""

from collections.abc import Sequence

from turnsignal.stream.formats.adk import AgentDevelopmentKit
from turnsignal.stream.formats.agents import OpenAIAgents
from turnsignal.stream.formats.anthropic import AnthropicMessages
from turnsignal.stream.formats.apim import ApiManagement
from turnsignal.stream.formats.dialogflow import DialogflowCX
from turnsignal.stream.formats.langchain import LangChainMessages
from turnsignal.stream.formats.langfuse import Langfuse
from turnsignal.stream.formats.langsmith import LangSmith
from turnsignal.stream.formats.mlflow import MLflow
from turnsignal.stream.formats.openai import OpenAIChat
from turnsignal.stream.formats.openinference import OpenInference
from turnsignal.stream.formats.openllmetry import OpenLLMetry
from turnsignal.stream.formats.otel import OpenTelemetry
from turnsignal.stream.formats.protocol import LogFormat, Record
from turnsignal.stream.formats.pydantic_ai import PydanticAI
from turnsignal.stream.formats.responses import OpenAIResponses
from turnsignal.stream.formats.sharegpt import ShareGPT
from turnsignal.stream.formats.turnsignal import Turns
from turnsignal.stream.formats.vendors import VENDORS, Vendors

OWN = "turnsignal"
FORMATS: dict[str, LogFormat] = {
    OWN: Turns(),
    "openai": OpenAIChat(),
    "responses": OpenAIResponses(),
    "agents": OpenAIAgents(),
    "anthropic": AnthropicMessages(),
    "otel": OpenTelemetry(),
    "adk": AgentDevelopmentKit(),
    "openinference": OpenInference(),
    "openllmetry": OpenLLMetry(),
    "langfuse": Langfuse(),
    "mlflow": MLflow(),
    "langsmith": LangSmith(),
    "langchain": LangChainMessages(),
    "pydanticai": PydanticAI(),
    "sharegpt": ShareGPT(),
    "apim": ApiManagement(),
    "dialogflow": DialogflowCX(),
}


#: Formats whose records hold, beside their spans, what was sent and came back as whoever was called has it.
_WITH_CALLS = ("mlflow",)


def recognise(sample: Sequence[Record]) -> dict[str, str]:
    """Return the formats that the first records of a file fit, each with what it was recognised by."""
    fitting = {name: why for name, each in FORMATS.items() if (why := each.looks_like(sample))}
    return {name: fitting[name] for name in _WITH_CALLS if name in fitting} or fitting


def reader_of(names: Sequence[str]) -> LogFormat | None:
    """Return what reads records of these formats, of which each record may be in another; None where nothing does."""
    if names and set(names) <= set(VENDORS):
        return Vendors(names, {name: FORMATS[name] for name in VENDORS})
    return FORMATS[names[0]] if len(names) == 1 else None
