"""Language checks: the whole response is in one language.

Identified by py3langid (Naive Bayes over byte n-grams, some 140 languages, offline), an extra: it takes half a
millisecond per response and 120 MB of memory, so it is loaded by the first suite that asks for it and by nobody else.

It takes every language for equally likely, and names for words. Short answers were so taken for rare languages
("Sorry, I don't know." for Nigerian Pidgin), and English about a French street for French. So what is known beforehand
is weighed in, and the words without the names must be in another language, too.
"""

import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, ClassVar

from turnsignal.stream.checks.instruction_check import InstructionCheck, failed
from turnsignal.stream.checks.protocol import NOT_APPLICABLE, PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.errors import ConfigError

MAX_READ = 5_000  #: characters that are enough to tell a language
_MIN_LETTERS = 12  #: fewer letters are no evidence
_MIN_NAMELESS = 4  #: letters that the words without the names must have to be evidence
_LIKELY = 0.5  #: from this probability on, another language is likelier than all the rest together
#: of ASCII only, as elsewhere marks between letters belong to the word; so does an apostrophe
_NO_WORD = re.compile(r"[\d\s!-&(-/:-@\[-`{-~]+|(?<![^\W\d_])'+|'+(?![^\W\d_])")
_WORD = re.compile(r"\S+")
_BEFORE_WORDS = "\"'“‘„«‹([{¿¡*_~#>|"
_AFTER_WORDS = "\"'”’“»›)]}*_~|"
_ENDS = frozenset(".!?:…。！？-–—•*>#|")  #: after these and at the beginning of a line, a capital makes no name
_KNOWN = tomllib.loads(files(__package__).joinpath("language.toml").read_text(encoding="utf-8"))
_COMMON = frozenset(_KNOWN["common"].split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Is(InstructionCheck):
    """The response is in one language. Source: IFEval, language:response_language (its program asks langdetect).

    code: ISO 639-1, such as `en`, `de`, `hi`; read from the words of the first 5 000 characters. Fails when another
    language is likelier than not, with names and without. Not applicable with fewer than twelve letters, and where no
    language is likely: three brand names in capitals could be anybody's. Raises ConfigError without py3langid, or when
    it does not know the language.
    """

    family: ClassVar[str] = "language.is"
    example: ClassVar[str] = "language.is(code=en)"
    breaks: ClassVar[str] = "Das geht leider nicht anders, weil die Seite gesperrt ist."
    version: ClassVar[int] = 4  # since rare languages need more evidence, and names are none
    code: str
    identifier: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        InstructionCheck.__post_init__(self)
        object.__setattr__(self, "identifier", _identifier())

    def validate(self) -> str | None:
        """Expect a language that the library knows."""
        known = _identifier().labels
        if self.code in known:
            return None
        return f"expected code to be one of {', '.join(sorted(known))}; got {self.code!r}"

    def evaluate(self, response: Response) -> CheckResult:
        """Identify the language."""
        text = response.text[:MAX_READ]
        if sum(map(str.isalpha, text)) < _MIN_LETTERS:
            return NOT_APPLICABLE
        language = self._likely(text)
        if language == self.code:
            return PASSED
        nameless = _without_names(text)
        if language and nameless != text and sum(map(str.isalpha, nameless)) >= _MIN_NAMELESS:
            language = self._likely(nameless)
        if not language or language == self.code:
            return NOT_APPLICABLE
        return failed(f"the response is in {language}, not in {self.code}")

    def _likely(self, text: str) -> str:
        """Return the language that is likelier than all others together, or the one asked for; "" if there is none."""
        # Numbering, markup and line breaks are in every language alike, and tip the balance of a short text.
        words = _NO_WORD.sub(" ", text)
        if self.identifier.classify(words)[0] == self.code:
            return self.code  # nearly always, and cheaper than to rank all; what is weighed in is in its favour
        ranked = self.identifier.rank(words)
        weighed = [(probability * self._weight(language), language) for language, probability in ranked]
        most, language = max(weighed)
        is_likely = most >= _LIKELY * sum(weight for weight, _ in weighed)
        return language if is_likely or language == self.code else ""

    def _weight(self, language: str) -> float:
        if language == self.code:
            return float(_KNOWN["expected"])
        return 1.0 if language in _COMMON else float(_KNOWN["rare"])


def _without_names(text: str) -> str:
    """Leave out words with a capital within a sentence; German nouns go, too, and the small words of German stay."""
    kept = []
    for line in text.split("\n"):
        begins = True
        for word in _WORD.findall(line):
            bare = word.lstrip(_BEFORE_WORDS)
            if begins or not bare[:1].isupper() or bare.isupper():
                kept.append(word)
            begins = word.rstrip(_AFTER_WORDS)[-1:] in _ENDS or not bare
    return " ".join(kept) if len(kept) < len(text.split()) else text


@cache
def _identifier() -> Any:
    try:
        langid = import_module("py3langid.langid")
    except ImportError:
        msg = "language.is needs py3langid, which is not installed; try: pip install py3langid"
        raise ConfigError(msg) from None
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
