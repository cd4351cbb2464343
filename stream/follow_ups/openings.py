"""Openings: an answer that only greets and asks what it can do, and whether its user had asked something already.

Where a client loses the question, a model says what it says to an empty message: "Hi! How can I help you today?". To
who greets, or says that there is a question, that is what is due; to a question it is no answer.
"""

import re

from turnsignal.stream.follow_ups.sentences import WORDS
from turnsignal.stream.text.accents import without_accents
from turnsignal.stream.text.wordplay import words_of

_MOST = 200  #: characters of an answer that only opens
_READ = 400  #: characters of a message
_FEWEST = 4  #: words of a message that asks something, greetings left out: fewer may name what it will be about

_HELLO = (
    r"(?:(?:hi|hello|hey|welcome|greetings|good (?:morning|afternoon|evening)|hallo|guten (?:tag|morgen|abend)|moin|"
    r"(?:herzlich )?willkommen|bonjour|bonsoir|salut|bienvenue|hola|buenos dias|buen dia|buenas(?: tardes| noches)?|"
    r"bienvenid[oa]s?|ciao|buongiorno|buonasera|salve|benvenut[oai]|hoi|goede(?:morgen|middag|navond)|goeden?dag|welkom|"
    r"ola|oi|bom dia|boa tarde|boa noite|bem.vind[oa]s?)(?: there)?"
    r"(?: (?:to|at|bei|zum|zur|chez|sur|a|al|alla|en|bij|ao) [^.!?\n]{1,40})?[\W_]+)?"
)
_WHO = (
    r"(?:(?:i'?m|i am|this is|my name is|ich bin|mein name ist|je suis|je m'appelle|soy|me llamo|sono|mi chiamo|ik ben|"
    r"mijn naam is|sou|eu sou)\b[^.!?\n]{1,60}[\W_]+)?"
)
_WHAT = (
    r"how (?:can|may|could) (?:i|we) (?:help|assist|serve|be of (?:help|assistance|service))",
    r"what can (?:i|we) (?:do for you|help you with)",
    r"(?:wie|womit|wobei) (?:kann|darf) ich|was kann ich",
    r"(?:comment|en quoi) (?:puis.je|je peux)|que puis.je faire",
    r"(?:en que|como|con que) (?:le |te |les |lo |la )?(?:puedo|podemos)",
    r"(?:come|in cosa|in che modo) (?:posso|possiamo)",
    r"(?:hoe|waarmee|waar) kan ik",
    r"(?:como|em que|no que) (?:te |lhe |o |a )?(?:posso|podemos)",
)
#: what says no more than that something will be asked
_ANNOUNCED = (
    r"i (?:have|got|had|need) (?:a |an |another |some )?(?:quick )?(?:question|problem|issue|help|assistance)s?",
    r"(?:can|could|would) (?:you|u|someone|anyone) (?:please )?(?:help|assist)(?: me)?(?: out| with something)?",
    r"(?:can|could|may) i (?:please )?ask(?: you)?(?: something| a question)?",
    r"help(?: me)?",
    r"(?:ich )?(?:habe?|hatte|hab) (?:noch |mal |da )*(?:eine?|ne|n)? ?(?:kurze )?(?:frage|problem|anliegen)",
    r"(?:konnen sie|kannst du|konnten sie) mir (?:bitte |mal )*(?:helfen|weiterhelfen)",
    r"(?:(?:ich )?(?:brauche|benotige|brauch) (?:mal )?)?hilfe",
    r"(?:darf|kann) ich (?:sie |dich )?(?:mal )?(?:etwas|was) fragen",
    r"j'ai (?:encore )?(?:une (?:autre )?|un )?(?:petite )?(?:question|probleme|souci)",
    r"(?:pouvez.vous|vous pouvez|peux.tu|tu peux) m'aider",
    r"(?:j'ai )?besoin d'aide",
    r"tengo (?:una|otra|un) (?:duda|pregunta|consulta|problema)",
    r"(?:me )?(?:puede|puedes|podria)n? ayudar(?:me)?",
    r"(?:necesito )?ayuda",
    r"(?:ho|avrei) (?:una|un'altra|un) (?:domanda|problema)",
    r"(?:mi )?(?:puo|puoi|potete|potrebbe) aiutar(?:e|mi)",
    r"(?:ho bisogno di )?aiuto",
    r"ik heb (?:nog )?een (?:vraag|vraagje|probleem)",
    r"(?:kunt u|kun je|kan je) (?:mij|me) (?:even )?helpen",
    r"(?:ik heb )?hulp(?: nodig)?",
    r"(?:eu )?(?:tenho|estou com) (?:uma|outra|um) (?:duvida|pergunta|problema)",
    r"(?:voce )?(?:pode|poderia) me ajudar",
    r"(?:preciso de )?ajuda",
)
_PLEASE = r"(?:(?:please|bitte|s'il vous plait|por favor|per favore|alstublieft) )?"
_OPENS = re.compile(rf"[\W_]*{_HELLO}{_WHO}(?:{'|'.join(_WHAT)})\b[^.!?\n]{{0,60}}[\W_]*")
#: in an answer that goes on with a conversation: who says that he will decide later is asked so
_FURTHER = re.compile(
    r"\b(?:further|else|now|next|then|sonst|noch|jetzt|dann|d'autre|encore|maintenant|alors|mas|ahora|entonces|altro|ancora|"
    r"adesso|ora|allora|nog|verder|nu|dan|mais|agora|entao)\b"
)
_ANNOUNCES = re.compile(rf"[\W_]*{_HELLO}{_PLEASE}(?:{'|'.join(_ANNOUNCED)})[\W_]*")


def only_opens(response: str) -> bool:
    """Say whether an answer only greets and asks what it can do.

    >>> only_opens("Hi! How can I help you today?"), only_opens("Hi! We open at nine. How else can I help you?")
    (True, False)
    """
    text = response.strip()
    if not 0 < len(text) <= _MOST or _OPENS.fullmatch(plain := without_accents(text)) is None:
        return False
    return _FURTHER.search(plain) is None


def passes_over(response: str, prompt: str) -> bool:
    """Say whether an answer only opens what its user had opened, and asked something in.

    >>> hello = "Hello! How may I assist you?"
    >>> [passes_over(hello, prompt) for prompt in ("When are you open on Sunday?", "hello there", "Can you help me?")]
    [True, False, False]
    """
    if not only_opens(response):
        return False
    prompt = prompt[:_READ]
    words = [word for word in words_of(prompt.casefold()) if word not in WORDS["greeting"]]
    if len(words) < _FEWEST or all(word in WORDS["small_talk"] for word in words):
        return False
    return _ANNOUNCES.fullmatch(without_accents(prompt.strip())) is None
