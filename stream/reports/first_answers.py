"""First answers: what can be seen of a release's answers whatever their words and whatever users say to them.

People thank for a refusal, too, and no list knows all words in which an assistant refuses, fails or hands over. But
such answers are short, or the same to everybody. Only the first answer of a conversation is looked at: later ones are
short because somebody said thanks. The same holds of a search that finds the same whatever is asked: of each
conversation, the documents that came first are counted.

Few short questions tell their language, and most answers do. Where nearly all users who can be told write one language,
an answer in another one is seen without its question.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import accumulate, islice, zip_longest
from typing import NamedTuple

from turnsignal.stream.reports.answer_edges import AnswerEdges, edges, forget_rare, has_end, named
from turnsignal.stream.reports.first_questions import NOT_KNOWN, FirstQuestions, Opening, words_asked
from turnsignal.stream.statistics.exact import fisher
from turnsignal.stream.statistics.intervals import Difference, Estimate, difference, rate
from turnsignal.stream.statistics.other_ids import Replaced
from turnsignal.stream.statistics.promise import PROMISE
from turnsignal.stream.text.counts import listed
from turnsignal.stream.text.spoken_languages import glance, language_name, read

_READ = 2_000  #: characters of an answer by which it is told from others
_SHOWN = 80  #: characters of it that are shown, in lower case and without numbers
_MOST_TEXTS = 2_000  #: texts of a release that are counted; beyond, the rarer half is forgotten
_MOST_DOCUMENTS = 4_000  #: documents of a release that are counted; beyond, the rarer half is forgotten
_DOCUMENTS_READ = 20  #: of an answer
_STEPS = 4  #: of a length that are twice as long
_GREATEST = 80  #: step of a length: a million characters
_SHARE = 0.03  #: of first answers that are the same, from which on they are common
_REPLACED = 0.3  #: share of the documents that came before, from which on others in their place are said
_AS_OFTEN = 0.2  #: share of the documents by which more or fewer of them may be rare, or among the most common
_ONE_LANGUAGE = 0.9  #: share of users whose messages tell it, from which on nearly all write one language
_FEWEST_USERS = 10  #: that tell it, of both releases, from which on that is known
_FEWEST_OF_ONE = 3  #: of each release
_SOMETHING = 0.2  #: of what speaks for its own language, from which on there is something of another one in an answer
_OTHERWISE = 0.5  #: share of first answers by which their language has to move: quotations move it a little
_OTHER_WORDS = 0.15  #: share of questions by which a word moved, from which on others may ask, in a language untold
NO_PLATFORM = "none"  #: of turns that name none
_AS_MANY = 0.1  #: by which the shares of platforms differ at most that may merely be renamed
_NAMELESS = 0.9  #: share of a release's conversations without a platform, from which on its turns name none
_SHOWN_PLATFORMS = 3
_SHIFTED = 0.05  #: change of a platform's or language's share from which on figures may move for it


class FirstAnswer(NamedTuple):
    """The first answer of a conversation: platform, `length_step`, and a digest of its text with its beginning.

    documents: digests of those that the conversation got first, be it with a later answer; words: of the question that
    it answers, as `words_asked` has them; edges: what it begins and ends with; characters, is_whole: how many it has,
    and whether it has an end; around: words that the client wrote around the question, as `words_around` has them, None
    where the user wrote no more; languages: of which there is something in it, none where its own is not told.
    """

    platform: str
    length: int
    text: str
    documents: tuple[str, ...] = ()
    words: bytes = b""
    edges: tuple[str, ...] = ()
    characters: int = 0
    is_whole: bool = True
    around: bytes | None = None
    languages: tuple[str, ...] = ()

    @property
    def length_share(self) -> float:
        """The length's step as a share of the greatest that is told apart."""
        return share_of_length(self.length)

    def with_documents(self, later: "FirstAnswer") -> "FirstAnswer":
        """Return it with the documents of a later answer, where it has none."""
        return self if self.documents else self._replace(documents=later.documents)

    def or_longer(self, other: "FirstAnswer") -> "FirstAnswer":
        """Return the longer one of two turns of which either may be the first answer, this one where they are alike."""
        return other if other.length > self.length else self


def first_answer(platform: str | None, text: str, question: str = "") -> FirstAnswer:
    """Return what is kept of a first answer; citations and numbers do not tell two texts apart."""
    return FirstAnswer(
        platform or NO_PLATFORM,
        length_step(len(text)),
        named(text[:_READ], _SHOWN),
        (),
        words_asked(question),
        edges(text),
        len(text),
        has_end(text),
        languages=_languages(text, question),
    )


