"""Agents that act in text: their calls of tools, what these returned, and their answers, as frameworks word them.

    assistant   Thought: I look it up.  Action: search  Action Input: {"query": "pay"}     a call of a tool
    user        Observation: Cards are taken.                                             what it returned
    assistant   Thought: I can answer now.  Answer: By card.                              By card.

LlamaIndex's and LangChain's agents (ReAct, Yao et al. 2022) write them, and LangChain's with JSON: {"action": "search",
"action_input": "pay"}, then "TOOL RESPONSE: …", and the action "Final Answer"; smolagents' write code, and call
final_answer("By card.") in it. What a user writes is none of that: it counts only right behind such a call.
"""

import re
from collections.abc import Iterable

from turnsignal.stream.formats.protocol import Message
from turnsignal.stream.formats.values import mapping, nested

_ACTION = re.compile(r"^ {0,4}Action ?: ?(\S.{0,100})$", re.MULTILINE)
_ACTS = "Action Input"
_INPUT = re.compile(rf"^ {{0,4}}{_ACTS} ?:", re.MULTILINE)
_ANSWER = re.compile(r"^ {0,4}(?:Final )?Answer ?: *", re.MULTILINE)
_THOUGHT = ("Thought:", "Thought :")
_RETURNED = ("Observation:", "TOOL RESPONSE:")
_FENCES = ("```json", "```")
_FINAL = "final answer"
_CODE = re.compile(r"^ {0,4}(?:<code>|Code ?:|```py)", re.MULTILINE)
_TASK = "New task:\n"  #: what smolagents puts before what a user typed
_LITERAL = r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
_ESCAPE, _ESCAPED = re.compile(r"\\(.)"), {"n": "\n", "t": "\t"}
_FINAL_CODE = re.compile(rf"\bfinal_answer\(\s{{0,9}}(?:answer ?= ?)?({_LITERAL})")
_ACTED = {"action", "action_input"}  #: keys of an object that is a call, or the last answer


def read_acts(messages: Iterable[Message]) -> None:
    """Make calls of tools, and what these returned, of the messages that are such, and take off thoughts of answers."""
    has_called = False
    for message in messages:
        if message.role == "assistant":
            has_called = _read(message)
        elif has_called and message.role == "user" and message.text.lstrip().startswith(_RETURNED):
            message.role = "tool"
        elif message.role == "user":
            message.text = message.text.removeprefix(_TASK)


def _read(message: Message) -> bool:
    """Read what an assistant says; True where what comes next may be what a tool returned."""
    text = message.text.strip()
    if text.startswith(("{", *_FENCES)):
        return _read_object(message, text)
    action = _ACTION.search(text) if _ACTS in text else None  # most answers hold no such words, and are not searched
    if action is not None and _INPUT.search(text, action.end()) is not None:
        _call(message, action[1].strip())
        return True
    if not text.startswith(_THOUGHT):
        return False
    if _CODE.search(text) is not None:
        return _read_code(message, text)
    if (answer := _ANSWER.search(text)) is not None:
        message.text = text[answer.end() :]
    return False


def _read_code(message: Message, text: str) -> bool:
    """Read code in which an agent calls tools, or gives its answer."""
    if (answer := _FINAL_CODE.search(text)) is not None:
        message.text = _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), answer[1][1:-1])
    else:
        _call(message, "code")
    return True


def _read_object(message: Message, text: str) -> bool:
    """Read an object in which an agent says what it does."""
    if '"action_input"' not in text:
        return False
    for fence in _FENCES:
        text = text.removeprefix(fence)
    act = mapping(nested(text.removesuffix(_FENCES[1]).strip()))
    if act.keys() != _ACTED or not isinstance(act["action"], str):
        return False
    if act["action"].casefold() != _FINAL:
        _call(message, act["action"])
        return True
    if isinstance(act["action_input"], str):
        message.text = act["action_input"]
    return False


def _call(message: Message, tool: str) -> None:
    message.text, message.called = "", [*message.called, tool]
