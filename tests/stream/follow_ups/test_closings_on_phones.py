"""That is all: as people write it on phones, without accents and short, in seven languages."""

import pytest

from turnsignal.stream.conversations.exchanges import Exchange
from turnsignal.stream.conversations.pairing import KeptTurn
from turnsignal.stream.follow_ups.rules import FollowUpRules
from turnsignal.stream.follow_ups.small_talk import is_small_talk

RULES = FollowUpRules()
STEP = "You can pay in the app under Wallet."
MORE = f"{STEP} Is there anything else I can help with?"
#: take leave whatever stood before
LEAVE = """\
thats all thx|nowt else|no thats me done
cest tout|c tout merci|rien dautre|ok c tout|nan c bon
das wars|dass wars|das wärs|sonst nix|jo das wars|nix mehr danke
nada mas|eso nomas|era eso|no nada mas|con eso ya esta|buenisimo era eso
era so isso|nd mais|blz so isso|show, era isso|nao, so isso vlw|por enquanto é só
e tutto|tutto qui|nientaltro|no tutto qui|nulla piu|no a posto cosi
dat was t|da was t|nee dat was t|verder nix|oke dat was het"""
#: take leave where the answer asked for more
ENOUGH = "just that ta|plus rien merci|mehr nicht|solo eso|solo questo|meer niet|alleen dat"
STAY = """\
thats all wrong|is that all|only that link is broken
c tout faux|plus rien ne marche|c bon pour combien de temps
das wars nicht|mehr nicht?|mehr wollt ich nicht zahlen
eso es todo?|eso era mentira|es todo falso
so isso?|era isso errado|so isso nao ajuda|é só abrir o app
tutto qui?|e tutto sbagliato|solo questo mese
meer niet?|dat was t niet|alleen dat werkt niet"""


def each(text: str) -> list[str]:
    """Split what is said."""
    return text.replace("\n", "|").split("|")


def closes(answer: str, text: str) -> bool:
    return RULES.read(Exchange("how do i pay?", answer, text)).closes


@pytest.mark.parametrize("text", each(LEAVE))
def test_that_is_all_takes_leave(text: str) -> None:
    assert closes(STEP, text)
    assert closes(MORE, text)


@pytest.mark.parametrize("text", each(ENOUGH))
def test_only_that_takes_leave_where_more_was_offered(text: str) -> None:
    assert closes(MORE, text)
    assert not closes(STEP, text)


@pytest.mark.parametrize("text", each(STAY))
def test_what_only_begins_so_takes_no_leave(text: str) -> None:
    assert not closes(STEP, text)
    assert not closes(MORE, text)


@pytest.mark.parametrize("text", ["c tout", "so isso", "massa, era isso", "das wars", "dat was t"])
def test_a_courtesy_to_that_needs_no_documents(text: str) -> None:
    said = (("user", "how do i pay"), ("assistant", STEP), ("user", text))
    kept = [KeptTurn(str(at), role, float(at), words) for at, (role, words) in enumerate(said)]
    assert is_small_talk(kept, RULES, "You're welcome!")
