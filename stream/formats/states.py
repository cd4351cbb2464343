"""States: what chains and graphs put out that repeats what they were given, with the answer somewhere in it.

    given:    {"question": "How do I pay?", "chat_history": […]}
    put out:  {"question": "How do I pay?", "chat_history": […], "documents": […], "generation": "By card."}

What was given is no answer, nor is the history, or a question that was made of the question. The answer stands under a
name of answers, else it is the only other thing that says something in several words. A state without one is that of a
run that did not come to its end.
"""

from collections.abc import Mapping
from typing import Any

from turnsignal.stream.formats.documents import DOCUMENTS, documents_beside
from turnsignal.stream.formats.messages import read_messages, spoken, spoken_in
from turnsignal.stream.formats.one_text import ANSWERED, ASKED, words_in
from turnsignal.stream.formats.protocol import Assumed, Message, Record
from turnsignal.stream.formats.questions import is_history, spoken_by
from turnsignal.stream.formats.values import mapping, nested

_MESSAGES = "messages"
_QUESTIONS = {"question", "questions", "query", "queries", "input", "inputs", "prompt", "utterance", *ASKED}
_ANSWERS = {"answer", "answers", "response", "reply", "output", "completion", "result", "generation"}
_NAMES = (*ANSWERED, "output")
#: What else states hold in words: how to go on, what somebody thought of it, and what the answer is made of.
_ON_THE_WAY = {"route", "next", "step", "plan", "reason", "reasoning", "rationale", "thought", "thoughts", "error"}
_ON_THE_WAY |= {"feedback", "critique", "grade", "sql", "instructions", "summary", "intent", "category", "id", "status"}
_ON_THE_WAY |= {"system", "template", "search", "retrieval", "tool", "grading", "expected", "reference", "title"}
_WHOLE = {"role", "kwargs", "choices", "generations"}  #: keys of what is a message, or a completion
_EAST = "\u2e80"  #: from here on scripts are written without spaces


def put_out(output: object, given: object, asked: list[Message], assumed: Assumed) -> list[Message]:
    """Read what a run put out, which was given what its user `asked`: its messages, its text, or the answer in it."""
    answered = answered_in_state(output, given, asked, assumed)
    return spoken_by("assistant", output, assumed) if answered is None else answered


def answered_in_state(output: object, given: object, asked: list[Message], assumed: Assumed) -> list[Message] | None:
    """Return the answer in a state, behind its messages where these end with the question; None for what is no state.

    >>> answered_in_state({"query": "How?", "joke": "A duck …"}, {"query": "How?"}, [], Assumed())[0].text
    'A duck …'
    """
    state = nested(output)
    if not isinstance(state, dict) or len(state) < 2 or not _WHOLE.isdisjoint(state):
        return None
    before, question = _given_in(given), {message.text.strip() for message in spoken_in(asked)}
    about = {key for key, value in state.items() if _is_asked(key, value, question)}
    if not about:
        return None
    others = state.keys() - about | {_MESSAGES}
    added = {key: value for key, value in state.items() if key in others and value and before.get(key) != value}
    history = spoken_in(read_messages(added, assumed))
    if any(message.role == "assistant" for message in history[-1:]):
        return None  # as graphs that converse return it
    answer = _answer_in(added, assumed)
    if not (answer or history) and about.isdisjoint(before) and not _is_echo(state, question):
        return None  # an assistant may ask, too
    for message in answer:
        message.documents = message.documents or documents_beside(state)
    return [*history, *answer]


def _given_in(given: object) -> Record:
    """Return what a run was given by names, also where it is an argument of a function, or all of what was given."""
    held = mapping(given)
    if held.keys() == {"args", "kwargs"}:
        positional = held["args"] if isinstance(held["args"], list) else []
        parts = [*map(mapping, positional), mapping(held["kwargs"])]
        return {key: value for part in parts for key, value in part.items()}
    return mapping(next(iter(held.values()))) or held if len(held) == 1 else held


def _is_asked(key: str, value: Any, question: set[str]) -> bool:
    """Say whether a part of a state is what was asked, or what was said before, by its name or its words."""
    if is_history(key) or key == _MESSAGES or key in ASKED or not _QUESTIONS.isdisjoint(words_in(key)[-1:]):
        return True
    return isinstance(value, str) and key not in _NAMES and value.strip() in question


def _is_echo(state: Record, question: set[str]) -> bool:
    return any(isinstance(value, str) and value.strip() in question for value in state.values())


def _answer_in(added: Mapping[str, Any], assumed: Assumed) -> list[Message]:
    """Return what is said under a name of answers, or alone in several words."""
    named = [key for key in _NAMES if key in added]
    named += [key for key in added if key not in named and _is_answer(words_in(key))]
    for key in named:
        if spoken_there := [
            message for message in spoken(added[key], "assistant", assumed) if message.role == "assistant"
        ]:
            return spoken_there[-1:]
    others = {
        key: text for key, text in added.items() if key not in DOCUMENTS and _ON_THE_WAY.isdisjoint(words_in(key))
    }
    texts = [text for text in others.values() if isinstance(text, str)]
    worded = [text for text in texts if " " in text.strip() or max(text) >= _EAST]
    return spoken(worded[0], "assistant", assumed) if len(worded) == 1 else []


def _is_answer(words: list[str]) -> bool:
    return bool(words) and words[-1] in _ANSWERS and _ON_THE_WAY.isdisjoint(words)
