"""What a chain was asked: its question, behind the history that stands beside it.

    {"input": "And abroad?", "chat_history": [{"type": "human", "content": "How do I pay?"}, …]}     LangChain's chains
    {"question": "And abroad?", "chat_history": [["How do I pay?", "By card."]]}                    and older ones
    {"input": "And abroad?", "history": "Human: How do I pay?\nAI: By card."}                       its memories of text

Where a trace has no call of a model, this history alone says which conversation the question goes on.
"""

import re
from typing import Any

from turnsignal.stream.formats.messages import spoken, spoken_in
from turnsignal.stream.formats.protocol import Assumed, Message, Record
from turnsignal.stream.formats.transcripts import messages_in
from turnsignal.stream.formats.values import mapping, nested

_HISTORY = re.compile(r"(?:^|[a-z_])(?:hi|Hi)story$|^(?:previous|past|prior)_?[mM]essages$")
_BESIDE = ("messages", "conversation")  #: a question under one of its own names
_QUESTIONS = {"question", "query", "input", "user_input", "user_message", "userMessage", "user_query", "utterance"}
_SPEAKERS = ("Human", "AI"), ("User", "Assistant"), ("user", "assistant"), ("human", "ai"), ("Customer", "Agent")


def spoken_by(role: str, value: object, assumed: Assumed) -> list[Message]:
    """Read an input or output as `spoken` does, and the history beside a user's question, which ends with it then."""
    value = nested(value)
    given = mapping(value)
    if len(given) == 1 and any(map(_HISTORY.search, inner := mapping(next(iter(given.values()))))):
        value = given = inner  # as some chains wrap what they were given
    held = [key for key in given if _is_history(key, given)]
    rest = {key: given[key] for key in given if key not in held}
    question = spoken(rest, role, assumed) if held and role == "user" else []
    if [message.role for message in question] != ["user"]:
        return spoken(value, role, assumed)
    for key in held:
        if history := _history_of(nested(given[key]), question[0].text, assumed):
            is_there = history[-1].role == "user" and history[-1].text.strip() == question[0].text.strip()
            return history if is_there else [*history, *question]
    return question


def is_history(key: str) -> bool:
    """Say whether a name is that of what was said before a question.

    >>> is_history("chatHistory"), is_history("history_id")
    (True, False)
    """
    return _HISTORY.search(key) is not None


def _is_history(key: str, given: Record) -> bool:
    return is_history(key) or (key in _BESIDE and not _QUESTIONS.isdisjoint(given))


def _history_of(history: Any, question: str, assumed: Assumed) -> list[Message]:
    """Return the messages of a history that somebody spoke; none where it is no history of a question."""
    if isinstance(history, list):
        are_messages = all(isinstance(item, dict | list) for item in history)
        return spoken_in(spoken(history, "user", assumed)) if are_messages else []
    speakers = [pair for pair in _SPEAKERS if pair[1] in history] if isinstance(history, str) else []
    for asks, answers in speakers:
        messages = messages_in(f"{history}\n{asks}: {question}\n{answers}:")
        if any(message.role == "assistant" for message in messages):
            return spoken_in(messages)[:-1]
    return []
