"""Language checks: the whole response is in one language.

Identified by py3langid (Naive Bayes over byte n-grams, 97 languages, offline), an extra: it takes half a millisecond
per response and 120 MB of memory, so it is loaded by the first suite that asks for it and by nobody else.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

from turnsignal.stream.checks.instruction_check import InstructionCheck, failed
from turnsignal.stream.checks.protocol import NOT_APPLICABLE, PASSED, CheckResult
from turnsignal.stream.conversations.exchanges import Response
from turnsignal.stream.errors import ConfigError

MAX_READ = 5_000  #: characters that are enough to tell a language
_MIN_LETTERS = 12  #: fewer letters are no evidence
_LIKELY = 0.5  #: from this probability on, another language is likelier than all the rest together
_NO_WORD = re.compile(r"[\d\s!-/:-@\[-`{-~]+")  # of ASCII only: elsewhere marks between letters belong to the word


@dataclass(frozen=True, slots=True, kw_only=True)
class Is(InstructionCheck):
    """The response is in one language. Source: IFEval, language:response_language (its program asks langdetect).

    code: ISO 639-1, such as `en`, `de`, `hi`; read from the words of the first 5 000 characters. Fails when another
    language is likelier than not. Not applicable with fewer than twelve letters, and where no language is likely: three
    brand names in capitals could be anybody's. Raises ConfigError without py3langid, or when it does not know the
    language.
    """

    family: ClassVar[str] = "language.is"
    example: ClassVar[str] = "language.is(code=en)"
    breaks: ClassVar[str] = "Das geht leider nicht anders, weil die Seite gesperrt ist."
    version: ClassVar[int] = 3
    code: str
    identify: Callable[[str], Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        InstructionCheck.__post_init__(self)
        object.__setattr__(self, "identify", _identifier().classify)

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
        # Numbering, markup and line breaks are in every language alike, and tip the balance of a short text.
        language, probability = self.identify(_NO_WORD.sub(" ", text))
        if language == self.code:
            return PASSED
        if probability < _LIKELY:
            return NOT_APPLICABLE
        return failed(f"the response is in {language}, not in {self.code}")


@cache
def _identifier() -> Any:
    try:
        langid = import_module("py3langid.langid")
    except ImportError:
        msg = "language.is needs py3langid, which is not installed; try: pip install py3langid"
        raise ConfigError(msg) from None
    return langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE, norm_probs=True)
