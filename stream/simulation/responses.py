"""One simulated response: what it says, which documents it was given, which it cites, and what is wrong with it."""

from itertools import cycle, islice
from random import Random
from typing import Any, NamedTuple

from turnsignal.stream.simulation.answers import BROKEN, FAULTS, FAULTS_ON, VAGUE, Unit, compose
from turnsignal.stream.simulation.content import BY_NAME, Subject
from turnsignal.stream.simulation.corpus import Corpus, Document
from turnsignal.stream.simulation.traffic import Traffic
from turnsignal.stream.simulation.users import MISREAD
from turnsignal.stream.simulation.users import VAGUE as ASKED_AGAIN

_UNCITED = 0.03  #: share of responses that cite nothing although they were given documents

Placed = dict[int, Document]  #: documents by their rank − 1


class Written(NamedTuple):
    """A response and what is true of it.

    retrieved: as in a turn; cited: ranks, ascending; relevant: ids of the documents that answer what was asked;
    fault: a name from `answers.FAULTS` or `FAULTS_ON`, or None.
    """

    text: str
    retrieved: list[dict[str, Any]]
    cited: list[int]
    relevant: list[str]
    fault: str | None


class ResponseWriter:
    """Write responses of one simulation."""

    def __init__(self, traffic: Traffic, random: Random) -> None:
        self._traffic, self._random = traffic, random
        self._corpus = Corpus(random, traffic.documents, traffic.document_chars)

    def write(
        self,
        asked: Subject,
        intent: str,
        platform: str,
        ranking: float,
        worse: str | None,
        chance: Random | None = None,
    ) -> Written:
        """Answer a question on a topic.

        intent: the follow-up that the response will earn; ranking: quality of the retrieval, 0 to 1; worse: the kind of
        regression that affects it, or None; chance: draws the ranks, where not our own does.
        """
        random, size, misread = self._random, self._traffic.documents, intent in MISREAD
        topic = BY_NAME[asked.confused_with] if misread else asked
        facts = self._facts(topic, brief=intent in ASKED_AGAIN)
        indices = self._places(min(len(facts), len(topic.facts), size), ranking, worse == "retrieves_worse", chance)
        placed = {
            index: self._corpus.supporting(random, topic, fact) for index, fact in zip(indices, facts, strict=False)
        }
        right = self._aside(asked, placed) if misread else placed
        retrieved = self._corpus.retrieve(random, topic, placed | right, size)
        cites = list(placed.items()) if random.random() >= _UNCITED and worse != "cites_nothing" else []
        fault = self._fault(platform, worse, cites=bool(cites)) if worse != "invents_citations" else None
        units, cited = self._units(topic, facts, cites, retrieved[:4] if fault == "citation_run" else [])
        if worse == "invents_citations":
            units, cited = self._invent(units, retrieved)
        if worse in BROKEN:
            return Written(BROKEN[worse], retrieved, [], [document["doc_id"] for document in right.values()], None)
        if intent in ASKED_AGAIN:
            units.insert(0, (random.choice(VAGUE), ""))
        first = retrieved[cited[0] - 1]["doc_id"] if cited else ""
        text = compose(random, units, platform, topic.subject, fault, first)
        return Written(text, retrieved, cited, [document["doc_id"] for document in right.values()], fault)

    def _facts(self, topic: Subject, *, brief: bool) -> list[int]:
        """Choose facts of the topic until the response is long enough; all are said before one is said again."""
        order = self._random.sample(range(len(topic.facts)), len(topic.facts))
        wanted, length, facts = self._random.randint(*self._traffic.response_chars), 0, list[int]()
        for fact in islice(cycle(order), 1 if brief else None):
            facts.append(fact)
            length += len(topic.facts[fact]) + 12
            if length >= wanted:
                break
        return facts

    def _places(self, count: int, ranking: float, worse: bool, chance: Random | None) -> list[int]:
        """Draw the indices of the supporting documents: near the top, or near the bottom if retrieval is worse."""
        size, indices, depth = self._traffic.documents, list[int](), 1 + 6 * (1 - ranking)
        for _ in range(count):
            index = int((chance or self._random).expovariate(1 / depth)) % size
            while index in indices:
                index = (index + 1) % size
            indices.append(index)
        return [size - 1 - index for index in indices] if worse else indices

    def _aside(self, asked: Subject, placed: Placed) -> Placed:
        """Place a document on what was really asked, which a misread answer does not cite."""
        free = [index for index in range(self._traffic.documents) if index not in placed]
        if not free:
            return {}
        fact = self._random.randrange(len(asked.facts))
        return {self._random.choice(free): self._corpus.supporting(self._random, asked, fact)}

    def _fault(self, platform: str, worse: str | None, *, cites: bool) -> str | None:
        if worse == "breaks_format":
            return "citation_malformed" if cites else "source_url"
        if self._random.random() >= self._traffic.format_faults:
            return None
        offered: list[str] = [*FAULTS, *FAULTS_ON.get(platform, ())]
        if not cites:
            offered = [fault for fault in offered if not fault.startswith("citation_")]
        elif self._traffic.documents < 4:
            offered.remove("citation_run")
        return self._random.choice(offered)

    def _invent(self, units: list[Unit], retrieved: list[dict[str, Any]]) -> tuple[list[Unit], list[int]]:
        """Replace about half of the citations by invented documents; return the ranks that are still cited."""
        invented = [
            (text, self._made_up() if marks and self._random.random() < 0.5 else marks) for text, marks in units
        ]
        markers = "".join(marks for _, marks in invented)
        return invented, [i for i, document in enumerate(retrieved, 1) if f"[{document['doc_id']}]" in markers]

    def _made_up(self) -> str:
        return f"[doc_9{self._random.randrange(10**6):06d}]"

    def _units(
        self, topic: Subject, facts: list[int], cites: list[tuple[int, Document]], run: list[Document]
    ) -> tuple[list[Unit], list[int]]:
        """Put markers after the facts, each document at least once; return the cited ranks.

        run: documents cited in a row behind the first fact, instead of its own.
        """
        random, units, cited = self._random, list[Unit](), set[int]()
        for number, fact in enumerate(facts):
            marks = cites[number : number + 1] or (random.sample(cites, 1) if cites else [])
            if number and marks and marks[0] != cites[0] and random.random() < 0.1:
                marks = [*marks, cites[0]]
            if run and number == 0:
                marks = list(enumerate(run))
            cited.update(index + 1 for index, _ in marks)
            units.append((topic.facts[fact], "".join(f"[{document['doc_id']}]" for _, document in marks)))
        return units, sorted(cited)
