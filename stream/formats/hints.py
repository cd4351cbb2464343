"""Hints: what the fields of turns are called in logs of all kinds, and who speaks, by the words for it."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from turnsignal.stream.formats.human_scores import VOTED
from turnsignal.stream.formats.messages import role_of

#: Words for who speaks that logs use beside those that are read without a mapping; guesses, to be read before use.
SPEAKER_WORDS = {
    **dict.fromkeys(("kunde", "kundin", "nutzer", "nutzerin", "benutzer", "anwender", "besucher", "frager"), "user"),
    **dict.fromkeys(("cliente", "usuario", "utilisateur", "visiteur", "caller", "requester", "q"), "user"),
    **dict.fromkeys(("assistent", "berater", "beraterin", "mitarbeiter", "asistente", "conseiller", "a"), "assistant"),
    **dict.fromkeys(
        ("support", "helpdesk", "admin", "operator", "chat bot", "robot", "virtual assistant", "copilot"), "assistant"
    ),
    **dict.fromkeys(("lead", "contact", "in", "inbound", "incoming", "received"), "user"),
    **dict.fromkeys(("out", "outbound", "outgoing", "api"), "assistant"),
    **dict.fromkeys(("eingehend", "entrante", "entrant", "in entrata"), "user"),
    **dict.fromkeys(("ausgehend", "saliente", "sortant", "in uscita"), "assistant"),
    **dict.fromkeys(("employee", "staff", "representative", "rep", "advisor", "adviser", "consultant"), "assistant"),
    **dict.fromkeys(("customer service", "agente", "operador", "operatore", "opérateur", "conseillère"), "assistant"),
}
HINTS = {
    "conversation_id": (
        *("conversation", "session", "thread", "chat", "dialog", "dlg", "ticket", "case", "conv", "gespräch"),
        "gespraech",
        *("konversation", "sitzung", "vorgang", "unterhaltung", "conversación", "conversacion", "sesión", "sesion"),
    ),
    "turn_id": ("turn_id", "message_id", "messageid", "event_id", "id", "uuid"),
    "timestamp": (
        *("timestamp", "time", "created", "date", "ts", "at", "when", "datetime", "sent", "zeit", "zeitstempel"),
        *("datum", "zeitpunkt", "uhrzeit", "fecha", "hora", "heure", "quand", "start", "started"),
    ),
    "question": (
        *("question", "prompt", "query", "input", "user_message", "request", "asked", "frage", "anfrage"),
        *("pregunta", "requête"),
    ),
    "answer": (
        *("answer", "completion", "response", "output", "reply", "bot_message", "generation", "generated", "antwort"),
        *("respuesta", "réponse", "reponse"),
    ),
    "text": (
        *("text", "content", "message", "body", "utterance", "msg", "nachricht", "inhalt", "mensaje", "texto"),
        *("texte", "contenu"),
    ),
    "role": (
        *(
            "role",
            "speaker",
            "sender",
            "author",
            "from",
            "who",
            "by",
            "type",
            "kind",
            "direction",
            "rolle",
            "wer",
            "von",
            "absender",
            "richtung",
        ),
        *("sprecher", "quién", "quien", "autor", "rol", "qui", "auteur", "dirección", "event"),
    ),
    "documents": (
        *("documents", "retrieved", "context", "sources", "hits", "chunks", "passages", "docs", "doc_ids"),
        *("dokumente", "quellen", "treffer", "fuentes", "documentos"),
    ),
    "version": ("version", "release", "build"),
    "model": ("model",),
    "assistant": ("assistant", "agent", "bot_name", "app"),
    "platform": ("platform", "channel", "channel_type"),
    "user_id": ("user_id", "userid", "customer_id", "visitor_id", "member_id", "visitor", "user"),
}
#: What platforms are called in logs, whatever their column is called.
CHANNELS = frozenset(
    {
        *("web", "website", "webchat", "browser", "widget", "desktop", "mobile", "app", "mobile app", "ios", "android"),
        *("whatsapp", "telegram", "messenger", "facebook", "instagram", "viber", "wechat", "sms", "rcs"),
        *("slack", "teams", "discord", "email", "e-mail", "phone", "voice", "alexa"),
    }
)
#: Words for what people say of an answer, in stars, too, and those that may stand behind them.
VOTES = VOTED | frozenset(("rating", "stars", "bewertung"))
_OF_VOTES = frozenset(("up", "score", "value", "type", "rating"))
#: Words for the number that a turn has in its conversation.
_PLACES = frozenset(("index", "idx", "turn", "seq", "sequence", "order", "position", "pos", "step", "ordinal"))
_PLACES |= frozenset(("number", "no", "nr", "num", "line", "row"))
_IDS = frozenset(("id", "ids", "uuid", "guid", "oid", "key", "no", "nr", "number"))
_TEXTS = frozenset(("text", "content", "contents", "value", "parts", "body", "message"))
#: Last parts of a path that say of themselves too little, so that the part before them counts, too.
_PLAIN = {
    **dict.fromkeys(("text", "question", "answer", "documents"), _TEXTS),
    **dict.fromkeys(("conversation_id", "turn_id", "user_id"), _IDS),
    **dict.fromkeys(("role", "assistant", "model", "platform"), frozenset(("role", "type", "name", "kind", "id"))),
    "timestamp": frozenset(("value", "seconds")),
    "vote": frozenset(("value", "score", "rating", "vote", "type")),
}
#: Words that say of a field what else it is than an id.
_NO_ID = frozenset(
    (
        *("type", "kind", "title", "status", "state", "subject", "topic", "created", "updated", "at", "date"),
        *("time", "timestamp", "count", "total", "model", "version", "url", "role", "summary", "text", "body"),
        *("message", "channel", "language"),
    )
)
#: Words for what else than a conversation has an id.
_OF_OTHERS = frozenset(
    (
        *("user", "customer", "client", "tenant", "org", "organization", "organisation", "account", "project", "team"),
        *("workspace", "prompt", "template", "app", "application", "agent", "bot", "assistant", "trace", "span"),
        *("parent", "run", "request", "response", "msg", "deployment", "region", "host", "pod", "container", "service"),
        *("api", "group", "system", "instance", "node", "worker", "shard", "partition", "batch", "job", "experiment"),
        *("environment", "env", "release", "build", "store", "shop", "product", "document", "doc", "kunde", "kunden"),
        *("observation", "dataset", "index", "device", "person", "visitor", "member", "contact", "company"),
        *("order", "item", "sku", "faq", "article", "page", "source", "variant", "campaign", "skill", "flow", "plan"),
        *("intent", "category", "location", "event", "branch", "commit", "revision", "config", "knowledge", "kb"),
        *("collection", "chunk", "question", "answer", "label", "class", "country", "city", "site", "policy"),
    )
)
#: Words behind the name of somebody or something that say which of its names it is: user_id, model_name.
_WHICH = _IDS | frozenset(("name", "slug", "tag", "code", "label", "used", "email", "mail", "login", "handle"))
_WHICH |= frozenset(("hash", "hashed", "pseudo", "external", "internal", "anonymous", "unique", "distinct"))
#: Words before it that make it another thing.
_OTHERS = {
    "assistant": frozenset(("user",)),  # a browser
    "version": frozenset(("os", "browser", "sdk", "schema", "api", "python", "node", "protocol", "client", "http")),
    "model": frozenset(("embedding", "embeddings", "embed", "rerank", "reranker", "judge", "eval", "device", "car")),
    "platform": frozenset[str](),
    "user_id": frozenset[str](),
}
#: Words that say of a question that it is what a model was told once and for all.
_INSTRUCTIONS = frozenset(("system", "instruction", "instructions", "preamble", "template"))
#: Words for a text about a conversation that nobody says in it.
_ABOUT = frozenset(("title", "summary", "subject", "topic", "description", "name", "label", "note", "notes"))
_OF_MESSAGES = frozenset(("message", "messages", "msg", "type"))  #: beside a word for who speaks: userMessage
_NAMES = "gpt|chatgpt|claude|gemini|gemma|llama|mistral|mixtral|qwen|deepseek|grok|phi|command|nova|titan|o[134]"
_MODEL = re.compile(rf"(^|[\W_])({_NAMES})([\W_\d]|$)", re.IGNORECASE)
_LONGEST_WORD = 40  #: characters
_TYPES = frozenset(("S", "N", "$oid", "$date"))  #: of values, as databases export them
_CAPITAL = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])")
_BETWEEN = re.compile(r"[\W_]+")


def paths_like(seen: Mapping[str, Any], field: str) -> list[str]:
    """Return the paths whose last part is like a hint of the field, the likest first.

    >>> paths_like({"chatId": [], "chat.title": [], "session.id": []}, "conversation_id")
    ['session.id', 'chatId']
    """
    ranked = []
    for path in seen:
        names = _names(path, field)
        for number, hint in enumerate(HINTS[field]):
            ranks = [_rank(name, hint) for name in names]
            if min(ranks) < 2:
                ranked.append((number + min(ranks) * len(HINTS[field]), len(path), path))
                break
    paths = [path for _, _, path in sorted(ranked)]
    if field in _OTHERS:
        return [path for path in paths if any(_is_named(name, field) for name in _names(path, field))]
    if field == "question":
        return [path for path in paths if not _INSTRUCTIONS & set(words_of(path))]
    return [path for path in paths if field != "conversation_id" or may_be_id(path)]


def votes_like(seen: Mapping[str, Any]) -> list[str]:
    """Return the paths whose last part is called what people say of an answer in one word, or how many stars.

    >>> votes_like({"user_feedback": [], "feedback_comment": [], "feedback.value": [], "vote_at": []})
    ['user_feedback', 'feedback.value']
    >>> votes_like({"thumbs_up": [], "feedbackScore": [], "thumbs_down": [], "rating_reason": []})
    ['thumbs_up', 'feedbackScore']
    """
    return [path for path in seen if any(map(_is_vote, _names(path, "vote")))]


def asked_like(seen: Mapping[str, Any]) -> list[str]:
    """Return the paths that are called instructions, as sets of questions and answers call the questions."""
    return [path for path in seen if {"instruction", "instructions"} & set(words_of(path))]


def may_be_id(path: str) -> bool:
    """Say whether a path's last part does not name something else than an id, such as a type or a time."""
    return not _NO_ID & set(words_of(path))


