"""Leftovers: what a program ought to have taken out of a model's text, or filled in, before anybody read it.

Tags of a model's thoughts and calls, tokens and headings of its prompt format, the JSON around its answer, and
variables of a template. In code they may be what the answer is about.
"""

import re
from itertools import islice

from turnsignal.stream.text.markup import code_spans, covers

#: names of the tags around what a model thinks before it answers
THOUGHTS = r"think(?:ing)?|thoughts?|reasoning|reflection|scratchpad"
#: tags that open or close thoughts and calls, those that wrap an answer, where they close; tokens; variables. Each
#: alternative begins with its sign, for which a text is looked through ten times as fast as for all of them in turn.
_LEFTOVER = re.compile(
    rf"</?(?:{THOUGHTS}|inner_monologue|chain_of_thought|tool_(?:calls?|use|response|results?)"
    r"|function_(?:calls?|results?)|invoke)(?:\s[^<>\n]{0,80})?>"
    r"|</(?:answer|response|final_answer|output|instructions?|context|documents?|system_prompt)>"
    r"|<\|[a-zA-Z][\w ]{0,40}\|>|<｜[^｜\n]{1,40}｜>|</?(?:start|end)_of_turn>|<(?:bos|eos|unk|pad)>|<0x[0-9A-F]{2}>"
    r"|\[/?INST\]|<</?SYS>>|</s>\s*\Z"
    r"|\{(?<![\w\\^_}]\{)\{[{\s]{0,3}[A-Za-z_][\w .|-]{0,60}\}\}|\{%-?\s*[a-z]|<%[=-]?\s*\w|\$\{[A-Za-z_][\w.]{0,60}\}"
)
#: a call of a tool in the answer's place, as JSON
_CALL = re.compile(
    r"(?:```(?:json)?\s{0,20})?(?:\[\s{0,20})?\{\s{0,20}\"(?:type\"\s*:\s*\"(?:function|tool_use|tool_call)|tool(?:_calls?|_name|_uses)?|function(?:_call)?"
    r"|name|action|recipient_name)\"[^{}]{0,200}\"(?:arguments|args|parameters|params|input|action_input|tool_input|kwargs)\"\s*:"
)
#: how an answer begins that stands within the JSON that a model was asked for
_ENVELOPE = re.compile(
    r"\{\s{0,20}\".{0,400}?\b(?:answer|final_answer|answer_text|response|response_text|reply)\"\s*:\s*\"", re.DOTALL
)
#: how thoughts begin that no tag is around: a model speaks of its user
_SPEAKS_OF_USER = re.compile(
    r"\W{0,3}(?:(?:ok(?:ay)?|alright|hmm+|so|well|now|first|let me (?:think|see))[,.:! …]{1,3}){0,2}"
    r"(?:the|this) user(?:'s|’s)? (?:is asking|wants? (?:to know|me|an?|help|info)"
    r"|ask(?:s|ed) (?:about|me|how|why|what|whether|if|which|where|when)"
    r"|(?:question|query|message|request) (?:is|asks))",
    re.IGNORECASE,
)
#: how the turns of a prompt are headed that is written as one text, and how the answer is that it waits for
_HEADED = re.compile(
    r"^[ \t]{0,3}#{1,6} ?(?:(?P<chat>system(?: prompt| message)?|user|human)|(?P<task>instruction)"
    r"|(?P<reply>assistant)|response)(?:[ \t]*:.*|[ \t]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_MOST = 20  #: that are looked at, where they stand in code


def has_leftovers(text: str) -> bool:
    """Say whether a text shows a tag, token or call of a model, or a template's variable, outside of code, or is JSON.

    >>> has_leftovers("<think>They ask for a price.</think> It is 9 euros."), has_leftovers("Write `{{name}}` there.")
    (True, False)
    >>> has_leftovers("Okay, the user wants to know a price."), has_leftovers("The user needs admin rights.")
    (True, False)
    >>> has_leftovers("### System\\nBe kind.\\n### User\\nHi\\n### Assistant\\nHello"), has_leftovers("### User\\nHi")
    (True, False)
    """
    if " user" in text[:40] and _SPEAKS_OF_USER.match(text):
        return True
    if "#" in text and _shows_prompt(text):
        return True
    if "<" not in text and "{" not in text and "INST]" not in text:
        return False
    whole = text.strip()  # no pattern passes over spaces on its own: two in a row would try each way to share them
    if _CALL.match(whole) or whole.startswith("<s>") or (whole.endswith("}") and _ENVELOPE.match(whole)):
        return True
    hidden = None
    for count, leftover in enumerate(_LEFTOVER.finditer(text)):
        if count == _MOST:
            return False
        if hidden is None:
            hidden = code_spans(text) if "`" in text or "~~~" in text else []
        if not covers(hidden, leftover.start()):
            return True
    return False


def _shows_prompt(text: str) -> bool:
    """Say whether a text has the headings of a prompt's turns outside of code: of what is asked, and of the answer."""
    hidden = None
    kinds: set[str | None] = set()
    for heading in islice(_HEADED.finditer(text), _MOST):
        hidden = hidden if hidden is not None else code_spans(text) if "`" in text or "~~~" in text else []
        if not covers(hidden, heading.start()):
            kinds.add(heading.lastgroup)
    return kinds >= {"chat", "reply"} or kinds >= {"task", None}
