"""Readings: what is read from a prompt."""

from collections.abc import Mapping
from typing import NamedTuple


class Proposal(NamedTuple):
    """A check that a prompt asks for.

    check: its name; sentences: the sentences that ask for it; platforms: where it holds, () for everywhere; doubt: why
    a person should look at it before it is used, None if there is no reason.
    """

    check: str
    sentences: tuple[str, ...]
    platforms: tuple[str, ...] = ()
    doubt: str | None = None


class Exemption(NamedTuple):
    """A response that a prompt prescribes word for word, and the sentence that does; checks do not apply to it."""

    text: str
    sentence: str


class PromptReading(NamedTuple):
    """The checks, gaps and exemptions read from a prompt.

    proposals: in the order of the prompt, each check once; uncovered: instructions without a check; covered: how many
    sentences gave a proposal without doubt, or an exemption; doubtful: how many gave doubtful proposals only; exempt:
    responses that the prompt prescribes, each once; english: whether it is in English, as no other prompt is read.
    """

    proposals: tuple[Proposal, ...]
    uncovered: tuple[str, ...]
    covered: int
    doubtful: int
    exempt: tuple[Exemption, ...] = ()
    english: bool = True

    def quoting(self, written: Mapping[str, str]) -> "PromptReading":
        """Return the same with its sentences as they were written; those that `written` does not have, as they are."""
        return self._replace(
            proposals=tuple(
                one._replace(sentences=tuple(written.get(sentence, sentence) for sentence in one.sentences))
                for one in self.proposals
            ),
            uncovered=tuple(written.get(sentence, sentence) for sentence in self.uncovered),
            exempt=tuple(one._replace(sentence=written.get(one.sentence, one.sentence)) for one in self.exempt),
        )