def tells_of_conversation(path: str) -> bool:
    """Say whether a path's last part names an id of something that may be a conversation, such as room_id."""
    words = words_of(path)
    return bool(_IDS & set(words)) and len(words) > 1 and may_be_id(path) and not _OF_OTHERS & set(words)


def is_id(path: str) -> bool:
    """Say whether a path's last part names an id, of whatever."""
    return set(words_of(path)) <= _IDS


def may_be_place(path: str) -> bool:
    """Say whether a path's last part names the number of something, as of a turn in its conversation."""
    return bool(_PLACES & set(words_of(path)))


def is_about(path: str) -> bool:
    """Say whether a path's last part names a text about a conversation, such as its title, or what a model was told."""
    return bool((_ABOUT | _INSTRUCTIONS) & set(words_of(path)))


def speaker_of(word: str) -> str | None:
    """Return the role that a word for who speaks means by a guess, also a model's name; None where there is none.

    >>> speaker_of("Kunde"), speaker_of("GPT-4"), speaker_of("userMessage"), speaker_of("Frida")
    ('user', 'assistant', 'user', None)
    >>> speaker_of("AgentBot"), speaker_of("human_agent")
    ('assistant', 'assistant')
    """
    return named_speaker(word) or ("assistant" if _MODEL.search(word) or _is_kind_of_agent(word) else None)