def _languages(text: str, question: str) -> tuple[str, ...]:
    """Return the languages of an answer; where its own is not the question's, of its own prose alone."""
    code = glance(text)
    if not code or code == glance(question):
        return (code,) if code else ()
    prose = read(text)
    least = _SOMETHING * prose.weight(prose.code)
    return tuple(sorted(code for code, weight in prose.weights.items() if weight > least)) if prose.code else ()


def first_documents(names: Iterable[str]) -> tuple[str, ...]:
    """Return what is kept of the documents of an answer, by their ids."""
    different = islice(dict.fromkeys(names), _DOCUMENTS_READ)
    return tuple(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest() for name in different)


def length_step(characters: int) -> int:
    """Return the step of a length on a scale on which twice as long is `_STEPS` more."""
    return round(_STEPS * math.log2(max(1, characters)))


def share_of_length(step: int) -> float:
    """Return a step of a length as a share of the greatest that is told apart."""
    return min(1.0, step / _GREATEST)


@dataclass(slots=True)
class FirstAnswers:
    """The first answers of one release: how many of each platform, length and text, and to users of which language.

    languages: of users whose messages tell it; of_a_language: how many answers tell theirs; answered: how many of
    these have something of each; documents: how many conversations got each; searched: how many got any; retrieved: how
    many documents those got; questions: what was asked.
    """

    platforms: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    of_a_language: int = 0
    answered: Counter[str] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)
    documents: Counter[str] = field(default_factory=Counter)
    searched: int = 0
    retrieved: int = 0
    questions: FirstQuestions = field(default_factory=FirstQuestions)
    edges: AnswerEdges = field(default_factory=AnswerEdges)

    @property
    def n(self) -> int:
        """How many there are."""
        return self.platforms.total()

    def length_beside(self, before: "FirstAnswers") -> float:
        """Return how many times as long they are, by the geometric mean; 1.0 where one of both has none."""
        means = [math.fsum(step * n for step, n in sorted(of.lengths.items())) / of.n for of in (self, before) if of.n]
        return 2 ** ((means[0] - means[1]) / _STEPS) if len(means) == 2 else 1.0

    def add(self, answer: FirstAnswer, language: str = "", came_of_it: Opening = NOT_KNOWN) -> None:
        """Count one; language: of what the user wrote, "" where that is not told; came_of_it: of the question."""
        self.platforms[answer.platform] += 1
        if language:
            self.languages[language] += 1
        self.of_a_language += bool(answer.languages)
        self.answered.update(answer.languages)
        self.lengths[answer.length] += 1
        self.texts[answer.text] += 1
        self.edges.add(answer.edges, answer.characters, is_whole=answer.is_whole)
        self.questions.add(
            came_of_it._replace(words=answer.words, around=answer.around, searched=bool(answer.documents))
        )
        if answer.documents:
            self.documents.update(answer.documents)
            self.searched += 1
            self.retrieved += len(answer.documents)
        self._forget()

    def merge(self, other: "FirstAnswers") -> None:
        """Add another part's."""
        self.platforms.update(other.platforms)
        self.languages.update(other.languages)
        self.of_a_language += other.of_a_language
        self.answered.update(other.answered)
        self.lengths.update(other.lengths)
        self.texts.update(other.texts)
        self.edges.merge(other.edges)
        self.questions.merge(other.questions)
        self.documents.update(other.documents)
        self.searched += other.searched
        self.retrieved += other.retrieved
        self._forget()

    def short(self, before: "FirstAnswers", alike: tuple[float, float] = (1.0, 1.0)) -> Difference:
        """Compare the shares that have less than half the characters of the middle one before; both have some.

        alike: as how many of itself each side's answer counts, here and before, since those to one user are alike.
        """
        steps = sorted(before.lengths)
        counted = accumulate(before.lengths[step] for step in steps)
        middle = next(step for step, n in zip(steps, counted, strict=True) if 2 * n >= before.n)
        return difference(*_count_as(alike, self._below(middle - 4), before._below(middle - 4)))

    def same(self, before: "FirstAnswers", alike: tuple[float, float] = (1.0, 1.0)) -> tuple[Difference, str] | None:
        """Compare how many got what many others got, and name the text that became most common; None without one.

        Canned words may change with a release. So a text is only news as far as those to whom the same was said became
        more: either by the most common text of each release, or by all that are common in one of them.

        p is Fisher's of that text, adjusted for the number of texts that both releases together have often enough for
        one to be chosen for its share in this one (Bonferroni), or that of what became more; alike: as in `short`.
        """
        enough = self._least_common
        counts = {text: count for text, count in (self.texts + before.texts).items() if count >= enough}
        common = sorted(text for text in counts if self.texts[text] >= enough)
        if not common:
            return None

        def compare(here: Collection[str], there: Collection[str]) -> Difference:
            return difference(*_count_as(alike, self._share(here), before._share(there)))

        changes = {text: compare([text], [text]) for text in common}
        text, change = max(changes.items(), key=lambda item: item[1].value)
        here, there = alike
        conversations, n = round(here * self.texts[text]), round(here * self.n)
        chance = fisher(
            conversations, n, conversations + round(there * before.texts[text]), n + round(there * before.n)
        )
        p = min(1.0, max(change.p, chance) * len(counts))
        common += [text for text, count in before.texts.items() if count >= before._least_common]
        more = (compare(self._most_common, before._most_common), compare(set(common), set(common)))
        least = min(change, max(more, key=lambda delta: delta.value), key=lambda delta: delta.value)
        shown = text if least.value >= 0 else before._most_common[0]
        return least._replace(p=max(p, least.p)), shown.partition(" ")[2]

    def same_documents(self, before: "FirstAnswers") -> tuple[Difference, float]:
        """Compare the shares that a few documents have of all that came, and give what it came to; both got some.

        They are as many as an answer gets, and those that are the most common in both releases together, whichever has
        more conversations: what is chosen for one release alone is more common in it by chance. Only where documents
        have other ids than before are they those of each. As uncertain as a rate of conversations, which is more than
        a mean of shares can be.
        """
        few = max(1, round(self.retrieved / self.searched))
        sides, replaced = (self, before), self.replaced(before)
        alone = replaced is not None and replaced.alike
        mine, theirs = (of._share_of(_most_common([of] if alone else sides, few)) for of in sides)
        return difference(mine, theirs), mine.value

    def replaced(self, before: "FirstAnswers") -> Replaced | None:
        """Return which share of the documents that came before others replace; None where none is shown to be.

        Of documents that never came before, as many are expected as came once of those that did (Good 1953).
        """
        if not (self.searched and before.searched) or before.documents.total() < before.retrieved:
            return None  # rare ones are forgotten
        unknown = self._share_of(self.documents.keys() - before.documents.keys())
        once = before._share_of([name for name, n in before.documents.items() if n == 1])
        change = difference(unknown, once)
        share = change.value / (1 - once.value) if once.value < 1 else 0.0
        is_shown = share >= _REPLACED and change.p <= PROMISE
        return Replaced(share, self._comes_as_often(before)) if is_shown else None

    def _comes_as_often(self, before: "FirstAnswers") -> bool:
        """Say whether about as many documents come once, and about as often the most common, as before."""
        sides = (self, before)
        n, few = min(of.retrieved for of in sides), max(1, round(self.retrieved / self.searched))
        once = [
            math.fsum(count * (1 - n / of.retrieved) ** (count - 1) for count in of.documents.values()) / of.retrieved
            for of in sides  # expected, were it only as many as on the other side
        ]
        most = [of._share_of(_most_common([of], few)).value for of in sides]
        return all(abs(mine - theirs) <= _AS_OFTEN for mine, theirs in (once, most))

    def shifted(self, before: "FirstAnswers") -> str:
        """Say which platform's share moved most, "" where none is shown to have moved, or all have other names."""
        if self.renamed_platforms(before):
            return ""
        name, became, was = _most_shifted(self.platforms, before.platforms)
        return f"{name} has {became:.0%} of the conversations, {was:.0%} before" if name else ""

    def renamed_platforms(self, before: "FirstAnswers") -> str:
        """Say that all platforms have other names than before; "" where one has not, or their shares are others, too.

        Where one platform takes the place of another one, nobody can tell whether users moved; where nearly all turns
        begin or cease to name any, they did not.
        """
        sides = before.platforms.most_common(), self.platforms.most_common()
        if not all(sides) or self.platforms.keys() & before.platforms.keys():
            return ""
        nameless = (of.platforms[NO_PLATFORM] / of.n for of in (before, self))
        if max(nameless) < _NAMELESS:
            shares = ([count / of.n for _, count in side] for side, of in zip(sides, (before, self), strict=True))
            others = any(abs(was - became) > _AS_MANY for was, became in zip_longest(*shares, fillvalue=0.0))
            if others or min(map(len, sides)) < 2:
                return ""
        was, became = (listed([name for name, _ in side[:_SHOWN_PLATFORMS]], len(side)) for side in sides)
        return f"platforms are named {became}, and {was} before: conversations of both are compared whatever they are"

    def shifted_behind(self, before: "FirstAnswers", name: str) -> bool:
        """Say whether the share of a platform that comes behind one by name is shown to have moved."""
        return bool(_most_shifted(self.platforms, before.platforms, behind=name)[0])

    def asked_otherwise(self, before: "FirstAnswers") -> str:
        """Say which language's share of users moved most, "" where none is shown to have moved."""
        code, became, was = _most_shifted(self.languages, before.languages)
        return f"{became:.0%} of the users write {language_name(code)}, {was:.0%} before" if code else ""

    def in_one_language(
        self, before: "FirstAnswers", minimum: int, alike: tuple[float, float] = (1.0, 1.0)
    ) -> tuple[Difference, str] | None:
        """Compare the shares with anything in the language that nearly all users of both write, and name that.

        None without one, where fewer answers than `minimum` tell theirs, where questions have other words than before,
        and of a move that a few quotations could make; alike: as in `short`.
        """
        sides = (self, before)
        (code, _), *_ = (self.languages + before.languages).most_common(1) or [("", 0)]
        asked = [(of.languages[code], of.languages.total()) for of in sides]
        if sum(n for _, n in asked) < _FEWEST_USERS or min(of.of_a_language for of in sides) < minimum:
            return None
        if any(count < max(_FEWEST_OF_ONE, _ONE_LANGUAGE * n) for count, n in asked):
            return None
        change = difference(*_count_as(alike, *(rate(of.answered[code], of.of_a_language) for of in sides)))
        if abs(change.value) < _OTHERWISE or self.questions.other_words(before.questions) >= _OTHER_WORDS:
            return None
        return change, language_name(code)

    def _share_of(self, names: Collection[str]) -> Estimate:
        """Return the share that some documents have of all that came, as uncertain as a rate of conversations."""
        share = sum(self.documents[name] for name in names) / self.retrieved
        return Estimate(share, self.searched, max(1, self.searched - 1), self.searched)

    def _below(self, step: int) -> Estimate:
        return rate(sum(n for length, n in self.lengths.items() if length < step), self.n)

    @property
    def _least_common(self) -> int:
        return max(2, math.ceil(_SHARE * self.n))

    @property
    def _most_common(self) -> list[str]:
        return [text for text, _ in self.texts.most_common(1)]

    def _share(self, texts: Collection[str]) -> Estimate:
        return rate(sum(self.texts[text] for text in texts), self.n)

    def _forget(self) -> None:
        self.texts = forget_rare(self.texts, _MOST_TEXTS)
        self.documents = forget_rare(self.documents, _MOST_DOCUMENTS)


