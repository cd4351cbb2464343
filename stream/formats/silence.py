"""Why no turn was read from records of a known format, and what mends it: most tools record no content by default."""

from collections.abc import Mapping

from turnsignal.stream.formats.assembly import MANY_QUESTIONS, NO_CONTENT, NOTHING_SAID, ONE_SIDED, ONLY_RETRIEVALS
from turnsignal.stream.formats.halves import ANSWERS_ALONE
from turnsignal.stream.formats.linking import UNSURE
from turnsignal.stream.formats.messages import CUT_OFF, NO_MESSAGES, REDACTED
from turnsignal.stream.formats.protocol import Assumed

_OFTEN = 0.2  #: of the answers, that are told to be empty
_FEW = 20  #: times as many conversations, that some are not sure is no matter

#: How messages come to be recorded, by the format that lacks them.
_RECORD_CONTENT = {
    "otel": "set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true where the assistant runs (SPAN_AND_EVENT with "
    "OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental), and give the file of its log records, too, where "
    "messages are events; of OpenLLMetry, set TRACELOOP_TRACE_CONTENT=true",
    "adk": "set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true where the assistant runs",
    "openinference": "set OPENINFERENCE_HIDE_INPUTS and OPENINFERENCE_HIDE_OUTPUTS to false where the assistant runs, "
    "and those of INPUT_MESSAGES, OUTPUT_MESSAGES, INPUT_TEXT and OUTPUT_TEXT",
    "openllmetry": "set TRACELOOP_TRACE_CONTENT=true where the assistant runs",
    "langsmith": "set LANGSMITH_HIDE_INPUTS and LANGSMITH_HIDE_OUTPUTS to false where the assistant runs, and export "
    "runs with their inputs and outputs",
    "langfuse": "leave capture_input and capture_output on where the assistant runs, mask no whole messages, and "
    "export observations with their input and output",
}
_LOG_MESSAGES = (
    "log the messages of request and response; where they are there under names of your own, leave --format out, and "
    "`turnsignal convert FILE --propose mapping.toml` writes a mapping"
)


def explain_silence(name: str, assumed: Assumed, conversations: int, turns: int, scores: int) -> str | None:
    """Say why hardly a conversation was read from files of a format, or only parts; None where most were.

    assumed: what was left out of them; scores: by people, that the files hold.
    """
    mend = _RECORD_CONTENT.get(name.partition(" in ")[0], _LOG_MESSAGES)
    if assumed[CUT_OFF] > conversations:
        limits = (
            "unset OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT and OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT, or what else limits"
        )
        return f"{assumed[CUT_OFF]:,} lists of messages are cut off: {limits} attributes, where the assistant runs"
    if assumed[REDACTED] >= max(conversations, 1):
        return f"{assumed[REDACTED]:,} messages are redacted: {mend}"
    if assumed[NO_CONTENT] > conversations:
        return f"message content is not recorded in {assumed[NO_CONTENT]:,} traces: {mend}"
    if assumed[NOTHING_SAID] > conversations and not scores:
        return (
            f"nothing that was said is recognised in {assumed[NOTHING_SAID]:,} traces: where texts stand there under "
            "names of your own, `turnsignal convert FILE --propose mapping.toml` writes a mapping"
        )
    if assumed[ANSWERS_ALONE]:
        return (
            f"the questions of {assumed[ANSWERS_ALONE]:,} answers of a batch are missing: give the batch's input file, "
            "which has their custom_id, in the same command, too"
        )
    if assumed[ONE_SIDED] * 2 > turns:
        return f"what was asked, or what was answered, is not recorded in {assumed[ONE_SIDED]:,} traces: {mend}"
    if assumed[MANY_QUESTIONS]:
        return (
            f"{assumed[MANY_QUESTIONS]:,} traces hold many different questions, and the last answer alone is read: "
            "where these are a user's, begin a trace with each of them, or log the history with each call"
        )
    if assumed[UNSURE] * _FEW > conversations:
        return (
            f"{assumed[UNSURE]:,} calls without a conversation's id repeat answers that several were given, so that "
            "what they repeat is counted again: send one id with every call of a conversation (metadata.session_id), "
            "or the whole history as it was said"
        )
    if conversations or turns:
        return None
    if unread := assumed[NO_MESSAGES]:
        return f"messages are missing in {unread:,} records: {mend}"
    if assumed[ONLY_RETRIEVALS]:
        return "these are retrievals alone: export the calls of the model in the same traces, too"
    if any(assumed[f"evaluators' {what} left out"] for what in ("observations", "spans", "runs")):
        return "these are evaluations of answers alone: export the calls that they are of, too; judges are not judged"
    if scores or assumed["scores by evaluators and judges left out"]:
        return "these are scores alone: give the file of the answers that they are of in the same command, too"
    return None


def doubt_answers(empty: int, answers: int) -> list[str]:
    """Say that many answers are empty; nothing where few are."""
    if empty < 2 or empty < _OFTEN * answers:
        return []
    doubt = (
        f"{empty:,} of {answers:,} answers are empty: where users saw some, their text stands under another name than "
        "what is read, or was not recorded"
    )
    return [doubt]


def doubt_sides(turns: Mapping[str, int]) -> list[str]:
    """Say that nobody asks, or nobody answers, in a whole log; turns: by role."""
    for role, other in (("assistant", "user"), ("user", "assistant")):
        if turns.get(other, 0) > 1 and not turns.get(role):
            doubt = (
                f"nobody is the {role} in {turns[other]:,} turns, all of the {other}: where somebody is, say in a "
                f'mapping which word he goes by, as in role = {{ path = "…", "User" = "{role}" }}'
            )
            return [doubt]
    return []