def _is_kind_of_agent(word: str) -> bool:
    """Say whether the last of several words is one for an assistant, of which the others say what kind he is."""
    words = _words(word) if len(word) <= _LONGEST_WORD else []
    return len(words) > 1 and role_of(words[-1]) == "assistant"


def named_speaker(word: str) -> str | None:
    """Return the role that a word for who speaks means, or one for whose message it is; None for all others."""
    if (role := role_of(word) or SPEAKER_WORDS.get(word.strip().lower())) is not None or len(word) > _LONGEST_WORD:
        return role
    words = _words(word)
    rest = " ".join(part for part in words if part not in _OF_MESSAGES)
    return (role_of(rest) or SPEAKER_WORDS.get(rest)) if len(rest.split()) < len(words) else None


def words_of(path: str) -> list[str]:
    """Return the words of a path's last part.

    >>> words_of("message.isBot")
    ['is', 'bot']
    """
    return _words(_parts(path)[-1])


def words_of_text(path: str) -> list[str]:
    """Return the words of a path's last part, and of the part before it where that says only that it is a text.

    >>> words_of_text("bot.message"), words_of_text("bot.message_id")
    (['message', 'bot'], ['message', 'id'])
    """
    return [word for name in _names(path, "text") for word in _words(name)]


def are_speakers(values: Sequence[Any], most: int = 6) -> bool:
    """Say whether values are a few words, of which one at least names a user or an assistant."""
    words = {value.strip() for value in values if isinstance(value, str)}
    is_few = 0 < len(words) <= most and len(words) < len(values)
    return is_few and any(map(named_speaker, words))


def _rank(name: str, hint: str) -> int:
    """Return 0 where a name is a hint, 1 where it has it among its words or within it, 2 where not."""
    words = _words(name)
    if name.lower() == hint or "_".join(words) == hint:
        return 0
    return 1 if hint in words or (len(hint) > 4 and hint in name.lower()) else 2


def _is_named(name: str, field: str) -> bool:
    """Say whether a name ends in a hint of a field, but for what says which of its names it is, and is no other thing.

    user_id, model_name and acmeUserId are; user_feedback, user_agent and os_version are not.
    """
    words = _words(name)
    while len(words) > 1 and words[-1] in _WHICH:
        words = words[:-1]
    is_hint = any(_rank(name, hint) == 0 or _rank(words[-1], hint) < 2 for hint in HINTS[field]) if words else False
    return is_hint and _OTHERS[field].isdisjoint(words)


def _is_vote(name: str) -> bool:
    words = _words(name)
    return bool(words) and (words[-1] in VOTES or (words[-1] in _OF_VOTES and not VOTES.isdisjoint(words)))


def _names(path: str, field: str) -> list[str]:
    *before, last = _parts(path)
    return [last, before[-1]] if before and set(_words(last)) <= _PLAIN.get(field, frozenset()) else [last]


def _parts(path: str) -> list[str]:
    """Return the names in a path, without the type that DynamoDB and MongoDB write behind them."""
    parts = path.removeprefix("../").split(".")
    return parts[:-1] if len(parts) > 1 and parts[-1] in _TYPES else parts


@lru_cache(8192)
def _words(name: str) -> list[str]:
    """Return the words of a name, however it is written: chat_id, chatId, "chat id"."""
    return [word.lower() for word in _BETWEEN.split(_CAPITAL.sub(" ", name)) if word]