def _most_common(sides: Collection[FirstAnswers], few: int) -> list[str]:
    """Return the documents that the largest share of conversations got, on all sides together."""
    shares = {
        name: -math.fsum(of.documents[name] / of.searched for of in sides) for of in sides for name in of.documents
    }
    return sorted(shares, key=lambda name: (round(shares[name], 9), name))[:few]


def _count_as(shares: tuple[float, float], *pair: Estimate) -> list[Estimate]:
    return [one._replace(size=max(1.0, share * one.size)) for share, one in zip(shares, pair, strict=True)]


def _most_shifted(counts: Counter[str], before: Counter[str], behind: str = "") -> tuple[str, float, float]:
    """Return whose share moved most, with both shares; "" where none is shown to have moved.

    behind: look only at names behind this one.
    """
    n, earlier = counts.total(), before.total()
    names = [name for name in sorted(counts | before) if name > behind or not behind]
    if len(counts | before) < 2 or not names or not n or not earlier:
        return "", 0.0, 0.0
    name = max(names, key=lambda name: round(abs(counts[name] / n - before[name] / earlier), 6))
    became, was = rate(counts[name], n), rate(before[name], earlier)
    change = difference(became, was)
    moved = abs(change.value) >= _SHIFTED and change.p * len(names) <= PROMISE
    return (name, became.value, was.value) if moved else ("", 0.0, 0.0)
