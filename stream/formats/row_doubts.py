"""Doubts about rows: what speaks against the way in which a table of messages was read, and what mends it."""

from collections import Counter
from collections.abc import Sequence

from turnsignal.stream.formats.messages import shown_of
from turnsignal.stream.formats.protocol import Assumed, Row
from turnsignal.stream.formats.row_ties import UNSETTLED
from turnsignal.stream.formats.several_at_once import doubt_several

_OWNERS = (
    *("tenant_id", "tenantId", "tenant", "org_id", "orgId", "organization_id", "organizationId", "account_id"),
    *("accountId", "workspace_id", "workspaceId", "company_id", "customer_id", "customerId", "user_id", "userId"),
)
_OFTEN = 5  #: of so many conversations one that several own is no exception
_ROLE = "role "  #: what counts of words for a role begin with
_MAPPING = "`turnsignal convert FILE --propose mapping.toml` writes a mapping"


class RowDoubts:
    """What the rows of one log show. conversations: of which some are."""

    def __init__(self) -> None:
        self.conversations = 0
        self._asked = 0  # conversations in which users say more than one thing
        self._owners: Counter[str] = Counter()  # column → of these conversations, those in which it varies
        self._turns: Counter[str] = Counter()  # by role
        self._structured = 0  # answers

    def add(self, rows: Sequence[Row]) -> None:
        """Take in the rows of one conversation."""
        self.conversations += 1
        asked = [row.turn for row in rows if row.turn.get("role") == "user" and not row.step]
        self._asked += len(asked) > 1
        for column in _OWNERS if len(asked) > 1 else ():
            owners = {str(turn[column]) for turn in asked if turn.get(column) not in (None, "")}
            self._owners[column] += len(owners) > 1
        for turn in (row.turn for row in rows if not row.step):
            self._turns[str(turn.get("role"))] += 1
            text = turn.get("text") if turn.get("role") == "assistant" else None
            self._structured += isinstance(text, str) and text.startswith("{") and shown_of(text) != text

    def doubts(self, assumed: Assumed) -> list[str]:
        """Say what is doubtful. assumed: the counts of the log, of which those of roles say who is read as whom."""
        ties = self._doubt_ties(assumed)
        order = self._doubt_owners() or ties  # what several say at once may well have one time
        return [*order, *self._doubt_answers(), *self._doubt_speakers(assumed), *doubt_several(assumed)]

    def _doubt_owners(self) -> list[str]:
        column, n = max(self._owners.items(), key=lambda each: each[1], default=("", 0))
        if n < 2 or n * _OFTEN < self._asked:
            return []
        doubt = (
            f"in {n:,} of {self._asked:,} conversations {column} is not the same in all that users say: where ids of "
            f'conversations count anew for each, a mapping puts both together: conversation_id = ["{column}", '
            f'"conversation_id"]; {_MAPPING}'
        )
        return [doubt]

    def _doubt_answers(self) -> list[str]:
        if self._structured * 2 <= self._turns["assistant"] or not self._structured:
            return []
        doubt = (
            f"{self._structured:,} answers are JSON, of which users saw a part, and count as they stand: take that out "
            "first, as in jq -c '.content = (.content | ((fromjson? | .answer?) // .))' FILE"
        )
        return [doubt]

    def _doubt_ties(self, assumed: Assumed) -> list[str]:
        n = assumed.pop(UNSETTLED, 0)
        if n < 2 or n * _OFTEN < self.conversations:
            return []
        return [f"{n:,} {UNSETTLED}: export times to the millisecond, or rows with ids that rise, in their order"]

    def _doubt_speakers(self, assumed: Assumed) -> list[str]:
        """Say where two words for who speaks are read as one: the rarer one may be a person who takes over."""
        doubts: list[str] = []
        for role in ("user", "assistant"):
            ends = f" is {role}"
            words = {
                what[len(_ROLE) : -len(ends)]: n
                for what, n in assumed.items()
                if n and what.startswith(_ROLE) and what.endswith(ends)
            }
            if 0 < sum(words.values()) < self._turns[role]:
                words[role] = self._turns[role] - sum(words.values())
            if len(words) > 1:
                rarest = min(words, key=words.__getitem__)
                doubts.append(
                    f"{' and '.join(sorted(words))} are both read as the {role}: where {rarest} is staff who took over "
                    f'from the assistant, a mapping says so, as in role = {{ path = "role", {rarest} = "system" }}; '
                    + _MAPPING
                )
        return doubts
